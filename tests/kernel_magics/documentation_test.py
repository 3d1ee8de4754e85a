"""The examples of ipyparallel's page on magics, one after the other, with polyxeus as `ipp`."""

import re

import pytest
from conftest import Notebook
from running_cluster import RunningCluster

WHERE = "Parallel execution on engine(s): "


@pytest.fixture(scope="module")
def page(kernel_name, cluster):
    """The notebook of the page: it makes a Client, nothing more."""
    notebook = Notebook(kernel_name, has_magics=False)
    notebook.ok("import polyxeus as ipp\nrc = ipp.Client()\ndv = rc[:]")
    notebook.ok("%pxconfig --verbose --no-fold")
    yield notebook
    notebook.close()


@pytest.fixture(autouse=True)
def as_at_the_start(page):
    page.ok("_ = rc.activate()\n%pxconfig --verbose --no-fold -t all --block")


def lines(text):
    """Where it runs, then what engines print, whichever comes first."""
    first, *others = text.splitlines()
    return [first, *sorted(others)]


def labelled(engines, text):
    return [f"[stdout:{engine}] {text}" for engine in engines]


def values(result):
    """The values of the engines by their ids."""
    found = (re.fullmatch(r"Out\[(\d+):\d+\]: (.*)", text, re.S) for text in result.displays)
    return {int(match[1]): match[2] for match in found if match}


# ---------------------------------------------------------------- the magics


def test_a_client_brings_the_magics_with_it(kernel_name, cluster):
    notebook = Notebook(kernel_name, has_magics=False)
    try:
        notebook.ok("import polyxeus as ipp\nrc = ipp.Client()")
        assert notebook.text("%px print('hi')") == "[0-3] hi\n"
        view = notebook.text("%pxconfig --verbose\n%px pass")
        assert view == WHERE + "all\n"
    finally:
        notebook.close()


def test_all_are_those_that_are_there_when_it_runs(stage, kernel_name):
    cluster = RunningCluster(stage, f"growing_{kernel_name}")
    cluster.start_controller()
    cluster.start_engines(1)
    client = cluster.client(engines=1)
    notebook = Notebook(kernel_name)
    try:
        notebook.ok(f"%pxconfig --profile growing_{kernel_name}")
        assert notebook.text("%px print('hi')") == "[stdout:0] hi\n"
        cluster.start_engines(1)
        cluster.wait_for_engines(client, 2)
        notebook.ok("rc.wait_for_engines(2, timeout=60)")
        assert notebook.text("%px print('hi')") == "[0,1] hi\n"
    finally:
        notebook.close()
        cluster.stop()


def test_sync_imports_then_a_computation_everywhere(page):
    said = page.text("with rc[:].sync_imports():\n    import numpy")
    assert said == "importing numpy on engine(s)\n"
    assert page.text("%px a = numpy.random.rand(2,2)") == WHERE + "all\n"
    shown = values(page.ok("%px numpy.linalg.eigvals(a)"))
    assert sorted(shown) == [0, 1, 2, 3]
    assert all(text.startswith("array([") for text in shown.values())
    assert len(set(shown.values())) == 4
    assert lines(page.text("%px print('hi')")) == [WHERE + "all", *labelled(range(4), "hi")]


def test_magics_run_on_the_engines_and_plots_arrive(page):
    result = page.ok("%px %pylab inline")
    said = "Populating the interactive namespace from numpy and matplotlib"
    assert result.text().count(said) == 4
    result = page.ok("%px plot(rand(100))")
    figures = [each for each in result.contents("display_data") if "image/png" in each["data"]]
    assert sorted(each["metadata"]["engine"] for each in figures) == [0, 1, 2, 3]
    shown = values(result)
    assert sorted(shown) == [0, 1, 2, 3]
    assert all("matplotlib.lines.Line2D" in text for text in shown.values())


# ---------------------------------------------------------------- targets and blocking


def test_targets_of_a_cell(page):
    even = page.text("%%px --targets ::2\nprint('I am even')")
    assert lines(even) == [WHERE + "[0, 2]", *labelled([0, 2], "I am even")]
    one = page.text("%%px --targets 1\nprint('I am number 1')")
    assert lines(one) == [WHERE + "1", "[stdout:1] I am number 1"]
    every = page.text("%%px\nprint(\"still 'all' by default\")")
    assert lines(every) == [WHERE + "all", *labelled(range(4), "still 'all' by default")]


def test_noblock_gives_an_async_result_and_pxresult_shows_it(page):
    result = page.ok("%%px --noblock\nimport time\ntime.sleep(1)\ntime.time()")
    assert result.text() == "Async parallel execution on engine(s): all\n"
    value, = result.contents("execute_result")
    assert value["data"]["text/plain"].startswith("<AsyncResult")
    shown = values(page.ok("%pxresult"))
    assert sorted(shown) == [0, 1, 2, 3]
    assert all(float(text) > 1e9 for text in shown.values())


def test_outputs_in_groups_by_engine(page):
    result = page.ok("%%px --block --group-outputs=engine\nimport numpy as np\n"
                     "A = np.random.random((2,2))\nev = np.linalg.eigvals(A)\nprint(ev)\nev.max()")
    shown = [each["content"] for each in result.messages
             if each["msg_type"] in ("stream", "display_data")]
    text = "".join(each.get("text") or each["data"]["text/plain"] for each in shown)
    heads = re.findall(r"\[stdout:\d\]|Out\[\d", text)
    assert heads == [head for i in range(4) for head in (f"[stdout:{i}]", f"Out[{i}")]


# ---------------------------------------------------------------- %pxresult, %autopx, %pxconfig


def test_pxresult_after_the_view_does_not_block(page):
    page.ok("v = rc.activate()\nv.block = False\n%pxconfig --verbose")
    assert page.text("%px print('hi')") == "Async parallel execution on engine(s): all\n"
    assert lines(page.text("%pxresult")) == labelled(range(4), "hi")
    shown = page.text("%pxresult --group-outputs=engine")
    assert lines(shown) == labelled(range(4), "hi")


def test_autopx_with_a_loop(page):
    assert page.text("%autopx") == "%autopx enabled\n"
    page.ok("import numpy\nmax_evals = []")
    page.ok("for i in range(100):\n    a = numpy.random.rand(10,10)\n    a = a+a.transpose()\n"
            "    evals = numpy.linalg.eigvals(a)\n    max_evals.append(evals[0].real)\n")
    said = page.text('print("Average max eigenvalue is: %f" % (sum(max_evals)/len(max_evals)))')
    averages = re.findall(r"\[stdout:(\d)\] Average max eigenvalue is: (10\.\d+|9\.\d+)", said)
    assert sorted(engine for engine, _ in averages) == ["0", "1", "2", "3"]
    assert page.text("%autopx") == "%autopx disabled\n"
    assert "NameError" in page.fails("max_evals").error


def test_pxconfig_changes_the_defaults_one_by_one(page):
    page.ok("%pxconfig --block")
    assert lines(page.text("%px print('hi')")) == [WHERE + "all", *labelled(range(4), "hi")]
    page.ok("%pxconfig --targets ::2")
    assert lines(page.text("%px print('hi')")) == [WHERE + "[0, 2]", *labelled([0, 2], "hi")]
    page.ok("%pxconfig --noblock")
    result = page.ok("%px print('are you there?')")
    assert result.text() == "Async parallel execution on engine(s): [0, 2]\n"
    assert result.contents("execute_result")[0]["data"]["text/plain"].startswith("<AsyncResult")
    assert lines(page.text("%pxresult")) == labelled([0, 2], "are you there?")


# ---------------------------------------------------------------- several views


def test_activate_makes_another_view_the_active_one(page):
    page.ok("even = rc[::2]\neven.activate()\n%pxconfig --verbose --no-fold")
    result = page.ok("%px print('hi')")
    assert result.text() == "Async parallel execution on engine(s): [0, 2]\n"
    assert result.contents("execute_result")
    page.ok("even.block = True")
    assert lines(page.text("%px print('hi')")) == [WHERE + "[0, 2]", *labelled([0, 2], "hi")]


def test_a_suffix_gives_a_view_magics_beside_the_others(page):
    page.ok("even = rc[::2]\neven.block = True")
    shown = page.ok("rc.activate()").contents("execute_result")
    assert shown[0]["data"]["text/plain"] == "<DirectView all>"
    page.ok("even.activate('_even')\n%pxconfig --verbose --no-fold\n"
            "%pxconfig_even --verbose --no-fold")
    assert lines(page.text("%px print('hi all')")) == [WHERE + "all", *labelled(range(4), "hi all")]
    said = page.text("%px_even print(\"We aren't odd!\")")
    assert lines(said) == [WHERE + "[0, 2]", *labelled([0, 2], "We aren't odd!")]
    for name in ("%autopx_even", "%pxresult_even", "%pxconfig_even"):
        page.ok(f"{name}?")


# ---------------------------------------------------------------- engines as kernels


def test_a_console_can_connect_to_each_engine(page):
    page.ok("%px import ipyparallel as ipp; _ = ipp.bind_kernel()")
    files = set(re.findall(r"console --existing (kernel-\d+\.json)", page.text("%px %connect_info")))
    assert len(files) == 4


def test_noninteractive_sessions_show_output_at_the_end(kernel_name, cluster):
    notebook = Notebook(kernel_name, IPP_NONINTERACTIVE="1")
    try:
        text = notebook.text("%px print('hi')")
        assert text.splitlines() == labelled(range(4), "hi")
        assert notebook.text("%%px --stream\nprint('hi')") == "[0-3] hi\n"
    finally:
        notebook.close()
