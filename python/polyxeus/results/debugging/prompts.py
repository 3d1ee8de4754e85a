"""Shows the user of this process the prompts of engines that have stopped in a debugger, and sends
the user's answers to these engines."""

from __future__ import annotations

import getpass
import json
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from polyxeus.counted import read_ranges
from polyxeus.results.debugging.stops import Stops, name_place

__all__ = ["COMM", "DebugPrompts", "why_no_answers"]

COMM = "polyxeus.debugger"  # the id of the comm of all prompts
_SETTLE = 0.3  # seconds within which further ranks join the prompt of the first rank
_LOOK = 0.02
_NO_TERMINAL = "its client has no terminal: run it in a terminal or a notebook"
_NO_STDIN = "its notebook runs without a user who could type (allow_stdin is false)"


def why_no_answers(is_in_cell: bool = False) -> str | None:
    """Returns the reason why the user of this process cannot answer prompts; None if no reason is known.

    is_in_cell  whether the caller is the main thread and, in a notebook, runs a cell. Only while
                the main thread runs a cell does pxkernel know whether the user can answer
    """
    shell = _shell()
    kernel = getattr(shell, "kernel", None)
    if kernel is not None:
        core = getattr(shell, "engine", None)  # only pxkernel has this attribute
        allows = getattr(kernel, "_allow_stdin", True) if core is None else not is_in_cell or core.allows_input
        return None if allows else _NO_STDIN
    try:
        return None if sys.stdin is not None and sys.stdin.isatty() else _NO_TERMINAL
    except ValueError:  # stdin is closed
        return _NO_TERMINAL


def _shell() -> Any:
    if "IPython" not in sys.modules:
        return None
    from IPython import get_ipython

    return get_ipython()


class DebugPrompts:
    """The dialogue between the user of a client and the debuggers of this client's engines.

    Messages from engines arrive in any thread; the main thread asks the user while it waits for results.
    """

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._lock = threading.RLock()
        self._stops = Stops()
        self._passed: list[str] = []  # sentences about breakpoints that did not stop an engine
        self._is_serving = False

    # ------------------------------------------------------------ messages of engines

    def on_message(self, engine: int, data: dict[str, Any]) -> None:
        """Handles a debugger message that an engine has published. Any thread may call this
        method."""
        with self._lock:
            if data.get("kind") != "stopped":
                self._stops.on_message(engine, data)
                return
            why_not = why_no_answers()
            if why_not is None:
                self._stops.on_message(engine, data)
            elif data.get("why") == "breakpoint":  # other refusals become errors of the requests
                place = name_place(data.get("place") or {})
                self._passed.append(f"breakpoint() in {place} did not stop engine {engine}: {why_not}")
        answer = {"accepted": True} if why_not is None else {"refused": why_not}
        self._send(engine, {"prompt": data.get("number"), **answer})

    def take_warnings(self) -> list[str]:
        """Returns new warnings about breakpoints at which engines did not stop."""
        with self._lock:
            passed, self._passed = self._passed, []
            return passed

    @property
    def has_news(self) -> bool:
        """Returns whether serve() has something to do in this thread."""
        return self._stops.has_news and not self._is_serving and threading.current_thread() is threading.main_thread()

    def stopped(self, engines: list[int] | None = None) -> list[int]:
        """Returns the engines that wait for a line of input from the user."""
        with self._lock:
            return self._stops.asking(engines)

    # ------------------------------------------------------------ answers of the user

    def serve(self, engines: list[int] | None = None, write: Callable[[str], object] | None = None) -> None:
        """Asks the user for input until no engine waits for a line. Only the main thread calls this
        method.

        engines  the engines whose prompts are shown; None means all engines
        write    a function that shows text; if None, the text is written to sys.stdout

        errors   KeyboardInterrupt: the user has interrupted the prompt. The engines still wait.
        """
        write = write or _print
        self._is_serving = True
        try:
            while True:
                self._settle(engines)
                if why_not := why_no_answers(is_in_cell=True):
                    return self._refuse(engines, why_not)
                with self._lock:
                    text, asking = self._stops.take_text(), self._stops.asking(engines)
                if text:
                    write(text)
                if not asking:
                    return
                self._ask(asking, write)
        finally:
            self._is_serving = False

    def _settle(self, engines: list[int] | None) -> None:
        """Waits for further engines that are expected to ask. The wait ends at the latest 0.3 s
        after the last engine has begun to ask."""
        end = time.monotonic() + _SETTLE
        seen: list[int] = []
        while time.monotonic() < end:
            with self._lock:
                asking, is_expected = self._stops.asking(engines), self._stops.expected(engines)
            if not is_expected and (asking == seen or not asking):
                return
            if asking != seen:
                seen, end = asking, time.monotonic() + _SETTLE
            time.sleep(_LOOK)

    def _refuse(self, engines: list[int] | None, why_not: str) -> None:
        """Lets the code of the asking engines continue without an answer, and sends these engines the reason."""
        with self._lock:
            self._stops.take_text()
            asking = self._stops.asking(engines)
        self._answer(asking, {"refused": why_not})

    def _ask(self, asking: list[int], write: Callable[[str], object]) -> None:
        with self._lock:
            prompt, is_password = self._stops.prompt(asking), self._stops.is_password(asking)
        answer: dict[str, Any]
        try:
            line = getpass.getpass(prompt) if is_password else input(prompt)
        except EOFError:
            answer = {"eof": True}
        except KeyboardInterrupt:
            raise
        except Exception as problem:  # StdinNotImplementedError, if a kernel's client allows no input
            answer = {"refused": f"its client cannot be asked: {problem}"}
        else:
            if line.startswith("@"):
                names, _, line = line[1:].partition(" ")
                try:
                    wanted = read_ranges(names)
                except ValueError as problem:
                    write(f"{problem}\n")
                    return
                missing = [each for each in wanted if each not in asking]
                if missing:
                    write(f"not at this prompt: {', '.join(map(str, missing))}\n")
                    return
                asking = wanted
            answer = {"value": line}
        self._answer(asking, answer)

    def _answer(self, asking: list[int], answer: dict[str, Any]) -> None:
        for engine in asking:
            with self._lock:
                question = self._stops.take_answered(engine)
            if question is not None:
                self._send(engine, {"prompt": question.number, **answer})

    def _send(self, engine: int, answer: dict[str, Any]) -> None:
        try:
            self._connection.send_control([engine], "answer_request", json.dumps(answer))
        except Exception:  # the engine or the controller has ended: callers that wait for the result get the error
            with self._lock:
                self._stops.lose(engine)


def _print(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
