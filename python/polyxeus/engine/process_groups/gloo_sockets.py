"""The sockets of gloo in this process: shutting them down is what ends its waits."""

import os
import socket


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


def shut_down(own_ports, ports_of_others):
    """Ends the connections of gloo, so that its waits fail at once on both sides.

    own_ports        at which gloo listens here. The listening sockets stay: without them gloo ends the process.
    ports_of_others  at which it listens in the other ranks.
    """
    for each in _open_sockets():
        try:
            if not _listens(each) and (each.getsockname()[1] in own_ports
                                       or each.getpeername()[1] in ports_of_others):
                each.shutdown(socket.SHUT_RDWR)
        except OSError:  # not connected, or not any more
            pass
