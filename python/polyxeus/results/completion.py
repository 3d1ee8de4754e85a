"""Calls functions when requests are answered. A thread, which starts at the first use, makes the calls."""

import atexit
import collections
import itertools
import os
import threading
import weakref

from polyxeus.results.notice_thread import NoticeThread

__all__ = ["call_in_turn", "call_when_ready", "close_at_exit", "open_clients", "start"]

_tokens = itertools.count(1)
_waiting = {}  # token -> the function to call
_clients = weakref.WeakSet()
_calls = collections.deque()  # the functions that were passed to call_in_turn()
_calling = threading.Lock()  # held by the thread that makes these calls


def call_when_ready(tasks, function):
    """Calls `function()` in another thread when all tasks are answered. The function must not wait."""
    notices = _thread.notices()
    token = next(_tokens)
    _waiting[token] = function
    tasks.notify(notices, token)


def start():
    """Starts the thread that makes the calls, so that later calls of call_when_ready() take no lock to start it."""
    _thread.notices()


def call_in_turn(function):
    """Calls `function()` after the functions that were passed to call_in_turn() earlier. Unlike the functions that are
    passed to call_when_ready(), `function` may wait. Only functions that call_when_ready() calls may use
    call_in_turn()."""
    _calls.append(function)


def close_at_exit(client):
    """Closes the client before the interpreter ends, if the client still exists."""
    _clients.add(client)


def open_clients():
    """Returns the clients of this process that are not closed."""
    return [each for each in _clients if not each._closed]


def _tell(token):
    function = _waiting.pop(token, None)
    if function is not None:
        function()


def _make_calls():
    """Calls the functions that were passed to call_in_turn(), one after the other. If another
    thread is already calling such functions, that thread calls the remaining functions, too."""
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
    """Resets this module in the child of a fork, which has no copy of the thread and gets no
    answers."""
    global _thread, _waiting, _clients, _calls, _calling
    _calls = collections.deque()
    _calling = threading.Lock()
    _thread = _new_thread()
    _waiting = {}
    _clients = weakref.WeakSet()


_thread = _new_thread()
atexit.register(_stop)
os.register_at_fork(after_in_child=_forget_parent)
