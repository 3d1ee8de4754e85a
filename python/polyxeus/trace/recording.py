"""Records spans of this process while a trace is on. While no trace is on, each place in the code that could record a
span only checks the tuple `recorders`."""

from __future__ import annotations

import json
import threading
from time import monotonic_ns
from typing import Any, NamedTuple

__all__ = ["span"]

TYPE_CHECKING = False  # type checkers treat it as True
if TYPE_CHECKING:
    from typing_extensions import Self

recorders: tuple[Any, ...] = ()  # objects with the methods is_on() and add(Span)


class Span(NamedTuple):
    """A span that has ended. Its times are nanoseconds of time.monotonic_ns()."""

    kind: str  #: "call", "wait", "decode", "span", "torch"
    name: str
    began: int
    ended: int
    thread: int  #: 0: the main thread
    details: dict[str, Any]


def begin() -> int | None:
    """Returns the current time as the beginning of a span; None if no trace is on."""
    if recorders and any(each.is_on() for each in recorders):
        return monotonic_ns()
    return None


def end(kind: str, name: str, began: int, details: dict[str, Any] | None = None, thread: int | None = None) -> None:
    """Records a span that began at `began`. If `thread` is None, the span belongs to the calling thread."""
    if thread is None:
        thread = this_thread()
    ended = Span(kind, name, began, monotonic_ns(), thread, details or {})
    for each in recorders:
        if each.is_on():
            each.add(ended)


def this_thread() -> int:
    """Returns a number for the calling thread; the main thread has the number 0."""
    if threading.current_thread() is threading.main_thread():
        return 0
    return threading.get_native_id()


def attach(recorder: Any) -> None:
    global recorders
    recorders = (*recorders, recorder)


def detach(recorder: Any) -> None:
    global recorders
    recorders = tuple(each for each in recorders if each is not recorder)


class span:
    """A context manager. Traces show its block under the name that you choose.

    span() works on engines and in the client's process, in any thread. If no trace is on, span() does nothing.

    Parameters
    ----------
    name : str
        The name that the trace shows.
    **details : Any
        Further values that the trace shows with the name: strings, numbers or lists of these.

    Examples
    --------
    >>> with px.span("load", file="a.npy"):
    ...     data = list(range(10))
    >>> len(data)
    10
    """

    __slots__ = ("_began", "_details", "_name")

    def __init__(self, name: str, **details: Any) -> None:
        self._name, self._details = name, details
        self._began: int | None = None

    def __enter__(self) -> Self:
        self._began = begin()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_problem: object) -> None:
        if self._began is None:
            return
        if kind is not None:
            self._details["error"] = kind.__name__
        end("span", str(self._name), self._began, self._details)


class MemoryRecorder:
    """Stores at most `most` spans of this process. Further spans are counted but not stored."""

    def __init__(self, most: int = 100_000) -> None:
        self.spans: list[Span] = []
        self.dropped = 0
        self._most = most

    def is_on(self) -> bool:
        return True

    def add(self, ended: Span) -> None:
        if len(self.spans) < self._most:
            self.spans.append(ended)
        else:
            self.dropped += 1


class EngineRecorder:
    """Passes the spans of an engine to the engine's C++ core, which can send them to clients while user code runs.

    engine  the engine, whose attribute `is_tracing` says whether a trace is on.
    """

    def __init__(self, engine: Any) -> None:
        self._engine = engine

    def is_on(self) -> bool:
        return self._engine.is_tracing

    def add(self, ended: Span) -> None:
        kind, name, began, end_time, thread, details = ended
        self._engine.record(kind, name, began, end_time, thread, json.dumps(details, default=str))
