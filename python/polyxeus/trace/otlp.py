"""Writes a trace as JSON in the format of OpenTelemetry's protocol, which collectors accept at /v1/traces.

All functions are pure.
"""

from __future__ import annotations

import hashlib
import math
from typing import Any, Iterator, NamedTuple

from polyxeus.trace.timeline import Process, Slice, Timeline

__all__ = ["otlp_requests"]

_MOST_SPANS = 2_000  # in one request
_INTERNAL, _SERVER, _CLIENT = 1, 2, 3  # SpanKind
_ERROR = 2  # StatusCode
_KINDS = {"request": _CLIENT, "run": _SERVER}
_LONGEST = 1 << 63


class _Place(NamedTuple):
    """A slice, its track, its span id, and the span id of the slice that encloses it."""

    slice: Slice
    span_id: str
    around: str  #: the span id of the enclosing slice; "": there is none
    track: str


def otlp_requests(
    timeline: Timeline, trace_id: str, unix_offset: int, service: str, attributes: dict[str, str]
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yields (number of spans, body of a request) for each part of a trace.

    trace_id     32 hexadecimal digits
    unix_offset  the number that is added to a time of the timeline to get nanoseconds since 1970
    attributes   the attributes of each resource, in addition to the attributes of its process
    """
    places = [list(_places(process, trace_id, number)) for number, process in enumerate(timeline.processes)]
    every = [each for found in places for each in found]
    begins = {number: each.span_id for each in every for number in each.slice.flows_from}
    passes = {number: each.span_id for each in every for number in each.slice.flows_through}
    root = _span_id(trace_id, "root")
    common = {"traceId": trace_id}
    for process, found in zip(timeline.processes, places):
        spans = [_span(each, common, root, begins, passes, unix_offset) for each in found]
        if process.kind == "client" and every:
            spans.insert(0, _root_span(every, common, root, unix_offset))
        resource = {"attributes": _attributes({**attributes, "service.name": service, **_of_process(process)})}
        for first in range(0, len(spans), _MOST_SPANS):
            part = spans[first : first + _MOST_SPANS]
            scoped = [{"scope": {"name": "polyxeus"}, "spans": part}]
            yield len(part), {"resourceSpans": [{"resource": resource, "scopeSpans": scoped}]}


def _places(process: Process, trace_id: str, number: int) -> Iterator[_Place]:
    for track_number, track in enumerate(process.tracks):
        around: list[_Place] = []
        for position, each in enumerate(track.slices):
            while around and around[-1].slice.ended <= each.began:
                around.pop()
            span_id = _span_id(trace_id, number, track_number, position)
            place = _Place(each, span_id, around[-1].span_id if around else "", track.name)
            yield place
            around.append(place)


def _span_id(*key: object) -> str:
    return hashlib.blake2b(repr(key).encode(), digest_size=8).hexdigest()


def _span(place, common, root, begins, passes, unix_offset):
    each = place.slice
    sources = [begins.get(number) for number in each.flows_through]
    links = []
    for number in each.flows_to:
        source = passes.get(number) or begins.get(number)
        if each.category == "run":
            sources.append(source)
        elif source:
            links.append({**common, "spanId": source})
    parent = next((source for source in sources if source), place.around or root)
    span = {
        **common, "spanId": place.span_id, "parentSpanId": parent, "name": each.name,
        "kind": _KINDS.get(each.category, _INTERNAL), **_times(each.began, each.ended, unix_offset),
        "attributes": _attributes({"thread.name": place.track, "polyxeus.category": each.category,
                                   **{f"polyxeus.{name}": value for name, value in each.details.items()}}),
    }  # fmt: skip
    if links:
        span["links"] = links
    if "error" in each.details:
        span["status"] = {"code": _ERROR, "message": str(each.details["error"])}
    return span


def _root_span(every, common, root, unix_offset):
    times = _times(min(each.slice.began for each in every), max(each.slice.ended for each in every), unix_offset)
    return {**common, "spanId": root, "name": "polyxeus trace", "kind": _INTERNAL, **times}


def _times(began, ended, unix_offset):
    return {"startTimeUnixNano": str(began + unix_offset), "endTimeUnixNano": str(ended + unix_offset)}


def _of_process(process):
    facts = {"service.instance.id": process.name, "host.name": process.host, "process.pid": process.pid,
             "polyxeus.process": process.kind, "polyxeus.rank": process.rank}  # fmt: skip
    return {name: value for name, value in facts.items() if value not in ("", None)}


def _attributes(values: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": _any_value(value)} for key, value in values.items()]


def _any_value(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int) and -_LONGEST <= value < _LONGEST:
        return {"intValue": str(value)}
    if isinstance(value, float):
        if math.isfinite(value):
            return {"doubleValue": value}
        return {"doubleValue": "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"}
    if isinstance(value, (list, tuple)):
        return {"arrayValue": {"values": [_any_value(each) for each in value]}}
    return {"stringValue": str(value)}
