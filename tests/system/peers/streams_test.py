"""Large arrays of clients of other hosts pass the controller in streams, sealed by the two ends.

Such a client is one that sees neither the Unix sockets nor the shared memory of the cluster.
"""

import contextlib
import hashlib
import json
import socket
import threading

import numpy as np
import psutil
import pytest
from programs import PATIENCE, wait_until
from running_cluster import connect
from tcp_relay import TcpRelay
from unauthenticated_test import connect_and_say, memory_mib

MARK = b"the bytes of the array "
ARRAY = np.frombuffer(MARK * (1 + (8 << 20) // len(MARK)), "u1")[: 8 << 20]


@pytest.fixture(scope="module")
def cluster(new_cluster):
    cluster = new_cluster("streams")
    cluster.start_controller("--no-ipc")
    cluster.start_engines(1)
    return cluster


@pytest.fixture
def between(cluster):
    """Stands between far clients and the controller's port for streams."""
    relay = TcpRelay(cluster.connection()["stream"])
    yield relay
    relay.close()


@contextlib.contextmanager
def far_client(cluster, folder, stream):
    """A client of another host, for which streams have this port; None: it knows of none."""
    info = {**cluster.connection(), "stream": stream}
    info["memory"]["identity"] = "elsewhere"
    if stream is None:
        del info["stream"]
    file = folder / "client.json"
    file.touch(0o600)
    file.write_text(json.dumps(info))
    with connect(file, 1, timeout=PATIENCE) as client:
        yield client


def goes_there_and_back(client):
    client[0].push({"x": ARRAY}, block=True)
    return bool((client[0].pull("x", block=True) == ARRAY).all())


def digest_at_engine(client, name):
    client[0].execute(f"import hashlib; digest = hashlib.sha256({name}).hexdigest()", block=True)
    return client[0]["digest"]


def said_by(relay):
    return b"".join(bytes(each) for each in relay.streams)


def test_pushes_and_pulls_pass_a_stream_that_nobody_between_can_read(cluster, between, tmp_path):
    with far_client(cluster, tmp_path, between.port) as client:
        assert goes_there_and_back(client)
        assert goes_there_and_back(client)
    [said] = between.streams  # one stream for all of them
    assert 2 * ARRAY.nbytes < len(said) < 2.1 * ARRAY.nbytes
    assert MARK not in said and b"segment" not in said


@pytest.mark.parametrize("is_there", [False, True], ids=["refused", "silent"])
def test_where_the_port_is_not_reached_arrays_take_the_message_channels(
    cluster, tmp_path, is_there
):
    with socket.socket() as stranger:
        stranger.bind(("127.0.0.1", 0))
        if is_there:
            stranger.listen()
        with far_client(cluster, tmp_path, stranger.getsockname()[1]) as client:
            assert goes_there_and_back(client)


def test_a_connection_file_without_the_port_is_as_good(cluster, tmp_path):
    with far_client(cluster, tmp_path, None) as client:
        assert goes_there_and_back(client)


def test_what_was_on_its_way_when_a_stream_broke_comes_by_the_message_channels(
    cluster, between, tmp_path
):
    with far_client(cluster, tmp_path, between.port) as client:
        assert goes_there_and_back(client)
        between.swallows = True
        pushed = client[0].push({"y": ARRAY}, block=False)
        assert between.swallowed.wait(PATIENCE)
        between.break_connections()
        pushed.get(PATIENCE)
        assert digest_at_engine(client, "y") == hashlib.sha256(ARRAY).hexdigest()
        between.swallows = False
        between.swallowed.clear()
        pulled = client[0].pull("y", block=False)
        assert bool((pulled.get(PATIENCE) == ARRAY).all())


@pytest.mark.parametrize("forged", [b"\x20\0\0\0" + bytes(32), b"\xff" * 64, "itself"],
                         ids=["record", "noise", "replay"])  # fmt: skip
def test_forged_and_repeated_records_end_the_stream_and_no_array_is_wrong(
    cluster, between, tmp_path, forged
):
    with far_client(cluster, tmp_path, between.port) as client:
        assert goes_there_and_back(client)
        said = said_by(between)
        answer_bytes = said.index(b"\n") + 1
        before = digest_at_engine(client, "x")
        with contextlib.suppress(ConnectionError):  # it may be ended before all is said
            between.inject(said[answer_bytes:] if forged == "itself" else forged)
        assert between.is_hung_up.wait(PATIENCE)  # the engine ended it
        assert digest_at_engine(client, "x") == before
        assert goes_there_and_back(client)


def test_a_stranger_who_repeats_what_an_end_said_is_not_joined(cluster, between, tmp_path):
    with far_client(cluster, tmp_path, between.port) as client:
        assert goes_there_and_back(client)
    said = said_by(between)
    with socket.create_connection(("127.0.0.1", between.target), timeout=PATIENCE) as stranger:
        stranger.sendall(said[:1000])
        answer = b""
        try:
            while data := stranger.recv(4096):
                answer += data
        except ConnectionResetError:
            pass
    assert len(answer) <= 65  # a greeting, and the end


def test_a_thousand_strangers_cost_little_and_keep_no_stream_from_opening(
    cluster, between, tmp_path
):
    controller = psutil.Process(cluster.controller.pid)
    memory, descriptors = memory_mib(cluster), controller.num_fds()
    with contextlib.ExitStack() as strangers:
        for said in (b"", b"0" * 64, b"0" * 64 + b" " + b"0" * 63, b"\0" * 100_000):
            for _ in range(250):
                strangers.enter_context(connect_and_say(between.target, said))
        wait_until(lambda: controller.num_fds() <= descriptors + 256, "the oldest are closed")
        with far_client(cluster, tmp_path, between.port) as client:
            assert goes_there_and_back(client)
        assert len(said_by(between)) > ARRAY.nbytes
        assert memory_mib(cluster) - memory <= 8
    wait_until(lambda: controller.num_fds() <= descriptors, "all are closed")


def test_streams_of_many_clients_at_once(cluster, tmp_path):
    failed = []

    def work(folder):
        folder.mkdir()
        with far_client(cluster, folder, cluster.connection()["stream"]) as client:
            if not all(goes_there_and_back(client) for _ in range(2)):
                failed.append(folder)

    threads = [threading.Thread(target=work, args=(tmp_path / str(i),)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(2 * PATIENCE)
    assert not failed
