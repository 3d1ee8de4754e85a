"""The story that the project exists for: a parallel sum, typed in a notebook, run by MPI ranks."""

import re
from pathlib import Path

import ipyparallel as ipp
import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

SUM = Path(__file__).resolve().parents[2] / "notebooks" / "sum.py"


def plain(text):
    """`text` without colours."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


@pytest.fixture(scope="module")
def ipython():
    """The IPython shell that a person types into."""
    config = Config()
    config.HistoryManager.enabled = False
    shell = InteractiveShell.instance(config=config)
    yield shell
    InteractiveShell.clear_instance()


@pytest.fixture
def shell(ipython, rc):
    """That shell, with `view` made the target of its %px."""
    view = rc[:]
    view.block = True
    ipython.push({"view": view})
    ipython.run_cell("view.activate()").raise_error()
    return ipython


def test_a_parallel_sum_is_the_same_on_every_rank_and_equals_the_local_sum(rc, shell):
    view = shell.user_ns["view"]
    view.run(str(SUM))
    numbers = np.arange(16_000, dtype=float)
    view.scatter("a", numbers)
    assert np.array_equal(view.gather("a"), numbers)
    assert [len(piece) for piece in view["a"]] == [4_000] * 4
    shell.run_line_magic("px", "totalsum = psum(a)")
    assert view["totalsum"] == [numbers.sum()] * 4


def test_a_px_cell_shows_one_output_per_rank_in_the_order_of_ranks(rc, shell, capsys):
    rc[:].execute("from mpi4py import MPI", block=True)
    capsys.readouterr()
    shell.run_cell_magic("px", "--block --no-stream", "print('rank', MPI.COMM_WORLD.rank)")
    shown = plain(capsys.readouterr().out).split()
    expected = "[stdout:0] rank 0 [stdout:1] rank 1 [stdout:2] rank 2 [stdout:3] rank 3"
    assert " ".join(shown) == expected


def test_a_px_expression_shows_the_value_of_every_rank(rc, shell, capsys):
    rc[:].execute("from mpi4py import MPI", block=True)
    capsys.readouterr()
    shell.run_cell_magic("px", "--block --no-stream", "MPI.COMM_WORLD.rank * 10")
    shown = re.findall(r"Out\[(\d):\d+\]:\s*(\d+)", plain(capsys.readouterr().out))
    assert shown == [("0", "0"), ("1", "10"), ("2", "20"), ("3", "30")]


def test_pxresult_shows_the_outputs_of_a_cell_that_ran_in_the_background(rc, shell, capsys):
    shell.run_line_magic("px", "b = 3")
    shell.run_cell_magic("px", "--noblock", "print('seen', b)")
    capsys.readouterr()
    shell.run_line_magic("pxresult", "")
    assert capsys.readouterr().out.count("seen 3") == 4


def test_an_error_on_every_rank_is_one_traceback_per_rank(rc, shell):
    with pytest.raises(ipp.CompositeError) as raised:
        shell.user_ns["view"].execute("1/0")
    shown = [plain(line) for line in raised.value.render_traceback()]
    assert sum("ZeroDivisionError: division by zero" in line for line in shown) == 4
    assert [info["engine_id"] for _, _, _, info in raised.value.elist] == [0, 1, 2, 3]


def test_px_shows_the_traceback_of_every_rank_as_it_arrives(rc, shell, capsys):
    with pytest.raises(ipp.error.AlreadyDisplayedError, match="4 errors"):
        shell.run_line_magic("px", "1/0")
    shown = plain(capsys.readouterr().err)
    assert shown.count("ZeroDivisionError: division by zero") == 4
    assert all(f"[{rank}:execute]" in shown for rank in range(4))


def test_autopx_sends_every_cell_to_the_ranks_until_it_is_switched_off(rc, shell):
    shell.run_line_magic("autopx", "")
    shell.run_cell("there = 10")
    shell.run_cell("there += 1")
    shell.run_line_magic("autopx", "")
    shell.run_cell("here = 1")
    assert shell.user_ns["view"].pull("there", block=True) == [11] * 4
    assert "there" not in shell.user_ns
    assert shell.user_ns["here"] == 1
