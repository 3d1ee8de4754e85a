"""Writes Chrome's JSON format, which chrome://tracing, https://ui.perfetto.dev and speedscope read."""

from __future__ import annotations

import json
from typing import Any, Iterator

from polyxeus.trace.timeline import Slice, Timeline

__all__ = ["chrome_trace"]


def chrome_trace(timeline: Timeline) -> str:
    events = list(_events(timeline))
    return json.dumps({"displayTimeUnit": "ms", "traceEvents": events}, default=str)


def _events(timeline: Timeline) -> Iterator[dict[str, Any]]:
    for pid, process in enumerate(timeline.processes, 1):
        yield {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": process.name}}
        yield {"ph": "M", "name": "process_sort_index", "pid": pid, "tid": 0, "args": {"sort_index": pid}}
        for tid, track in enumerate(process.tracks, 1):
            yield {"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": {"name": track.name}}
            for each in track.slices:
                yield from _slice_events(each, {"pid": pid, "tid": tid})


def _slice_events(each: Slice, place: dict[str, int]) -> Iterator[dict[str, Any]]:
    began = each.began / 1000  # microseconds
    yield {"ph": "X", "name": each.name, "cat": each.category, "ts": began, "dur": (each.ended - each.began) / 1000,
           "args": each.details, **place}  # fmt: skip
    for number in each.flows_from:
        yield {"ph": "s", "name": "flow", "cat": "flow", "id": number, "ts": began, **place}
    for number in each.flows_through:
        yield {"ph": "t", "bp": "e", "name": "flow", "cat": "flow", "id": number, "ts": began, **place}
    for number in each.flows_to:
        yield {"ph": "f", "bp": "e", "name": "flow", "cat": "flow", "id": number, "ts": began, **place}
