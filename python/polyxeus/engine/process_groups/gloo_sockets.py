"""Finds gloo's sockets in this process and shuts them down, which ends the calls that wait in
gloo."""

import os
import socket
import struct
import time

# The position of tcpi_bytes_acked in struct tcp_info; tcpi_bytes_received follows it.
_BYTES_ACKED, _TCP_INFO_SIZE = 120, 192


def _open_sockets():
    """Yields a duplicate of each open IPv4 or IPv6 socket of this process; each duplicate is closed
    when the next one is requested."""
    for name in os.listdir("/proc/self/fd"):
        try:
            if not os.readlink(f"/proc/self/fd/{name}").startswith("socket:"):
                continue
            copy = socket.socket(fileno=os.dup(int(name)))
        except OSError:  # the descriptor was closed in the meantime
            continue
        with copy:
            if copy.family in (socket.AF_INET, socket.AF_INET6):
                yield copy


def _listens(each):
    return bool(each.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN))


def listening_ports():
    """Returns the TCP ports at which this process listens."""
    return {each.getsockname()[1] for each in _open_sockets() if _listens(each)}


def _connections(own_ports, ports_of_others):
    """Yields a duplicate of each gloo connection, as a socket; each duplicate is closed when the next one is requested.

    own_ports        the ports at which gloo listens in this rank
    ports_of_others  the ports at which gloo listens in the other ranks
    """
    for each in _open_sockets():
        try:
            if not _listens(each) and (each.getsockname()[1] in own_ports
                                       or each.getpeername()[1] in ports_of_others):
                yield each
        except OSError:  # the socket is not connected
            pass


def bytes_moved(own_ports, ports_of_others):
    """Returns the number of bytes that gloo's open connections have sent and received. The docstring of _connections()
    describes the arguments."""
    total = 0
    for each in _connections(own_ports, ports_of_others):
        try:
            info = each.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO_SIZE)
            total += sum(struct.unpack_from("=QQ", info, _BYTES_ACKED))
        except (OSError, struct.error):  # the connection was closed, or the Linux kernel does not count bytes
            pass
    return total


def are_quiet(own_ports, ports_of_others):
    """Watches gloo's connections for 90 ms, or until they transfer data. Returns whether the
    connections transferred no data. Connections transfer no data while calls wait for a rank. The
    docstring of _connections() describes the arguments."""
    before = bytes_moved(own_ports, ports_of_others)
    for _ in range(3):
        time.sleep(0.03)
        if bytes_moved(own_ports, ports_of_others) != before:
            return False
    return True


def shut_down(own_ports, ports_of_others):
    """Shuts down gloo's connections, so that waiting gloo calls fail at once on both sides.

    The listening sockets stay open, because without them gloo ends the process. The docstring of _connections()
    describes the arguments.
    """
    for each in _connections(own_ports, ports_of_others):
        try:
            each.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
