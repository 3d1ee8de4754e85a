"""The sockets of gloo in this process: shutting them down is what ends its waits."""

import os
import socket
import struct
import time

# of struct tcp_info: tcpi_bytes_acked, then tcpi_bytes_received
_BYTES_ACKED, _TCP_INFO_SIZE = 120, 192


def _open_sockets():
    """(descriptor, a duplicate of it as a socket), each closed behind the caller's back at the next one."""
    for name in os.listdir("/proc/self/fd"):
        try:
            if not os.readlink(f"/proc/self/fd/{name}").startswith("socket:"):
                continue
            copy = socket.socket(fileno=os.dup(int(name)))
        except OSError:  # closed meanwhile
            continue
        with copy:
            if copy.family in (socket.AF_INET, socket.AF_INET6):
                yield copy


def _listens(each):
    return bool(each.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN))


def listening_ports():
    """The TCP ports at which this process listens."""
    return {each.getsockname()[1] for each in _open_sockets() if _listens(each)}


def _connections(own_ports, ports_of_others):
    """Those of gloo, each open until the next one is asked for.

    own_ports        at which gloo listens here
    ports_of_others  at which it listens in the other ranks
    """
    for each in _open_sockets():
        try:
            if not _listens(each) and (each.getsockname()[1] in own_ports
                                       or each.getpeername()[1] in ports_of_others):
                yield each
        except OSError:  # not connected, or not any more
            pass


def bytes_moved(own_ports, ports_of_others):
    """A number that grows as long as anything moves on the connections of gloo. Arguments: see _connections()."""
    total = 0
    for each in _connections(own_ports, ports_of_others):
        try:
            info = each.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO_SIZE)
            total += sum(struct.unpack_from("=QQ", info, _BYTES_ACKED))
        except (OSError, struct.error):  # closed meanwhile; a kernel that does not count
            pass
    return total


def are_quiet(own_ports, ports_of_others):
    """Whether nothing moves for a moment: calls that wait for a rank are so. Arguments: see _connections()."""
    before = bytes_moved(own_ports, ports_of_others)
    for _ in range(3):
        time.sleep(0.03)
        if bytes_moved(own_ports, ports_of_others) != before:
            return False
    return True


def shut_down(own_ports, ports_of_others):
    """Ends the connections of gloo, so that its waits fail at once on both sides.

    The listening sockets stay: without them gloo ends the process. Arguments: see _connections().
    """
    for each in _connections(own_ports, ports_of_others):
        try:
            each.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
