"""What the ranks print, show and raise, and that all of it reaches the client."""

import asyncio

import ipyparallel as ipp
import pytest


@pytest.fixture
def rc(rc):
    """Every engine knows its rank."""
    rc[:].scatter("rank", rc.ids, flatten=True, block=True)
    return rc


def test_the_output_of_every_rank_arrives_under_its_engine(rc):
    answer = rc[:].execute("import sys; print('out', rank); print('err', rank, file=sys.stderr)")
    answer.get(60)
    assert answer.wait_for_output(20)
    assert answer.stdout == [f"out {rank}\n" for rank in range(4)]
    assert answer.stderr == [f"err {rank}\n" for rank in range(4)]
    assert answer.engine_id == [0, 1, 2, 3]


def test_the_output_of_an_apply_arrives_too(rc):
    @ipp.interactive
    def speak(text):
        print(text)
        return len(text)

    answer = rc[2].apply_async(speak, "hello")
    assert answer.get(60) == 5
    assert answer.wait_for_output(20)
    assert answer.stdout == "hello\n"


def test_much_output_arrives_complete_and_in_order(rc):
    answer = rc[1].execute("for n in range(20_000): print(n)")
    answer.get(60)
    assert answer.wait_for_output(30)
    assert answer.stdout.split() == [str(n) for n in range(20_000)]


def test_the_value_of_a_cell_is_its_execute_result_on_every_rank(rc):
    answer = rc[:].execute("rank ** 2", silent=False)
    results = answer.get(60)
    assert answer.wait_for_output(20)
    assert [result.execute_result["data"]["text/plain"] for result in results] == [
        "0",
        "1",
        "4",
        "9",
    ]


def test_a_silent_cell_has_no_value_and_counts_up_no_execution(rc):
    before = rc[0].execute("1", silent=False).get(60).execution_count
    assert rc[0].execute("2", silent=True).get(60).execute_result is None
    assert rc[0].execute("3", silent=False).get(60).execution_count == before + 1


def test_the_error_of_one_rank_is_raised_with_its_place_and_the_others_answer(rc):
    answer = rc[:].execute("if rank == 2: raise KeyError('only me')\nfine = True")
    with pytest.raises(ipp.CompositeError) as raised:
        answer.get(20)
    assert len(raised.value.elist) == 1
    name, value, traceback, where = raised.value.elist[0]
    assert (name, value) == ("KeyError", "'only me'")
    assert "only me" in traceback
    assert (where["engine_id"], where["method"]) == (2, "execute")
    assert rc[[0, 1, 3]]["fine"] == [True] * 3


def test_an_error_of_an_apply_is_a_remote_error_with_name_value_and_engine(rc):
    @ipp.interactive
    def fail(x):
        return x / 0

    with pytest.raises(ipp.RemoteError) as raised:
        rc[3].apply_sync(fail, 1)
    error = raised.value
    assert (error.ename, error.evalue) == ("ZeroDivisionError", "division by zero")
    assert (error.engine_info["engine_id"], error.engine_info["method"]) == (3, "apply")
    assert "ZeroDivisionError" in error.traceback


def test_a_syntax_error_is_the_users_error(rc):
    with pytest.raises(ipp.RemoteError, match="SyntaxError"):
        rc[0].execute("this is = not python").get(20)
    assert rc[0].apply_sync(len, "ok") == 2


def test_rich_display_carries_all_its_representations(rc):
    code = """
from IPython.display import HTML, Math, display
display(HTML('<b>bold</b>'))
display(Math('x^2'))
"""
    answer = rc[:2].execute(code)
    answer.get(60)
    assert answer.wait_for_output(20)
    for shown in answer.outputs:
        assert shown[0]["data"]["text/html"] == "<b>bold</b>"
        assert "x^2" in shown[1]["data"]["text/latex"]


def test_a_figure_arrives_as_a_png_when_the_cell_ends(rc):
    code = """
%matplotlib inline
import matplotlib.pyplot as plt
plt.plot([1, 2, 3]);
"""
    answer = rc[0].execute(code)
    answer.get(60)
    assert answer.wait_for_output(20)
    images = [shown["data"] for shown in answer.outputs if "image/png" in shown["data"]]
    assert len(images) == 1
    assert images[0]["image/png"].startswith("iVBOR")


@pytest.mark.better_than_reference("a cell that awaits never ends there")
def test_a_cell_may_await(rc):
    rc[0].execute("import asyncio; await asyncio.sleep(0); awaited = 5").get(60)
    assert rc[0]["awaited"] == 5


def test_shell_commands_and_magics_work_in_cells(rc):
    answer = rc[0].execute("!echo from the shell")
    answer.get(60)
    answer.wait_for_output(20)
    assert "from the shell" in answer.stdout
    rc[0].execute("%cd -q /\nimport os; where = os.getcwd()").get(60)
    assert rc[0]["where"] == "/"


def test_published_data_reaches_the_client_while_the_task_runs(rc):
    code = "from ipyparallel.datapub import publish_data; publish_data({'step': rank})"
    answer = rc[:].execute(code)
    answer.get(60)
    assert answer.wait_for_output(20)
    assert answer.data == [{"step": rank} for rank in range(4)]


def test_an_answer_can_be_awaited_in_an_event_loop(rc):
    async def both():
        return await asyncio.wait_for(asyncio.wrap_future(rc[0].apply_async(len, "abc")), 20)

    assert asyncio.run(both()) == 3


def test_a_result_tells_when_and_where_it_was_made(rc):
    answer = rc[1].apply_async(len, "abc")
    assert answer.get(60) == 3
    metadata = answer.metadata
    assert metadata["engine_id"] == 1
    assert metadata["status"] == "ok"
    assert metadata["submitted"] <= metadata["started"] <= metadata["completed"]
    assert answer.elapsed >= 0
