"""breakpoint() and post-mortem in an engine, without a cluster: a client that answers from a list."""

import ast
import json
import linecache
import sys
import types

import pytest

from polyxeus.engine import debugger, place
from polyxeus.engine.debugger import frames, hook

CELL = "<ipython-input-0a1b2c>"


class Engine:
    """What the C++ core does for the debugger. The client accepts prompts, or refuses them, and has some lines to say."""

    allows_input = False

    def __init__(self):
        self.lines = []
        self.refusal = None
        self.is_silent = False
        self.published = []
        self.stale = []  # answers to earlier questions, which come first

    def expect_answer(self):
        pass

    def publish(self, message_type, content, metadata, buffers):
        content = json.loads(content)
        assert (message_type, content["comm_id"]) == ("comm_msg", "polyxeus.debugger")
        self.published.append(content["data"])

    def wait_answer(self, seconds=None):
        asked = self.published[-1]
        if self.stale:
            return json.dumps(self.stale.pop())
        if self.is_silent:
            assert seconds is not None, "this would wait for ever"
            return None
        answer = {"prompt": asked["number"]}
        if self.refusal:
            return json.dumps({**answer, "refused": self.refusal})
        if asked["kind"] == "stopped":
            return json.dumps({**answer, "accepted": True})
        line = self.lines.pop(0)
        if line is KeyboardInterrupt:
            raise KeyboardInterrupt
        self.seen = debugger.place_of_stop()
        return json.dumps({**answer, **({"eof": True} if line is None else {"value": line})})

    @property
    def text(self):
        return "".join(each.get("text", "") for each in self.published)

    @property
    def kinds(self):
        return [each["kind"] for each in self.published]


@pytest.fixture
def engine(monkeypatch):
    engine = Engine()
    kernel = types.SimpleNamespace(parent_header={"msg_id": "m_1"})
    monkeypatch.setattr(sys, "breakpointhook", sys.breakpointhook)
    monkeypatch.delenv("PYTHONBREAKPOINT", raising=False)
    monkeypatch.setattr(frames, "is_internal", lambda frame: not frame.f_code.co_filename.startswith("<ipython-"))
    debugger.install(types.SimpleNamespace(kernel=kernel), engine)
    yield engine
    debugger.end_request()
    monkeypatch.setattr(hook, "_last", None)


def run(source, names=None):
    """Runs a cell as IPython does: each statement as a module of its own."""
    linecache.cache[CELL] = (len(source), None, source.splitlines(keepends=True), CELL)
    names = {} if names is None else names
    try:
        for statement in ast.parse(source).body:
            exec(compile(ast.Module([statement], []), CELL, "exec"), names)
    except Exception as error:
        debugger.remember(error, error.__traceback__)
        raise
    finally:
        debugger.end_request()
    return names


def test_breakpoint_stops_at_the_line_of_the_user_and_continues(engine):
    engine.lines = ["p x", "x = 5", "c"]
    assert run("x = 2\nbreakpoint()\ny = x * x\n")["y"] == 25
    assert engine.kinds == ["stopped", "prompt", "prompt", "prompt", "left"]
    first = engine.published[0]
    assert (first["why"], first["place"]["line"], first["place"]["is_cell"]) == ("breakpoint", 2, True)
    assert engine.text == f"> {CELL}(2)<module>()\n-> breakpoint()\n2\n"
    assert {each["prompt"] for each in engine.published if each["kind"] == "prompt"} == {"(Pdb) "}
    assert sys.gettrace() is None


def test_variables_of_a_function_can_be_changed(engine):
    engine.lines = ["!x = 7", "p x", "n", "x = x + 1", "c"]
    names = run("def f(x):\n    breakpoint()\n    y = x\n    return x + y\nresult = f(1)\n")
    assert names["result"] == 16 and "7\n" in engine.text


def test_the_stack_has_no_frames_but_those_of_the_user(engine):
    engine.lines = ["w", "u", "p here", "c"]
    run("def f(n):\n    breakpoint()\nhere = 'cell'\nf(1)\n")
    assert engine.text.count("(4)<module>()") == 2 and "'cell'" in engine.text
    assert "debugger_test.py" not in engine.text.split("-> breakpoint()")[0]
    assert "pytest" not in engine.text


def test_next_and_step_go_through_the_code_and_end_with_it(engine):
    engine.lines = ["n", "n", "s", "n", "n", "n", "n"]
    names = run("def double(v):\n    return v + v\nbreakpoint()\na = 1\nb = double(a)\nc = 3\n")
    shown = [line.removeprefix(f"> {CELL}") for line in engine.text.splitlines() if line.startswith("> ")]
    assert shown == ["(3)<module>()", "(4)<module>()", "(5)<module>()", "(1)double()", "(2)double()", "(2)double()->2",
                     "(6)<module>()"]  # fmt: skip
    assert sys.gettrace() is None and engine.kinds[-1] == "left"
    assert "__return__" not in names


def test_breakpoints_of_the_debugger_last_until_the_request_ends(engine):
    engine.lines = ["b 4", "c", "p i", "c", "p i", "cl 1", "c"]
    run("breakpoint()\nfor i in range(5):\n    j = i\n    k = j\n")
    assert engine.lines == [] and "\n0\n" in engine.text and "\n1\n" in engine.text
    assert sys.gettrace() is None


def test_q_ends_the_request(engine):
    engine.lines = ["q"]
    with pytest.raises(Exception, match="you have ended this request at a prompt of the debugger") as caught:
        run("breakpoint()\nraise AssertionError('not reached')\n")
    assert type(caught.value).__name__ == "BdbQuit"


def test_the_end_of_input_ends_the_request(engine):
    engine.lines = [None]
    with pytest.raises(Exception, match="you have ended this request"):
        run("breakpoint()\n")


def test_an_interrupt_at_the_prompt_ends_the_request(engine):
    engine.lines = [KeyboardInterrupt]
    with pytest.raises(KeyboardInterrupt):
        run("breakpoint()\n")
    assert sys.gettrace() is None and engine.kinds[-1] == "left"


def test_a_client_that_cannot_answer_gets_one_sentence_and_the_code_runs_on(engine, capsys):
    engine.refusal = "its client has no terminal"
    run("for i in range(3):\n    breakpoint()\n")
    assert capsys.readouterr().err == "breakpoint() in cell line 2 did not stop: its client has no terminal\n"
    assert engine.kinds == ["stopped"]  # it is asked once in a request


def test_a_client_that_does_not_say_a_word_is_not_waited_for_longer(engine, capsys):
    engine.is_silent = True
    run("breakpoint()\n")
    assert "did not say within 15 s" in capsys.readouterr().err


def test_a_client_that_cannot_go_on_answering_lets_the_code_run_on(engine, capsys):
    def refuse():
        engine.refusal = "its client cannot be asked"

    engine.lines = ["p change()", "never"]
    names = run("breakpoint()\ndone = True\n", {"change": refuse})
    assert names["done"] and "did not stop: its client cannot be asked" in capsys.readouterr().err


def test_an_answer_to_an_interrupted_question_is_dropped(engine):
    engine.stale = [{"prompt": -1, "value": "q"}]
    engine.lines = ["c"]
    run("breakpoint()\n")


def test_pythonbreakpoint_turns_it_off(engine, monkeypatch):
    monkeypatch.setenv("PYTHONBREAKPOINT", "0")
    run("breakpoint()\n")
    assert not engine.published


def test_where_tells_the_line_at_which_it_waits(engine):
    engine.lines = ["c"]
    run("def f():\n    breakpoint()\nf()\n")
    told = place._at_breakpoint(engine.seen)
    assert told["line"] == 2 and told["function"] == "f" and told["is_breakpoint"]
    assert debugger.place_of_stop() is None


def test_post_mortem_shows_the_frames_of_the_last_error(engine):
    with pytest.raises(ZeroDivisionError):
        run("def f(x):\n    return 1 / x\nf(0)\n")
    engine.lines = ["p x", "u", "q"]
    debugger.post_mortem()
    assert engine.published[0]["why"] == "post-mortem"
    assert engine.text.startswith(f"ZeroDivisionError: division by zero\n> {CELL}(2)f()\n-> return 1 / x\n0\n> {CELL}(3)")
    assert engine.kinds[-1] == "left"


def test_post_mortem_without_an_error_says_so(engine, monkeypatch):
    monkeypatch.setattr(hook, "_last", None)
    with pytest.raises(RuntimeError, match="no code has failed on this engine") as caught:
        debugger.post_mortem()
    debugger.remember(caught.value, caught.value.__traceback__)
    assert hook._last is None
