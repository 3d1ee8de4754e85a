"""What a debugging session of several ranks decides: messages in, effects out."""

import pytest
from polyxeus.debug_adapter.messages import Decoder, WrongMessage, encode
from polyxeus.debug_adapter.session import Close, Rank, Session, ToAdapter, ToClient

PYTHON = {"supportsConditionalBreakpoints": True, "supportsGotoTargetsRequest": True,
          "exceptionBreakpointFilters": [{"filter": "raised", "label": "Raised Exceptions"}]}  # fmt: skip
CPP = {"supportsStepInTargetsRequest": True, "exceptionBreakpointFilters": [{"filter": "cpp_throw", "label": "C++ Throw"}]}


class Talk:
    """A session of ranks 0 and 1 (engines 0 and 1), whose adapters answer what the test says."""

    def __init__(self, count=2, pulse=""):
        ranks = [Rank(each, f"rank {each}", {"pid": 100 + each}, ("justMyCode",), pulse) for each in range(count)]
        self.session = Session(ranks)
        self.count = count
        self.now = 0.0
        self.seq = 0
        self.told = []  # to the client
        self.asked = []  # (place, request)

    def take(self, effects):
        for effect in effects:
            if isinstance(effect, ToClient):
                self.told.append(effect.message)
            elif isinstance(effect, ToAdapter):
                self.asked.append((effect.place, effect.message))
            else:
                self.told.append(effect)

    def request(self, command, **arguments):
        self.seq += 1
        message = {"seq": self.seq, "type": "request", "command": command, "arguments": arguments}
        self.take(self.session.on_client(message, self.now))

    def asked_for(self, command=None):
        """The requests that have reached adapters since, as [(place, arguments)]; only those of this command."""
        asked, self.asked = self.asked, []
        assert command is None or {request["command"] for _, request in asked} <= {command}
        self.open = {place: request for place, request in asked}
        return [(place, request.get("arguments")) for place, request in asked]

    def answer(self, place, body=None, success=True, **members):
        request = self.open[place]
        message = {"seq": 0, "type": "response", "request_seq": request["seq"], "command": request["command"],
                   "success": success, "body": body or {}, **members}  # fmt: skip
        self.take(self.session.on_adapter(place, message, self.now))

    def event(self, place, name, **body):
        self.take(self.session.on_adapter(place, {"seq": 0, "type": "event", "event": name, "body": body}, self.now))

    def heard(self):
        """What the client has been told since."""
        told, self.told = self.told, []
        return told

    def body(self):
        """The body of the only message that the client has been told."""
        (message,) = self.heard()
        assert message.get("success", True), message
        return message["body"]

    def problem(self):
        (message,) = self.heard()
        assert not message["success"]
        return message["message"]

    def attach(self, *bodies, **arguments):
        self.request("initialize", adapterID="test", supportsInvalidatedEvent=True)
        self.asked_for("initialize")
        for place in range(self.count):
            self.answer(place, bodies[place] if bodies else PYTHON)
        self.capabilities = self.body()
        self.request("attach", **arguments)
        self.attached = self.asked_for("attach")
        for place in range(self.count):
            self.event(place, "initialized")
            self.answer(place)
        return self.heard()

    def stop(self, *places):
        """Ranks stop in their threads 7, at frames 3 of total()."""
        for place in places:
            self.event(place, "stopped", reason="breakpoint", threadId=7, allThreadsStopped=True)
        return [message["body"] for message in self.heard() if message["event"] == "stopped"]


@pytest.fixture
def talk():
    made = Talk()
    made.attach()
    return made


def test_ranks_are_attached_to_together():
    talk = Talk()
    first, second = talk.attach(PYTHON, CPP, justMyCode=False, nonsense=1)
    assert talk.attached == [(0, {"justMyCode": False, "pid": 100}), (1, {"justMyCode": False, "pid": 101})]
    assert first["event"] == "initialized" and second["command"] == "attach" and second["success"]
    assert talk.capabilities["supportsConditionalBreakpoints"] and talk.capabilities["supportsStepInTargetsRequest"]
    assert "supportsGotoTargetsRequest" not in talk.capabilities  # its numbers would not be translated
    talk.request("setExceptionBreakpoints", filters=["raised", "cpp_throw"])
    assert talk.asked_for("setExceptionBreakpoints") == [(0, {"filters": ["raised"]}), (1, {"filters": ["cpp_throw"]})]


def test_a_rank_that_cannot_be_attached_to_is_named():
    talk = Talk()
    talk.request("initialize", adapterID="test")
    talk.asked_for()
    talk.answer(0)
    talk.answer(1)
    talk.heard()
    talk.request("attach")
    talk.asked_for()
    talk.answer(0)
    talk.answer(1, {"error": {"format": "{why}", "variables": {"why": "no such process"}}}, success=False)
    assert talk.problem() == "rank 1: no such process"


def test_threads_belong_to_ranks(talk):
    talk.request("threads")
    talk.asked_for("threads")
    for place in (1, 0):
        talk.answer(place, {"threads": [{"id": 7, "name": "MainThread"}]})
    first, second = talk.body()["threads"]
    assert (first["name"], second["name"]) == ("rank 0: MainThread", "rank 1: MainThread")
    talk.request("stackTrace", threadId=second["id"], levels=1)
    assert talk.asked_for("stackTrace") == [(1, {"threadId": 7, "levels": 1})]
    talk.answer(1, {"stackFrames": [{"id": 3, "name": "f", "source": {"path": "s.py", "sourceReference": 0}, "line": 2}]})
    (frame,) = talk.body()["stackFrames"]
    assert frame["source"] == {"path": "s.py", "sourceReference": 0}
    talk.request("scopes", frameId=frame["id"])
    assert talk.asked_for("scopes") == [(1, {"frameId": 3})]
    talk.answer(1, {"scopes": [{"name": "Locals", "variablesReference": 9}]})
    (scope,) = talk.body()["scopes"]
    talk.request("variables", variablesReference=scope["variablesReference"])
    assert talk.asked_for("variables") == [(1, {"variablesReference": 9})]
    talk.answer(1, {"variables": [{"name": "x", "value": "1", "variablesReference": 0, "memoryReference": "0x1"}]})
    assert talk.body()["variables"] == [{"name": "x", "value": "1", "variablesReference": 0}]


def test_a_rank_that_does_not_answer_does_not_keep_the_list_of_threads(talk):
    talk.request("threads")
    talk.asked_for("threads")
    talk.answer(0, {"threads": [{"id": 7, "name": "MainThread"}]})
    assert not talk.heard()
    talk.take(talk.session.on_time(talk.session.next_deadline()))
    assert [each["name"] for each in talk.body()["threads"]] == ["rank 0: MainThread", "rank 1: no answer"]
    assert talk.session.next_deadline() is None
    talk.answer(1, {"threads": []})  # late: nobody waits for it
    assert not talk.heard()


def test_breakpoints_go_to_the_ranks_of_their_conditions(talk):
    wished = [{"line": 5}, {"line": 6, "condition": "@1 x > 2"}, {"line": 7, "condition": "@1"}, {"line": 8, "condition": "@4"},
              {"line": 9, "condition": "@2-1"}]  # fmt: skip
    talk.request("setBreakpoints", source={"path": "s.py"}, breakpoints=wished)
    (_, first), (_, second) = talk.asked_for("setBreakpoints")
    assert first["breakpoints"] == [{"line": 5}]
    assert second["breakpoints"] == [{"line": 5}, {"line": 6, "condition": "x > 2"}, {"line": 7}]
    assert second["lines"] == [5, 6, 7]
    talk.answer(0, {"breakpoints": [{"id": 1, "verified": False, "message": "no code"}]})
    talk.answer(1, {"breakpoints": [{"id": 4, "verified": True, "line": 5}, {"id": 5, "verified": True, "line": 6},
                                    {"id": 6, "verified": False, "message": "no code there"}]})  # fmt: skip
    told = talk.body()["breakpoints"]
    assert [(each["id"], each["verified"], each.get("message")) for each in told] == [
        (1, True, None), (2, True, None), (3, False, "no code there"),
        (4, False, "there is no rank 4: this session debugs the ranks 0,1"),
        (5, False, "'2-1' counts backwards: write the lower number first, `1-2`")]  # fmt: skip
    talk.event(1, "breakpoint", reason="changed", breakpoint={"id": 6, "verified": True, "line": 7})
    assert talk.body() == {"reason": "changed", "breakpoint": {"id": 3, "verified": True, "line": 7}}
    talk.event(1, "stopped", reason="breakpoint", threadId=7, hitBreakpointIds=[6])
    assert talk.body()["hitBreakpointIds"] == [3]


def test_the_second_stop_leaves_the_focus_where_it_is(talk):
    first, second = talk.stop(1, 0)
    assert first["description"] == "rank 1: breakpoint" and "preserveFocusHint" not in first
    assert second["preserveFocusHint"] and not second["allThreadsStopped"]
    assert first["threadId"] != second["threadId"]
    talk.request("continue", threadId=first["threadId"])
    assert talk.asked_for("continue") == [(1, {"threadId": 7})]
    talk.answer(1, {"allThreadsContinued": True})
    assert talk.body() == {"allThreadsContinued": False}


def test_ranks_step_together_if_the_client_wishes_it():
    talk = Talk(3)
    talk.attach(together=True)
    first, second = talk.stop(0, 1)
    talk.request("next", threadId=first["threadId"])
    assert talk.asked_for("next") == [(0, {"threadId": 7})]
    talk.answer(0)
    assert talk.asked_for("next") == [(1, {"threadId": 7})]  # rank 2 runs
    response, continued = talk.heard()
    assert response["success"] and continued["body"]["threadId"] == second["threadId"]


def test_a_rank_all_of_whose_threads_are_stopped_answers_heartbeats_now_and_then():
    talk = Talk(pulse="`expression usleep(1)")
    talk.attach()
    assert talk.session.next_deadline() is None
    (stop,) = talk.stop(1)
    for _ in range(2):
        talk.now = talk.session.next_deadline()
        talk.take(talk.session.on_time(talk.now))
        assert talk.asked_for("stackTrace") == [(1, {"threadId": 7, "levels": 1})]
        assert talk.session.next_deadline() is None  # not again before the answer
        talk.answer(1, {"stackFrames": [{"id": 3}]})
        assert talk.asked_for("evaluate") == [(1, {"expression": "`expression usleep(1)", "context": "repl", "frameId": 3})]
        talk.answer(1, {"result": ""})
    talk.request("continue", threadId=stop["threadId"])
    assert talk.session.next_deadline() is None
    assert [message["type"] for message in talk.heard()] == []


def test_what_differs_is_a_scope_of_its_own():
    talk = Talk(3)
    talk.attach()
    one = {"id": 3, "name": "total", "source": {"path": "/a/s.py"}, "line": 2}
    (stop,) = talk.stop(0)
    talk.request("stackTrace", threadId=stop["threadId"])
    talk.asked_for()
    talk.answer(0, {"stackFrames": [one]})
    frame = talk.body()["stackFrames"][0]["id"]
    talk.stop(1)
    talk.request("scopes", frameId=frame)
    talk.asked_for()
    talk.answer(0, {"scopes": []})
    (scope,) = talk.body()["scopes"]
    assert scope["name"] == "Differs between ranks"
    talk.request("variables", variablesReference=scope["variablesReference"])
    assert [place for place, _ in talk.asked_for("stackTrace")] == [1]
    talk.answer(1, {"stackFrames": [{**one, "id": 8, "name": "inner"}, {**one, "id": 9, "line": 4}]})
    assert talk.asked_for("scopes") == [(0, {"frameId": 3}), (1, {"frameId": 9})]
    for place in (0, 1):
        talk.answer(place, {"scopes": [{"name": "Locals", "variablesReference": 20 + place}]})
    assert talk.asked_for("variables") == [(0, {"variablesReference": 20}), (1, {"variablesReference": 21})]
    listed = [{"name": "n", "value": "4", "variablesReference": 0},
              {"name": "mesh", "value": "<Mesh at 0x7f01>", "variablesReference": 0}]  # fmt: skip
    talk.answer(0, {"variables": [*listed, {"name": "part", "value": "[1]", "variablesReference": 30}]})
    listed[1] = {**listed[1], "value": "<Mesh at 0x7f0123456>"}
    listed.append({"name": "part", "value": "[2]", "variablesReference": 30})
    talk.answer(1, {"variables": [*listed, {"name": "late", "value": "1", "variablesReference": 0}]})
    part, late = talk.body()["variables"][-2:]
    assert (part["name"], part["value"]) == ("part", "0: [1] | 1: [2]")
    assert (late["name"], late["value"]) == ("late", "0: not defined | 1: 1")
    talk.request("variables", variablesReference=part["variablesReference"])
    children = talk.body()["variables"]
    assert [(each["name"], each["value"]) for each in children] == [("rank 0", "[1]"), ("rank 1", "[2]")]
    talk.request("variables", variablesReference=children[1]["variablesReference"])
    assert talk.asked_for("variables") == [(1, {"variablesReference": 30})]


def test_an_expression_on_several_ranks_is_answered_once(talk):
    talk.stop(0, 1)
    talk.request("evaluate", expression="@0,1 n", context="repl")
    talk.asked_for("stackTrace")
    for place in (0, 1):
        talk.answer(place, {"stackFrames": [{"id": 3}]})
    assert talk.asked_for("evaluate")[1] == (1, {"expression": "n", "context": "repl", "frameId": 3})
    talk.answer(0, {"result": "4", "variablesReference": 0})
    talk.answer(1, success=False, message="NameError: n")
    assert talk.body()["result"] == "[0] 4\n[1] NameError: n"
    talk.request("evaluate", expression="n", context="repl")
    assert talk.problem().startswith("which rank? begin with the rank")
    talk.request("evaluate", expression="@5 n")
    assert talk.problem() == "rank 5 has not stopped: pause it first"


def test_output_names_its_rank(talk):
    talk.event(1, "output", category="stdout", output="one\ntwo\n")
    assert talk.body() == {"category": "stdout", "output": "[1] one\n[1] two\n"}
    talk.event(1, "output", category="telemetry", output="debugpy")
    assert not talk.heard()


def test_a_rank_that_ends_leaves_the_others(talk):
    talk.request("threads")
    talk.asked_for()
    for place in (0, 1):
        talk.answer(place, {"threads": [{"id": 7, "name": "MainThread"}]})
    threads = talk.body()["threads"]
    talk.request("stackTrace", threadId=threads[1]["id"])
    talk.take(talk.session.on_adapter_end(1, "its debugger has closed the connection", talk.now))
    exited, said, refused = talk.heard()
    assert exited["body"] == {"reason": "exited", "threadId": threads[1]["id"]}
    assert said["body"]["output"] == "rank 1 is no longer debugged: its debugger has closed the connection\n"
    assert refused["message"] == "rank 1: it is no longer debugged, because it has ended"
    talk.take(talk.session.on_adapter_end(0, "its debugger has closed the connection", talk.now))
    assert talk.heard()[-1]["event"] == "terminated"


def test_the_client_leaves_and_the_ranks_run_on(talk):
    talk.request("disconnect", terminateDebuggee=True)
    assert talk.asked_for("disconnect") == [(place, {"restart": False, "terminateDebuggee": False}) for place in (0, 1)]
    talk.answer(0)
    talk.answer(1)
    response, end = talk.heard()
    assert response["success"] and end == Close()


def test_the_end_of_a_session_is_not_taken_for_the_answer_to_disconnect(talk):
    """debugpy tells the end before it answers, and refuses the next session if the connection is closed before that."""
    talk.request("disconnect")
    talk.asked_for("disconnect")
    for place in (0, 1):
        talk.event(place, "terminated")
    assert talk.heard() == []
    for place in (0, 1):
        talk.answer(place)
    response, end = talk.heard()
    assert response["success"] and end == Close()


def test_the_session_does_not_end_before_a_slow_rank_is_disconnected(talk):
    """Its debugger would refuse the next session: the rank "is already being debugged"."""
    talk.request("disconnect")
    talk.asked_for("disconnect")
    talk.answer(0)
    talk.now += 30
    talk.take(talk.session.on_time(talk.now))
    assert talk.heard() == []
    talk.now += 31  # the rank hangs
    talk.take(talk.session.on_time(talk.now))
    response, end = talk.heard()
    assert response["success"] and end == Close()


def test_requests_that_have_no_meaning_for_several_ranks_are_refused(talk):
    talk.request("launch")
    assert talk.problem() == 'the engines are already running: write "request": "attach" in launch.json'
    talk.request("readMemory", memoryReference="0x1")
    assert talk.problem() == "readMemory is not supported for a session of several ranks"
    talk.take(talk.session.on_adapter(0, {"seq": 4, "type": "request", "command": "runInTerminal"}, talk.now))
    ((place, refusal),) = talk.asked
    assert place == 0 and not refusal["success"] and refusal["request_seq"] == 4


def test_messages_are_cut_at_their_lengths():
    both = encode({"seq": 1}) + encode({"seq": 2, "text": "\u00e4"})
    decoder = Decoder()
    assert [message for byte in both for message in decoder.feed(bytes([byte]))] == [{"seq": 1}, {"seq": 2, "text": "\u00e4"}]


@pytest.mark.parametrize("data, why", [
    (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "without Content-Length"), (b"x" * 5000, "more than 4 KiB"),
    (b"Content-Length: 999999999\r\n\r\n", "the limit is 256 MiB"), (b"Content-Length: 1\r\n\r\n{", "not JSON"),
    (b"Content-Length: 2\r\n\r\n[]", "not a JSON object"),
])  # fmt: skip
def test_what_is_no_message_is_told(data, why):
    with pytest.raises(WrongMessage, match=why):
        Decoder().feed(data)
