"""Peers without a key: they cost next to nothing."""

import contextlib
import socket
import struct

import psutil
import pytest
from programs import PATIENCE, wait_until

pytestmark = pytest.mark.better_than_reference("it takes frames of any length before a handshake")

GREETING = b"\xff" + bytes(8) + b"\x7f" + b"\3\0" + b"CURVE".ljust(20, b"\0") + bytes(32)
SMALL = [
    ("client", "registration"),
    ("client", "control"),
    ("client", "notification"),
    ("client", "iopub"),
    ("engine", "registration"),
    ("engine", "control"),
    ("engine", "hb_ping"),
    ("engine", "hb_pong"),
]


@pytest.fixture(scope="module")
def cluster(new_cluster):
    cluster = new_cluster("unauthenticated")
    cluster.start_controller()
    return cluster


ALL = [
    *SMALL,
    ("client", "mux"),
    ("client", "task"),
    ("client", "broadcast"),
    ("engine", "mux"),
    ("engine", "task"),
    ("engine", "iopub"),
]


LESS_THAN_A_HANDSHAKE = 20  # seconds; libzmq itself ends one after 30


def command_frame(size):
    return b"\x06" + struct.pack(">Q", size)


def read_to_the_end(peer):
    with contextlib.suppress(ConnectionResetError):
        while peer.recv(4096):
            pass


@pytest.mark.parametrize(("side", "channel"), SMALL)
def test_a_frame_that_is_longer_than_anything_meant_ends_the_connection_at_once(
    cluster, side, channel
):
    info = cluster.connection(side)
    peer = socket.create_connection(("127.0.0.1", info[channel]), timeout=PATIENCE)
    with peer:
        peer.sendall(GREETING)
        peer.sendall(command_frame(1 << 32))
        peer.settimeout(LESS_THAN_A_HANDSHAKE)
        read_to_the_end(peer)


def memory_mib(cluster):
    return psutil.Process(cluster.controller.pid).memory_info().rss / (1 << 20)


def connect_and_say(port, data):
    peer = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
    with contextlib.suppress(OSError):  # it is cut off already
        peer.sendall(data)
    return peer


@pytest.mark.parametrize(("side", "channel"), ALL)
def test_who_says_more_than_a_handshake_takes_is_cut_off(cluster, side, channel):
    port = cluster.connection(side)[channel]
    before = memory_mib(cluster)
    with connect_and_say(port, GREETING + command_frame(48 << 20)) as peer:
        peer.settimeout(LESS_THAN_A_HANDSHAKE)
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            peer.sendall(bytes(47 << 20))
        read_to_the_end(peer)  # it may have been quicker than the limit
    wait_until(lambda: memory_mib(cluster) - before <= 8, "the frame is given back")


def test_a_thousand_that_say_nothing_or_begin_to_speak_cost_little(cluster):
    port = cluster.connection("client")["mux"]
    before = memory_mib(cluster)
    with contextlib.ExitStack() as peers:
        for said in (b"", GREETING, GREETING + command_frame(1 << 20) + bytes(500)):
            for _ in range(333):
                peers.enter_context(connect_and_say(port, said))
        assert memory_mib(cluster) - before <= 16
    assert cluster.client().ids == []
