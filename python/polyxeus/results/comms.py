"""Forwards comm messages: from widgets on engines to the notebook's front end, and from the front
end to the engines. Messages of debuggers go to a DebugPrompts object, which asks the user for
commands."""

from __future__ import annotations

import atexit
import itertools
import json
import os
import sys
import threading
import weakref
from collections import OrderedDict

from polyxeus.results.debugging.prompts import COMM, DebugPrompts
from polyxeus.results.notice_thread import NoticeThread

__all__ = ["deliver", "front_end", "relay_comms"]

_MAX_CAUSES = 1024  # the number of recent front-end messages whose output is still assigned to them

_numbers = itertools.count(1)
_relays = weakref.WeakValueDictionary()  # number -> _Relay, which its client keeps alive


class _IpykernelFrontEnd:
    """The front end of an ipykernel notebook."""

    def __init__(self, kernel):
        self._kernel = kernel

    def request(self):
        """Returns the request that the kernel is handling now."""
        return self._kernel.get_parent()

    def publish(self, request, message_type, content, metadata, buffers):
        kernel = self._kernel
        kernel.session.send(
            kernel.iopub_socket,
            message_type,
            content,
            parent=request,
            ident=message_type.encode(),
            metadata=metadata,
            buffers=buffers,
        )


def front_end():
    """Returns the front end of the kernel in which this code runs; None if there is no front end, as in a terminal.

    The front end has two methods. request() returns the request that the kernel is handling now. publish(request, type,
    content, metadata, buffers) sends a message to the front end, as output of this request; any thread may call it.
    """
    if "IPython" not in sys.modules:
        return None
    from IPython import get_ipython

    kernel = getattr(get_ipython(), "kernel", None)
    if hasattr(kernel, "front_end"):  # pxkernel
        return kernel.front_end
    if getattr(kernel, "session", None) is not None and kernel.iopub_socket is not None:
        return _IpykernelFrontEnd(kernel)
    return None


class _EngineComm:
    """The object that represents a comm of an engine in the kernel's comm manager."""

    primary = False

    def __init__(self, relay, comm_id, target_name):
        self.comm_id = comm_id
        self.target_name = target_name
        self._relay = relay

    def handle_msg(self, message):
        self._relay.send("comm_msg", message)

    def handle_close(self, message):
        self._relay.send("comm_close", message)


class _Relay:
    """Forwards the comm messages of one client's engines.

    front_end, manager  None outside of notebooks, where widgets are not shown
    """

    def __init__(self, connection, front_end, manager):
        self.prompts = DebugPrompts(connection)
        self._connection = connection
        self._front_end = front_end
        self._manager = manager
        self._causes = OrderedDict()  # number -> message of the front end
        self._lock = threading.RLock()
        self._open = set()

    def send(self, message_type, message):
        """Sends a message from the front end to the engine."""
        cause = next(_numbers)
        with self._lock:
            self._causes[cause] = self._front_end.request()
            if len(self._causes) > _MAX_CAUSES:
                self._causes.popitem(last=False)
        content = message["content"]
        self._connection.send_to_comm(
            message_type,
            content["comm_id"],
            json.dumps(content),
            json.dumps(message.get("metadata") or {}),
            list(message.get("buffers") or []),
            cause,
        )

    def deliver(self):
        """Sends the engines' messages to the front end, in their order."""
        with self._lock:
            if self._connection is None:
                return
            for kind, content, metadata, buffers, engine, cause in self._connection.take_comm_news():
                if content.get("comm_id") == COMM:
                    self.prompts.on_message(engine, content.get("data") or {})
                    continue
                if self._manager is None:
                    continue
                self._note(kind, content)
                request = self._causes.get(cause) or self._front_end.request()
                self._front_end.publish(request, kind, content, metadata, buffers)

    def _note(self, kind, content):
        comm_id = content.get("comm_id")
        if kind == "comm_open":
            target_name = content.get("target_name", "")
            self._manager.register_comm(_EngineComm(self, comm_id, target_name))
            self._open.add(comm_id)
        elif kind == "comm_close":
            self._manager.comms.pop(comm_id, None)
            self._open.discard(comm_id)

    def close(self, tells_front_end):
        """Closes the widgets of the client's engines. Called when the client is closed."""
        with self._lock:
            self._connection = None
            for comm_id in sorted(self._open):
                content = {"comm_id": comm_id, "data": {}}
                self._note("comm_close", content)
                if tells_front_end:
                    request = self._front_end.request()
                    self._front_end.publish(request, "comm_close", content, {}, [])


def relay_comms(connection):
    """Makes the notebook show the widgets of this connection's engines, and lets the engines' debuggers ask the user
    for input. Returns the object that forwards the messages. The client keeps and closes this object."""
    end = front_end()
    manager = None
    if end is not None:
        try:
            from comm import get_comm_manager
        except ImportError:  # without `comm`, this process cannot receive messages of a front end
            end = None
        else:
            manager = get_comm_manager()
    relay = _Relay(connection, end, manager)
    number = next(_numbers)
    _relays[number] = relay
    connection.relay_comms(_thread.notices(), number)
    return relay


def deliver():
    """Sends all widget messages from the engines to the front end before it returns. Call this function before a widget
    is displayed."""
    for relay in list(_relays.values()):
        relay.deliver()


def _serve(number):
    relay = _relays.get(number)
    if relay is not None:
        relay.deliver()


def _new_thread():
    return NoticeThread("polyxeus-comms", _serve)


def _stop():
    """Ends the forwarding. Called when the kernel ends; the front end then keeps the widgets that
    it shows."""
    for relay in list(_relays.values()):
        relay.close(tells_front_end=False)
    _thread.close()


def _forget_parent():
    """Makes the child of a fork forward no comm messages, because the child has no copy of the
    thread, and the front end belongs to the parent process."""
    global _thread, _relays
    _thread = _new_thread()
    _relays = weakref.WeakValueDictionary()


_thread = _new_thread()
atexit.register(_stop)
os.register_at_fork(after_in_child=_forget_parent)
