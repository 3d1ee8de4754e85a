"""Where and how spans are sent, and what is said where that fails: a small server on loopback."""

import json
import socket

import pytest
from collector import collector
from polyxeus.trace.otlp_sender import read_settings, send_spans

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"


def settings(url, **variables):
    return read_settings({ENDPOINT: url, **variables})


def test_the_environment_says_where_spans_go():
    assert read_settings({}) is None
    found = settings("http://node1:4318/", OTEL_EXPORTER_OTLP_HEADERS="api-key=a%20b, x=1", OTEL_SERVICE_NAME="mine",
                     OTEL_RESOURCE_ATTRIBUTES="service.name=other,team=a")  # fmt: skip
    assert found.url == "http://node1:4318/v1/traces"
    assert found.headers == {"api-key": "a b", "x": "1"}
    assert (found.service, found.timeout) == ("mine", 10.0)
    assert found.attributes == {"service.name": "other", "team": "a"}


def test_variables_for_traces_come_first():
    found = settings("http://a:1", OTEL_EXPORTER_OTLP_TRACES_ENDPOINT="https://b:2/in", OTEL_EXPORTER_OTLP_HEADERS="x=1",
                     OTEL_EXPORTER_OTLP_TRACES_HEADERS="y=2", OTEL_EXPORTER_OTLP_TIMEOUT="500")  # fmt: skip
    assert (found.url, found.headers, found.timeout) == ("https://b:2/in", {"y": "2"}, 0.5)
    assert read_settings({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://b/in"}).url == "http://b/in"


@pytest.mark.parametrize("variables", [{"OTEL_SDK_DISABLED": "true"}, {"OTEL_TRACES_EXPORTER": "none"}])
def test_what_switches_traces_off_is_obeyed(variables):
    assert settings("http://a:1", **variables) is None


@pytest.mark.parametrize(("variables", "sentence"), [
    ({ENDPOINT: "file:///etc/passwd"}, "must be an http or https URL"),
    ({ENDPOINT: "node1:4318"}, "must be an http or https URL"),
    ({"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, "must be http/json, not grpc"),
    ({"OTEL_EXPORTER_OTLP_TIMEOUT": "soon"}, "must be a number of milliseconds, not 'soon'"),
    ({"OTEL_EXPORTER_OTLP_TIMEOUT": "-1"}, "must be a number of milliseconds"),
    ({"OTEL_EXPORTER_OTLP_HEADERS": "secret"}, "OTEL_EXPORTER_OTLP_HEADERS must be key=value,key=value"),
])  # fmt: skip
def test_a_wrong_value_is_one_sentence(variables, sentence):
    with pytest.raises(ValueError, match=sentence):
        read_settings({ENDPOINT: "http://a:1", **variables})


def test_spans_are_posted_as_json_with_the_headers():
    with collector() as server:
        told = send_spans(settings(server.url, OTEL_EXPORTER_OTLP_HEADERS="api-key=k"), [(3, {"a": 1}), (2, {"b": 2})])
        assert told == f"sent 5 spans to {server.url}/v1/traces"
        assert [(path, body) for path, _, body in server.got] == [("/v1/traces", {"a": 1}), ("/v1/traces", {"b": 2})]
        headers = server.got[0][1]
        assert (headers["Content-Type"], headers["Api-Key"]) == ("application/json", "k")


def test_rejected_spans_are_told_with_the_reason():
    answer = json.dumps({"partialSuccess": {"rejectedSpans": "2", "errorMessage": "too old"}}).encode()
    with collector(answer=answer) as server:
        told = send_spans(settings(server.url), [(5, {})])
        assert told == f"sent 5 spans to {server.url}/v1/traces, which rejected 2: too old"


def test_a_status_that_is_no_success_ends_it():
    with collector(status=503) as server:
        told = send_spans(settings(server.url), [(5, {}), (5, {})])
        assert told == f"the spans were not sent to {server.url}/v1/traces: HTTP status 503 (Service Unavailable)"
        assert len(server.got) == 1


def test_the_headers_follow_no_redirection():
    with collector() as other, collector(status=302, headers=[("Location", other.url)]) as server:
        assert "HTTP status 302" in send_spans(settings(server.url, OTEL_EXPORTER_OTLP_HEADERS="api-key=k"), [(1, {})])
        assert other.got == []


def test_where_nobody_listens_it_says_so():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    assert send_spans(settings(url), [(1, {})]).startswith(f"the spans were not sent to {url}/v1/traces: ")


def test_a_server_that_does_not_answer_is_left():
    with collector(drips=True) as server:
        told = send_spans(settings(server.url, OTEL_EXPORTER_OTLP_TIMEOUT="100"), [(1, {})])
    assert "/v1/traces: " in told and ("no answer within 0.1 s" in told or "timed out" in told)


def test_what_is_shown_has_no_password():
    assert settings("http://ann:secret@a:1/x?key=secret").place == "http://a:1/x"
