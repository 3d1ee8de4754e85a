"""%pxmode: cells without a magic run on engines, in ipykernel and in pxkernel."""

import os
import re
from pathlib import Path

import nbformat
import pytest
from conftest import KERNELS, PATIENCE, Notebook
from nbclient import NotebookClient

RANKS = "for i in rc.ids: rc[i].push({'rank': i}, block=True)"


@pytest.fixture(autouse=True)
def fresh_engines(cluster):
    """Other tests leave names on the engines: `round` of numpy by %pylab; a `_` of their own, which IPython then leaves as it is."""
    rc = cluster.client(engines=4)
    rc[:].execute("for each in ('_', '__', '___'): globals().pop(each, None)", block=False).get(PATIENCE)
    rc[:].clear(block=True)
    cluster.close_clients()


@pytest.fixture
def everywhere(notebook):
    """A notebook whose cells run on all engines."""
    notebook.ok(RANKS)
    assert notebook.text("%pxmode all") == "cells run on all engines (4 engines)\n"
    yield notebook
    assert notebook.text("%pxmode here") == "cells run here, in the notebook's kernel\n"


def test_cells_run_on_all_engines_as_px_runs_them(everywhere):
    everywhere.ok("import os\nsquare = rank * rank")
    assert everywhere.text("print('ready')") == "[0-3] ready\n"
    assert sorted(everywhere.text("print(square)").splitlines()) == [f"[stdout:{i}] {i * i}" for i in range(4)]
    assert everywhere.ok("6 * 7").displays == ["Out[0-3]: 42"]
    assert everywhere.text("%px print('line')") == "[0-3] line\n"
    assert everywhere.text("%%px -t 1\nprint('cell')") == "[stdout:1] cell\n"
    failed = everywhere.fails("if rank == 2: raise ValueError('no luck')")
    assert "[2] ValueError: no luck" in failed.text("stderr")
    assert everywhere.text("%%here\nprint('square' in globals())") == "False\n"


def engines_that_print(line, text):
    """The engines of a text's labels, as "[0,2-3] line" or "[stdout:1] line": engines whose output comes later have a
    label of their own."""
    engines = set()
    for each in text.splitlines():
        label = re.fullmatch(rf"\[(?:stdout:)?([\d,-]+)\] {re.escape(line)}", each)
        for part in label[1].split(","):
            first, _, last = part.partition("-")
            engines |= set(range(int(first), int(last or first) + 1))
    return engines


def test_ipythons_syntax_and_await_run_there(everywhere):
    assert engines_that_print("21", everywhere.text("!echo $((20 + 1))")) == {0, 1, 2, 3}
    assert "[0-3] CPU times" in everywhere.text("%%time\npass") or "Wall time" in everywhere.text("%%time\npass")
    everywhere.ok("import asyncio\nasync def later():\n    await asyncio.sleep(0)\n    return 5")
    assert everywhere.ok("await later()").displays == ["Out[0-3]: 5"]
    everywhere.ok("text = !echo told")
    assert everywhere.text("print(text)") == "[0-3] ['told']\n"


def test_numbers_of_cells_are_those_of_the_notebook(everywhere):
    value = everywhere.ok("rank + 100")
    number = value.reply["execution_count"]
    assert value.displays == [f"Out[{i}:{number}]: {i + 100}" for i in range(4)]
    everywhere.ok("pass")
    same = f"print(_ == Out[{number}] == _{number}, In[{number}], In[-2], sep='; ')"
    assert everywhere.text(same) == "[0-3] True; rank + 100; pass\n"


def test_some_engines(everywhere):
    assert everywhere.text("%pxmode 1-2") == "cells run on engines 1-2 (2 engines)\n"
    assert everywhere.text("print('some')") == "[1,2] some\n"
    everywhere.ok("%pxmode 3")
    assert everywhere.text("print('one')") == "[stdout:3] one\n"
    assert everywhere.text("%pxmode") == "cells run on engine 3\n"
    assert "there is no engine 4" in everywhere.fails("%pxmode 0-4").error
    assert "is not a mode" in everywhere.fails("%pxmode some").error
    assert everywhere.text("print('one')") == "[stdout:3] one\n", "the mode is as it was"


def test_autopx_is_the_mode_view(notebook):
    notebook.ok("%pxconfig -t 1,3")
    assert notebook.text("%pxmode view") == "cells run on the engines of %pxconfig (2 engines)\n"
    assert notebook.text("print(1)") == "[1,3] 1\n"
    assert notebook.text("%autopx") == "%autopx disabled\n"
    assert notebook.text("%autopx") == "%autopx enabled\n"
    assert notebook.text("%pxmode") == "cells run on the engines of %pxconfig (2 engines)\n"
    notebook.ok("%pxmode here")
    assert notebook.text("print(1)") == "1\n"


def test_the_mode_is_for_later_cells(everywhere):
    failed = everywhere.fails("%pxmode here\nx = 1")
    assert "move the other lines of this cell to the next cell" in failed.error
    assert everywhere.text("print(1)") == "[0-3] 1\n"


def test_a_magic_of_ours_below_other_code_says_where_it_works(everywhere):
    failed = everywhere.fails("x = 1\n%pxpull x")
    assert failed.text("stderr").endswith("%pxpull works in the notebook's kernel: put it into a cell of its own\n")


def test_cells_in_cells_and_silent_ones_run_here(everywhere):
    assert everywhere.text("%%here\nget_ipython().run_cell('print(1)')\nprint(2)") == "1\n2\n"
    assert "[" not in everywhere.text("%%here\n%%capture x\nprint(3)\n")
    assert everywhere.text("%%here\nprint(x.stdout)") == "3\n\n"
    here, there = everywhere.text("%%px --local\nprint(4)"), ["4\n", "[0-3] 4\n"]
    assert here in ("".join(there), "".join(reversed(there)))
    message = everywhere.client.execute("unseen = 5", silent=True, store_history=False)
    everywhere.end(message)
    assert everywhere.text("%%here\nprint(unseen)") == "5\n"


def test_names_of_engines_are_completed_and_described(everywhere):
    everywhere.ok("only_there = 8")
    reply = everywhere.client.complete("only_th", reply=True, timeout=PATIENCE)
    assert "only_there" in reply["content"]["matches"]
    reply = everywhere.client.inspect("only_there", reply=True, timeout=PATIENCE)
    assert reply["content"]["found"] and "int" in reply["content"]["data"]["text/plain"]
    assert everywhere.client.complete("%pxmode h", reply=True, timeout=PATIENCE)["content"]["matches"] == ["here"]
    reply = everywhere.client.complete("%%here\nonly_th", reply=True, timeout=PATIENCE)
    assert "only_there" not in reply["content"]["matches"]


def test_without_a_cluster_cells_fail_until_there_is_one(lonely_notebook):
    said = lonely_notebook.ok("%pxmode all").text("stderr")
    assert "cells are to run on all engines, but no cluster is running: start one with `%pxcluster start -n 4`" in said
    failed = lonely_notebook.fails("x = 1")
    assert failed.error == "UsageError: no cluster is running: start one with `%pxcluster start -n 4`"
    lonely_notebook.ok("%pxmode here")
    assert lonely_notebook.text("print(2)") == "2\n"


def test_the_environment_sets_the_mode_and_says_what_is_wrong_with_it(kernel_name, cluster):
    notebook = Notebook(kernel_name, POLYXEUS_MODE="0-1")
    try:
        assert notebook.text("print(1)") == "[0,1] 1\n"
    finally:
        notebook.close()


def test_the_toolbar_of_jupyterlab_sets_and_reads_the_mode(kernel_name, cluster):
    source = (Path(__file__).parents[2] / "labextension/src/modes.ts").read_text()
    code = re.search(r"return `(%load_ext.*)\$\{mode\}`", source)[1].replace("\\n", "\n")
    expression = re.search(r'MODE_EXPRESSION = "(.*)";', source)[1]
    notebook = Notebook(kernel_name, has_magics=False)

    def mode(code):
        message = notebook.client.execute(code, silent=True, store_history=False, user_expressions={"mode": expression})
        return notebook.end(message).reply["user_expressions"]["mode"]["data"]["text/plain"]

    try:
        assert mode("") == "'here'"
        assert mode(f"{code}1-2") == "'1-2'"
        assert notebook.text("print(1)") == "[1,2] 1\n"
        assert mode(f"{code}here") == "'here'"
        assert notebook.text("print(1)") == "1\n"
    finally:
        notebook.close()


# Written for one process: nothing in it says where it runs.
STORY = ["import math\nvalues = [n / 7 for n in range(14)]",
         "total = math.fsum(values)\ntotal",
         "%matplotlib inline\nlines = !echo one two",
         "async def double(x):\n    return 2 * x\nawait double(round(_ + 1))",
         "print(lines, Out[2] == total, In[2].count('total'))"]
VALUES = ["13.0", "28"]
PRINTED = "['one two'] True 2\n"


@pytest.mark.parametrize("mode, kernel, values, printed", [
    ("all", "pxkernel", [f"Out[0-3]: {each}" for each in VALUES], f"[0-3] {PRINTED}"),
    ("", "pxkernel", VALUES, PRINTED), ("", "ipykernel", VALUES, PRINTED)])
def test_a_notebook_for_one_process_runs_unchanged(cluster, monkeypatch, mode, kernel, values, printed):
    monkeypatch.setenv("POLYXEUS_MODE", mode)
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(each) for each in STORY])
    NotebookClient(book, kernel_name=KERNELS[kernel], timeout=PATIENCE).execute(env=dict(os.environ))
    outputs = [output for cell in book.cells for output in cell.outputs]
    shown = [re.sub(r"\x1b\[[0-9;]*m", "", each.data["text/plain"]) for each in outputs if each.get("data")]
    assert shown == values
    assert "".join(each.text for each in outputs if each.output_type == "stream") == printed


def test_variables_of_engines_are_compared(everywhere):
    everywhere.ok("import math\ncount, own = 10, rank * 1.5")
    everywhere.ok("%pxmode 0-1")
    (shown,) = everywhere.ok("%pxvars own count").contents("display_data")
    assert shown["data"]["text/plain"].splitlines() == ["differs  [0]  [1]", "own      0.0  1.5", "", "equal  [0,1]", "count  10"]
    assert "<td>own</td><td>0.0</td><td>1.5</td>" in shown["data"]["text/html"]
    assert "math" not in everywhere.ok("%pxvars").displays[0]
