"""Sends traces, as JSON over HTTP, to the OpenTelemetry collector that the environment variables name."""

from __future__ import annotations

import http.client
import json
import threading
import urllib.error
import urllib.request
from typing import Any, Iterable, Mapping, NamedTuple
from urllib.parse import unquote, urlsplit

from polyxeus.counted import counted

__all__ = ["OtlpSettings", "read_settings", "send_spans"]

_DEFAULT_TIMEOUT = 10_000  # milliseconds, according to the specification of the exporters
_MOST_READ = 65_536  # the number of bytes of an answer that are read


class OtlpSettings(NamedTuple):
    """The collector to which spans are sent, and the settings for sending."""

    url: str
    headers: dict[str, str]
    timeout: float  #: seconds, for each request
    service: str
    attributes: dict[str, str]  #: the attributes of all resources

    @property
    def place(self) -> str:
        """The part of the URL that may be shown to users: without the password and the query."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def read_settings(environment: Mapping[str, str]) -> OtlpSettings | None:
    """Reads the settings from OpenTelemetry's environment variables (OTEL_...). Returns None if no spans should be
    sent.

    errors  ValueError: a variable has an invalid value. The text of the exception is an error message for the user
    """

    def value(name: str) -> str:
        """Returns the value of the variable for traces, or, if it is not set, of the variable for all kinds of data."""
        return (environment.get(f"OTEL_EXPORTER_OTLP_TRACES_{name}", "").strip()
                or environment.get(f"OTEL_EXPORTER_OTLP_{name}", "").strip())  # fmt: skip

    own = environment.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "").strip()
    common = environment.get("OTEL_EXPORTER_OTLP_ENDPOINT", "").strip()
    is_off = environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    if is_off or environment.get("OTEL_TRACES_EXPORTER", "").strip() == "none" or not (own or common):
        return None
    url = own or common.rstrip("/") + "/v1/traces"
    if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
        raise ValueError(f"OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https URL, not {(own or common)!r}")
    if value("PROTOCOL") == "grpc":
        raise ValueError("OTEL_EXPORTER_OTLP_PROTOCOL must be http/json, not grpc; name the collector's port for HTTP, too")
    try:
        timeout = int(value("TIMEOUT") or _DEFAULT_TIMEOUT) / 1000
        if timeout <= 0:
            raise ValueError
    except ValueError:
        raise ValueError(f"OTEL_EXPORTER_OTLP_TIMEOUT must be a number of milliseconds, not {value('TIMEOUT')!r}") from None
    attributes = _pairs(environment.get("OTEL_RESOURCE_ATTRIBUTES", ""), "OTEL_RESOURCE_ATTRIBUTES")
    service = environment.get("OTEL_SERVICE_NAME", "").strip() or attributes.get("service.name", "polyxeus")
    return OtlpSettings(url, _pairs(value("HEADERS"), "OTEL_EXPORTER_OTLP_HEADERS"), timeout, service, attributes)


def _pairs(text: str, variable: str) -> dict[str, str]:
    """Returns the keys and values of a text like "key=value,key=value", whose values are percent-encoded."""
    found = {}
    for pair in filter(None, map(str.strip, text.split(","))):
        key, equals, value = pair.partition("=")
        if not equals or not key.strip():
            raise ValueError(f"{variable} must be key=value,key=value")  # the value may be a secret
        found[key.strip()] = unquote(value.strip())
    return found


def send_spans(settings: OtlpSettings, requests: Iterable[tuple[int, dict[str, Any]]]) -> str:
    """Sends the requests one after the other, until one of them fails. Returns a sentence about the outcome.

    requests  pairs (number of spans, body), as otlp_requests() yields them
    """
    sent = rejected = 0
    reason = ""
    for count, body in requests:
        problem, told = _post_in_time(settings, json.dumps(body).encode("utf-8", "replace"))
        if problem:
            others = f"; {counted(sent, 'span')} had been sent before" if sent else ""
            return f"the spans were not sent to {settings.place}: {problem}{others}"
        sent += count
        rejected += _number(told.get("rejectedSpans"))
        reason = reason or str(told.get("errorMessage", ""))
    if rejected:
        return f"sent {counted(sent, 'span')} to {settings.place}, which rejected {rejected:,}: {reason or 'it gave no reason'}"
    return f"sent {counted(sent, 'span')} to {settings.place}"


def _post_in_time(settings: OtlpSettings, body: bytes) -> tuple[str, dict[str, Any]]:
    """Sends one request; returns (error text, `partialSuccess` of the answer). The timeout also applies if a server
    sends its answer byte by byte."""
    outcome: list[tuple[str, dict[str, Any]]] = []
    thread = threading.Thread(target=lambda: outcome.append(_post(settings, body)), daemon=True)
    thread.start()
    thread.join(settings.timeout)
    return outcome[0] if outcome else (f"no answer within {settings.timeout:g} s", {})


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Refuses redirects, because the headers may contain a secret."""

    def redirect_request(self, *_arguments: Any) -> None:
        return None


def _post(settings: OtlpSettings, body: bytes) -> tuple[str, dict[str, Any]]:
    try:
        headers = {"Content-Type": "application/json", **settings.headers}
        request = urllib.request.Request(settings.url, body, headers, method="POST")
        with urllib.request.build_opener(_NoRedirect).open(request, timeout=settings.timeout) as response:
            return "", _partial_success(response.read(_MOST_READ))
    except urllib.error.HTTPError as problem:
        with problem:
            return f"HTTP status {problem.code} ({problem.reason})", {}
    except urllib.error.URLError as problem:
        return str(problem.reason), {}
    except (OSError, ValueError, http.client.HTTPException) as problem:
        return str(problem) or type(problem).__name__, {}


def _partial_success(answer: bytes) -> dict[str, Any]:
    """Returns the `partialSuccess` of the answer; {} if there is none, or the answer has another form."""
    try:
        told = json.loads(answer).get("partialSuccess")
    except (ValueError, AttributeError):
        return {}
    return told if isinstance(told, dict) else {}


def _number(value: Any) -> int:
    return int(value) if isinstance(value, int) or (isinstance(value, str) and value.isdigit()) else 0
