"""execute_request and the questions about code, as the shell answers them."""

import json
import signal
import sys

import pytest


def test_the_value_of_a_cell_is_published_with_its_number(execute, recorder):
    reply = execute("6 * 7")
    assert reply["status"] == "ok"
    (result,) = recorder.contents("execute_result")
    assert result["data"] == {"text/plain": "42"}
    assert result["execution_count"] == reply["execution_count"]


def test_a_silent_cell_shows_no_value_but_runs(execute, recorder, backend):
    execute("x = 1; x", silent=True)
    assert recorder.messages == []
    assert backend.shell.user_ns["x"] == 1


def test_an_error_is_published_and_is_in_the_reply(execute, recorder):
    reply = execute("1/0")
    assert (reply["status"], reply["ename"]) == ("error", "ZeroDivisionError")
    (error,) = recorder.contents("error")
    assert error["traceback"] == reply["traceback"] != []


def test_a_syntax_error_is_an_error_too(execute):
    reply = execute("1 +")
    assert reply["ename"] == "SyntaxError"
    assert reply["traceback"]


def test_user_expressions_are_evaluated_after_the_cell(execute):
    reply = execute("y = 2", expressions={"good": "y + 1", "bad": "nothing"})
    assert reply["user_expressions"]["good"]["data"]["text/plain"] == "3"
    assert reply["user_expressions"]["bad"]["status"] == "error"


def test_await_works_at_the_top_of_a_cell(execute, backend):
    assert execute("import asyncio; z = await asyncio.sleep(0, 5)")["status"] == "ok"
    assert backend.shell.user_ns["z"] == 5


def test_display_publishes_all_its_forms(execute, recorder):
    execute("from IPython.display import display, HTML; display(HTML('<b>x</b>'))")
    (shown,) = recorder.contents("display_data")
    assert shown["data"]["text/html"] == "<b>x</b>"


def test_images_travel_as_base64(execute, recorder):
    execute("get_ipython().display_pub.publish({'image/png': b'\\x89PNG'})")
    assert recorder.contents("display_data")[0]["data"]["image/png"] == "iVBORw=="


def test_input_is_refused_clearly(execute):
    assert execute("input('name? ')")["ename"] == "StdinNotImplementedError"


@pytest.mark.parametrize("code", ["exit()", "exit", "quit()", "if True: exit()"])
def test_exit_answers_with_one_sentence_and_ends_the_engine(execute, recorder, backend, monkeypatch, code):
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    reply = execute(code)
    backend.shell.is_leaving = False  # the next test's engine
    assert reply["ename"] == "Exited"
    assert reply["evalue"] == "exit() has ended this engine: `pxcluster restart` starts the engines again"
    assert reply["traceback"] == [f"Exited: {reply['evalue']}"]
    assert recorder.is_stopped


def test_code_is_completed_inspected_and_judged(execute, backend):
    execute("abcdef = 1")
    completed = json.loads(backend.complete(b"abcd", 4))
    assert "abcdef" in completed["matches"]
    assert (completed["cursor_start"], completed["cursor_end"]) == (0, 4)
    assert json.loads(backend.inspect(b"len", 3, 0))["found"]
    assert not json.loads(backend.inspect(b"nothing_like_this", 5, 0))["found"]
    assert json.loads(backend.is_complete(b"if x:"))["status"] == "incomplete"


def test_the_history_has_the_cells_that_ran(execute, backend):
    execute("first = 1")
    request = json.dumps({"hist_access_type": "tail", "n": 5}).encode()
    history = json.loads(backend.history(request))["history"]
    assert history[-1][2] == "first = 1"


def test_clear_forgets_what_the_user_defined(execute, backend):
    execute("kept = 1")
    backend.clear()
    assert "kept" not in backend.shell.user_ns


def test_text_that_is_not_unicode_does_not_break_a_reply(execute):
    assert execute("raise ValueError('\\udc80')")["evalue"] == "?"


def test_an_interrupt_is_no_longer_the_debuggers_after_the_cell(execute):
    before = signal.getsignal(signal.SIGINT)
    taken = "import pdb, signal; signal.signal(signal.SIGINT, pdb.Pdb().sigint_handler)"
    assert execute(taken)["status"] == "ok"
    assert signal.getsignal(signal.SIGINT) == before


MET_IN_CODE_OF_NO_LINE = """
import sys, types
def frame_of_code():
    try:
        return sys._getframe()
    except ValueError:
        pass
frame = frame_of_code()
place = next(start for start, _, line in frame.f_code.co_lines() if line is None)
raise KeyboardInterrupt().with_traceback(types.TracebackType(None, frame, place, -1))
"""


@pytest.mark.skipif(sys.version_info < (3, 10), reason="before Python 3.10 each instruction has a line")
def test_an_interrupt_in_code_of_no_line_stays_an_interrupt(execute):
    """As to leave a `with`: Python has added it."""
    reply = execute(MET_IN_CODE_OF_NO_LINE)
    assert reply["ename"] == "KeyboardInterrupt"
    assert "frame_of_code" in "".join(reply["traceback"])


def test_a_notebook_numbers_the_next_cell(execute, backend, capsys):
    for number in (7, 9, 3):  # 3: the notebook's kernel was restarted
        backend.shell.user_ns["_polyxeus_next_count"] = number
        assert execute(f"{number} + 0.5")["execution_count"] == number
    assert execute("seen = (_, _9, Out[7], In[3])")["status"] == "ok"  # the engine's own number again
    assert backend.shell.user_ns["seen"] == (3.5, 9.5, 7.5, "3 + 0.5")
    backend.shell.history_manager.writeout_cache()
    assert "ERROR" not in capsys.readouterr().out  # IPython's, about numbers that a session has twice
