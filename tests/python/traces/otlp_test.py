"""Spans for OpenTelemetry, held against the published mapping of OTLP to JSON."""

import base64
import copy
import re

import some_records as some
from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2
from polyxeus.trace.otlp import otlp_requests
from polyxeus.trace.timeline import Process, Slice, Timeline, Track, make_timeline

TRACE_ID = "5b8efff798038103d269b633813fc60c"
WALL = 1_544_712_660_000_000_000


def bodies(timeline):
    return [body for _, body in otlp_requests(timeline, TRACE_ID, WALL, "my.service", {"deployment": "test"})]


def spans(timeline):
    parts = [part for body in bodies(timeline) for part in body["resourceSpans"]]
    return [span for part in parts for scope in part["scopeSpans"] for span in scope["spans"]]


def the_span(found, name, **attributes):
    (span,) = [span for span in found if span["name"] == name and attributes.items() <= read_attributes(span).items()]
    return span


def read_attributes(span):
    """{key: value as JSON has it}"""
    return {each["key"]: next(iter(each["value"].values())) for each in span.get("attributes", ())}


def one_slice(**details):
    timeline = Timeline([Process("p", [Track("t", [Slice("x", "span", 1, 2, details)])])], None, {}, 0)
    (span,) = spans(timeline)
    return {each["key"].removeprefix("polyxeus."): each["value"] for each in span["attributes"]}


def test_a_span_has_the_form_that_is_published():
    (body,) = bodies(Timeline([Process("engine 0 on node1 (pid 7)", [Track("main thread", [Slice("x", "span", 5, 9, {})])],
                                       "engine", "node1", 7, 0)], None, {}, 0))  # fmt: skip
    (resource_spans,) = body["resourceSpans"]
    assert read_attributes(resource_spans["resource"]) == {
        "deployment": "test", "service.name": "my.service", "service.instance.id": "engine 0 on node1 (pid 7)",
        "host.name": "node1", "process.pid": "7", "polyxeus.process": "engine", "polyxeus.rank": "0"}  # fmt: skip
    (scope_spans,) = resource_spans["scopeSpans"]
    assert scope_spans["scope"] == {"name": "polyxeus"}
    (span,) = scope_spans["spans"]
    assert (span["traceId"], span["name"], span["kind"]) == (TRACE_ID, "x", 1)
    assert re.fullmatch("[0-9a-f]{16}", span["spanId"]) and re.fullmatch("[0-9a-f]{16}", span["parentSpanId"])
    assert (span["startTimeUnixNano"], span["endTimeUnixNano"]) == (str(WALL + 5), str(WALL + 9))
    assert read_attributes(span) == {"thread.name": "main thread", "polyxeus.category": "span"}


def test_values_have_the_types_of_any_value():
    assert one_slice(a=True, b=7, c=0.5, d="t", e=[1, "u"], f=float("nan"), g=1 << 70, h=None) == {
        "category": {"stringValue": "span"}, "thread.name": {"stringValue": "t"},
        "a": {"boolValue": True}, "b": {"intValue": "7"}, "c": {"doubleValue": 0.5}, "d": {"stringValue": "t"},
        "e": {"arrayValue": {"values": [{"intValue": "1"}, {"stringValue": "u"}]}}, "f": {"doubleValue": "NaN"},
        "g": {"stringValue": str(1 << 70)}, "h": {"stringValue": "None"}}  # fmt: skip


def test_a_run_is_a_child_of_the_request_that_caused_it():
    client, engines = some.late_cell()
    found = spans(make_timeline(client, engines))
    requests = {span["spanId"]: span for span in found if span["kind"] == 3}
    runs = [span for span in found if span["kind"] == 2]
    assert len(requests) == len(runs) == 4
    assert {span["parentSpanId"] for span in runs} == set(requests)
    call = the_span(found, "MPI_Allreduce", **{"polyxeus.late_ms": 500.0})
    assert call["parentSpanId"] in {span["spanId"] for span in runs}
    wait = [span for span in found if span["name"] == "wait for other ranks"]
    assert {span["parentSpanId"] for span in wait} == {span["spanId"] for span in found if span["name"] == "MPI_Allreduce"}


def test_between_them_stands_the_controller():
    client, engines = some.late_cell()
    found = spans(make_timeline(client, engines, some.controller(("m2", 2, 2, 4, 535))))
    passed = the_span(found, "work()", **{"polyxeus.client": "me"})
    by_id = {span["spanId"]: span for span in found}
    assert by_id[passed["parentSpanId"]]["name"] == "work()"
    assert [span["name"] for span in found if span["kind"] == 2 and span["parentSpanId"] == passed["spanId"]] == ["work()"]


def test_all_hangs_on_one_root():
    client, engines = some.late_cell()
    found = spans(make_timeline(client, engines))
    (root,) = [span for span in found if "parentSpanId" not in span]
    assert (root["name"], root["startTimeUnixNano"]) == ("polyxeus trace", str(WALL))
    ids = [span["spanId"] for span in found]
    assert len(set(ids)) == len(ids)
    assert {span["parentSpanId"] for span in found if span is not root} <= set(ids)


def test_a_message_is_a_link_to_its_send():
    engines = [some.engine(0, mpi_calls=[some.message("MPI_Send", 1, 2, peer=1)]),
               some.engine(1, mpi_calls=[some.message("MPI_Recv", 1, 3, peer=0)])]  # fmt: skip
    found = spans(make_timeline(some.client(), engines))
    assert the_span(found, "message came")["links"] == [{"traceId": TRACE_ID, "spanId": the_span(found, "MPI_Send")["spanId"]}]


def test_a_span_that_ended_by_an_exception_is_an_error():
    found = spans(make_timeline(some.client([some.span("span", "load", 0, 1, error="OSError")]), []))
    assert the_span(found, "load")["status"] == {"code": 2, "message": "OSError"}


def test_a_long_trace_is_sent_in_parts():
    calls = [some.span("span", str(n), n, n + 1) for n in range(4500)]
    parts = list(otlp_requests(make_timeline(some.client(calls), []), TRACE_ID, WALL, "s", {}))
    assert [count for count, _ in parts] == [2000, 2000, 501]  # with the root


def test_nothing_makes_no_request():
    assert bodies(make_timeline(some.client(), [])) == []


def test_the_classes_of_opentelemetry_read_it_strictly():
    client, engines = some.late_cell()
    for body in bodies(make_timeline(client, engines, some.controller(("m2", 2, 2, 4, 535)))):
        read = ParseDict(with_base64(body), trace_service_pb2.ExportTraceServiceRequest())  # unknown fields are errors
        assert read.resource_spans[0].scope_spans[0].spans[0].trace_id.hex() == TRACE_ID


def with_base64(body):
    """Ids as protobuf's own mapping has them; OTLP's differs from it there alone."""
    body = copy.deepcopy(body)

    def change(value):
        if isinstance(value, dict):
            for key, each in value.items():
                if key in ("traceId", "spanId", "parentSpanId"):
                    value[key] = base64.b64encode(bytes.fromhex(each)).decode()
                change(each)
        elif isinstance(value, list):
            for each in value:
                change(each)

    change(body)
    return body
