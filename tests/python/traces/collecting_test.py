"""What a Trace makes of the answers of engines, which are made up here: other clocks, many spans, silence."""

import json
import time

import pytest
from polyxeus.client.tracing import Trace, _name_of_clock


class Engine:
    """Answers as one does (docs/protocol.md)."""

    def __init__(self, number, ahead=0, clock_name=None, host="node1"):
        self.number, self.ahead, self.host = number, ahead, host
        self.clock_name = _name_of_clock() if clock_name is None else clock_name
        self.parts = [{"spans": [], "mpi": []}]  # that it hands out one after the other
        self.dropped, self.id, self.running, self.is_silent = 0, None, [], False

    def now(self):
        return time.monotonic_ns() + self.ahead

    def answer(self, wish):
        told = {"clock": self.now()}
        if wish.get("do") == "start":
            self.id = wish["id"]
            told |= {"host": self.host, "pid": 100 + self.number, "clock_name": self.clock_name}
        if wish.get("do") == "take":
            told["is_over"] = self.id != wish["id"]
            if not told["is_over"]:
                part = self.parts.pop(0) if self.parts else {"spans": [], "mpi": []}
                told |= {**part, "has_more": bool(self.parts), "dropped": self.dropped}
        return told

    def usage(self, wish):
        content = {"trace": self.answer(wish)}
        if running := self.running.pop(0) if self.running else None:
            content["running"] = running
        return content


class Controller:
    """Answers as it does; is_old: as one that does not know traces."""

    def __init__(self, ahead=0, clock_name=None, is_old=False):
        self.ahead, self.is_old, self.id = ahead, is_old, None
        self.clock_name = _name_of_clock() if clock_name is None else clock_name
        self.parts = [[]]  # of requests, that it hands out one after the other
        self.questions = 0

    def now(self):
        return time.monotonic_ns() + self.ahead

    def content(self, wish):
        self.questions += 1
        if self.is_old:
            return None
        told = {"clock": self.now(), "host": "node9", "pid": 9, "clock_name": self.clock_name}
        if wish.get("do") == "take":
            told |= {"is_over": False, "requests": self.parts.pop(0), "dropped": 0, "has_more": bool(self.parts)}
        return {"trace": told}


class Answer:
    """Of a controller. None: an error."""

    def __init__(self, content):
        self.content = content

    def wait(self, seconds):
        return True

    def outcome(self, index):
        return ("error" if self.content is None else "ok"), json.dumps(self.content).encode(), []


class Tasks:
    def __init__(self, contents):
        self.contents = contents

    def wait(self, seconds):
        return None not in self.contents

    def is_answered(self, index):
        return self.contents[index] is not None

    def outcome(self, index):
        return "ok", json.dumps(self.contents[index]).encode(), []


class Client:
    """As much of one as a Trace needs."""

    session_id = "me"

    def __init__(self, *engines, controller=None):
        self.engines = {each.number: each for each in engines}
        self.controller = controller or Controller()
        self.outstanding = set()
        self._connection = self
        self.questions = 0

    def _build_targets(self, targets):
        return [], list(self.engines)

    def send_control(self, ids, kind, content):
        self.questions += 1
        wish = json.loads(content)["trace"]
        return Tasks([None if self.engines[each].is_silent else self.engines[each].usage(wish) for each in ids])

    def send_hub(self, kind, content):
        assert kind == "trace_request"
        return Answer(self.controller.content(json.loads(content)))

    def find(self, msg_id):
        return None


def run(path, *engines, during=lambda: None, controller=None):
    client = Client(*engines, controller=controller)
    with Trace(client, path) as trace:
        during()
    return trace, client, json.loads(path.read_text())["traceEvents"]


def a_span(engine, name, **details):
    now = engine.now()
    return ["span", name, now - 2000, now - 1000, 0, details]


def named(events, name):
    return [each for each in events if each["ph"] == "X" and each["name"] == name]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.json"


def test_times_of_this_hosts_engines_are_taken_as_they_are(path):
    engine = Engine(0)
    engine.parts = [{"spans": [a_span(engine, "x")], "mpi": []}]
    began = engine.parts[0]["spans"][0][2]
    trace, client, events = run(path, engine)
    assert named(events, "x")[0]["ts"] == began / 1000
    assert trace.clock_error == 0
    assert client.questions == 2  # nobody was asked for the time


def test_times_of_other_hosts_are_told_by_our_clock_within_the_error(path):
    engine = Engine(0, ahead=10**15, clock_name="another", host="node2")

    def during():
        engine.parts = [{"spans": [a_span(engine, "x")], "mpi": []}]
        during.now = time.monotonic_ns()

    trace, _, events = run(path, engine, during=during)
    away = abs(named(events, "x")[0]["ts"] * 1000 + 2000 - during.now) / 1e9
    assert away <= trace.clock_error + 0.01
    assert "times of engines on other hosts may be wrong by up to " in repr(trace)


def test_one_engine_of_each_other_host_is_asked_for_the_time(path):
    engines = [Engine(number, clock_name=f"clock {number // 2}") for number in range(4)]
    _, client, _ = run(path, *engines)
    assert client.questions == 2 + 2 * 8 * 2


def test_the_controller_is_asked_for_the_clock_that_it_shares_with_engines(path):
    engines = [Engine(number, ahead=10**15, clock_name="theirs") for number in range(2)]
    controller = Controller(ahead=10**15, clock_name="theirs")
    _, client, _ = run(path, *engines, controller=controller)
    assert (client.questions, controller.questions) == (2, 2 + 2 * 8)


def test_the_controllers_requests_are_shown_by_our_clock(path):
    controller = Controller(ahead=10**15, clock_name="another")
    began = controller.now()
    controller.parts = [[["m1", "me", 0, began, began + 500, began + 1000]], [["m2", "me", None, began, None, None]]]
    trace, _, events = run(path, Engine(0), controller=controller)
    requests = [each for each in events if each["ph"] == "X" and each["cat"] == "request"]
    sent, waits = sorted(requests, key=lambda each: each["dur"])
    assert abs(sent["dur"] - 1.0) < 0.1
    assert abs(sent["ts"] * 1000 - (began - 10**15)) < 0.05e9
    assert waits["args"]["is_unfinished"] and waits["dur"] > 1


def test_a_controller_that_does_not_know_traces_is_left_out(path):
    trace, _, events = run(path, Engine(0), controller=Controller(is_old=True))
    assert not [each for each in events if each["name"] == "process_name" and "controller" in each["args"]["name"]]
    assert trace.engines == 1


def test_what_one_answer_does_not_hold_is_fetched_by_further_ones(path):
    engine = Engine(0)
    engine.parts = [{"spans": [a_span(engine, name)], "mpi": []} for name in "abc"]
    _, _, events = run(path, engine)
    assert [len(named(events, name)) for name in "abc"] == [1, 1, 1]


def test_engines_that_do_not_answer_are_named(path):
    engines = [Engine(number) for number in range(3)]
    engines[1].is_silent = True
    trace, _, _ = run(path, *engines)
    assert trace.engines == 2
    assert "not in it: engine 1 did not answer" in repr(trace)


def test_spans_that_were_dropped_are_counted(path):
    engines = [Engine(0), Engine(1)]
    engines[0].dropped, engines[1].dropped = 1000, 500
    trace, _, _ = run(path, *engines)
    assert "dropped: 1,500 later spans;" in repr(trace)


def test_an_engine_on_which_another_trace_began_is_named(path):
    engine = Engine(0)
    trace, _, _ = run(path, engine, during=lambda: engine.answer({"do": "start", "id": "another"}))
    assert "engine 0 left the trace early: another trace or a restart began there" in repr(trace)


def test_what_still_runs_at_the_end_is_shown_as_unfinished(path):
    engine = Engine(0)
    client_waits = [{"msg_id": "m", "what": "solve()", "seconds": 2.0}]
    client = Client(engine)
    client.outstanding = {"m"}
    with Trace(client, path):
        engine.running = client_waits
    (event,) = named(json.loads(path.read_text())["traceEvents"], "solve()")
    assert event["args"]["is_unfinished"] and event["dur"] == 2e6


def test_an_engine_that_is_about_to_record_an_answered_request_is_asked_again(path):
    engine = Engine(0)
    now = engine.now()
    done = ["request", "solve()", now - 2000, now, 0, {"msg_id": "m", "session": "me", "sent": "2026-11-27T08:00:00Z"}]
    client = Client(engine)
    with Trace(client, path):
        engine.running = [{"msg_id": "m", "what": "solve()", "seconds": 2.0}] * 2  # so it says at the first two questions
        engine.answers = iter([[], [], [done]])
        engine.answer = lambda wish: {"clock": engine.now(), "spans": next(engine.answers)}
    found = [each for each in named(json.loads(path.read_text())["traceEvents"], "solve()") if each["cat"] == "run"]
    assert [each["args"].get("is_unfinished") for each in found] == [None]


def test_the_path_is_looked_at_before_the_engines_are_asked(tmp_path):
    with pytest.raises(FileNotFoundError, match="no folder"):
        Trace(Client(Engine(0)), tmp_path / "nowhere" / "run.json")
