"""Computes how engines spent the time of a trace, and which data they sent to each other. All functions are pure."""

from __future__ import annotations

from collections import defaultdict
from typing import Iterable, NamedTuple

from polyxeus.trace.timeline import SENDS, Process, Slice

__all__ = ["KINDS", "EngineShares", "Traffic", "balance", "busy_over_time", "engine_shares", "slices_of", "traffic"]

KINDS = ("run", "torch", "mpi")  # categories of an engine's time: if several apply, the last one counts


class EngineShares(NamedTuple):
    """The times, in nanoseconds, that one engine spent on each kind of work in a trace."""

    name: str
    runs: int
    busy: int  #: the time in which at least one request ran
    mpi: int  #: the time inside MPI calls
    torch: int  #: the time inside calls of torch.distributed, but not inside MPI calls

    @property
    def computes(self) -> int:
        return max(0, self.busy - self.mpi - self.torch)


class Traffic(NamedTuple):
    """The numbers of bytes that were sent in MPI calls and in requests to the engines."""

    messages: dict[tuple[int, int], tuple[int, int]]  #: {(rank, rank): (messages, bytes)}, from the first to the second
    collectives: dict[str, tuple[int, int]]  #: {name: (calls, bytes)} of all ranks together
    requests: dict[str, tuple[int, int]]  #: {name of an engine: (requests, bytes)}


def slices_of(process: Process) -> list[Slice]:
    return [each for track in process.tracks for each in track.slices]


def engine_shares(process: Process) -> EngineShares:
    covered = dict(zip(KINDS, map(_length, _exclusive(process))))
    runs = [each for each in slices_of(process) if each.category == "run"]
    return EngineShares(process.name, len(runs), _length(_merged(runs)), covered["mpi"], covered["torch"])


def balance(shares: Iterable[EngineShares]) -> float | None:
    """Returns the mean computing time of the engines, divided by the longest computing time. 1 means that all engines
    computed equally long; None means that no engine computed."""
    computed = [each.computes for each in shares]
    return sum(computed) / len(computed) / max(computed) if any(computed) else None


def busy_over_time(engines: list[Process], began: int, length: int, moments: int) -> dict[str, list[float]]:
    """Returns the shares of all engines' time, {"run": ..., "torch": ..., "mpi": ...}, in each of `moments` intervals
    of equal length.

    The time of a run counts as "run" only while the run makes no MPI or torch.distributed call.
    """
    found = {kind: [0.0] * moments for kind in KINDS}
    for process in engines:
        for kind, spans in zip(KINDS, _exclusive(process)):
            for start, end in spans:
                _spread(found[kind], (start - began) * moments / length, (end - began) * moments / length)
    return {kind: [each / max(1, len(engines)) for each in values] for kind, values in found.items()}


def traffic(engines: list[Process]) -> Traffic:
    messages: dict[tuple[int, int], list[int]] = defaultdict(lambda: [0, 0])
    collectives: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    requests: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for process in engines:
        for each in slices_of(process):
            peer, size = each.details.get("peer"), each.details.get("bytes", 0)
            if each.category == "run":
                _count(requests[process.name], size)
            elif each.category == "mpi" and each.name in SENDS and isinstance(peer, int) and process.rank is not None:
                _count(messages[process.rank, peer], size)
            elif each.category in ("mpi", "torch") and "last_to_come" in each.details:
                _count(collectives[each.name], size)
    return Traffic(_tuples(messages), _tuples(collectives), _tuples(requests))


def _tuples(counted):
    return {key: (count, size) for key, (count, size) in counted.items()}


def _count(row, size):
    row[0] += 1
    row[1] += size


def _exclusive(process: Process) -> list[list[tuple[int, int]]]:
    """Returns, for each kind in KINDS, the times at which the engine does work of this kind. Times at which it also
    does work of a later kind in KINDS are left out."""
    slices = slices_of(process)
    found, taken = [], []
    for kind in reversed(KINDS):
        spans = _merged(each for each in slices if each.category == kind)
        found.append(_without(spans, taken))
        taken = _merged_spans([*taken, *spans])
    return found[::-1]


def _merged(slices: Iterable[Slice]) -> list[tuple[int, int]]:
    return _merged_spans((each.began, each.ended) for each in slices)


def _merged_spans(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Returns the times at which at least one of the spans is in progress."""
    found: list[tuple[int, int]] = []
    for began, ended in sorted(spans):
        if found and began <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], ended)
        else:
            found.append((began, ended))
    return found


def _without(spans: list[tuple[int, int]], taken: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Returns the times in `spans` that are not in `taken`. Both lists are sorted, and the spans of a list do not
    overlap."""
    found, place = [], 0
    for began, ended in spans:
        while place < len(taken) and taken[place][1] <= began:
            place += 1
        here = place
        while here < len(taken) and taken[here][0] < ended:
            if taken[here][0] > began:
                found.append((began, taken[here][0]))
            began = max(began, taken[here][1])
            here += 1
        if began < ended:
            found.append((began, ended))
    return found


def _length(spans: Iterable[tuple[int, int]]) -> int:
    return sum(ended - began for began, ended in spans)


def _spread(values: list[float], start: float, end: float) -> None:
    """Adds to each value the part of its interval that lies between `start` and `end`. The value with the index i
    belongs to the interval from i to i + 1."""
    start, end = max(0.0, start), min(float(len(values)), end)
    for moment in range(int(start), min(len(values), int(end) + 1)):
        values[moment] += max(0.0, min(end, moment + 1) - max(start, moment))
