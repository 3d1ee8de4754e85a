"""A self-contained page about a trace: which engines worked, waited and were late, and which calls took longest."""

from __future__ import annotations

from collections import Counter, defaultdict
from html import escape
from typing import Iterable

from polyxeus.counted import counted
from polyxeus.trace import plots
from polyxeus.trace.meetings import Meeting
from polyxeus.trace.plots import Bar
from polyxeus.trace.shares import KINDS, EngineShares, Traffic, balance, busy_over_time, engine_shares, slices_of, traffic
from polyxeus.trace.timeline import Process, Timeline

__all__ = ["html_report"]

_SLOWEST = 20  # the largest number of runs in the list
_MOST_ROWS = 64  # the largest number of engines in a plot
_MOMENTS = 200  # the number of intervals in the plot over time
# Colours that colour-blind people can distinguish.
_LOOKS = {"run": ("computes", "#56b4e9"), "torch": ("torch.distributed", "#cc79a7"), "mpi": ("MPI", "#e69f00")}
_LATE = "#d55e00"

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 70em; padding: 0 1em; color: #222; background: #fff }
table { border-collapse: collapse } th, td { padding: .2em .8em; text-align: right; border-bottom: 1px solid #ddd }
th:first-child, td:first-child { text-align: left } svg { width: 100% } svg text { font-size: 10px; fill: currentColor }
.axis, .frame { fill: none; stroke: currentColor; stroke-opacity: .4 } .cell { fill: #0072b2 }
i { display: inline-block; width: .8em; height: .8em; margin: 0 .3em 0 1em }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #1b1b1b } th, td { border-color: #444 } .cell { fill: #56b4e9 } }
"""
_NO_NETWORK = "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; style-src 'unsafe-inline'\">"


def html_report(timeline: Timeline) -> str:
    engines = [each for each in timeline.processes if each.kind == "engine"]
    slices = [each for process in timeline.processes for each in slices_of(process)]
    began = min((each.began for each in slices), default=0)
    length = max((each.ended for each in slices), default=1) - began or 1
    shares = [engine_shares(each) for each in engines]
    late = f"<p><b>{escape(str(timeline.late))}</b></p>" if timeline.late else ""
    parts = [
        f"<h1>What {counted(len(engines), 'engine')} did in {_seconds(length)}</h1>{late}", _summary(shares, length),
        "<h2>When</h2>" + _picture(engines, began, length) + _over_time(engines, began, length),
        "<h2>Engines</h2>" + _share_bars(shares, length) + _engine_table(shares, length),
        "<h2>Late to collective calls</h2>" + _late(timeline.meetings.values()),
        "<h2>Longest runs</h2>" + _slowest(engines),
        "<h2>Transfers</h2>" + _transfers(traffic(engines), [each.rank for each in engines if each.rank is not None]),
    ]  # fmt: skip
    return (f"<!DOCTYPE html><html lang='en'><head><meta charset='utf-8'>{_NO_NETWORK}<title>polyxeus: report</title>"
            f"<style>{_STYLE}</style></head><body>{''.join(parts)}</body></html>\n")  # fmt: skip


def _seconds(nanoseconds: float) -> str:
    return f"{nanoseconds / 1e9:.3g} s"


def _percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.0f} %"


def _bytes(count: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} TB"


def _table(heads: list[str], rows: Iterable[list[str]]) -> str:
    head = "".join(f"<th>{each}</th>" for each in heads)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>" if body else "<p>none</p>"


def _short(name: str) -> str:
    """Returns the name of an engine, without its host and process."""
    return name.split(" on ")[0]


def _drawn(what: list, of: str = "engines") -> str:
    return f"<p>{_MOST_ROWS} of {len(what):,} {of} are drawn.</p>" if len(what) > _MOST_ROWS else ""


# ---------------------------------------------------------------- how the time was spent


def _summary(shares: list[EngineShares], length: int) -> str:
    if not shares:
        return ""
    whole = length * len(shares)
    computed = sum(each.computes for each in shares)
    told = [f"The engines computed {_percent(computed, whole)} of the time",
            f"were in MPI {_percent(sum(each.mpi for each in shares), whole)}",
            f"in torch.distributed {_percent(sum(each.torch for each in shares), whole)}",
            f"and idle {_percent(whole - sum(each.busy for each in shares), whole)}"]  # fmt: skip
    even = balance(shares)
    words = f" Balance: {100 * even:.0f} % (the mean computing time of the engines, divided by the longest one)." if even else ""
    return f"<p>{', '.join(told)}.{words}</p>"


def _share_bars(shares: list[EngineShares], length: int) -> str:
    rows = [Bar(_short(each.name), [(part / length, _LOOKS[kind][1]) for kind, part in
                                    (("run", each.computes), ("torch", each.torch), ("mpi", each.mpi))],
                _percent(each.busy, length)) for each in shares[:_MOST_ROWS]]  # fmt: skip
    return plots.bars(rows, "shares of the time by engine") + _drawn(shares)


def _engine_table(shares: list[EngineShares], length: int) -> str:
    return _table(["engine", "runs", "busy", "in MPI", "in torch.distributed", "computes"], (
        [each.name, str(each.runs), _percent(each.busy, length), _percent(each.mpi, length),
         _percent(each.torch, length), _percent(each.computes, length)] for each in shares))  # fmt: skip


def _over_time(engines: list[Process], began: int, length: int) -> str:
    found = busy_over_time(engines, began, length, _MOMENTS)
    layers = [(found[kind], _LOOKS[kind][1]) for kind in KINDS]
    return plots.areas(layers, "shares of the engines over time", "0 s", _seconds(length)) + plots.legend(_LOOKS.values())


def _picture(engines: list[Process], began: int, length: int) -> str:
    rows = [(_short(process.name), [(first, count, _LOOKS[kind][1]) for first, count, kind in
                                    _runs_of_columns(_columns(process, began, length))])
            for process in engines[:_MOST_ROWS]]  # fmt: skip
    return plots.rows_of_spans(rows, "what each engine did over time") + _drawn(engines)


def _columns(process: Process, began: int, length: int) -> list[str]:
    """Returns the kind of work that each column of the picture shows; "" for an empty column."""
    columns = [""] * plots.WIDTH
    slices = slices_of(process)
    for kind in KINDS:  # later kinds replace earlier ones
        for each in slices:
            if each.category == kind:
                first = (each.began - began) * plots.WIDTH // length
                last = max(first, -(-(each.ended - began) * plots.WIDTH // length) - 1)
                for column in range(max(0, first), min(plots.WIDTH, last + 1)):
                    columns[column] = kind
    return columns


def _runs_of_columns(columns: list[str]) -> Iterable[tuple[int, int, str]]:
    """Yields the runs of equal adjacent columns, as (first column, number of columns, kind)."""
    first = 0
    for column in range(1, len(columns) + 1):
        if column == len(columns) or columns[column] != columns[first]:
            if columns[first]:
                yield first, column - first, columns[first]
            first = column


# ---------------------------------------------------------------- late ranks and long runs


def _late(meetings: Iterable[Meeting]) -> str:
    calls, waited, names = Counter[int](), Counter[int](), defaultdict[int, Counter](Counter)
    count = 0
    for meeting in meetings:
        count += 1
        calls[meeting.last] += 1
        waited[meeting.last] += meeting.waited
        names[meeting.last][meeting.name] += meeting.waited
    ordered = waited.most_common()
    longest = max(waited.values(), default=0) or 1
    rows = [Bar(f"rank {rank}", [(0.8 * time / longest, _LATE)], f"{_seconds(time)}, last to reach {counted(calls[rank], 'call')}")
            for rank, time in ordered[:_MOST_ROWS]]  # fmt: skip
    plot = plots.bars(rows, "how long the others waited for each rank") if rows else ""
    return plot + _table(["rank", f"came last (of {counted(count, 'call')})", "the others waited", "mostly in"], (
        [str(rank), str(calls[rank]), _seconds(time), names[rank].most_common(1)[0][0]] for rank, time in ordered))


def _slowest(engines: list[Process]) -> str:
    runs = [(each.ended - each.began, process.name, each.name) for process in engines
            for each in slices_of(process) if each.category == "run"]  # fmt: skip
    found = sorted(runs, reverse=True)[:_SLOWEST]
    rows = [Bar(_short(engine), [(0.8 * time / (found[0][0] or 1), _LOOKS["run"][1])], f"{_seconds(time)}  {name:.80}")
            for time, engine, name in found]  # fmt: skip
    plot = plots.bars(rows, "longest runs") if rows else ""
    return plot + _table(["engine", "what ran", "time"], ([engine, name, _seconds(time)] for time, engine, name in found))


# ---------------------------------------------------------------- transfers


def _transfers(found: Traffic, ranks: list[int]) -> str:
    by_bytes = sorted(found.messages.items(), key=lambda each: each[1][1], reverse=True)
    messages = _table(["from", "to", "messages", "bytes"], (
        [f"rank {sender}", f"rank {receiver}", f"{count:,}", _bytes(size)] for (sender, receiver), (count, size) in by_bytes[:_SLOWEST]))
    collectives = _table(["collective call", "calls of all ranks", "bytes sent or received"], (
        [name, f"{count:,}", _bytes(size)] for name, (count, size) in sorted(found.collectives.items())))
    requests = _table(["engine", "requests", "bytes"], (
        [name, f"{count:,}", _bytes(size)] for name, (count, size) in found.requests.items()))
    return (f"<h3>Messages of MPI</h3>{_matrix(found, ranks)}{messages}"
            f"<h3>Collective calls</h3>{collectives}<h3>Requests to the engines</h3>{requests}")  # fmt: skip


def _matrix(found: Traffic, ranks: list[int]) -> str:
    """Returns a plot of the bytes that ranks sent to each other: a row for each sender, a column for each receiver."""
    if not found.messages:
        return ""
    place = {rank: position for position, rank in enumerate(ranks[:_MOST_ROWS])}
    values: dict[tuple[int, int], float] = {}
    texts = {}
    for (sender, receiver), (count, size) in found.messages.items():
        if sender in place and receiver in place:
            key = place[sender], place[receiver]
            values[key] = size
            texts[key] = f"rank {sender} to rank {receiver}: {counted(count, 'message')}, {_bytes(size)}"
    labels = [f"from rank {rank}" for rank in place]
    return plots.matrix(labels, values, texts, "bytes from rank to rank") + _drawn(ranks, "ranks")
