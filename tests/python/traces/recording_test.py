"""Spans of this process: recorded while a trace is on, and only then."""

import threading

import pytest
from polyxeus.trace import recording
from polyxeus.trace.recording import MemoryRecorder


@pytest.fixture
def recorder():
    made = MemoryRecorder()
    recording.attach(made)
    yield made
    recording.detach(made)


def test_a_span_is_recorded_with_its_times_and_details(recorder):
    before = recording.monotonic_ns()
    with recording.span("load", file="a.npy"):
        inside = recording.monotonic_ns()
    (found,) = recorder.spans
    assert (found.kind, found.name, found.thread, found.details) == ("span", "load", 0, {"file": "a.npy"})
    assert before <= found.began <= inside <= found.ended


def test_without_a_trace_nothing_is_recorded_and_no_clock_is_read(monkeypatch):
    monkeypatch.setattr(recording, "monotonic_ns", None)
    with recording.span("load"):
        pass
    assert recording.recorders == ()


def test_a_recorder_that_is_off_gets_nothing(recorder, monkeypatch):
    monkeypatch.setattr(recorder, "is_on", lambda: False)
    with recording.span("load"):
        pass
    assert recorder.spans == []


def test_a_span_that_began_before_the_trace_is_left_out():
    made = MemoryRecorder()
    with recording.span("early"):
        recording.attach(made)
    recording.detach(made)
    assert made.spans == []


def test_an_error_in_a_span_is_named_and_raised(recorder):
    with pytest.raises(ZeroDivisionError), recording.span("divide"):
        1 / 0
    assert recorder.spans[0].details == {"error": "ZeroDivisionError"}


def test_spans_nest_and_name_their_threads(recorder):
    def work():
        with recording.span("outer"), recording.span("inner"):
            pass

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert [each.name for each in recorder.spans] == ["inner", "outer"]
    inner, outer = recorder.spans
    assert inner.thread == outer.thread != 0
    assert outer.began <= inner.began <= inner.ended <= outer.ended


def test_a_full_recorder_counts_what_it_drops():
    made = MemoryRecorder(most=2)
    recording.attach(made)
    for number in range(5):
        with recording.span(str(number)):
            pass
    recording.detach(made)
    assert ([each.name for each in made.spans], made.dropped) == (["0", "1"], 3)


def test_an_engine_is_asked_at_each_span_whether_a_trace_is_on():
    class Engine:
        is_tracing = False
        told = []

        def record(self, *arguments):
            self.told.append(arguments)

    engine = Engine()
    made = recording.EngineRecorder(engine)
    recording.attach(made)
    with recording.span("off"):
        pass
    engine.is_tracing = True
    with recording.span("on", value={1}):
        pass
    recording.detach(made)
    ((kind, name, began, ended, thread, details),) = engine.told
    assert (kind, name, thread, details) == ("span", "on", 0, '{"value": "{1}"}')
    assert began <= ended


@pytest.mark.parametrize("line, path, rest", [
    ("--trace=run.pftrace", "run.pftrace", ""),
    ("--targets=0 --trace run.json --verbose", "run.json", "--targets=0 --verbose"),
    ('-a --trace="my run.json"', "my run.json", "-a"),
    ("--label=--trace=x", None, "--label=--trace=x"),
    ("", None, ""),
])  # fmt: skip
def test_the_magic_takes_its_option_out_of_the_line(line, path, rest):
    from polyxeus.magics import trace_option

    assert trace_option.take(line) == (path, rest)
