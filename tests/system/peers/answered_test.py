"""Each signed request ends in an answer, whatever it says and whoever is there to answer it."""

import json
import random
import time

import pytest
from raw_peer import DELIMITER, RawPeer

pytestmark = pytest.mark.better_than_reference("the original drops what it cannot read or deliver")

VALUES = [None, 0, -1, 2**40, 1.5, True, "text", [], ["x"], [[1, 2]], {}, {"a": 1}]
HUB = {
    "connection_request": [], "queue_request": ["targets", "verbose"], "load_request": ["targets"],
    "result_request": ["msg_ids", "status_only"], "history_request": [], "db_request": ["query", "keys"],
    "purge_request": ["msg_ids", "engine_ids"], "resubmit_request": ["msg_ids"],
    "no_such_request": ["a"],
}
ORDERS = {
    "abort_request": ["msg_ids"], "signal_request": ["sig", "msg_ids", "spares_newer"],
    "usage_request": ["place"],
}
CALLS = {
    "execute_request": ["silent", "store_history", "user_expressions", "stop_on_error"],
    "apply_request": ["a"], "call_request": ["function", "args"], "push_request": ["values"],
    "pull_request": ["expressions"],
}
METADATA = ["after", "follow", "targets", "timeout", "retries", "label", "is_coalescing"]


@pytest.fixture(scope="module")
def cluster(new_cluster):
    cluster = new_cluster("answered")
    cluster.start_controller("--IPController.registration_timeout=3")
    cluster.start_engines(1)
    cluster.client(engines=1)
    return cluster


class Asker:
    """Sends requests by all channels and counts which are answered."""

    def __init__(self, peer):
        self.peer = peer
        self.sockets = {name: peer.dealer(name, f"asker-{name}".encode())
                        for name in ("registration", "mux", "task", "control", "broadcast")}
        self.unanswered = {}

    def ask(self, channel, kind, content, metadata=None, to=None, copies=()):
        """copies  whose answers are expected, each by itself; none: that to the whole."""
        header = self.peer.header(kind)
        message = self.peer.message(kind, content, metadata, header=header)
        for suffix in copies or [""]:
            self.unanswered[header["msg_id"] + suffix] = (channel, kind, content, metadata, to)
        self.sockets[channel].send_multipart([to, *message] if to else message)

    def collect(self, patience):
        end = time.monotonic() + patience
        while self.unanswered and time.monotonic() < end:
            for dealer in self.sockets.values():
                while dealer.poll(20):
                    frames = dealer.recv_multipart()
                    parent = json.loads(frames[frames.index(DELIMITER) + 3])
                    self.unanswered.pop(parent.get("msg_id"), None)


def test_every_request_is_answered(cluster):
    chosen = random.Random(38)
    with RawPeer(cluster.connection("client")) as peer:
        engine = peer.ask("connection_request")["engines"]["0"]
        asker = Asker(peer)

        def contents(names):
            yield {}
            for name in names:
                for value in chosen.sample(VALUES, 5):
                    # a signal that there is would end the engine
                    if name != "sig" or not isinstance(value, int):
                        yield {"code": "1", name: value}

        for kind, names in HUB.items():
            for content in contents(names):
                asker.ask("registration", kind, content)
        for to in (engine.encode(), b"nobody"):
            for kind, names in ORDERS.items():
                for content in contents(names):
                    asker.ask("control", kind, content, to=to)
            for kind, names in CALLS.items():
                for content in contents(names):
                    asker.ask("mux", kind, content, to=to)
        for kind, names in CALLS.items():
            for content in contents(names):
                asker.ask("task", kind, content)
        for name in METADATA:
            for value in VALUES:
                asker.ask("task", "execute_request", {"code": "1"}, {name: value})
                if name != "targets":
                    asker.ask("broadcast", "execute_request", {"code": "1"}, {name: value})
        for name in (engine, "nobody"):
            for is_gathered in (False, True):
                metadata = {"targets": [[name, 0]], "is_broadcast": True, "is_coalescing": is_gathered}
                asker.ask("broadcast", "execute_request", {"code": "1"}, metadata,
                          copies=[f"_{name}"])
        asker.collect(40)
        assert list(asker.unanswered.values()) == []
        assert cluster.controller.is_running()
        assert peer.ask("connection_request")["engines"] == {"0": engine}
