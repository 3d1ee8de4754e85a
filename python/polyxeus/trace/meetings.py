"""Combines the records of all ranks for each collective call. Computes when each rank reached the call, and for which
rank the others waited."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Iterable, NamedTuple

from polyxeus.trace.records import EngineRecords

__all__ = ["LateRank", "Meeting", "find_meetings", "latest_rank"]

_SECOND = 1_000_000_000
_LEAST_WAIT = 1_000_000  # nanoseconds; for shorter waits, no rank is named as the latest


class Meeting(NamedTuple):
    """A collective call that at least two ranks have made."""

    key: tuple  #: the key of the call, which is the same on all ranks
    name: str
    came: dict[int, int]  #: {rank: the time at which it began the call}

    @property
    def last(self) -> int:
        """The rank that reached the call last."""
        return max(self.came, key=self.came.__getitem__)

    @property
    def waited(self) -> int:
        """The number of nanoseconds by which the call could have begun earlier without the last rank."""
        times = sorted(self.came.values())
        return times[-1] - times[-2]

    def lateness(self, rank: int) -> int:
        """Returns the number of nanoseconds between the arrivals of the first rank and of this rank at the call."""
        return self.came[rank] - min(self.came.values())


class LateRank(NamedTuple):
    rank: int
    calls: int  #: the number of calls that this rank reached last
    of_calls: int  #: the number of calls that were examined
    waited: int  #: the nanoseconds for which the others waited for this rank

    def __str__(self) -> str:
        return (f"rank {self.rank} was late: it was the last to reach {self.calls} of {self.of_calls} collective calls, and "
                f"the others waited {self.waited / _SECOND:.3g} s for it")  # fmt: skip


def mpi_key(call, seen: Counter) -> tuple | None:
    """Returns a key of a collective MPI call that is the same on all ranks; None for other calls.

    seen  the number of earlier calls of this rank with each (communicator, place). Several calls may have the same
          place, because places are counted from the beginning again after a stop
    """
    if not call.place:
        return None
    place = call.communicator, call.place
    seen[place] += 1
    return ("MPI", *place, seen[place])


def torch_key(span, seen: Counter) -> tuple | None:
    """Returns a key of a collective torch.distributed call that is the same on all ranks; None for other spans."""
    if span.kind != "torch" or "count" not in span.details:
        return None
    place = span.details.get("group"), span.details["count"]
    seen[place] += 1
    return ("torch", *place, seen[place])


def keyed(engine: EngineRecords) -> Iterable[tuple[tuple | None, object]]:
    """Yields (key or None, call) for each MPI call, and then (key or None, span) for each span, in order of their
    beginnings."""
    seen: Counter = Counter()
    for call in sorted(engine.mpi_calls, key=lambda each: each.began):
        yield mpi_key(call, seen), call
    seen = Counter()
    for span in sorted(engine.spans, key=lambda each: each.began):
        yield torch_key(span, seen), span


def find_meetings(engines: Iterable[EngineRecords]) -> dict[tuple, Meeting]:
    """Returns the collective calls that at least two ranks have made, by their keys."""
    came: dict[tuple, dict[int, int]] = defaultdict(dict)
    names = {}
    for engine in engines:
        for key, call in keyed(engine):
            if key is not None:
                came[key][engine.rank] = call.began
                names[key] = call.name
    return {key: Meeting(key, names[key], ranks) for key, ranks in came.items() if len(ranks) > 1}


def latest_rank(meetings: Iterable[Meeting], least_wait: int = _LEAST_WAIT) -> LateRank | None:
    """Returns the rank for which the others waited longest; None if the others waited less than `least_wait`
    nanoseconds in total."""
    calls, waited, count = Counter(), Counter(), 0
    for meeting in meetings:
        count += 1
        calls[meeting.last] += 1
        waited[meeting.last] += meeting.waited
    if not waited:
        return None
    rank, longest = max(waited.items(), key=lambda each: each[1])
    return LateRank(rank, calls[rank], count, longest) if longest >= max(1, least_wait) else None
