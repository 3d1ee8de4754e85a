"""The files: read strictly by PyPI's perfetto, and as Chrome's JSON."""

import json
from collections import defaultdict

import pytest
import some_records as some
from polyxeus.trace import protobuf
from polyxeus.trace.chrome import chrome_trace
from polyxeus.trace.perfetto import perfetto_trace
from polyxeus.trace.timeline import Process, Slice, Timeline, Track, make_timeline

protos = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2")


def unknown_fields(message):
    """Fields that Perfetto does not know, in a message and all below it."""
    from google.protobuf.unknown_fields import UnknownFieldSet

    found = [(message.DESCRIPTOR.name, each.field_number) for each in UnknownFieldSet(message)]
    for field, value in message.ListFields():
        if field.type == field.TYPE_MESSAGE:
            for each in value if field.is_repeated else [value]:
                found += unknown_fields(each)
    return found


def read(timeline):
    """The trace, as Perfetto's own classes read it; not one field may be unknown."""
    trace = protos.Trace()
    trace.ParseFromString(perfetto_trace(timeline))
    assert unknown_fields(trace) == []
    return trace


def read_slices(trace):
    """{name of a process: {name of a track: [(name, began, ended, depth, event), ...]}}, checking all that nests."""
    names, parents = {}, {}
    for packet in trace.packet:
        if packet.HasField("track_descriptor"):
            described = packet.track_descriptor
            assert described.uuid not in names
            names[described.uuid] = described.name
            if described.HasField("process"):
                assert described.process.process_name == described.name and described.process.pid > 0
            else:
                parents[described.uuid] = described.parent_uuid
    found, open_slices, last = defaultdict(lambda: defaultdict(list)), defaultdict(list), 0
    for packet in trace.packet:
        assert packet.trusted_packet_sequence_id == 1
        if not packet.HasField("track_event"):
            continue
        assert packet.timestamp >= last  # of all tracks
        last, event = packet.timestamp, packet.track_event
        stack = open_slices[event.track_uuid]
        if event.type == event.TYPE_SLICE_BEGIN:
            stack.append((packet.timestamp, event))
        else:
            assert event.type == event.TYPE_SLICE_END
            began, begin = stack.pop()
            place = found[names[parents[event.track_uuid]]][names[event.track_uuid]]
            place.append((begin.name, began, packet.timestamp, len(stack), begin))
    assert not any(open_slices.values())
    return found


def annotations(event):
    return {each.name: getattr(each, each.WhichOneof("value")) for each in event.debug_annotations}


def test_perfetto_reads_a_cell_with_its_calls_nested_and_annotated():
    found = read_slices(read(make_timeline(*some.late_cell())))
    assert len(found) == 5
    slices = {each[0]: each for each in found["engine 2 on node1 (pid 1002)"]["main thread"]}
    assert [slices[name][1:4] for name in ("work()", "MPI_Allreduce", "wait for other ranks")] == [
        (some.ms(5), some.ms(530), 0), (some.ms(510), some.ms(520), 1), (some.ms(510), some.ms(511), 2)]  # fmt: skip
    event = slices["MPI_Allreduce"][4]
    assert list(event.categories) == ["mpi"]
    assert annotations(event) == {"communicator": "77", "size": 4, "bytes": 80, "late_ms": 500.0,
                                  "last_to_come": "rank 2", "waited_ms": 1.0}  # fmt: skip


def test_perfetto_reads_flows_that_begin_at_the_client_and_end_at_the_run():
    found = read_slices(read(make_timeline(*some.late_cell())))
    (sent,) = found["client on laptop (pid 999)"]["to engine 1"]
    run = found["engine 1 on node1 (pid 1001)"]["main thread"][-1]
    assert run[0] == "work()"
    assert list(sent[4].flow_ids) == list(run[4].terminating_flow_ids) != []


@pytest.mark.parametrize("value", [0, -1, 7, 1 << 62, -(1 << 62), True, False, 0.5, -1e300, "", "ünïcode", "a" * 200])
def test_perfetto_reads_details_as_they_were(value):
    each = Slice("x", "c", 1, 2, {"value": value})
    trace = read(Timeline([Process("p", [Track("t", [each])])], None, {}, 0))
    (event,) = [packet.track_event for packet in trace.packet if packet.track_event.name == "x"]
    read_value = annotations(event)["value"]
    assert (read_value, type(read_value)) == (value, type(value))


@pytest.mark.parametrize("value, text", [([1, "a"], "[1, 'a']"), (None, "None"), (1 << 70, str(1 << 70))])
def test_details_of_other_types_are_text(value, text):
    each = Slice("x", "c", 1, 2, {"value": value})
    trace = read(Timeline([Process("p", [Track("t", [each])])], None, {}, 0))
    assert annotations(next(packet.track_event for packet in trace.packet if packet.track_event.name == "x")) == {
        "value": text}  # fmt: skip


def test_an_empty_slice_and_its_neighbours_keep_their_order():
    slices = [Slice("a", "c", 1, 5, {}), Slice("b", "c", 5, 5, {}), Slice("c", "c", 5, 9, {})]
    found = read_slices(read(Timeline([Process("p", [Track("t", slices)])], None, {}, 0)))
    assert [each[:4] for each in found["p"]["t"]] == [("a", 1, 5, 0), ("b", 5, 5, 0), ("c", 5, 9, 0)]


@pytest.mark.parametrize("value", [0, 1, 127, 128, 300, 1 << 32, (1 << 64) - 1])
def test_numbers_are_encoded_as_protobuf_does_it(value):
    packet = protos.TracePacket(timestamp=value)
    assert protobuf.varint_field(8, value) == packet.SerializeToString()


def test_chrome_reads_the_same_slices_and_flows():
    made = make_timeline(*some.late_cell())
    told = json.loads(chrome_trace(made))
    events = told["traceEvents"]
    assert {event["ph"] for event in events} == {"M", "X", "s", "f"}
    names = {(event["pid"], event["tid"]): event["args"]["name"] for event in events if event["name"] == "thread_name"}
    processes = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
    (call,) = [event for event in events if event["name"] == "MPI_Allreduce" and event["args"]["late_ms"]]
    assert processes[call["pid"]] == "engine 2 on node1 (pid 1002)"
    assert names[call["pid"], call["tid"]] == "main thread"
    assert (call["ts"], call["dur"], call["cat"]) == (510_000.0, 10_000.0, "mpi")
    begins = {event["id"]: event for event in events if event["ph"] == "s"}
    ends = {event["id"]: event for event in events if event["ph"] == "f"}
    assert begins.keys() == ends.keys() and len(ends) == 4
    for number, end in ends.items():
        assert end["bp"] == "e" and end["ts"] >= begins[number]["ts"]
        assert any(event["ph"] == "X" and event["pid"] == end["pid"] and event["tid"] == end["tid"]
                   and event["ts"] <= end["ts"] <= event["ts"] + event["dur"] for event in events)  # fmt: skip


def test_chrome_gets_json_whatever_users_write_into_spans():
    spans = [some.span("span", "\udc80 <b>", 1, 2, value=object(), more={"a": [1]})]
    told = json.loads(chrome_trace(make_timeline(some.client(spans), [])))
    assert told["traceEvents"][-1]["args"]["more"] == {"a": [1]}
