"""What an attacker can see and do who has no key, an old one, or the engines' connection file."""

import json
import os
import random
import shutil
import socket
import stat
import struct
import subprocess
import threading
from contextlib import contextmanager
from pathlib import Path

import ipyparallel as ipp
import programs
import pytest
import zmq
from programs import wait_until
from raw_peer import RawPeer, channels
from tcp_relay import TcpRelay

import polyxeus

MARKS = [b"the-code-of-the-cell", b"the-word-that-is-printed", b"the-pushed-value",
         b"the-name-of-the-result"]  # fmt: skip
ALL_SIDES = ["client", "engine"]


@pytest.fixture(scope="module")
def cluster(new_cluster):
    cluster = new_cluster("secure")
    cluster.start_controller("--no-ipc")  # all are to pass the network that is attacked
    cluster.start_engines(2)
    cluster.client(engines=2)
    return cluster


@pytest.fixture
def rc(cluster):
    """The attack over, the cluster must be well: the same engines, free and correct."""
    client = cluster.client(engines=2)
    before = client[:].apply_async(os.getpid).get(60)
    yield client
    after = client[:].apply_async(os.getpid).get(60)
    client.close()
    assert after == before
    assert cluster.controller.is_running()


def work(connection_file):
    """One of everything, by our own client."""
    with polyxeus.Client(str(connection_file), timeout=20) as client:
        client.wait_for_engines(2, timeout=60)
        client[:].push({"secret": MARKS[2].decode()}, block=True)
        answer = client[:].execute(f"# {MARKS[0].decode()}\nprint('{MARKS[1].decode()}')")
        answer.get(60)
        assert answer.wait_for_output(20)
        client[:].execute(f"{MARKS[3].decode().replace('-', '_')} = secret", block=True)
        assert client[:]["secret"] == [MARKS[2].decode()] * 2
        assert client.load_balanced_view().map_sync(len, ["ab"] * 10) == [2] * 10


# ---------------------------------------------------------------- who listens on the wire


@contextmanager
def eavesdropping():
    """Records all that passes the loopback device, as a packet sniffer does."""
    try:
        tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.ntohs(3))
    except PermissionError:
        pytest.skip("a packet sniffer needs CAP_NET_RAW (run as root)")
    tap.bind(("lo", 0))
    tap.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 << 20)
    tap.settimeout(0.2)
    packets, is_over = [], threading.Event()

    def record():
        while not is_over.is_set():
            try:
                packets.append(tap.recv(70_000))
            except TimeoutError:
                pass

    recorder = threading.Thread(target=record)
    recorder.start()
    try:
        yield packets
    finally:
        is_over.set()
        recorder.join(10)
        tap.close()


def packets_of(packets, ports):
    """Those that come from or go to one of these TCP ports, as one piece of bytes."""
    kept = []
    for packet in packets:
        if packet[12:14] != b"\x08\x00" or packet[23] != socket.IPPROTO_TCP:
            continue
        start = 14 + (packet[14] & 15) * 4
        if set(struct.unpack("!HH", packet[start : start + 4])) & ports:
            kept.append(packet)
    return b"\n".join(kept)


def ports_of_side(cluster, side):
    ports = set()
    connection = cluster.connection(side)
    for channel in channels(connection):
        value = connection[channel]
        ports |= set(value) if isinstance(value, list) else {value}
    return ports


def ports_of(cluster):
    return ports_of_side(cluster, "client") | ports_of_side(cluster, "engine")


def seen_by_an_eavesdropper(cluster):
    with eavesdropping() as packets:
        work(cluster.connection_file("client"))
    seen = packets_of(packets, ports_of(cluster))
    assert len(seen) > 10_000
    return seen


def test_an_eavesdropper_reads_nothing(cluster, rc):
    seen = seen_by_an_eavesdropper(cluster)
    key = cluster.connection()["key"].encode()
    keys = [cluster.connection(side)["curve_serverkey"].encode() for side in ALL_SIDES]
    for text in [*MARKS, *keys, key, b"execute_request", b"<IDS|MSG>", b"msg_id"]:
        assert text not in seen, text


def test_without_encryption_the_same_eavesdropper_reads_all(own_cluster):
    """Or the test above would prove nothing."""
    cluster = own_cluster()
    cluster.start_controller("--no-curve", "--no-ipc")
    cluster.start_engines(2)
    cluster.client(engines=2)
    seen = seen_by_an_eavesdropper(cluster)
    for text in [*MARKS[:3], b"<IDS|MSG>"]:
        assert text in seen, text
    assert cluster.connection()["key"].encode() not in seen


def folder_of(cluster):
    return Path(cluster.connection()["local"]["interface"].removeprefix("ipc://"))


def test_what_stays_on_the_host_is_not_on_the_network_at_all(own_cluster):
    cluster = own_cluster()
    cluster.start_controller("--no-curve")
    cluster.start_engines(2)
    with eavesdropping() as packets:
        work(cluster.connection_file("client"))
    seen = packets_of(packets, ports_of(cluster))
    for text in MARKS:
        assert text not in seen, text
    folder = folder_of(cluster)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    cluster.controller.stop()
    assert not folder.exists()


def test_another_user_of_the_host_opens_no_unix_socket(own_cluster):
    if os.geteuid() != 0:
        pytest.skip("to become another user takes root")
    cluster = own_cluster()
    cluster.start_controller()
    paths = [str(path) for path in folder_of(cluster).iterdir()]
    ports = [port for side in ALL_SIDES for port in ports_of_side(cluster, side)]
    by_other_names = [path for path in paths if Path(path).name.startswith(":")]
    zeromq = [name for name in channels(cluster.connection()) if name != "stream"]
    assert len(by_other_names) == len(zeromq)
    assert len(paths) == len(set(ports)) + len(by_other_names)
    code = (
        "import socket, sys\n"
        "for path in sys.argv[1:]:\n"
        "    try: socket.socket(socket.AF_UNIX).connect(path)\n"
        "    except PermissionError: print('refused')\n"
    )
    command = ["/usr/bin/python3", "-c", code, *paths]
    assert subprocess.check_output(command, text=True, cwd="/") == ""
    said = subprocess.check_output(command, text=True, cwd="/", user="nobody", group="nogroup")
    assert said.split() == ["refused"] * len(paths)


# ---------------------------------------------------------------- who says again what he has heard


def test_what_was_recorded_of_a_client_does_nothing_when_it_is_sent_again(cluster, rc, tmp_path):
    info = cluster.connection()
    relays = {name: TcpRelay(info[name]) for name in channels(info)}
    runs = tmp_path / "runs"
    between = tmp_path / "between.json"
    between.touch(0o600)
    between.write_text(json.dumps({**info, **{name: relays[name].port for name in relays}}))
    try:
        with polyxeus.Client(str(between), timeout=20) as client:
            client.wait_for_engines(2, timeout=60)
            client[:].execute(f"open({str(runs)!r}, 'a').write('x')", block=True)
            assert runs.read_text() == "xx"
        streams = [(relay.target, bytes(each)) for relay in relays.values()
                   for each in relay.streams]  # fmt: skip
    finally:
        for relay in relays.values():
            relay.close()
    assert sum(len(stream) for _, stream in streams) > 2000
    for port, stream in streams:
        with socket.create_connection(("127.0.0.1", port), timeout=10) as again:
            again.settimeout(10)
            try:
                again.sendall(stream)
                again.shutdown(socket.SHUT_WR)
                while again.recv(65536):  # until the controller hangs up
                    pass
            except OSError:
                pass
    assert rc[:].apply_async(len, "abc").get(60) == [3, 3]
    assert runs.read_text() == "xx"


def test_a_message_with_the_right_keys_and_a_forged_signature_is_not_obeyed(cluster, rc):
    with RawPeer(cluster.connection(), key="0" * 64) as forger:
        assert forger.ask("shutdown_request", timeout=1.0) is None
        assert forger.ask("connection_request", timeout=1.0) is None


# ---------------------------------------------------------------- who has the engines' file


def as_a_client(cluster):
    """What a thief of the engines' file would try first: its keys at the clients' ports."""
    engine = cluster.connection("engine")
    return {**cluster.connection("client"), "key": engine["key"],
            "curve_serverkey": engine["curve_serverkey"]}  # fmt: skip


def test_the_keys_of_the_engines_file_open_no_port_of_the_clients(cluster, rc):
    connection = as_a_client(cluster)
    with RawPeer(connection) as thief:
        dealers = [thief.dealer(channel)
                   for channel in ("registration", "mux", "task", "control", "broadcast")]  # fmt: skip
        seen = [thief.socket(zmq.SUB) for _ in range(2)]
        for subscriber, channel in zip(seen, ("iopub", "notification")):
            subscriber.subscribe(b"")
            subscriber.connect(thief.address(channel))
        for dealer in dealers:
            dealer.send_multipart(thief.message("connection_request"))
            dealer.send_multipart(thief.message("shutdown_request"))
        rc[:].execute("print('not for you')", block=True)
        assert not any(each.poll(300) for each in dealers + seen)


@pytest.mark.parametrize("kind", [polyxeus.Client, ipp.Client], ids=["polyxeus", "ipyparallel"])
def test_a_client_with_the_engines_keys_is_refused(cluster, rc, kind):
    with pytest.raises(OSError):  # a TimeoutError is one
        kind(as_a_client(cluster), timeout=3)


@pytest.mark.parametrize("request_type", ["connection_request", "queue_request", "shutdown_request",
                                          "db_request", "history_request", "purge_request",
                                          "result_request", "resubmit_request"])  # fmt: skip
def test_the_engines_port_answers_no_question_of_a_client(cluster, rc, request_type):
    with RawPeer(cluster.connection("engine")) as thief:
        answer = thief.ask(request_type, {"targets": None, "msg_ids": "all", "query": {}})
        assert answer["status"] == "error" and answer["ename"] == "PermissionError"
        assert "connection file of clients" in answer["evalue"]
        assert set(answer) <= {"status", "ename", "evalue", "traceback", "engine_info"}


def test_an_engine_cannot_make_another_engine_work(cluster, rc, tmp_path):
    """Requests that are sent into the engines' side come to nobody."""
    done = tmp_path / "done"
    with RawPeer(cluster.connection()) as peer:
        names = peer.ask("connection_request")["engines"].values()
    code = {"code": f"open({str(done)!r}, 'w')", "silent": False, "store_history": False,
            "user_expressions": {}, "allow_stdin": False}  # fmt: skip
    with RawPeer(cluster.connection("engine")) as rogue:
        for channel in ("mux", "task", "control", "broadcast"):
            dealer = rogue.dealer(channel, b"rogue")
            for name in names:
                dealer.send_multipart([name.encode(), *rogue.message("execute_request", code)])
        assert rc[:].apply_async(len, "abc").get(60) == [3, 3]
    assert not done.exists()


# ---------------------------------------------------------------- wrong and old keys are named


@pytest.fixture
def old_files(cluster, tmp_path):
    """The present connection files with the keys of another start."""
    files = {}
    for side in ALL_SIDES:
        file = tmp_path / f"ipcontroller-{side}.json"
        file.touch(0o600)
        old = zmq.curve_keypair()[0].decode()
        file.write_text(json.dumps({**cluster.connection(side), "curve_serverkey": old}))
        files[side] = file
    return files


def test_an_old_key_is_named_by_the_client_and_by_the_controller(cluster, rc, old_files):
    with pytest.raises(OSError, match="rejects the encryption key.*copy the current file"):
        polyxeus.Client(str(old_files["client"]))
    wait_until(lambda: "to the port of clients was refused" in cluster.controller.output(),
               "the controller says so", 10)  # fmt: skip


def test_an_old_key_is_named_by_the_engine_and_by_the_controller(cluster, rc, old_files, stage):
    done = stage.run([*programs.ENGINE, f"--file={old_files['engine']}", "--timeout=2"])
    assert done.returncode > 0
    assert "rejects the encryption key" in done.stderr
    assert str(old_files["engine"]) in done.stderr
    wait_until(lambda: "to the port of engines was refused" in cluster.controller.output(),
               "the controller says so", 10)  # fmt: skip


def test_a_wrong_signing_key_is_named_too(cluster, rc, tmp_path):
    file = tmp_path / "other.json"
    file.touch(0o600)
    file.write_text(json.dumps({**cluster.connection(), "key": "of another cluster"}))
    with pytest.raises(OSError, match=r"does not answer as a controller.*key in .*other\.json"):
        polyxeus.Client(str(file))


# ---------------------------------------------------------------- files that others could read


@pytest.mark.parametrize("mode", [0o644, 0o660, 0o602])
def test_connection_files_that_others_can_read_or_write_are_refused(cluster, stage, tmp_path, mode):
    for side in ALL_SIDES:
        shutil.copy(cluster.connection_file(side), tmp_path / side)
        (tmp_path / side).chmod(mode)
    with pytest.raises(ValueError, match=f"chmod 600 {tmp_path / 'client'}"):
        polyxeus.Client(str(tmp_path / "client"))
    done = stage.run([*programs.ENGINE, f"--file={tmp_path / 'engine'}"])
    assert done.returncode > 0 and f"chmod 600 {tmp_path / 'engine'}" in done.stderr


def test_a_connection_file_of_somebody_else_is_refused(cluster, tmp_path):
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    file = tmp_path / "client"
    shutil.copy(cluster.connection_file("client"), file)
    os.chown(file, 12345, 12345)
    with pytest.raises(ValueError, match="belongs to user 12345"):
        polyxeus.Client(str(file))


# ---------------------------------------------------------------- noise


CURVE_GREETING = b"\xff" + bytes(8) + b"\x7f\x03\x01CURVE" + bytes(15) + bytes(32)


@pytest.mark.parametrize("side", ALL_SIDES)
def test_a_million_random_bytes_on_every_port_harm_nobody(cluster, rc, side):
    noise = random.Random(side)
    connection = cluster.connection(side)
    with RawPeer(connection) as stranger:
        for channel in channels(connection):
            stranger.send_bytes(channel, noise.randbytes(10**6))
            stranger.send_bytes(channel, CURVE_GREETING + noise.randbytes(10**6))
            # a handshake command of the right form, with random insides
            hello = b"\x05HELLO\x01\x00" + noise.randbytes(192)
            stranger.send_bytes(channel, CURVE_GREETING + bytes([4, len(hello)]) + hello)


@pytest.mark.parametrize("side", ALL_SIDES)
def test_a_port_scan_harms_nobody(cluster, rc, side):
    connection = cluster.connection(side)
    with RawPeer(connection) as scanner:
        for channel in channels(connection):
            for length in (0, 1, 11, len(CURVE_GREETING)):
                for _ in range(10):
                    scanner.send_bytes(channel, CURVE_GREETING[:length])


def test_hundreds_of_half_open_connections_keep_nobody_out(cluster, rc):
    connection = cluster.connection()
    held = []
    try:
        for _ in range(300):
            held.append(socket.create_connection(("127.0.0.1", connection["registration"]), 10))
        work(cluster.connection_file("client"))
    finally:
        for each in held:
            each.close()
