"""The contents of a trace: processes with tracks of nested slices, and flows between slices. All functions are pure."""

from __future__ import annotations

import bisect
import hashlib
from collections import defaultdict, deque
from typing import Any, Iterable, NamedTuple

from polyxeus.trace import meetings, records
from polyxeus.trace.meetings import LateRank, Meeting
from polyxeus.trace.records import ClientRecords, ControllerRecords, EngineRecords
from polyxeus.trace.recording import Span

__all__ = ["SENDS", "Process", "Slice", "Timeline", "Track", "make_timeline", "nested_lanes"]

_MOST_LANES = 16  # the largest number of lanes for the requests to one engine
_MOST_CALLS = 16  # the number of calls that are examined to find the call that has sent a request
SENDS = ("MPI_Send", "MPI_Ssend", "MPI_Rsend", "MPI_Bsend", "MPI_Isend", "MPI_Issend", "MPI_Irsend", "MPI_Ibsend",
          "MPI_Sendrecv", "MPI_Sendrecv_replace")  # fmt: skip
_RECEIVED_HALF = "receive"  # the receiving half of MPI_Sendrecv
_RECEIVES = ("MPI_Recv", "MPI_Mrecv", _RECEIVED_HALF)
_BEGUN_RECEIVES = ("MPI_Irecv",)  # they receive a message, but their end is not known, so no flow is drawn


class Slice(NamedTuple):
    """A named interval on a track. Times are in nanoseconds; all slices of a trace use the same clock."""

    name: str
    category: str
    began: int
    ended: int
    details: dict[str, Any]
    flows_from: tuple[int, ...] = ()  #: the numbers of the flows that begin here
    flows_to: tuple[int, ...] = ()  #: the numbers of the flows that end here
    flows_through: tuple[int, ...] = ()  #: the numbers of the flows that pass through this slice


class Track(NamedTuple):
    name: str
    slices: list[Slice]  #: ordered by their beginnings; if two slices overlap, one encloses the other


class Process(NamedTuple):
    name: str
    tracks: list[Track]
    kind: str = "engine"  #: "engine", "client" or "controller"
    host: str = ""
    pid: int = 0
    rank: int | None = None  #: the rank of an engine


class Timeline(NamedTuple):
    processes: list[Process]
    late: LateRank | None
    meetings: dict[tuple, Meeting]
    omitted: int  #: the number of requests that are not drawn because too many were unanswered at the same time


def nested_lanes(slices: Iterable[Slice]) -> list[list[Slice]]:
    """Distributes the slices over as few lanes as possible, in such a way that two slices of a lane never overlap
    partially."""
    lanes: list[tuple[list[Slice], list[int]]] = []  # (slices, ends of the open slices)
    for each in sorted(slices, key=lambda each: (each.began, -each.ended)):
        for lane, open_ends in lanes:
            while open_ends and open_ends[-1] <= each.began:
                open_ends.pop()
            if not open_ends or each.ended <= open_ends[-1]:
                break
        else:
            lane, open_ends = [], []
            lanes.append((lane, open_ends))
        lane.append(each)
        open_ends.append(each.ended)
    return [lane for lane, _ in lanes]


def flow_number(*key: object) -> int:
    """Returns a number below 2**53, which is the same for equal keys."""
    digest = hashlib.blake2b(repr(key).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 11 or 1


def make_timeline(
    client: ClientRecords, engines: list[EngineRecords], controller: ControllerRecords | None = None
) -> Timeline:
    found = meetings.find_meetings(engines)
    passages = {each.msg_id: each for each in controller.passages} if controller else {}
    tracks, omitted = _client_tracks(client, passages)
    processes = [_process("client", client, tracks)]
    if controller is not None:
        tracks, more = _controller_tracks(controller, client, engines)
        processes.append(_process("controller", controller, tracks))
        omitted += more
    messages = _match_messages(engines)
    for engine in engines:
        rank = "" if engine.rank == engine.engine else f", rank {engine.rank}"
        made = _process(f"engine {engine.engine}{rank}", engine, _engine_tracks(engine, found, messages))
        processes.append(made._replace(kind="engine", rank=engine.rank))
    least = max([1_000_000, *(2 * each.clock_error for each in engines)])
    return Timeline(processes, meetings.latest_rank(found.values(), least), found, omitted)


def _process(name, told, tracks):
    return Process(f"{name} on {told.host} (pid {told.pid})", tracks, name, told.host, told.pid)


# ---------------------------------------------------------------- the client


def _client_tracks(client, passages):
    tracks = _thread_tracks([
        (span.thread, Slice(span.name, span.kind, span.began, span.ended, span.details))
        for span in [*client.spans, *_encodings(client.spans)] if span.kind != "sent"
    ])  # fmt: skip
    by_engine = defaultdict(list)
    for each in client.requests:
        details = {"msg_id": each.msg_id, **_passage_details(each.sent, passages.get(each.msg_id))}
        by_engine[each.engine].append(Slice(each.name, "request", each.sent, each.received, details,
                                            flows_from=(flow_number("request", each.msg_id),)))  # fmt: skip
    lanes, omitted = _lanes_to_engines(by_engine)
    return tracks + lanes, omitted


def _lanes_to_engines(by_engine):
    """Returns (tracks, number of slices that are left out because an engine would need too many tracks).

    by_engine  {engine: [Slice, ...]}; the key None has the requests that no engine has received yet
    """
    tracks, omitted = [], 0
    for engine, slices in sorted(by_engine.items(), key=lambda each: (each[0] is None, each[0])):
        lanes = nested_lanes(slices)
        omitted += sum(map(len, lanes[_MOST_LANES:]))
        tracks += _named("to no engine yet" if engine is None else f"to engine {engine}", lanes[:_MOST_LANES])
    return tracks, omitted


def _passage_details(sent, passage):
    """Returns the times at which the controller received a request, sent it to an engine, and received the answer, as
    milliseconds after the time `sent`. Leaves out events that have not happened."""
    if passage is None:
        return {}
    times = {"at_controller_ms": passage.came, "to_engine_ms": passage.given, "answer_at_controller_ms": passage.answered}
    return {name: _milliseconds(time - sent) for name, time in times.items() if time}


def _encodings(spans):
    """Yields a span for each span of the kind "sent" during a call. The yielded span ends with this "sent" span. It
    begins when the previous "sent" span of the call ends; the first one begins when the call begins."""
    calls = sorted((span for span in spans if span.kind == "call"), key=lambda span: span.began)
    begins = [span.began for span in calls]
    until = {}  # {index of a call: end of its latest encoding}
    for sent in sorted((span for span in spans if span.kind == "sent"), key=lambda span: span.began):
        start = bisect.bisect_right(begins, sent.began) - 1
        for place in range(start, max(start - _MOST_CALLS, -1), -1):
            call = calls[place]
            if call.thread == sent.thread and call.ended >= sent.ended:
                began = until.get(place, call.began)
                until[place] = sent.ended
                yield Span("encode", "encode and send", began, sent.ended, call.thread, {})
                break


def _thread_tracks(slices):
    """Returns the tracks of each thread. `slices` is a list of (number of the thread, Slice)."""
    by_thread = defaultdict(list)
    for thread, each in slices:
        by_thread[thread].append(each)
    tracks = []
    for thread, found in sorted(by_thread.items()):
        tracks += _named("main thread" if thread == 0 else f"thread {thread}", nested_lanes(found))
    return tracks


def _named(name, lanes):
    return [Track(name if number == 0 else f"{name} ({number + 1})", lane) for number, lane in enumerate(lanes)]


# ---------------------------------------------------------------- the controller


def _controller_tracks(controller, client, engines):
    runs = {span.details.get("msg_id"): span.name for engine in engines for span in engine.spans if span.kind == "request"}
    drawn = {each.msg_id for each in client.requests}
    by_engine = defaultdict(list)
    for each in controller.passages:
        flow = (flow_number("request", each.msg_id),) if each.msg_id in runs else ()
        details = {"msg_id": each.msg_id, "client": each.session}
        if not each.answered:
            details["is_unfinished"] = True
        whole = Slice(runs.get(each.msg_id, "request"), "request", each.came, each.answered or max(each.came, controller.ended),
                      details)  # fmt: skip
        by_engine[each.engine].append(
            whole._replace(flows_through=flow) if each.msg_id in drawn else whole._replace(flows_from=flow))
        if each.given > each.came:
            by_engine[each.engine].append(Slice("wait for an engine", "queue", each.came, each.given, {}))
    return _lanes_to_engines(by_engine)


# ---------------------------------------------------------------- an engine


def _engine_tracks(engine, found, messages):
    slices, queued = [], []
    sent = {each.details.get("msg_id"): each.began for each in engine.spans if each.kind == "reply"}
    for key, call in meetings.keyed(engine):
        meeting = found.get(key)
        if isinstance(call, records.MpiCall):
            slices += [(0, each) for each in _mpi_slices(engine.rank, call, meeting, messages)]
        elif call.kind == "request":
            slices.append((0, _request_slice(call, sent)))
            if wait := call.details.get("queued_ns", 0):
                queued.append(Slice(call.name, "queue", call.began - wait, call.began, {}))
        elif call.kind != "reply":
            details = {**call.details, **_meeting_details(engine.rank, meeting)}
            slices.append((call.thread, Slice(call.name, call.kind, call.began, call.ended, details)))
    return _thread_tracks(slices) + _named("queue", nested_lanes(queued))


def _request_slice(span, sent):
    details = {key: value for key, value in span.details.items() if key != "queued_ns"}
    msg_id = details.get("msg_id")
    details["queued_ms"] = _milliseconds(span.details.get("queued_ns", 0))
    if msg_id in sent:
        details["reply_sent_ms"] = _milliseconds(sent[msg_id] - span.began)
    return Slice(span.name, "run", span.began, span.ended, details, flows_to=(flow_number("request", msg_id),))


def _mpi_slices(rank, call, meeting, messages):
    details = {}
    if call.communicator:
        details["communicator"] = str(call.communicator)
    for key in ("size", "peer", "tag", "bytes", "root"):
        value = getattr(call, key)
        if value != records.UNKNOWN:
            details[key] = "any" if value == records.ANY and key in ("peer", "tag") else value
    details.update(_meeting_details(rank, meeting))
    if call.met:
        details["waited_ms"] = _milliseconds(call.met - call.began)
    flows_from, flows_to = messages.get((rank, call), ((), ()))
    if call.name != _RECEIVED_HALF:
        yield Slice(call.name, "mpi", call.began, call.ended, details, flows_from)
    if flows_to:  # a flow ends when the message has arrived, because the receive may have begun before the send
        yield Slice("message came", "mpi", max(call.began, call.ended - 1), call.ended, {}, flows_to=flows_to)
    if call.began < call.met <= call.ended:
        yield Slice("wait for other ranks", "mpi", call.began, call.met, {})


def _meeting_details(rank, meeting):
    if meeting is None:
        return {}
    return {"late_ms": _milliseconds(meeting.lateness(rank)), "last_to_come": f"rank {meeting.last}"}


def _milliseconds(nanoseconds):
    return round(nanoseconds / 1e6, 6)


def _match_messages(engines):
    """Returns the flows from each send to the receive that got its message: {(rank, call): (flows_from, flows_to)}.

    Sends and receives with the same two ranks, communicator and tag are matched in their order. If a receive accepts
    any rank or any tag (MPI_ANY_SOURCE, MPI_ANY_TAG), the records do not say which message it got. All messages that
    this receive may have got are then left out.
    """
    flows = {}
    waiting = defaultdict(deque)
    for engine in engines:
        for call in sorted(engine.mpi_calls, key=lambda each: each.began):
            if call.name in SENDS and call.peer >= 0:
                waiting[call.communicator, engine.rank, call.peer, call.tag].append((engine.rank, call))
    for engine in engines:
        taken_by_any = set()  # (communicator, peer or ANY, tag or ANY)
        for call in sorted(engine.mpi_calls, key=lambda each: each.began):
            if call.name not in (*_RECEIVES, *_BEGUN_RECEIVES):
                continue
            if call.name == "MPI_Mrecv" and not call.communicator:
                break  # the call belongs to MPI_Improbe, which may have received any of the later messages
            if records.ANY in (call.peer, call.tag):
                taken_by_any.add((call.communicator, call.peer, call.tag))
                continue
            sends = waiting.get((call.communicator, call.peer, engine.rank, call.tag))
            if not sends:
                continue
            send = sends.popleft()
            if call.name in _BEGUN_RECEIVES or not taken_by_any.isdisjoint(_ways_to_take(call)):
                continue
            number = flow_number("message", *send)
            flows[send] = (number,), ()
            flows[engine.rank, call] = (), (number,)
    return flows


def _ways_to_take(call):
    """Returns the (communicator, rank, tag) of receives with MPI_ANY_SOURCE or MPI_ANY_TAG that may have got the
    message of the receive `call`."""
    any_one = records.ANY
    return {(call.communicator, peer, tag) for peer, tag in
            ((any_one, any_one), (any_one, call.tag), (call.peer, any_one))}  # fmt: skip
