"""A page about a trace that needs nothing else: who worked, who waited, who was late, what took longest."""

from __future__ import annotations

from collections import Counter, defaultdict
from html import escape
from typing import Iterable, NamedTuple

from polyxeus.trace.meetings import Meeting
from polyxeus.trace.timeline import Process, Slice, Timeline

__all__ = ["EngineShares", "engine_shares", "html_report"]

_COLUMNS = 1000  # of the picture
_SLOWEST = 20  # runs that are listed
_ROW, _GAP = 14, 4  # pixels
# By what a moment is shown in which several are under way, the last first; colours that colour-blind eyes tell apart.
_KINDS = {"run": ("computes", "#56b4e9"), "torch": ("torch.distributed", "#cc79a7"), "mpi": ("MPI", "#e69f00")}

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 70em; padding: 0 1em; color: #222; background: #fff }
table { border-collapse: collapse } th, td { padding: .2em .8em; text-align: right; border-bottom: 1px solid #ddd }
th:first-child, td:first-child, td.text { text-align: left } svg { width: 100% } svg text { font-size: 10px; fill: currentColor }
i { display: inline-block; width: .8em; height: .8em; margin: 0 .3em 0 1em }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #1b1b1b } th, td { border-color: #444 } }
"""


class EngineShares(NamedTuple):
    """How one engine has spent the time of a trace, in nanoseconds."""

    name: str
    runs: int
    busy: int  #: at least one request ran
    mpi: int  #: inside MPI calls
    torch: int  #: inside calls of torch.distributed


def engine_shares(process: Process) -> EngineShares:
    slices = _slices(process)
    covered = {kind: _length([each for each in slices if each.category == kind]) for kind in _KINDS}
    runs = sum(each.category == "run" for each in slices)
    return EngineShares(process.name, runs, covered["run"], covered["mpi"], covered["torch"])


def html_report(timeline: Timeline) -> str:
    engines = [each for each in timeline.processes if each.kind == "engine"]
    slices = [each for process in timeline.processes for each in _slices(process)]
    began = min((each.began for each in slices), default=0)
    length = max((each.ended for each in slices), default=1) - began or 1
    late = f"<p><b>{escape(str(timeline.late))}</b></p>" if timeline.late else ""
    parts = [
        f"<h1>What {len(engines)} engines did in {_seconds(length)}</h1>{late}",
        _picture(engines, began, length),
        "<h2>Engines</h2>" + _engine_table(engines, length),
        "<h2>Late to collective calls</h2>" + _late_table(timeline.meetings.values()),
        "<h2>Longest runs</h2>" + _slowest_table(engines),
    ]
    return ("<!DOCTYPE html><html lang='en'><head><meta charset='utf-8'><title>polyxeus: report</title>"
            f"<style>{_STYLE}</style></head><body>{''.join(parts)}</body></html>\n")  # fmt: skip


def _slices(process: Process) -> list[Slice]:
    return [each for track in process.tracks for each in track.slices]


def _length(slices: Iterable[Slice]) -> int:
    """The time in which at least one of them is under way."""
    total, end = 0, None
    for each in sorted(slices, key=lambda each: each.began):
        start = each.began if end is None else max(each.began, end)
        total += max(0, each.ended - start)
        end = each.ended if end is None else max(end, each.ended)
    return total


def _seconds(nanoseconds: float) -> str:
    return f"{nanoseconds / 1e9:.3g} s"


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %"


def _table(heads: list[str], rows: Iterable[list[str]]) -> str:
    head = "".join(f"<th>{each}</th>" for each in heads)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>" if body else "<p>none</p>"


def _engine_table(engines: list[Process], length: int) -> str:
    return _table(["engine", "runs", "busy", "in MPI", "in torch.distributed", "computes"], (
        [each.name, str(each.runs), _percent(each.busy, length), _percent(each.mpi, length),
         _percent(each.torch, length), _percent(max(0, each.busy - each.mpi - each.torch), length)]
        for each in map(engine_shares, engines)))  # fmt: skip


def _late_table(meetings: Iterable[Meeting]) -> str:
    calls, waited, names = Counter[int](), Counter[int](), defaultdict(Counter)
    count = 0
    for meeting in meetings:
        count += 1
        calls[meeting.last] += 1
        waited[meeting.last] += meeting.waited
        names[meeting.last][meeting.name] += meeting.waited
    return _table(["rank", f"came last (of {count} calls)", "the others waited", "most of it in"], (
        [str(rank), str(calls[rank]), _seconds(time), names[rank].most_common(1)[0][0]]
        for rank, time in waited.most_common()))  # fmt: skip


def _slowest_table(engines: list[Process]) -> str:
    runs = [(each.ended - each.began, process.name, each.name) for process in engines
            for each in _slices(process) if each.category == "run"]  # fmt: skip
    return _table(["engine", "what ran", "time"], (
        [engine, name, _seconds(time)] for time, engine, name in sorted(runs, reverse=True)[:_SLOWEST]))  # fmt: skip


def _picture(engines: list[Process], began: int, length: int) -> str:
    rows = []
    for row, process in enumerate(engines):
        top = row * (_ROW + _GAP)
        rows.append(f"<text x='0' y='{top + 11}'>{escape(process.name.split(' (')[0])}</text>")
        rows += [f"<rect x='{150 + first}' y='{top}' width='{count}' height='{_ROW}' fill='{_KINDS[kind][1]}'/>"
                 for first, count, kind in _runs_of_columns(_columns(process, began, length))]  # fmt: skip
    legend = "".join(f"<i style='background:{colour}'></i>{words}" for words, colour in _KINDS.values())
    height = len(engines) * (_ROW + _GAP)
    return f"<svg viewBox='0 0 {150 + _COLUMNS} {height}'>{''.join(rows)}</svg><p>{legend}</p>"


def _columns(process: Process, began: int, length: int) -> list[str]:
    """What each column of the picture shows; "": nothing."""
    columns = [""] * _COLUMNS
    slices = _slices(process)
    for kind in _KINDS:  # later kinds stand above earlier ones
        for each in slices:
            if each.category == kind:
                first = (each.began - began) * _COLUMNS // length
                last = max(first, -(-(each.ended - began) * _COLUMNS // length) - 1)
                for column in range(max(0, first), min(_COLUMNS, last + 1)):
                    columns[column] = kind
    return columns


def _runs_of_columns(columns: list[str]) -> Iterable[tuple[int, int, str]]:
    """(first, how many, kind) of equal columns beside each other."""
    first = 0
    for column in range(1, len(columns) + 1):
        if column == len(columns) or columns[column] != columns[first]:
            if columns[first]:
                yield first, column - first, columns[first]
            first = column
