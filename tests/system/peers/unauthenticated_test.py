"""Peers without a key, on the ports where no data of users passes: they cost next to nothing."""

import socket
import struct

import pytest
from programs import PATIENCE

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


def command_frame(size):
    return b"\x06" + struct.pack(">Q", size)


@pytest.mark.parametrize(("side", "channel"), SMALL)
def test_a_frame_that_is_longer_than_anything_meant_ends_the_connection_at_once(
    cluster, side, channel
):
    info = cluster.connection(side)
    peer = socket.create_connection(("127.0.0.1", info[channel]), timeout=PATIENCE)
    with peer:
        peer.sendall(GREETING)
        peer.sendall(command_frame(1 << 32))
        peer.settimeout(20)
        try:
            while peer.recv(4096):
                pass
        except ConnectionResetError:
            pass
