"""Tracks the engines that wait in a debugger, and makes the text that the user sees. This module
uses no socket, thread or clock."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from polyxeus.counted import ranges

__all__ = ["Question", "Stops", "name_place"]


class Question(NamedTuple):
    """A prompt of an engine that waits for a line of input from the user."""

    number: int
    prompt: str
    is_password: bool


class Stops:
    """The engines of one client that have stopped at a breakpoint, or whose last error the user
    examines in a debugger.

    An engine *asks* while it waits for a line of input from the user. After an answer, the engine
    runs until it asks again or leaves the debugger.
    """

    def __init__(self) -> None:
        self._questions: dict[int, Question] = {}
        self._running: set[int] = set()  # stopped or answered, and expected to ask soon
        self._news: list[tuple[str, int, str]] = []  # messages to show: (kind, engine, text), in the order of arrival

    def on_message(self, engine: int, data: dict[str, Any]) -> None:
        """Handles an engine's message "stopped", "prompt" or "left"."""
        kind = data.get("kind")
        if kind == "stopped":
            self._running.add(engine)
            if data.get("why") == "breakpoint":
                self._news.append(("stop", engine, name_place(data.get("place") or {})))
            return
        if data.get("text"):
            self._news.append(("text", engine, data["text"]))
        self._running.discard(engine)
        self._questions.pop(engine, None)
        if kind == "prompt":
            number, prompt = int(data["number"]), str(data.get("prompt", ""))
            self._questions[engine] = Question(number, prompt, bool(data.get("password")))

    def lose(self, engine: int) -> None:
        """Forgets an engine that no longer waits for an answer."""
        self._running.discard(engine)
        self._questions.pop(engine, None)

    def asking(self, engines: list[int] | None = None) -> list[int]:
        """Returns the engines that wait for a line of input. If `engines` is not None, the result
        has only engines of this list."""
        return sorted(each for each in self._questions if engines is None or each in engines)

    def expected(self, engines: list[int] | None = None) -> bool:
        """Returns whether an engine may soon ask for a line of input."""
        return any(engines is None or each in engines for each in self._running)

    @property
    def has_news(self) -> bool:
        """Returns whether there is text to show or a question to ask."""
        return bool(self._questions or self._news)

    def take_answered(self, engine: int) -> Question | None:
        """Returns the question of an engine, and marks the question as answered. Returns None if
        the engine does not ask."""
        question = self._questions.pop(engine, None)
        if question is not None:
            self._running.add(engine)
        return question

    def prompt(self, engines: list[int]) -> str:
        """Returns the common prompt of engines that ask, such as "[0-3] (Pdb) "."""
        own = {self._questions[each].prompt for each in engines}
        return f"[{ranges(engines)}] {own.pop() if len(own) == 1 else '> '}"

    def is_password(self, engines: list[int]) -> bool:
        """Returns whether one of these engines asks for a password."""
        return any(self._questions[each].is_password for each in engines)

    def take_text(self) -> str:
        """Returns the new messages as lines; messages about stops come first. If several engines send the same message,
        it appears once. If there are no new messages, returns ""."""
        news, self._news = self._news, []
        lines = []
        for where, engines in _folded([each for each in news if each[0] == "stop"]):
            one = len(engines) == 1
            lines.append(
                f"{'Engine' if one else 'Engines'} {ranges(engines)} stopped at a breakpoint in {where}; the others go on"
                " or wait in their MPI calls. `c` continues, `q` ends the cell, `h` helps."
            )
        said: dict[int, str] = {}
        for kind, engine, text in news:
            if kind == "text":
                said[engine] = said.get(engine, "") + text
        for text, engines in _folded([("text", engine, text) for engine, text in said.items()]):
            lines += [f"[{ranges(engines)}] {line}" for line in text.rstrip("\n").split("\n")]
        return "".join(f"{line}\n" for line in lines)


def _folded(news: list[tuple[str, int, str]]) -> list[tuple[str, list[int]]]:
    """Returns pairs (text, the engines that have sent this text), sorted by the lowest engine of
    each pair."""
    engines_of: dict[str, list[int]] = {}
    for _, engine, text in news:
        engines_of.setdefault(text, []).append(engine)
    return sorted(((text, sorted(set(each))) for text, each in engines_of.items()), key=lambda pair: pair[1])


def name_place(place: dict[str, Any]) -> str:
    """Returns the name of a place in the user's code for a message, such as "cell line 3" or
    "solver.py:12"."""
    line = place.get("line")
    if place.get("is_cell"):
        return f"cell line {line}"
    file = str(place.get("file") or "code")
    if file.startswith("<"):
        return f"line {line} of {place.get('function')}()"
    return f"{os.path.basename(file)}:{line}"
