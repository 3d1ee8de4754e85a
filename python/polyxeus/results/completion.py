"""Calls back when requests are answered: from one thread, started when it is needed first."""

import atexit
import itertools
import os
import threading
import weakref

from polyxeus._client import Notices

__all__ = ["call_when_ready", "close_at_exit"]

_lock = threading.Lock()
_tokens = itertools.count(1)
_waiting = {}  # token -> what is called
_notices = None
_thread = None
_clients = weakref.WeakSet()


def call_when_ready(tasks, function):
    """Calls `function()` in another thread once all tasks are answered."""
    notices = _start()
    token = next(_tokens)
    _waiting[token] = function
    tasks.notify(notices, token)


def close_at_exit(client):
    """The client is closed before the interpreter ends, unless it is gone by then."""
    _clients.add(client)


def _start():
    global _notices, _thread
    if _notices is None:
        with _lock:
            if _notices is None:
                notices = Notices()
                _thread = threading.Thread(
                    target=_tell, args=(notices,), name="polyxeus-notices", daemon=True
                )
                _thread.start()
                _notices = notices
    return _notices


def _tell(notices):
    while not notices.is_closed:
        for token in notices.take(60.0):
            function = _waiting.pop(token, None)
            if function is None:
                continue
            try:
                function()
            except Exception:
                threading.excepthook(threading.ExceptHookArgs((*_exc_info(), _thread)))


def _exc_info():
    import sys

    return sys.exc_info()


def _stop():
    for client in list(_clients):
        client.close()
    if _notices is not None:
        _notices.close()
        if _thread is not threading.current_thread():
            _thread.join(5.0)


def _forget_parent():
    """In the child of a fork there is no thread, and nobody's answers will come."""
    global _lock, _notices, _thread, _waiting, _clients
    _lock = threading.Lock()
    _notices = _thread = None
    _waiting = {}
    _clients = weakref.WeakSet()


atexit.register(_stop)
os.register_at_fork(after_in_child=_forget_parent)
