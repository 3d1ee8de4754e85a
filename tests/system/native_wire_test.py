"""push, pull and call: our own requests, spoken by hand on the channels of a real cluster."""

import json
import re
import struct
import time

import pytest
import zmq
from raw_peer import BUNDLE, DELIMITER, RawPeer, bundled, opened

PATIENCE = 20.0


@pytest.fixture(scope="module")
def cluster(new_cluster):
    cluster = new_cluster("native")
    cluster.start_controller()
    cluster.start_engines(2)
    cluster.client(engines=2)
    return cluster


class Reply:
    def __init__(self, frames):
        parts = frames[frames.index(DELIMITER) + 2 :]
        self.header, self.parent, self.metadata, self.content = map(json.loads, parts[:4])
        self.buffers = parts[4:]
        self.type = self.header["msg_type"]


class NativePeer(RawPeer):
    """A client that sends native requests and sees all output."""

    def __init__(self, connection, bundles):
        super().__init__(connection)
        self.bundles = bundles
        self.sockets = {name: self.dealer(name) for name in ("mux", "task", "broadcast")}
        self.iopub = self.socket(zmq.SUB)
        self.iopub.subscribe(b"")
        self.iopub.connect(self.address("iopub"))

    def send(self, channel, kind, content, buffers=(), metadata=None, engine=None):
        message = self.message(kind, content, metadata, buffers)
        frames = [*([engine.encode()] if engine else []), *message]
        self.sockets[channel].send_multipart(bundled(frames) if self.bundles else frames)
        return json.loads(message[2])["msg_id"]

    def receive(self, channel):
        assert self.sockets[channel].poll(int(PATIENCE * 1000)), "no reply"
        frames = self.sockets[channel].recv_multipart()
        assert frames[0].startswith(BUNDLE) == self.bundles
        return Reply(opened(frames) if self.bundles else frames)

    def direct(self, engine, kind, content, buffers=()):
        msg_id = self.send("mux", kind, content, buffers, engine=engine)
        reply = self.receive("mux")
        assert reply.parent["msg_id"] == msg_id
        return reply

    def output(self, msg_id, count):
        """The first `count` publications for one request."""
        found = []
        deadline = time.monotonic() + PATIENCE
        while len(found) < count and time.monotonic() < deadline:
            if self.iopub.poll(100):
                each = Reply(self.iopub.recv_multipart())
                found += [each] if each.parent.get("msg_id") == msg_id else []
        return found


@pytest.fixture(params=[False, True], ids=["frames", "bundles"])
def peer(cluster, request):
    with NativePeer(cluster.connection("client"), request.param) as peer:
        # output is complete from the first message that has arrived here on
        while not peer.iopub.poll(50):
            peer.direct(engine_of(cluster, 0), "call_request", {"function": {"name": "print"}})
        yield peer


def engine_of(cluster, engine_id):
    return cluster.clients[0]._engines[engine_id]


def test_values_are_pushed_called_with_and_pulled(cluster, peer):
    engine = engine_of(cluster, 0)
    array = struct.pack("<3d", 1, 2, 3)
    description = {"array": {"dtype": "<f8", "shape": [3], "buffer": 0}}
    pushed = peer.direct(engine, "push_request", {"values": {"x": description}}, [array])
    assert (pushed.type, pushed.content) == ("push_reply", {"status": "ok"})
    content = {
        "function": {"code": "lambda a, k: a * k"},
        "args": [{"reference": "x"}],
        "kwargs": {"k": {"json": 2}},
        "accepts": ["array"],
    }
    called = peer.direct(engine, "call_request", content)
    assert called.type == "call_reply"
    assert called.content["value"]["array"] == {"dtype": "<f8", "shape": [3], "buffer": 0}
    assert struct.unpack("<3d", called.buffers[0]) == (2, 4, 6)
    content = {"expressions": ["x", "len(x)"], "accepts": ["json", "array"]}
    pulled = peer.direct(engine, "pull_request", content)
    assert pulled.content["values"] == [description, {"json": 3}]
    assert pulled.buffers == [array]
    assert pulled.metadata["engine"] == engine
    assert pulled.metadata["published"] == 0


def test_requests_of_both_kinds_are_served_in_order(cluster, peer):
    engine = engine_of(cluster, 0)
    for n in range(50):
        peer.send("mux", "push_request", {"values": {"n": {"json": n}}}, engine=engine)
        peer.send("mux", "execute_request", {"code": "n += 1000"}, engine=engine)
        peer.send("mux", "pull_request", {"expressions": ["n"], "accepts": ["json"]}, engine=engine)
    replies = [peer.receive("mux") for _ in range(150)]
    values = [each.content["values"] for each in replies if each.type == "pull_reply"]
    assert values == [[{"json": 1000 + n}] for n in range(50)]


def test_the_reply_says_how_much_was_published_and_there_is_no_status(cluster, peer):
    code = "import sys\ndef f():\n  for n in range(3):\n    print('out', n)\n" \
           "    print('err', file=sys.stderr)\n  from IPython.display import display\n  display(1)"
    content = {"function": {"code": code}, "accepts": ["json"]}
    reply = peer.direct(engine_of(cluster, 0), "call_request", content)
    count = reply.metadata["published"]
    assert count >= 7  # text is gathered for a moment, so a slow machine may send more
    published = peer.output(reply.parent["msg_id"], count)
    assert [each.type for each in published] == ["stream"] * (count - 1) + ["display_data"]
    text = "".join(each.content.get("text", "") for each in published)
    assert text == "out 0\nerr\nout 1\nerr\nout 2\nerr\n"


def test_an_error_travels_in_the_reply_alone(cluster, peer):
    content = {"function": {"code": "def f():\n  print('before')\n  return 1 / 0"}}
    reply = peer.direct(engine_of(cluster, 1), "call_request", content)
    assert reply.content["status"] == reply.metadata["status"] == "error"
    assert reply.content["ename"] == "ZeroDivisionError"
    assert "return 1 / 0" in re.sub(r"\x1b\[[0-9;]*m", "", "".join(reply.content["traceback"]))
    info = reply.content["engine_info"]
    assert (info["engine_id"], info["method"]) == (1, "call")
    assert reply.metadata["published"] == 1
    assert peer.output(reply.parent["msg_id"], 1)[0].content["text"] == "before\n"


def test_the_task_queue_places_calls_and_repeats_them_where_asked(cluster, peer):
    content = {"function": {"name": "len"}, "args": [{"json": "abc"}], "accepts": ["json"]}
    for _ in range(20):
        peer.send("task", "call_request", content)
    replies = [peer.receive("task") for _ in range(20)]
    assert [each.content["value"] for each in replies] == [{"json": 3}] * 20
    assert {each.type for each in replies} == {"call_reply"}
    code = "class UnmetDependency(Exception): pass\n" \
           "def f():\n  if get_ipython().kernel.engine_id == 0: raise UnmetDependency\n  return 1"
    for _ in range(4):
        peer.send("task", "call_request", {"function": {"code": code}, "accepts": ["json"]})
    assert [peer.receive("task").content["value"] for _ in range(4)] == [{"json": 1}] * 4
    tries = f"tries_{peer.session}"
    code = f"{tries} = globals().get('{tries}', 0) + 1\ndef f(): assert {tries} > 1; return {tries}"
    target = [engine_of(cluster, 0)]
    peer.send("task", "call_request", {"function": {"code": code}, "accepts": ["json"]},
              metadata={"retries": 2, "targets": target})  # fmt: skip
    assert peer.receive("task").content["value"] == {"json": 2}


def test_a_broadcast_is_answered_by_every_engine(cluster, peer):
    engines = [engine_of(cluster, n) for n in range(2)]
    metadata = {
        "targets": [[uuid, n] for n, uuid in enumerate(engines)],
        "is_broadcast": True,
        "is_coalescing": False,
    }
    code = "lambda: get_ipython().kernel.engine_id"
    content = {"function": {"code": code}, "accepts": ["json"]}
    msg_id = peer.send("broadcast", "call_request", content, metadata=metadata)
    replies = [peer.receive("broadcast") for _ in range(2)]
    assert sorted(each.content["value"]["json"] for each in replies) == [0, 1]
    assert {each.parent["msg_id"] for each in replies} == {f"{msg_id}_{e}" for e in engines}
    assert {each.metadata["original_msg_id"] for each in replies} == {msg_id}


def test_the_hub_remembers_calls(cluster, peer):
    engine = engine_of(cluster, 0)
    content = {"function": {"name": "sum"}, "args": [{"json": [1, 2]}], "accepts": ["json"]}
    direct = peer.direct(engine, "call_request", content).parent["msg_id"]
    task = peer.send("task", "call_request", content)
    peer.receive("task")
    deadline = time.monotonic() + PATIENCE
    records = []
    while len(records) < 2 and time.monotonic() < deadline:
        query = {"msg_id": {"$in": [direct, task]}, "completed": {"$ne": None}}
        records = peer.ask("db_request", {"query": query, "keys": ["queue", "result_content"]})[
            "records"
        ]
    assert sorted(each["queue"] for each in records) == ["mux", "task"]
    assert all(each["result_content"]["value"] == {"json": 3} for each in records)
    answer = peer.ask("result_request", {"msg_ids": [direct, task], "status_only": False})
    assert sorted(answer["completed"]) == sorted([direct, task])
    assert answer[direct]["result_content"]["value"] == {"json": 3}
    assert peer.ask("queue_request", {"targets": None, "verbose": False})["unassigned"] == 0


def test_an_old_client_is_not_disturbed(cluster, peer):
    rc = cluster.clients[0]
    peer.direct(engine_of(cluster, 0), "push_request", {"values": {"shared": {"json": [1]}}})
    assert rc[0]["shared"] == [1]


def test_large_arrays_pass_both_ways(cluster, peer):
    data = bytes(range(256)) * (1 << 14)
    description = {"array": {"dtype": "|u1", "shape": [len(data)], "buffer": 0}}
    content = {
        "function": {"code": "def f(a):\n  a[0] = 7\n  return a"},
        "args": [description],
        "accepts": ["array"],
    }
    reply = peer.direct(engine_of(cluster, 0), "call_request", content, [data])
    assert reply.buffers == [b"\7" + data[1:]]


def test_bad_requests_get_an_error_and_the_engine_lives(cluster, peer):
    engine = engine_of(cluster, 0)
    for kind, content in (
        ("call_request", {}),
        ("call_request", {"function": {"pickle": [0]}}),
        ("pull_request", {"expressions": 3}),
        ("push_request", {"values": {"x": {"array": {"dtype": "O", "shape": [1], "buffer": 0}}}}),
        ("push_request", {"values": []}),
    ):
        reply = peer.direct(engine, kind, content, [b"12345678"])
        assert reply.content["status"] == "error", content
        assert reply.type == kind.replace("request", "reply")
    reply = peer.direct(engine, "call_request", {"function": {"pickle": [0]}}, [b"cno_such\nx\n."])
    assert reply.content["ename"] == "ModuleNotFoundError"
    assert peer.direct(engine, "pull_request", {"expressions": []}).content["values"] == []
