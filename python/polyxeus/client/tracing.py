"""Collects the records of a trace from the engines, the controller and this client, and writes the
trace to a file."""

from __future__ import annotations

import json
import os
import secrets
import socket
import time
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

from polyxeus.counted import counted
from polyxeus.results.metadata import parse_date
from polyxeus.serialize import requests
from polyxeus.trace import chrome, clocks, perfetto, recording, records, report, timeline

if TYPE_CHECKING:
    from typing_extensions import Self
    from polyxeus.client.client import Client
    from polyxeus.hints import Targets

__all__ = ["Trace"]

_ANSWER_TIMEOUT = 5.0  # seconds within which engines must begin a trace, or send their records
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_LAST_LOOKS, _LAST_PAUSE = 20, 0.005
_CLOCK_QUESTIONS = 8  # the number of questions to one engine of each host, at both the beginning and the end


class _Engine:
    """The data of one engine in a trace."""

    def __init__(self, engine: int, told: dict[str, Any]) -> None:
        self.engine = engine
        self.rank = told.get("rank", engine)
        self.host, self.pid = told.get("host", ""), told.get("pid", 0)
        self.clock = told.get("clock_name") or f"engine {engine}"
        self.spans: list[Any] = []
        self.calls: list[Any] = []
        self.dropped = 0
        self.running: dict[str, Any] | None = None  # the request that was running at the end
        self.clock_at_end = 0
        self.is_over = False  # another trace has begun on this engine

    def take(self, told: dict[str, Any]) -> bool:
        """Adds the data that the engine has sent; returns whether the engine has more data."""
        self.spans += told.get("spans", [])
        self.calls += told.get("mpi", [])
        self.dropped = told.get("dropped", 0)
        self.running, self.clock_at_end = told["running"], told["clock"]
        self.is_over = told.get("is_over", False)
        return bool(told.get("has_more", False))

    def unfinished(self) -> list[list[Any]]:
        """Returns the span of the request that was running at the end, if there was one."""
        known = self.running
        if known is None or any(span[0] == "request" and span[5].get("msg_id") == known["msg_id"] for span in self.spans):
            return []
        began = self.clock_at_end - round(known["seconds"] * 1e9)
        details = {"msg_id": known["msg_id"], "is_unfinished": True}
        return [["request", known["what"], began, self.clock_at_end, 0, details]]


class _Controller:
    """The data of the controller in a trace."""

    def __init__(self, told: dict[str, Any]) -> None:
        self.host, self.pid = told.get("host", ""), told.get("pid", 0)
        self.clock = told.get("clock_name") or "controller"
        self.requests: list[Any] = []
        self.dropped = self.clock_at_end = 0
        self.is_over = False

    def take(self, told: dict[str, Any]) -> bool:
        self.requests += told.get("requests", [])
        self.dropped = told.get("dropped", 0)
        self.clock_at_end, self.is_over = told["clock"], told.get("is_over", False)
        return bool(told.get("has_more", False))


class Trace:
    """A trace of the work of the engines and this client, from the beginning to the end of a `with` statement.

    `client.trace(path)` and `client.report(path)` return a Trace. After the end of the trace,
    printing the Trace shows a summary of a few lines.

    Parameters
    ----------
    client : Client
        The client that is traced.
    path : str or path
        The file that is written at the end. If the name ends with .json, the file is in Chrome's
        JSON format. If the name ends with .html, the file is a page with a summary. Otherwise, the
        file is in Perfetto's format.
    targets : int, slice, list of int or "all"
        The engines whose work is recorded.
    is_page : bool
        Whether the file is a page even if its name does not end with .html.

    Attributes
    ----------
    engines : int or None
        The number of engines that sent their records; None before the end.
    late : tuple or None
        The rank for which the other ranks waited longest in collective calls; None if no such rank
        is known. The tuple is (rank, number of calls that this rank reached last, number of all
        examined calls, nanoseconds for which the other ranks waited).
    clock_error : float
        The largest possible error, in seconds, of the recorded times of engines on other hosts.
    """

    def __init__(
        self, client: Client, path: str | os.PathLike[str], targets: Targets = "all", *, is_page: bool = False
    ) -> None:
        self.path = _checked_path(path)
        self._is_page = is_page or self.path.endswith(".html")
        self._client, self._targets = client, targets
        self._id = secrets.token_hex(16)
        self._recorder = recording.MemoryRecorder()
        self._engines: list[_Engine] = []
        self._controller: _Controller | None = None  # None: it does not support traces
        self._silent: set[int] = set()
        self.engines: int | None = None
        self.late: Any = None
        self.clock_error = 0.0
        self._timeline: timeline.Timeline | None = None  # None before the end
        self._notes: list[str] = []

    # ------------------------------------------------------------ begin and end

    def start(self) -> Self:
        """Begins the trace, without a `with` statement.

        Returns
        -------
        Trace
            This trace.

        Examples
        --------
        >>> trace = rc.trace("/tmp/run.json").start()
        >>> view.apply_sync(pow, 2, 3)
        [8, 8, 8, 8]
        >>> trace.stop().engines
        4
        """
        ids = self._client._build_targets(self._targets)[1]
        told = self._ask_controller({"do": "start", "id": self._id})
        self._controller = None if told is None else _Controller(told)
        answers = self._ask(ids, {"do": "start", "id": self._id})
        self._engines = [_Engine(engine, told) for engine, told in answers.items()]
        self._silent = set(ids) - set(answers)
        self._clocks_at_begin = self._read_clocks()
        self._own_offset = _wall_offset()
        recording.attach(self._recorder)
        return self

    def stop(self) -> Self:
        """Ends the trace and writes the file.

        Returns
        -------
        Trace
            This trace.
        """
        recording.detach(self._recorder)
        clocks_at_end = self._read_clocks()
        self._collect()
        engines = self._engine_records(clocks_at_end)
        controller = self._controller_records(clocks_at_end)
        made = timeline.make_timeline(self._client_records(engines), engines, controller)
        self._timeline = made
        with open(self.path, "wb") as file:
            file.write(_page(made) if self._is_page else _content(made, self.path))
        self.engines, self.late = len(engines), made.late
        self._note(made, engines)
        if any(name.startswith("OTEL_EXPORTER_OTLP_") for name in os.environ):
            self._notes += self._send(made)
        return self

    def report(self, path: str | os.PathLike[str]) -> None:
        """Writes a page about this trace, as `client.report()` does, to another file. The trace must have ended.

        Parameters
        ----------
        path : str or path
            The file.

        Raises
        ------
        RuntimeError
            The trace has not ended.
        FileNotFoundError
            The folder of the file does not exist.
        """
        if self._timeline is None:
            raise RuntimeError("the trace has not ended: call report() after the `with` statement, or after stop()")
        with open(_checked_path(path), "wb") as file:
            file.write(_page(self._timeline))

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_problem: object) -> None:
        self.stop()

    def __repr__(self):
        if self.engines is None:
            return f"<Trace {self.path}>"
        return "\n".join(self._notes)

    # ------------------------------------------------------------ requests to the engines and the controller

    def _ask(self, ids: list[int], wish: dict[str, Any], timeout: float = _ANSWER_TIMEOUT) -> dict[int, dict[str, Any]]:
        """Sends a request to engines, and returns {engine: the answer} for the engines that answer
        in time and support the request."""
        if not ids:
            return {}
        tasks = self._client._connection.send_control(list(ids), "usage_request", requests.dump({"trace": wish}))
        tasks.wait(timeout)
        answers = {}
        for index, engine in enumerate(ids):
            if not tasks.is_answered(index):
                continue
            status, content, _ = tasks.outcome(index)
            usage = json.loads(bytes(content)) if status == "ok" else {}
            if "trace" in usage:
                answers[engine] = {**usage["trace"], "running": usage.get("running")}
        return answers

    def _ask_controller(self, wish: dict[str, Any], timeout: float = _ANSWER_TIMEOUT) -> dict[str, Any] | None:
        """Sends a request to the controller, and returns the answer; None if the controller does
        not answer in time, or does not support the request."""
        tasks = self._client._connection.send_hub("trace_request", requests.dump(wish))
        if not tasks.wait(timeout):
            return None
        status, content, _ = tasks.outcome(0)
        return json.loads(bytes(content))["trace"] if status == "ok" else None

    def _read_clocks(self) -> dict[str, tuple[int, clocks.ClockOffset | None]]:
        """Returns {name: (time, offset)} for the clocks of the engines and the controller, except
        for the clock of this host."""
        asked: dict[str, int | None] = {each.clock: each.engine for each in self._engines}
        if self._controller is not None:
            asked[self._controller.clock] = None  # the controller answers sooner than an engine on its host
        asked.pop(_name_of_clock(), None)
        return {clock: self._read_clock(engine) for clock, engine in asked.items()}

    def _read_clock(self, engine: int | None) -> tuple[int, clocks.ClockOffset | None]:
        """Reads the clock of an engine, or of the controller if `engine` is None. Returns (the time
        of this clock, its offset from this host's clock)."""
        readings, told = clocks.ClockReadings(), 0
        for _ in range(_CLOCK_QUESTIONS):
            sent = time.monotonic_ns()
            answer = self._ask_controller({}, 1.0) if engine is None else self._ask([engine], {}, 1.0).get(engine)
            if answer is None:
                break
            told = answer["clock"]
            readings.add(clocks.Exchange(sent, told, time.monotonic_ns()))
        return told, readings.offset()

    def _collect(self) -> None:
        """Fetches the records of all engines and of the controller. If an engine has answered a
        request but has not recorded the end of the request yet, its records are fetched again after
        a pause."""
        self._take(self._engines)
        for _ in range(_LAST_LOOKS):
            nearly_done = [each for each in self._engines if self._is_answered(each.running)]
            if not nearly_done:
                break
            time.sleep(_LAST_PAUSE)
            self._take(nearly_done)
        told: dict[str, Any] | None = {}
        while self._controller is not None and told is not None:
            told = self._ask_controller({"do": "take", "id": self._id})
            if told is None or not self._controller.take(told):
                break

    def _take(self, engines: list[_Engine]) -> None:
        left = {each.engine: each for each in engines}
        while left:
            answers = self._ask(list(left), {"do": "take", "id": self._id, "stops": True})
            self._silent |= {engine for engine in left if engine not in answers}
            left = {engine: left[engine] for engine, told in answers.items() if left[engine].take(told)}

    def _is_answered(self, running: dict[str, Any] | None) -> bool:
        """Returns whether an engine reports a request as running although this client is not
        waiting for an answer to this request."""
        return running is not None and running.get("msg_id") not in self._client.outstanding

    # ------------------------------------------------------------ the records

    def _engine_records(self, clocks_at_end: dict[str, Any]) -> list[records.EngineRecords]:
        found = []
        for each in self._engines:
            line = self._clock_line(each.clock, clocks_at_end)
            spans = records.read_spans([*each.spans, *each.unfinished()], line.to_ours)
            found.append(records.EngineRecords(
                each.engine, each.rank, each.host, each.pid, spans,
                records.read_mpi_calls(each.calls, line.to_ours), each.dropped, line.error,
            ))  # fmt: skip
        return found

    def _controller_records(self, clocks_at_end: dict[str, Any]) -> records.ControllerRecords | None:
        told = self._controller
        if told is None:
            return None
        line = self._clock_line(told.clock, clocks_at_end)
        passages = records.read_passages(told.requests, line.to_ours)
        return records.ControllerRecords(told.host, told.pid, passages, line.to_ours(told.clock_at_end), told.dropped, line.error)

    def _clock_line(self, clock: str, at_end: dict[str, Any]) -> clocks.ClockLine:
        return clocks.ClockLine(*self._clocks_at_begin.get(clock, (0, None)), *at_end.get(clock, (0, None)))

    def _client_records(self, engines: list[records.EngineRecords]) -> records.ClientRecords:
        """Returns the records of this client. These records include the client's requests that the
        engines have run, but no requests of other clients."""
        spans = [span for span in self._recorder.spans if span.kind != "answer"]
        received = {span.details["msg_id"]: self._of_wall(span.details["received"])
                    for span in self._recorder.spans if span.kind == "answer"}  # fmt: skip
        sent = []
        for engine in engines:
            for span in engine.spans:
                if span.kind != "request" or span.details.get("session") != self._client._connection.session_id:
                    continue
                msg_id = span.details["msg_id"]
                began = self._of_date(span.details["sent"]) or span.began
                ended = received.get(msg_id) or self._received(msg_id) or span.ended
                sent.append(records.SentRequest(msg_id, engine.engine, span.name, began, max(began, ended)))
        return records.ClientRecords(socket.gethostname(), os.getpid(), spans, sent, self._recorder.dropped)

    def _received(self, msg_id: str) -> int | None:
        """Returns the time at which the answer to a request arrived; None if the request has no AsyncResult now."""
        tasks = self._client._connection.find(msg_id)
        moment = None if tasks is None else tasks.metadata(0).get("received")
        return None if moment is None else self._of_wall(moment)

    def _of_wall(self, microseconds: int) -> int:
        return microseconds * 1000 + self._own_offset

    def _of_date(self, text: str) -> int | None:
        date = parse_date(text)
        return self._of_wall((date - _EPOCH) // timedelta(microseconds=1)) if isinstance(date, datetime) else None

    # ------------------------------------------------------------ the summary

    def _send(self, made: timeline.Timeline) -> list[str]:
        """Sends the spans to the collector that OpenTelemetry's environment variables name; returns a sentence about
        the outcome."""
        from polyxeus.trace import otlp, otlp_sender

        try:
            settings = otlp_sender.read_settings(os.environ)
        except ValueError as problem:
            return [f"the spans were not sent: {problem}"]
        if settings is None:
            return []
        requests = otlp.otlp_requests(made, self._id, -self._own_offset, settings.service, settings.attributes)
        return [f"{otlp_sender.send_spans(settings, requests)}; trace ID {self._id}"]

    def _note(self, made: timeline.Timeline, engines: list[records.EngineRecords]) -> None:
        count = sum(len(track.slices) for process in made.processes for track in process.tracks)
        self.clock_error = max([each.clock_error for each in engines], default=0) / 1e9
        notes = [f"{self.path}: {counted(count, 'slice')} of {counted(len(engines), 'engine')} and this client"]
        if made.late is not None:
            notes.append(str(made.late))
        if self.clock_error:
            notes.append(f"times of engines on other hosts may be wrong by up to {self.clock_error * 1e3:.3g} ms")
        dropped = sum(each.dropped for each in engines) + self._recorder.dropped
        dropped += self._controller.dropped if self._controller else 0
        if dropped:
            notes.append(f"dropped: {counted(dropped, 'later span')}; an engine keeps 100,000 spans and 131,072 MPI calls; "
                         "trace a shorter part")  # fmt: skip
        if made.omitted:
            notes.append(f"not drawn: {counted(made.omitted, 'slice')} of requests; the trace shows at most 16 at the same "
                         "time for each engine")  # fmt: skip
        if self._silent:
            notes.append(f"not in it: {_engines(sorted(self._silent))} did not answer")
        if replaced := [each.engine for each in self._engines if each.is_over]:
            notes.append(f"{_engines(replaced)} left the trace early: another trace or a restart began there")
        if self._controller is not None and self._controller.is_over:
            notes.append("the controller's work is not in it: another trace began there")
        self._notes = notes


def _engines(numbers: list[int]) -> str:
    return f"engine{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"


def _content(made: timeline.Timeline, path: str) -> bytes:
    if path.endswith(".json"):
        return chrome.chrome_trace(made).encode("utf-8", "replace")
    return perfetto.perfetto_trace(made)


def _page(made: timeline.Timeline) -> bytes:
    return report.html_report(made).encode("utf-8", "replace")


def _checked_path(path: str | os.PathLike[str]) -> str:
    """Returns the absolute path. Raises FileNotFoundError if the folder does not exist."""
    checked = os.path.abspath(os.path.expanduser(os.fspath(path)))
    folder = os.path.dirname(checked)
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"cannot write the trace {checked}: there is no folder {folder}")
    return checked


def _wall_offset() -> int:
    """Returns time.monotonic_ns() minus time.time_ns(), in nanoseconds. A wall-clock time plus this
    difference is the monotonic time."""
    return time.monotonic_ns() - time.time_ns()


def _name_of_clock() -> str:
    """Returns the name of this host's clock, in the form that engines use (engine/trace_answers.cpp)."""
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            boot = file.read().strip()
    except OSError:
        return ""
    try:
        return boot + os.readlink("/proc/self/ns/time")
    except OSError:
        return boot
