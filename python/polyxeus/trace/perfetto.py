"""Writes Perfetto's TrackEvent format, which https://ui.perfetto.dev and trace_processor read."""

from __future__ import annotations

from typing import Any, Iterator

from polyxeus.trace.protobuf import bytes_field, double_field, fixed64_field, text_field, varint_field
from polyxeus.trace.timeline import Slice, Timeline, Track

__all__ = ["perfetto_trace"]

_SEQUENCE = 1  # one writer makes all packets
_PROCESS_ORDER = 1_000_000  # the largest number of tracks of a process

# perfetto/trace/trace.proto, trace_packet.proto, track_event/*.proto: the numbers of fields and values
_PACKET = 1
_TIMESTAMP, _SEQUENCE_ID, _TRACK_EVENT, _TRACK_DESCRIPTOR = 8, 10, 11, 60
_UUID, _NAME, _PROCESS, _PARENT = 1, 2, 3, 5  # fields of TrackDescriptor
_PID, _PROCESS_NAME = 1, 6  # fields of ProcessDescriptor
_ANNOTATION, _TYPE, _TRACK, _CATEGORY, _EVENT_NAME, _FLOW, _LAST_FLOW = 4, 9, 11, 22, 23, 47, 48  # in TrackEvent
_BEGIN, _END = 1, 2
_BOOL, _INT, _DOUBLE, _STRING, _ANNOTATION_NAME = 2, 4, 5, 6, 10  # fields of DebugAnnotation


def perfetto_trace(timeline: Timeline) -> bytes:
    descriptors, events = [], []
    for number, process in enumerate(timeline.processes, 1):
        uuid = number * _PROCESS_ORDER
        described = bytes_field(_PROCESS, varint_field(_PID, number) + text_field(_PROCESS_NAME, process.name))
        descriptors.append(_descriptor(uuid, process.name, described))
        for place, track in enumerate(process.tracks, 1):
            descriptors.append(_descriptor(uuid + place, track.name, varint_field(_PARENT, uuid)))
            events += _events(track, uuid + place)
    events.sort(key=lambda event: event[0])  # the sort is stable, so the events of a track keep their order
    packets = [*descriptors, *(varint_field(_TIMESTAMP, time) + packet for time, packet in events)]
    sequence = varint_field(_SEQUENCE_ID, _SEQUENCE)
    return b"".join(bytes_field(_PACKET, packet + sequence) for packet in packets)


def _descriptor(uuid: int, name: str, rest: bytes) -> bytes:
    return bytes_field(_TRACK_DESCRIPTOR, varint_field(_UUID, uuid) + text_field(_NAME, name) + rest)


def _events(track: Track, uuid: int) -> Iterator[tuple[int, bytes]]:
    """Yields (time, packet without its time) for each beginning and each end of a slice, in the order in which the
    slices nest."""
    end = bytes_field(_TRACK_EVENT, varint_field(_TYPE, _END) + varint_field(_TRACK, uuid))
    open_ends: list[int] = []
    for each in track.slices:
        while open_ends and open_ends[-1] <= each.began:
            yield open_ends.pop(), end
        yield each.began, bytes_field(_TRACK_EVENT, _begin(each, uuid))
        open_ends.append(each.ended)
    while open_ends:
        yield open_ends.pop(), end


def _begin(each: Slice, uuid: int) -> bytes:
    parts = [varint_field(_TYPE, _BEGIN), varint_field(_TRACK, uuid), text_field(_CATEGORY, each.category),
             text_field(_EVENT_NAME, each.name)]  # fmt: skip
    parts += [fixed64_field(_FLOW, number) for number in (*each.flows_from, *each.flows_through)]
    parts += [fixed64_field(_LAST_FLOW, number) for number in each.flows_to]
    parts += [bytes_field(_ANNOTATION, _annotation(name, value)) for name, value in each.details.items()]
    return b"".join(parts)


def _annotation(name: str, value: Any) -> bytes:
    named = text_field(_ANNOTATION_NAME, name)
    if isinstance(value, bool):
        return named + varint_field(_BOOL, value)
    if isinstance(value, int) and -(1 << 63) <= value < 1 << 63:
        return named + varint_field(_INT, value)
    if isinstance(value, float):
        return named + double_field(_DOUBLE, value)
    return named + text_field(_STRING, str(value))
