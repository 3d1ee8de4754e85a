"""The records of a trace. Reads the records of engines and controller from their answers, and converts the times to the
client's clock."""

from __future__ import annotations

from typing import Any, Callable, NamedTuple

from polyxeus.trace.recording import Span

__all__ = ["ClientRecords", "ControllerRecords", "EngineRecords", "MpiCall", "Passage", "SentRequest", "read_mpi_calls",
           "read_passages", "read_spans"]  # fmt: skip

UNKNOWN, ANY = -1, -2  # values for a peer, a tag or a root


class MpiCall(NamedTuple):
    """An MPI call that the main thread of an engine has made and that has ended. Unknown members have the value
    UNKNOWN, but an unknown time `met` has the value 0."""

    name: str
    began: int
    met: int  #: the time at which all ranks had reached a collective call
    ended: int
    communicator: int  #: a number that is the same on all of its ranks; 0: unknown
    size: int
    peer: int  #: a rank of the world, or ANY
    tag: int
    place: int  #: the number of a collective call on its communicator, from 1; 0: not a collective call
    bytes: int
    root: int


class EngineRecords(NamedTuple):
    """The records of one engine."""

    engine: int
    rank: int
    host: str
    pid: int
    spans: list[Span]
    mpi_calls: list[MpiCall]
    dropped: int = 0  #: the number of spans and calls that were not stored
    clock_error: int = 0  #: the largest error of its times, in nanoseconds


class SentRequest(NamedTuple):
    """A request of the client to one engine."""

    msg_id: str
    engine: int
    name: str
    sent: int
    received: int  #: the time at which its answer arrived


class ClientRecords(NamedTuple):
    host: str
    pid: int
    spans: list[Span]
    requests: list[SentRequest]
    dropped: int = 0


class Passage(NamedTuple):
    """The times at which the controller received a request, sent it to an engine, and received the answer. The request
    may be from any client. A time of 0 means that the event has not happened."""

    msg_id: str
    session: str  #: the session of the client
    engine: int | None
    came: int
    given: int  #: the time at which it was sent to the engine
    answered: int


class ControllerRecords(NamedTuple):
    host: str
    pid: int
    passages: list[Passage]
    ended: int  #: the trace
    dropped: int = 0
    clock_error: int = 0


def read_spans(rows: list[list[Any]], to_ours: Callable[[int], int]) -> list[Span]:
    """Reads the rows of `spans` in an engine's answers (docs/protocol.md)."""
    return [Span(kind, name, to_ours(began), to_ours(ended), thread, details)
            for kind, name, began, ended, thread, details in rows]  # fmt: skip


def read_mpi_calls(rows: list[list[Any]], to_ours: Callable[[int], int]) -> list[MpiCall]:
    """Reads the rows of `mpi` in an engine's answers (docs/protocol.md)."""
    return [MpiCall(name, to_ours(began), to_ours(met) if met else 0, to_ours(ended), *rest)
            for name, began, met, ended, *rest in rows]  # fmt: skip


def read_passages(rows: list[list[Any]], to_ours: Callable[[int], int]) -> list[Passage]:
    """Reads the rows of `requests` in the controller's answers (docs/protocol.md)."""
    return [Passage(msg_id, session, engine, *(to_ours(time) if time else 0 for time in times))
            for msg_id, session, engine, *times in rows]  # fmt: skip
