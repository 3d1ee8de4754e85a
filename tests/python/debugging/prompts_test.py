"""The prompts of engines in a debugger: what is shown, what is asked, who is answered. Without a cluster."""

import json

import pytest
from polyxeus.counted import read_ranges
from polyxeus.results.debugging import prompts
from polyxeus.results.debugging.prompts import DebugPrompts
from polyxeus.results.debugging.stops import Stops, name_place

CELL = {"file": "<ipython-input-0a1b>", "line": 3, "function": "<module>", "is_cell": True}
FILE = {"file": "/home/ann/solver.py", "line": 12, "function": "step", "is_cell": False}


def stopped(place=CELL, why="breakpoint"):
    return {"kind": "stopped", "number": 1, "why": why, "place": place}


def prompt(text="", number=2, **more):
    return {"kind": "prompt", "number": number, "prompt": "(Pdb) ", "text": text, **more}


# ---------------------------------------------------------------- Stops


def test_ranks_at_one_place_are_told_once():
    stops = Stops()
    for engine in range(4):
        stops.on_message(engine, stopped())
        stops.on_message(engine, prompt("> <cell>(3)\n-> x = f()\n"))
    first, *rest = stops.take_text().splitlines()
    assert first.startswith("Engines 0-3 stopped at a breakpoint in cell line 3; the others go on")
    assert rest == ["[0-3] > <cell>(3)", "[0-3] -> x = f()"]
    assert stops.asking() == [0, 1, 2, 3] and stops.prompt([0, 1, 2, 3]) == "[0-3] (Pdb) "
    assert stops.take_text() == ""


def test_different_answers_are_shown_with_their_ranks():
    stops = Stops()
    for engine, text in enumerate(["7\n", "7\n", "8\n", "7\n"]):
        stops.on_message(engine, prompt(text))
    assert stops.take_text() == "[0,1,3] 7\n[2] 8\n"


def test_an_engine_that_was_answered_is_expected_until_it_asks_or_leaves():
    stops = Stops()
    stops.on_message(2, stopped(FILE))
    assert stops.expected() and not stops.asking()
    stops.on_message(2, prompt())
    assert not stops.expected()
    assert stops.take_answered(2).number == 2
    assert stops.expected([2]) and not stops.expected([0]) and stops.take_answered(2) is None
    stops.on_message(2, {"kind": "left", "number": 3, "text": "the end\n"})
    assert not stops.expected() and not stops.asking()
    assert stops.take_text().endswith("[2] the end\n") and not stops.has_news


@pytest.mark.parametrize("why", ["post-mortem", "input"])
def test_what_is_no_breakpoint_is_not_told_as_one(why):
    stops = Stops()
    stops.on_message(2, stopped(why=why))
    assert stops.take_text() == "" and stops.expected([2])


@pytest.mark.parametrize("place, name", [
    (CELL, "cell line 3"), (FILE, "solver.py:12"), ({**CELL, "is_cell": False, "function": "f"}, "line 3 of f()"),
])  # fmt: skip
def test_places_have_the_names_of_where(place, name):
    assert name_place(place) == name


def test_ranks_are_written_in_short():
    assert read_ranges("0-3,5 7") == [0, 1, 2, 3, 5, 7] and read_ranges("") == []
    with pytest.raises(ValueError, match="'two' names no engines: write them like 2 or 0-3,5"):
        read_ranges("two")


# ---------------------------------------------------------------- DebugPrompts


class Connection:
    """Engines that answer each line with an echo, and leave after "c"."""

    def __init__(self):
        self.sent = []
        self.prompts = DebugPrompts(self)
        self.is_gone = False

    def send_control(self, engines, kind, content):
        if self.is_gone:
            raise ConnectionError("the controller has ended")
        (engine,), content = engines, json.loads(content)
        assert kind == "answer_request"
        self.sent.append((engine, content))
        if "value" in content and content["value"] == "c" or "eof" in content or "refused" in content:
            self.prompts.on_message(engine, {"kind": "left", "number": 9})
        elif "value" in content:
            self.prompts.on_message(engine, prompt(f"echo {content['value']}\n", content["prompt"] + 1))

    def stop(self, *engines):
        for engine in engines:
            self.prompts.on_message(engine, stopped())
            self.prompts.on_message(engine, prompt())


@pytest.fixture
def user(monkeypatch):
    """The lines that the user types, and the prompts that he sees."""
    lines, seen = [], []

    def ask(text):
        seen.append(text)
        line = lines.pop(0)
        if isinstance(line, BaseException):
            raise line
        return line

    monkeypatch.setattr(prompts, "why_no_answers", lambda is_in_cell=False: None)
    monkeypatch.setattr("builtins.input", ask)
    return lines, seen


def shown_by(connection, engines=None):
    shown = []
    connection.prompts.serve(engines, shown.append)
    return "".join(shown)


def test_one_prompt_answers_all_ranks(user):
    lines, seen = user
    connection = Connection()
    connection.stop(0, 1, 2, 3)
    assert connection.sent == [(each, {"prompt": 1, "accepted": True}) for each in range(4)]
    lines += ["p x", "@2 p y", "c"]
    assert "[0-3] echo p x\n[2] echo p y\n" in shown_by(connection)
    assert seen == ["[0-3] (Pdb) "] * 3
    assert [each for each, content in connection.sent if content.get("value") == "p y"] == [2]
    assert not connection.prompts.has_news


def test_a_line_for_a_rank_that_does_not_ask_is_refused(user):
    lines, _ = user
    connection = Connection()
    connection.stop(1)
    lines += ["@0 p x", "@zero p x", "c"]
    text = shown_by(connection)
    assert "not at this prompt: 0\n" in text and "'zero' names no engines" in text


def test_only_the_named_engines_are_asked(user):
    lines, seen = user
    connection = Connection()
    connection.stop(0, 1)
    lines += ["c"]
    shown_by(connection, [1])
    assert seen == ["[1] (Pdb) "] and connection.prompts.stopped() == [0]


def test_the_end_of_input_is_told_to_the_engines(user):
    lines, _ = user
    connection = Connection()
    connection.stop(1)
    lines += [EOFError()]
    shown_by(connection)
    assert connection.sent[-1] == (1, {"prompt": 2, "eof": True})


def test_an_interrupt_leaves_the_engines_at_their_prompts(user):
    lines, _ = user
    connection = Connection()
    connection.stop(1)
    lines += [KeyboardInterrupt()]
    with pytest.raises(KeyboardInterrupt):
        shown_by(connection)
    assert connection.prompts.stopped() == [1]


def test_a_kernel_whose_client_allows_no_input_tells_the_engine_so(user):
    lines, _ = user
    connection = Connection()
    connection.stop(1)
    lines += [RuntimeError("the frontend does not support input requests")]
    shown_by(connection)
    assert connection.sent[-1][1]["refused"].startswith("its client cannot be asked: the frontend does not")


def test_a_program_without_a_terminal_refuses_at_once_and_warns(monkeypatch):
    monkeypatch.setattr(prompts, "why_no_answers", lambda: "its client has no terminal")
    connection = Connection()
    connection.prompts.on_message(2, stopped(FILE))
    assert connection.sent == [(2, {"prompt": 1, "refused": "its client has no terminal"})]
    assert connection.prompts.take_warnings() == [
        "breakpoint() in solver.py:12 did not stop engine 2: its client has no terminal"
    ]
    connection.prompts.on_message(2, stopped(FILE, "post-mortem"))  # who asks for it gets an error instead
    assert connection.prompts.take_warnings() == [] and not connection.prompts.has_news
    connection.prompts.on_message(2, stopped(why="input"))
    assert connection.sent[-1][1]["refused"] and connection.prompts.take_warnings() == []  # input() raises an error


def test_engines_that_are_gone_are_asked_no_more(user):
    lines, _ = user
    connection = Connection()
    connection.stop(0, 1)
    connection.is_gone = True
    lines += ["p x"]
    shown_by(connection)
    assert not connection.prompts.stopped()
