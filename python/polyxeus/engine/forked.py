"""Handles forks in user code. The child process ends when the user code ends, because only the parent process handles
requests."""

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
    """Returns whether this process was forked by the user's code."""
    return _is_child


@contextlib.contextmanager
def tasks_run_in(loop):
    """A context manager for code that runs asyncio tasks. If a task forks a process during the
    `with` block, the child process ends when the task awaits or is done."""
    global _loop
    _loop = loop
    try:
        yield
    finally:
        _loop = None
        end_child()


def end_child(error=None):
    """If the user's code has forked this process, ends the process in the same way as a script ends.

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
        except Exception:  # the stream is closed, or is another object
            pass
    os._exit(code & 0xFF)


def _say(message):
    """Prints the message of `sys.exit("message")` and returns the exit code, 1."""
    print(message, file=sys.stderr)
    return 1
