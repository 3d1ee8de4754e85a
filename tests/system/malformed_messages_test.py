"""Bad input gets one clear line or silence; never a crash, never harm to the other clients."""

import json
import os
import random
import re
import zlib

import ipyparallel as ipp
import programs
import psutil
import pytest
import zmq
from programs import wait_until
from raw_peer import BUNDLE, DELIMITER, RawPeer, bundled, channels
from tcp_relay import TcpRelay

only_ours = pytest.mark.better_than_reference("the original is not that careful")


@pytest.fixture(scope="module")
def cluster(new_cluster):
    cluster = new_cluster("bad")
    cluster.start_controller()
    cluster.start_engines(2)
    cluster.client(engines=2)
    return cluster


@pytest.fixture(scope="module")
def plain_cluster(new_cluster):
    """A controller that does not encrypt: what is said to it is read as frames at once."""
    cluster = new_cluster("plain")
    cluster.start_controller("--no-curve")
    return cluster


@pytest.fixture
def rc(cluster):
    """A bystander; when the test is over it and the whole cluster must be unharmed."""
    client = cluster.client(engines=2)
    yield client
    assert cluster.controller.is_running(), cluster.controller.output()[-3000:]
    assert client[:].apply_async(len, "abc").get(60) == [3, 3]
    assert client.load_balanced_view().apply_async(len, "abcd").get(60) == 4
    assert client.broadcast_view().apply_async(len, "ab").get(60) == [2, 2]
    assert set(client.queue_status()) == {0, 1, "unassigned"}
    fresh = cluster.client(engines=2)
    assert fresh[0].apply_async(len, "abcde").get(60) == 5
    fresh.close()
    client.close()


@pytest.fixture
def peer(cluster):
    with RawPeer(cluster.connection("client")) as peer:
        yield peer


@pytest.fixture
def engine_side(cluster):
    with RawPeer(cluster.connection("engine")) as peer:
        yield peer


# --- on the wire


def test_a_client_with_the_wrong_key_gets_no_answer(cluster, rc):
    with RawPeer(cluster.connection("client"), key="wrong" * 8) as stranger:
        assert stranger.ask("connection_request", timeout=1.0) is None


def test_the_unmodified_client_with_the_wrong_key_times_out(cluster, rc, tmp_path):
    changed = {**cluster.connection("client"), "key": "0" * 65}
    file = tmp_path / "client.json"
    file.write_text(json.dumps(changed))
    with pytest.raises(TimeoutError):
        ipp.Client(str(file), timeout=2)


def test_an_engine_with_the_wrong_key_ends_with_one_clear_line(cluster, rc, stage, tmp_path):
    changed = {**cluster.connection("engine"), "key": "0" * 65}
    file = tmp_path / "engine.json"
    file.touch(0o600)
    file.write_text(json.dumps(changed))
    done = stage.run([*programs.ENGINE, f"--file={file}", "--timeout=2"], timeout=40)
    assert done.returncode > 0
    assert re.search("the key in .*engine.json|registration timed out", done.stderr + done.stdout, re.I)


def malformed(peer):
    """Frames that are not messages, by name."""
    good = peer.message("connection_request")
    return {
        "nothing but an empty frame": [b""],
        "delimiter alone": [DELIMITER],
        "no delimiter": [b"x", b"y"],
        "signature only": [DELIMITER, b"0" * 64],
        "one part short": good[:-1],
        "unsigned": [DELIMITER, b"", *good[2:]],
        "signature too short": [DELIMITER, good[1][:10], *good[2:]],
        "signature not hexadecimal": [DELIMITER, b"\xff" * 64, *good[2:]],
        "parts swapped": [*good[:2], *reversed(good[2:])],
        "identity with a nul": [b"\0" * 255, *good[:3]],
        "thousand frames": [b"x"] * 1000,
        "bundle of nothing": [BUNDLE],
        "bundle that ends too early": [BUNDLE + b"\x09\0\0\0a"],
        "bundle with a huge length": [BUNDLE + b"\xff\xff\xff\xffa", b"x"],
        "bundle of a million empty frames": [BUNDLE + b"\0\0\0\0" * 1_000_000],
        "bundle in a bundle": bundled(bundled(good)),
        "bundle of a message one part short": bundled(good[:-1]),
    }


def signed_nonsense(peer):
    """Messages that carry a right signature and nonsense inside."""

    def signed(parts):
        return [DELIMITER, peer.sign(parts), *parts]

    header = json.dumps(peer.header("connection_request")).encode()
    other = json.dumps(peer.header("queue_request")).encode()
    return {
        "not json": signed([b"{{{", b"{}", b"{}", b"{}"]),
        "not utf-8": signed([b"\xff\xfe{}", b"{}", b"{}", b"{}"]),
        "header is a list": signed([b"[]", b"{}", b"{}", b"{}"]),
        "header is empty": signed([b"{}", b"{}", b"{}", b"{}"]),
        "header with numbers": signed(
            [b'{"msg_id":1,"msg_type":2,"session":[]}', b"{}", b"{}", b"{}"]
        ),
        "content is a number": signed([header, b"{}", b"{}", b"17"]),
        "metadata is a list": signed([other, b"{}", b"[1]", b'{"targets":null}']),
        "deep nesting": signed([b"[" * 100_000, b"{}", b"{}", b"{}"]),
        "null everywhere": signed([b"null", b"null", b"null", b"null"]),
    }


@only_ours
@pytest.mark.parametrize("kind", [malformed, signed_nonsense], ids=lambda kind: kind.__name__)
def test_malformed_messages_on_every_client_port_harm_nobody(cluster, rc, kind):
    for channel in ("registration", "mux", "task", "control", "broadcast"):
        with RawPeer(cluster.connection("client")) as peer:
            dealer = peer.dealer(channel)
            for frames in kind(peer).values():
                dealer.send_multipart(frames)
            assert rc.load_balanced_view().apply_async(len, "abc").get(60) == 3
            assert peer.ask("connection_request")["status"] == "ok"


@only_ours
@pytest.mark.parametrize("kind", [malformed, signed_nonsense], ids=lambda kind: kind.__name__)
def test_malformed_messages_on_every_engine_port_harm_nobody(cluster, rc, engine_side, kind):
    for channel in ("registration", "mux", "task", "control", "broadcast", "hb_pong"):
        dealer = engine_side.dealer(channel)
        for frames in kind(engine_side).values():
            dealer.send_multipart(frames)
        assert rc[:].apply_async(len, "abc").get(60) == [3, 3]


@only_ours
def test_malformed_messages_to_an_engine_harm_it_not(cluster, rc, peer):
    """Through the relays, addressed to engine 0 by its name."""
    engines = peer.ask("connection_request")["engines"]
    name = engines["0"].encode()
    for channel in ("mux", "control"):
        dealer = peer.dealer(channel)
        for kind in (malformed, signed_nonsense):
            for frames in kind(peer).values():
                dealer.send_multipart([name, *frames])
    assert rc[0].apply_async(len, "abc").get(60) == 3


def test_unknown_message_types_are_answered_as_errors(rc, peer):
    answer = peer.ask("no_such_request")
    assert answer["status"] == "error"
    assert "no_such_request" in answer["evalue"]


def answers(peer, kind, content):
    """The answers to a request: those that come before the answer to the next one."""
    dealer = peer.dealer("registration")
    last = peer.message("queue_request", {"targets": None})
    dealer.send_multipart(peer.message(kind, content))
    dealer.send_multipart(last)
    found = []
    while True:
        assert dealer.poll(10_000), "the controller answers no more"
        frames = dealer.recv_multipart()
        parts = [json.loads(part) for part in frames[frames.index(DELIMITER) + 2 :][:4]]
        if parts[1]["msg_id"] == json.loads(last[2])["msg_id"]:
            return found
        found.append(parts[3])


@pytest.mark.parametrize(
    "kind, content, statuses",
    [
        ("queue_request", {}, ["error"]),
        ("queue_request", {"targets": {"a": 1}}, ["error"]),
        ("queue_request", {"targets": [[]]}, ["error"]),
        ("result_request", {}, ["error"]),
        ("result_request", {"msg_ids": 5}, ["error"]),
        ("result_request", {"msg_ids": ["unknown"]}, ["error"]),
        ("db_request", {}, ["ok"]),
        ("db_request", {"query": {"msg_id": {"$nonsense": 1}}}, ["error"]),
        ("db_request", {"query": {"no such key": 1}, "keys": ["msg_id"]}, ["error"]),
        ("purge_request", {}, ["ok"]),
        ("resubmit_request", {"msg_ids": ["unknown"]}, ["error"]),
        ("registration_request", {}, []),
        ("registration_request", {"uuid": 5}, []),
        ("unregistration_request", {}, []),
        ("unregistration_request", {"id": 4711}, []),
    ],
)
@only_ours
def test_requests_with_wrong_content_are_answered_or_ignored(rc, peer, kind, content, statuses):
    assert [answer["status"] for answer in answers(peer, kind, content)] == statuses


def test_a_replayed_message_is_answered_only_once(rc, peer):
    dealer = peer.dealer("registration")
    frames = peer.message("connection_request")
    dealer.send_multipart(frames)
    assert dealer.poll(10_000)
    dealer.recv_multipart()
    for _ in range(20):
        dealer.send_multipart(frames)
    dealer.send_multipart(peer.message("queue_request", {"targets": None}))
    assert dealer.poll(10_000)
    answer = dealer.recv_multipart()
    assert json.loads(answer[answer.index(DELIMITER) + 2])["msg_type"] == "queue_reply"


@only_ours
def test_a_replayed_task_runs_only_once(rc, peer, cluster, tmp_path):
    """The very frames of a real client's task, sent again by somebody who saw them."""
    from ipyparallel.serialize import pack_apply_message

    file = tmp_path / "runs"

    @ipp.interactive
    def note(path):
        with open(path, "a") as runs:
            runs.write("x")

    buffers = pack_apply_message(note, (str(file),), {}, 1024, 64)
    frames = peer.message("apply_request", buffers=[bytes(buffer) for buffer in buffers])
    dealer = peer.dealer("task")
    for _ in range(5):
        dealer.send_multipart(frames)
    assert dealer.poll(10_000)
    assert rc.load_balanced_view().map_sync(len, ["a"] * 20) == [1] * 20
    assert file.read_text() == "x"


@only_ours
@pytest.mark.parametrize("side", ["client", "engine"])
@pytest.mark.parametrize("encryption", ["curve", "null"])
def test_random_bytes_on_every_port_of_the_controller_harm_nobody(
    cluster, plain_cluster, rc, encryption, side
):
    """With encryption the greeting is refused; without it what follows is read as frames."""
    cluster = cluster if encryption == "curve" else plain_cluster
    noise = random.Random(zlib.crc32(side.encode()))
    greeting = b"\xff" + bytes(8) + b"\x7f\x03\x00NULL" + bytes(48)
    connection = cluster.connection(side)
    with RawPeer(connection) as stranger:
        for channel in channels(connection):
            for length in (1, 10, 64, 5000):
                stranger.send_bytes(channel, noise.randbytes(length))
                stranger.send_bytes(channel, greeting + noise.randbytes(length))
            stranger.send_bytes(channel, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    with RawPeer(cluster.connection("client")) as peer:
        assert peer.ask("connection_request")["status"] == "ok"


def half_of_memory():
    """The longest frame that a controller takes: a longer one cannot be meant."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2


@only_ours
@pytest.mark.parametrize("length", [half_of_memory() + 1, 2**60], ids=["too long", "exabyte"])
@pytest.mark.parametrize("encryption", ["curve", "null"])
def test_a_frame_that_claims_to_be_huge_ends_its_connection(cluster, plain_cluster, rc, encryption, length):
    """ZMTP: a long frame announces its length. Here it does so on a connection that has been
    accepted, so that it is read as a frame; with less than the limit the connection would stay."""
    cluster = cluster if encryption == "curve" else plain_cluster
    connection = cluster.connection("client.tcp" if encryption == "curve" else "client")
    assert bool(connection.get("curve_serverkey")) == (encryption == "curve")
    before = psutil.Process(cluster.controller.pid).memory_info().rss
    for channel in ("registration", "mux", "task", "control", "broadcast"):
        relay = TcpRelay(connection[channel])
        with RawPeer({**connection, channel: relay.port}) as peer:
            dealer = peer.socket(zmq.DEALER)
            monitor = dealer.get_monitor_socket(zmq.EVENT_HANDSHAKE_SUCCEEDED)
            dealer.connect(peer.address(channel))
            assert monitor.poll(10_000), f"{channel}: the connection is not accepted"
            assert not relay.is_hung_up.is_set()
            relay.inject(b"\x02" + length.to_bytes(8, "big") + b"x" * 100)
            assert relay.is_hung_up.wait(60), f"{channel}: the controller waits for the rest"
        relay.close()
    assert psutil.Process(cluster.controller.pid).memory_info().rss - before < 64 * 2**20


@only_ours
def test_a_huge_message_with_a_wrong_signature_is_dropped(rc, peer):
    dealer = peer.dealer("task")
    frames = peer.message("apply_request", buffers=[bytes(32 * 2**20)], signature=b"0" * 64)
    dealer.send_multipart(frames)
    assert rc.load_balanced_view().apply_async(len, "abc").get(60) == 3


@only_ours
def test_dropped_messages_are_logged_but_not_once_each(cluster, rc, peer):
    before = len(cluster.controller.output().splitlines())
    dealer = peer.dealer("registration")
    for _ in range(2000):
        dealer.send_multipart([DELIMITER, b"0" * 64, b"{}", b"{}", b"{}", b"{}"])
    dealer.send_multipart(peer.message("connection_request"))
    assert dealer.poll(10_000)
    said = cluster.controller.output().splitlines()[before:]
    assert [line for line in said if "signature" in line], said
    assert len(said) < 100
