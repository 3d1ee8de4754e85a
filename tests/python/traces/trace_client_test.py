"""rc.trace(): what a cluster has done, as a file for Perfetto or Chrome."""

import json
import threading
import time

import polyxeus as px
import pytest
from collector import collector
from deadlines import wait_until


@pytest.fixture
def traced(rc, tmp_path):
    """Runs a function under a trace: (the Trace, its events as Chrome's JSON tells them)."""

    def run(function):
        path = tmp_path / "run.json"
        with rc.trace(path) as trace:
            function()
        return trace, Events(path)

    return run


class Events:
    def __init__(self, path):
        told = json.loads(path.read_text())["traceEvents"]
        self.processes = {each["pid"]: each["args"]["name"] for each in told if each["name"] == "process_name"}
        self.tracks = {(each["pid"], each["tid"]): each["args"]["name"] for each in told if each["name"] == "thread_name"}
        self.all = told

    def slices(self, process, track="main thread"):
        """Of the processes whose names begin so: [(name, category, event), ...] by their beginnings."""
        found = [(each["name"], each["cat"], each) for each in self.all
                 if each["ph"] == "X" and self.processes[each["pid"]].startswith(process)
                 and self.tracks[each["pid"], each["tid"]].startswith(track)]  # fmt: skip
        return sorted(found, key=lambda each: each[2]["ts"])


def test_a_cell_on_four_engines_has_a_track_on_each(rc, traced):
    view = rc[:]
    trace, events = traced(lambda: view.execute("import time; time.sleep(0.2)", block=True))
    assert len(events.processes) == 6  # with the controller
    for engine in range(4):
        ((name, category, event),) = events.slices(f"engine {engine}")
        assert (name, category) == ("import time; time.sleep(0.2)", "run")
        assert event["dur"] >= 0.2e6
        assert event["args"]["type"] == "execute_request"
        assert event["args"]["reply_sent_ms"] >= 200
        ((name, _, sent),) = events.slices("client", f"to engine {engine}")
        # The engine may end its own note of the request after the reply has arrived.
        assert sent["ts"] <= event["ts"] <= sent["ts"] + sent["dur"]
        ((_, _, passed),) = events.slices("controller", f"to engine {engine}")
        # The controller writes down a moment later when it gave the request, and when it passed the reply on.
        assert sent["ts"] <= passed["ts"] <= sent["ts"] + sent["dur"] and passed["dur"] > 0.1e6
    starts = {each["id"] for each in events.all if each["ph"] == "s"}
    assert starts == {each["id"] for each in events.all if each["ph"] == "f"} and len(starts) == 4
    assert trace.engines == 4
    assert repr(trace).startswith(f"{trace.path}: ")


def test_the_client_shows_the_call_and_what_it_consists_of(rc, traced):
    _, events = traced(lambda: rc[:].apply_sync(pow, 2, 3))
    slices = events.slices("client", "main")
    names = [name for name, _, _ in slices]
    assert names[:3] == ["apply", "encode and send", "wait"]
    assert names[3:] == ["decode pow"] * 4
    call = slices[0][2]
    for _, _, event in slices[1:]:
        assert call["ts"] <= event["ts"] <= event["ts"] + event["dur"] <= call["ts"] + call["dur"] + 1


def test_spans_of_user_code_stand_where_they_ran(rc, traced):
    def work():
        with px.span("here", size=3):
            rc[0].apply_sync(work_on_engine)

    def work_on_engine():
        import polyxeus as px

        with px.span("there", file="a.npy"):
            return 1

    _, events = traced(work)
    assert "here" in [name for name, _, _ in events.slices("client")]
    names = [name for name, _, _ in events.slices("engine 0")]
    assert names == ["work_on_engine", "there"]
    run, there = (event for _, _, event in events.slices("engine 0"))
    assert there["args"] == {"file": "a.npy"}
    assert run["ts"] <= there["ts"] and there["ts"] + there["dur"] <= run["ts"] + run["dur"]


def test_requests_that_wait_on_an_engine_are_shown_in_its_queue(rc, traced):
    import time

    def work():
        rc.wait([rc[0].apply_async(time.sleep, 0.2) for _ in range(2)])

    _, events = traced(work)
    queued = [event["dur"] for _, _, event in events.slices("engine 0", "queue")]
    assert max(queued) > 0.15e6


def test_a_balanced_task_is_traced_where_it_ran(rc, traced):
    _, events = traced(lambda: rc.load_balanced_view().map_sync(abs, range(-8, 0)))
    runs = [each for engine in range(4) for each in events.slices(f"engine {engine}")]
    sent = [each for engine in range(4) for each in events.slices("client", f"to engine {engine}")]
    assert len(runs) == len(sent) > 0


def test_a_balanced_task_shows_how_long_it_waited_for_an_engine(rc, traced):
    import time

    view = rc.load_balanced_view(targets=[0])

    def work():
        view.apply_async(time.sleep, 0.2)
        first = [view.apply_async(time.sleep, 0.2) for _ in range(9)]  # more than an engine prefetches
        rc.wait(first)

    _, events = traced(work)
    waits = [event["dur"] for name, _, event in events.slices("controller", "to engine 0") if name == "wait for an engine"]
    assert max(waits) > 0.3e6


def test_an_engine_that_still_runs_its_code_answers(rc, tmp_path):
    def wait_for_file(path):
        import os
        import time

        open(path + ".begun", "w").close()
        while not os.path.exists(path):
            time.sleep(0.01)

    running = rc[1].apply_async(wait_for_file, str(tmp_path / "go"))
    try:
        wait_until((tmp_path / "go.begun").exists, "the engine runs it", 20)
        with rc.trace(tmp_path / "run.json") as trace:
            pass
        assert trace.engines == 4
        ((name, _, event),) = Events(tmp_path / "run.json").slices("engine 1")
        assert (name, event["args"]["is_unfinished"]) == ("wait_for_file", True)
    finally:
        (tmp_path / "go").touch()
        running.get(60)


def test_a_trace_that_another_one_has_ended_says_so(rc, tmp_path):
    with rc.trace(tmp_path / "first.json") as first:
        with rc.trace(tmp_path / "second.json") as second:
            pass
    assert "another trace began there" in repr(first)
    assert "another trace" not in repr(second)


def test_what_runs_after_the_trace_is_not_in_it(rc, tmp_path):
    with rc.trace(tmp_path / "run.json"):
        pass
    rc[:].apply_sync(pow, 2, 3)
    with rc.trace(tmp_path / "run.json"):
        pass
    events = Events(tmp_path / "run.json")
    assert all(events.slices(f"engine {engine}") == [] for engine in range(4))


def test_an_error_in_the_statement_is_raised_and_the_file_is_there(rc, tmp_path):
    with pytest.raises(ZeroDivisionError), rc.trace(tmp_path / "run.json"):
        1 / 0
    assert json.loads((tmp_path / "run.json").read_text())["traceEvents"]


def test_a_path_without_a_folder_is_refused_before_anything_runs(rc, tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no folder .*/nowhere"):
        rc.trace(tmp_path / "nowhere" / "run.json")


def test_perfetto_reads_what_a_cluster_has_done(rc, tmp_path):
    protos = pytest.importorskip("perfetto.protos.perfetto.trace.perfetto_trace_pb2")
    with rc.trace(tmp_path / "run.pftrace"):
        rc[:].apply_sync(pow, 2, 3)
    trace = protos.Trace()
    trace.ParseFromString((tmp_path / "run.pftrace").read_bytes())
    names = [packet.track_descriptor.name for packet in trace.packet if packet.track_descriptor.HasField("process")]
    assert [name.split(" on ")[0] for name in names] == ["client", "controller", *(f"engine {n}" for n in range(4))]
    events = [packet.track_event for packet in trace.packet if packet.HasField("track_event")]
    categories = [*map(str, (category for event in events if event.name == "pow" for category in event.categories))]
    assert (categories.count("request"), categories.count("run")) == (8, 4)  # of the client and the controller


def test_a_report_is_a_page_about_a_with_statement(rc, tmp_path):
    path = tmp_path / "run"
    with rc.report(path) as report:
        rc[:].apply_sync(pow, 2, 3)
    page = path.read_text()
    assert "What 4 engines did in" in page and "pow" in page
    assert repr(report).startswith(f"{path}: ")


def test_a_trace_that_has_ended_gives_its_report(rc, tmp_path):
    trace = rc.trace(tmp_path / "run.pftrace")
    with pytest.raises(RuntimeError, match="the trace has not ended"):
        trace.report(tmp_path / "early.html")
    with trace:
        rc[:].apply_sync(pow, 2, 3)
    trace.report(tmp_path / "run.html")
    assert "What 4 engines did in" in (tmp_path / "run.html").read_text()
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        trace.report(tmp_path / "nowhere" / "run.html")


def test_the_spans_go_to_the_collector_that_the_environment_names(rc, traced, monkeypatch):
    with collector() as server:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.url)
        monkeypatch.setenv("OTEL_SERVICE_NAME", "my.service")
        trace, events = traced(lambda: rc[:].apply_sync(pow, 2, 3))
        spans = [span for _, _, body in server.got for part in body["resourceSpans"] for span in part["scopeSpans"][0]["spans"]]
    assert f"sent {len(spans)} spans to {server.url}/v1/traces" in repr(trace)
    assert len(spans) == sum(each["ph"] == "X" for each in events.all) + 1  # the root
    by_id = {span["spanId"]: span for span in spans}
    runs = [span for span in spans if span["kind"] == 2]
    assert [span["name"] for span in runs] == ["pow"] * 4
    now = time.time_ns()
    for run in runs:
        passed = by_id[run["parentSpanId"]]
        sent = by_id[passed["parentSpanId"]]
        assert int(sent["startTimeUnixNano"]) <= int(run["startTimeUnixNano"]) <= int(run["endTimeUnixNano"]) <= now
        assert now - int(run["startTimeUnixNano"]) < 60e9


def test_a_collector_that_is_not_there_is_said_in_one_sentence_and_the_file_is_written(rc, traced, monkeypatch):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
    trace, events = traced(lambda: rc[:].apply_sync(pow, 2, 3))
    (told,) = [line for line in repr(trace).splitlines() if "not sent" in line]
    assert told.startswith("the spans were not sent to http://127.0.0.1:1/v1/traces: ")
    assert events.slices("engine 0")


def test_threads_of_the_client_have_tracks_of_their_own(rc, traced):
    def work():
        thread = threading.Thread(target=lambda: rc[:].apply_sync(pow, 2, 3))
        thread.start()
        thread.join()

    _, events = traced(work)
    assert [name for name, _, _ in events.slices("client", "thread ")][0] == "apply"
