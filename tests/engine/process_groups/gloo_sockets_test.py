"""Which sockets are shut down: connections of gloo, on either side, and no others."""

import socket

import pytest

from polyxeus.engine.process_groups import gloo_sockets


@pytest.fixture
def pair():
    """(the listening socket, the side that has connected, the side that was accepted)"""
    listener = socket.create_server(("127.0.0.1", 0))
    connected = socket.create_connection(listener.getsockname())
    accepted, _ = listener.accept()
    yield listener, connected, accepted
    for each in (listener, connected, accepted):
        each.close()


def is_open(each):
    each.setblocking(False)
    try:
        return each.recv(1) != b""
    except BlockingIOError:
        return True


def test_ports_at_which_this_process_listens(pair):
    assert pair[0].getsockname()[1] in gloo_sockets.listening_ports()
    assert pair[1].getsockname()[1] not in gloo_sockets.listening_ports()


@pytest.mark.parametrize("own, others", [(True, False), (False, True)])
def test_connections_end_on_both_sides(pair, own, others):
    listener, connected, accepted = pair
    port = {listener.getsockname()[1]}
    gloo_sockets.shut_down(port if own else set(), port if others else set())
    assert not is_open(connected) and not is_open(accepted)


def test_the_listening_socket_stays(pair):
    listener = pair[0]
    gloo_sockets.shut_down({listener.getsockname()[1]}, set())
    with socket.create_connection(listener.getsockname()) as late:
        listener.accept()[0].close()
        assert not is_open(late)


def test_other_connections_stay(pair):
    gloo_sockets.shut_down({1}, {2})
    assert is_open(pair[1]) and is_open(pair[2])


def test_bytes_that_move_are_counted_on_either_side(pair):
    listener, connected, accepted = pair
    port = {listener.getsockname()[1]}
    for own, others in ((port, set()), (set(), port)):
        before = gloo_sockets.bytes_moved(own, others)
        accepted.sendall(bytes(1000))
        received = 0
        while received < 1000:
            received += len(connected.recv(1000))
        assert gloo_sockets.bytes_moved(own, others) >= before + 1000


def test_bytes_of_other_connections_are_not_counted(pair):
    pair[2].sendall(bytes(1000))
    assert gloo_sockets.bytes_moved({1}, {2}) == 0
