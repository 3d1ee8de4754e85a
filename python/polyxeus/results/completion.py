"""Calls functions when requests are answered, in a thread that is started at the first use."""

import atexit
import collections
import itertools
import os
import threading
import weakref

from polyxeus.results.notice_thread import NoticeThread

__all__ = ["call_in_turn", "call_when_ready", "close_at_exit", "start"]

_tokens = itertools.count(1)
_waiting = {}  # token -> what is called
_clients = weakref.WeakSet()
_calls = collections.deque()  # of call_in_turn()
_calling = threading.Lock()  # held by the thread that makes them


def call_when_ready(tasks, function):
    """Calls `function()` in another thread when all tasks are answered. The function must not wait."""
    notices = _thread.notices()
    token = next(_tokens)
    _waiting[token] = function
    tasks.notify(notices, token)


def start():
    """Starts the thread, so that call_when_ready() takes no lock from then on."""
    _thread.notices()


def call_in_turn(function):
    """To be called by such a function: calls `function()`, which may wait, after those that were passed before."""
    _calls.append(function)


def close_at_exit(client):
    """Closes the client before the interpreter ends, if the client still exists."""
    _clients.add(client)


def _tell(token):
    function = _waiting.pop(token, None)
    if function is not None:
        function()


def _make_calls():
    """Makes the calls one after the other. If another thread is already making calls, it makes those of this thread,
    too."""
    while _calls and _calling.acquire(blocking=False):
        try:
            while _calls:
                _calls.popleft()()
        finally:
            _calling.release()


def _new_thread():
    return NoticeThread("polyxeus-notices", _tell, _make_calls)


def _stop():
    for client in list(_clients):
        client.close()
    _thread.close()


def _forget_parent():
    """Called in the child of a fork, where there is no thread, and no answers will come."""
    global _thread, _waiting, _clients, _calls, _calling
    _calls = collections.deque()
    _calling = threading.Lock()
    _thread = _new_thread()
    _waiting = {}
    _clients = weakref.WeakSet()


_thread = _new_thread()
atexit.register(_stop)
os.register_at_fork(after_in_child=_forget_parent)
