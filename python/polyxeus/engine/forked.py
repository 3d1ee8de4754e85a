"""Handles forks in user code: the child process ends when that code ends, because only its parent serves requests."""

import contextlib
import os
import sys
import traceback

_is_child = False
_loop = None


def _become_child():
    global _is_child
    _is_child = True
    if _loop is not None:
        _loop.call_soon(end_child)


os.register_at_fork(after_in_child=_become_child)


def is_child():
    """Whether this process was forked by the user's code."""
    return _is_child


@contextlib.contextmanager
def tasks_run_in(loop):
    """A context manager: in its block, a process that an asyncio task forks ends when that task awaits or is done."""
    global _loop
    _loop = loop
    try:
        yield
    finally:
        _loop = None
        end_child()


def end_child(error=None):
    """Ends this process as a script ends, if it is such a child.

    error  the exception of the user's code, or None
    """
    if not _is_child:
        return
    code = 0
    if isinstance(error, SystemExit):
        code = error.code
    elif error is not None:
        traceback.print_exception(type(error), error, error.__traceback__)
        code = 1
    if not isinstance(code, int):
        code = 0 if code is None else _say(code)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:  # closed, or replaced by something else
            pass
    os._exit(code & 0xFF)


def _say(message):
    """sys.exit("message")"""
    print(message, file=sys.stderr)
    return 1
