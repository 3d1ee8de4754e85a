"""Calls back when requests are answered: from one thread, started when it is needed first."""

import atexit
import itertools
import os
import weakref

from polyxeus.results.notice_thread import NoticeThread

__all__ = ["call_when_ready", "close_at_exit"]

_tokens = itertools.count(1)
_waiting = {}  # token -> what is called
_clients = weakref.WeakSet()


def call_when_ready(tasks, function):
    """Calls `function()` in another thread once all tasks are answered."""
    notices = _thread.notices()
    token = next(_tokens)
    _waiting[token] = function
    tasks.notify(notices, token)


def close_at_exit(client):
    """The client is closed before the interpreter ends, unless it is gone by then."""
    _clients.add(client)


def _tell(token):
    function = _waiting.pop(token, None)
    if function is not None:
        function()


def _new_thread():
    return NoticeThread("polyxeus-notices", _tell)


def _stop():
    for client in list(_clients):
        client.close()
    _thread.close()


def _forget_parent():
    """In the child of a fork there is no thread, and nobody's answers will come."""
    global _thread, _waiting, _clients
    _thread = _new_thread()
    _waiting = {}
    _clients = weakref.WeakSet()


_thread = _new_thread()
atexit.register(_stop)
os.register_at_fork(after_in_child=_forget_parent)
