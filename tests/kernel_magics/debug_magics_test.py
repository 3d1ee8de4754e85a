"""%pxdebug, %debug and breakpoint() in notebooks: the user answers prompts of engines by the notebook's own input."""

import time
from queue import Empty

import pytest
from conftest import PATIENCE, Cell, Notebook, plain


@pytest.fixture(scope="module")
def debugged(kernel_name, cluster):
    """A notebook of its own, because a kernel says only once what %pxdebug is for."""
    notebook = Notebook(kernel_name)
    notebook.ok("rc = None\nimport polyxeus\nrc = polyxeus.Client()")
    yield notebook
    notebook.close()


@pytest.fixture(autouse=True)
def no_engine_waits_afterwards(debugged):
    """A failure is not to block the tests after it."""
    yield
    debugged.run("rc.interrupt(block=True)\nrc.wait(timeout=60)")


def answered(notebook, code, lines):
    """Runs a cell whose user types these lines: (the cell, the prompts that he saw)."""
    message_id = notebook.client.execute(code, allow_stdin=True)
    lines, prompts, messages = list(lines), [], []
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            asked = notebook.client.get_stdin_msg(timeout=0.05)
            prompts.append(asked["content"]["prompt"])
            assert lines, f"asked for more: {prompts}"
            notebook.client.input(lines.pop(0))
        except Empty:
            pass
        try:
            message = notebook.client.get_iopub_msg(timeout=0.05)
        except Empty:
            assert time.monotonic() < deadline, f"not in time: {prompts}, {[each['content'] for each in messages]}"
            continue
        if message["parent_header"].get("msg_id") != message_id:
            continue
        messages.append(message)
        if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
            break
    while True:
        reply = notebook.client.get_shell_msg(timeout=PATIENCE)
        if reply["parent_header"].get("msg_id") == message_id:
            return Cell(reply, messages), prompts


def test_a_failure_says_once_how_to_look_into_it(debugged):
    failed, _ = answered(debugged, "%px 1 / 0", [])
    assert failed.status == "error"
    assert failed.text("stderr").count("`%pxdebug 0` looks into this error on its engine.") == 1
    again, _ = answered(debugged, "%px 1 / 0", [])
    assert again.status == "error" and "%pxdebug" not in again.text("stderr")


@pytest.mark.parametrize("line", ["%pxdebug 2", "%pxdebug", "%debug"])
def test_the_last_error_of_an_engine_is_looked_into(debugged, line):
    debugged.fails("%%px --targets 2\ndef total(parts):\n    count = len(parts)\n    return 1 / count\ntotal([])")
    cell, prompts = answered(debugged, line, ["p count", "u", "q"])
    assert cell.status == "ok", cell.error
    text = cell.text()
    assert "[2] ZeroDivisionError: division by zero\n" in text and "[2] -> return 1 / count\n" in text
    assert "[2] 0\n" in text and "parallel_magics" not in text and prompts == ["[2] (Pdb) "] * 3


def test_several_engines_share_a_prompt(debugged):
    debugged.ok("view = rc[:]\nview.scatter('me', range(4), flatten=True, block=True)")
    debugged.fails("%px 1 / (me - me)")
    cell, prompts = answered(debugged, "%pxpdb 0-3", ["p 7", "p me > 2", "@1 p me", "q"])
    text = cell.text()
    assert "[0-3] 7\n" in text and "[0-2] False\n[3] True\n" in text and "[1] 1\n" in text
    assert prompts == ["[0-3] (Pdb) "] * 4


def test_a_breakpoint_in_a_cell_stops_its_rank(debugged):
    code = "%%px\nx = 5\nif me == 2:\n    breakpoint()\nprint('x is', x)"
    cell, prompts = answered(debugged, code, ["!x = 6", "n", "c"])
    assert cell.status == "ok", cell.error
    assert "Engine 2 stopped at a breakpoint in cell line 3; the others go on" in cell.text()
    assert "[2] -> breakpoint()\n" in cell.text() and prompts == ["[2] (Pdb) "] * 3
    shown = plain("".join(cell.displays) + cell.text())
    assert "x is 6" in shown and "x is 5" in shown


def test_a_breakpoint_in_called_code_stops_there(debugged):
    debugged.ok("def work(x):\n    y = x + 1\n    breakpoint()\n    return y")
    cell, _ = answered(debugged, "print(rc[1].apply_sync(work, 4))", ["p y", "c"])
    assert cell.status == "ok" and "[1] 5\n" in cell.text() and cell.text().endswith("5\n")
    assert "line 3 of work()" in cell.text()


def test_a_cell_that_does_not_wait_asks_later(debugged, tmp_path):
    gate = tmp_path / "gate"  # the engine stops when the cell has ended
    wait = f"import os, time\nwhile not os.path.exists({str(gate)!r}): time.sleep(0.01)"
    answered(debugged, f"%%px --noblock --targets 3\n{wait}\nbreakpoint()\nlate = 1", [])
    gate.touch()
    waits = "import time\nend = time.monotonic() + 30\nwhile not rc._comms.prompts.stopped() and time.monotonic() < end:\n    time.sleep(0.05)"
    answered(debugged, waits, [])
    cell, prompts = answered(debugged, "%pxdebug", ["c"])
    assert cell.status == "ok", cell.error
    assert "stopped at a breakpoint in cell line 3" in cell.text() and prompts == ["[3] (Pdb) "]
    assert debugged.text("print(rc[3]['late'])") == "1\n"


def test_the_stop_button_ends_a_cell_at_its_prompt(debugged):
    message_id = debugged.client.execute("%%px --targets 0\nbreakpoint()", allow_stdin=True)
    debugged.client.get_stdin_msg(timeout=PATIENCE)
    debugged.interrupt()
    cell = debugged.end(message_id)
    assert cell.status == "error"
    assert debugged.text("print(rc[0].apply_sync(abs, -3))") == "3\n"


def test_a_notebook_without_a_user_is_not_stopped(debugged):
    cell = debugged.ok("%%px --targets 1\nbreakpoint()\nprint('went on')")
    assert "went on" in cell.text()
    assert "breakpoint() in cell line 1 did not stop: its " in cell.text("stderr")
    assert "Engine 1 stopped" not in cell.text()
    refused = debugged.run("%pxdebug 1")
    assert "%pxdebug cannot ask for commands: its notebook runs without" in refused.error + refused.text("stderr")


def test_wrong_lines_say_what_to_write(debugged):
    for line, said in (("%pxdebug two", "'two' names no engines: write them like 2 or 0-3,5"),
                       ("%pxdebug 9", "there is no engine 9; there are [0, 1, 2, 3]")):  # fmt: skip
        cell, _ = answered(debugged, line, [])
        assert said in cell.error + cell.text("stderr"), cell.error


def test_debug_of_an_error_of_the_notebook_itself_is_ipythons(debugged):
    debugged.fails("mine = 3\nraise ValueError('of the notebook')")
    cell, prompts = answered(debugged, "%debug", ["p mine", "q"])
    assert "3" in cell.text() + "".join(prompts) and "of engine" not in cell.text()
