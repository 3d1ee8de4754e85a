"""What goes wrong: in the user's code, in a line, in the cluster."""

import re
import time


def cell(line, *code):
    return "\n".join([f"%%px {line}".strip(), *code])


def test_equal_tracebacks_are_shown_once_with_their_engines(notebook):
    notebook.fails("%px 1/0")  # the first traceback of an engine takes its time
    result = notebook.fails(cell("", "def f():", "    return 1 / 0", "f()"))
    shown = result.text("stderr")
    assert shown.count("[0-3] ZeroDivisionError: division by zero") == 1
    assert shown.count("Traceback") == 1
    assert result.reply["ename"] == "AlreadyDisplayedError"
    assert result.reply["evalue"] == "4 errors"
    assert len("".join(result.reply["traceback"])) < 200


def test_what_names_the_cell_is_shown_once_after_a_cell_of_one_engine_too(notebook):
    notebook.ok(cell("-t 0", "pass"))
    shown = notebook.ok(cell("", "import traceback, warnings", "warnings.warn('careful')",
                             "try: 1 / 0", "except ZeroDivisionError: traceback.print_exc()"))
    text = shown.text("stderr")
    assert text.startswith("[stderr:0-3] ") and text.count("[stderr") == 1, text
    assert text.count("UserWarning: careful") == text.count("ZeroDivisionError: ") == 1
    assert "except ZeroDivisionError" not in text and "try: 1 / 0" in text, "linecache has the cell"
    result = notebook.fails(cell("", "def f(): 1 / 0", "f()"))
    assert result.text("stderr").count("[0-3] ZeroDivisionError: division by zero") == 1
    assert result.text("stderr").count("Traceback") == 1


def test_the_first_failure_is_shown_while_others_still_run(notebook, tmp_path):
    gate = tmp_path / "gate"
    notebook.ok("for i in rc.ids: rc[i].push({'rank': i}, block=True)")
    code = cell("", "import os, time", "if rank == 2: raise ValueError('early')",
                f"while not os.path.exists({str(gate)!r}): time.sleep(0.01)")
    message_id, seen = notebook.begin(code), []
    notebook.await_text(message_id, seen, "[2] ValueError: early")
    gate.touch()
    result = notebook.end(message_id, seen)
    assert result.status == "error"
    assert result.reply["evalue"] == "1 error"


def test_failures_that_differ_are_all_shown(notebook):
    notebook.ok("for i in rc.ids: rc[i].push({'rank': i}, block=True)")
    shown = notebook.fails(cell("", "raise RuntimeError(f'oops {rank}')")).text("stderr")
    for rank in range(4):
        assert f"[{rank}] RuntimeError: oops {rank}" in shown
    assert shown.count("RuntimeError:") == 4
    assert shown.count("Traceback") == 1


def test_without_stream_the_error_itself_has_the_traceback_of_all_engines(notebook):
    result = notebook.fails(cell("--no-stream", "1/0"))
    assert result.text("stderr") == ""
    assert result.reply["ename"] == "CompositeError"
    traceback = "".join(result.reply["traceback"])
    assert traceback.count("[0-3:execute]:") == 1 and traceback.count("division by zero") == 1


def test_errors_that_the_text_of_a_cell_leaves_out_are_below_it(notebook):
    result = notebook.fails("from polyxeus import AsyncResult\n"
                            "AsyncResult.join(*[rc[:].execute('1/0', block=False) for _ in range(2)]).get(60)")
    assert "... 4 more exceptions ..." in "".join(result.reply["traceback"])
    shown = result.contents("display_data")[-1]["data"]
    assert shown["text/plain"] == "[0-3:execute] ZeroDivisionError: division by zero"
    assert shown["text/html"].count("<details>") == 1 and "Traceback" in shown["text/html"]
    few = notebook.fails("rc[:].execute('1/0', block=True)")
    assert few.contents("display_data") == [] and "ZeroDivisionError" in "".join(few.reply["traceback"])


def test_a_failed_cell_stops_those_that_wait(notebook):
    first = notebook.begin(cell("", "1/0"))
    second = notebook.begin("print('not run')")
    assert notebook.end(first).status == "error"
    assert notebook.end(second).text() == ""


def test_an_unknown_option_is_named_and_the_usage_shown(notebook):
    result = notebook.fails(cell("--blok", "pass"))
    assert result.error.startswith(
        "UsageError: %%px: unknown option '--blok'; did you mean --block?\nusage: %%px"
    )
    notebook.ok("%px ran = False")
    assert "did you mean --noblock?" in notebook.fails(cell("--noblok", "ran = True")).error
    assert notebook.text("%px print(ran)").count("False") and "True" not in notebook.text("%px print(ran)")
    result = notebook.fails("%pxcluster strat")
    assert "unknown command 'strat'; did you mean start?" in result.text()
    assert result.error == "UsageError: pxcluster failed with exit code 2"
    result = notebook.fails("%pxconfig --blok")
    assert result.error.startswith("UsageError: %pxconfig: unknown option '--blok'")


def test_pxresult_before_any_px_says_so(kernel_name, cluster):
    from conftest import Notebook

    notebook = Notebook(kernel_name)
    try:
        result = notebook.fails("%pxresult")
        assert "no %px has run yet" in result.error
    finally:
        notebook.close()


def test_without_a_cluster_the_cell_says_how_to_start_one(lonely_notebook):
    for code in ("%px print(1)", "%%px\nprint(1)", "%autopx", "%pxpush x", "%pxpull x"):
        lonely_notebook.ok("x = 1")
        result = lonely_notebook.fails(code)
        assert result.error == ("UsageError: no cluster is running: start one with "
                                "`%pxcluster start -n 4`"), code
    assert "NameError" in lonely_notebook.fails("rc.ids").error
    lonely_notebook.ok("%pxconfig --block --verbose -t all")


def test_rc_and_view_appear_when_a_cell_names_them(kernel_name, cluster):
    from conftest import Notebook

    notebook = Notebook(kernel_name)
    try:
        assert notebook.text("print(rc.ids, view.targets, view.block)") == "[0, 1, 2, 3] all None\n"
        assert notebook.text("rc = 'mine'\nprint(rc)") == "mine\n"
        assert notebook.text("%px print(1)") == "[0-3] 1\n"
        assert notebook.text("print(rc)") == "mine\n"
    finally:
        notebook.close()


def test_an_engine_that_dies_in_a_cell_or_a_pull_is_an_error_of_that_engine(stage, kernel_name):
    from conftest import Notebook
    from running_cluster import RunningCluster

    cluster = RunningCluster(stage, f"dying_{kernel_name}")
    cluster.start_controller()
    cluster.start_engines(3)
    cluster.client(engines=3)
    cluster.close_clients()
    notebook = Notebook(kernel_name)
    try:
        notebook.ok(f"%pxconfig --profile dying_{kernel_name}")
        notebook.ok("for i in rc.ids: rc[i].push({'rank': i}, block=True)\nkept = 42")
        notebook.ok(cell("", "import os", "class Fatal:",
                         "    def __reduce__(self): os._exit(1)",
                         "x = Fatal() if rank == 1 else rank"))
        result = notebook.fails("%pxpull x")
        assert re.search(r"\[1\] EngineError: Engine 1 on \S+ died", result.text("stderr"))
        assert notebook.text("print(kept)") == "42\n"
        shown = notebook.fails(cell("-t 2", "os._exit(1)")).text("stderr")
        assert re.search(r"\[2\] EngineError: Engine 2 on \S+ died", shown)
        assert notebook.text("%px print(kept if 'kept' in globals() else rank)") == "[stdout:0] 0\n"
    finally:
        notebook.close()
        cluster.stop()
