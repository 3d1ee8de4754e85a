"""Implements breakpoint(), and stores the last error of this engine for post-mortem debugging."""

import os
import sys
import threading

from polyxeus.engine import forked
from polyxeus.engine.debugger import editor

_shell = None
_engine = None
_last = None  # (exception, traceback) of the last error that was formatted
_session = None  # the Session of the running request, if its code has stopped
_refusal = None  # (id of the request, the reason why its client answers no prompts)
_told = set()  # (file, line) of each breakpoint of this request that did not stop


class NothingToDebug(RuntimeError):
    """There is no error to debug. Post-mortem debugging ignores this exception when it looks for
    the last error."""


class CannotAsk(Exception):
    """The engine cannot ask the user of the client for a line. The text of the exception gives the reason."""


def install(shell, engine):
    """Makes breakpoint() and pdb.set_trace() ask the user of the client whose request is running."""
    global _shell, _engine
    _shell, _engine = shell, engine
    sys.breakpointhook = _on_breakpoint


def remember(error, trace):
    """Stores the last error of the user's code."""
    global _last
    if not isinstance(error, NothingToDebug):
        _last = error, trace


def place_of_stop():
    """Returns the user's frame at which the main thread waits for commands; None while the thread runs."""
    session = _session
    return session.stopped_at if session is not None else None


def question():
    """Returns the channel through which input() can ask the user while the debugger waits for
    commands; None at other times."""
    return _session.channel if _session is not None and _session.is_asking else None


def ask(prompt, is_password):
    """Returns a line that the user of the client types for input() or getpass().

    errors  CannotAsk: the user cannot be asked. EOFError: the user has ended the input.
    """
    channel = question()  # a command of the debugger may run code that calls input()
    if channel is not None:
        return channel.ask(prompt, is_password)
    why_not = "this client does not support input" if _engine is None else _why_not()
    if why_not is not None:
        raise CannotAsk(why_not)
    from polyxeus.engine.debugger.channel import PromptChannel

    channel = PromptChannel(_engine)
    try:
        channel.open("input", {})
        return channel.ask(prompt, is_password)
    except _refused() as refusal:
        raise CannotAsk(_note_refusal(str(refusal))) from None
    finally:
        channel.close()


def end_request():
    """Ends tracing, because the user's code has ended."""
    global _session, _refusal
    if _session is not None:
        _session.leave()
        _session = None
    if _refusal is not None or _told:
        _refusal = None
        _told.clear()


# ---------------------------------------------------------------- breakpoint()


def _on_breakpoint(*args, **kwargs):
    wish = os.environ.get("PYTHONBREAKPOINT", "")
    if wish == "0":
        return None
    if wish:
        return sys.__breakpointhook__(*args, **kwargs)
    if editor.is_attached():
        editor.stop(sys._getframe(1))
        return None
    stop(sys._getframe(1))
    return None


def set_trace(*_args, header=None, **_kwargs):
    """Replaces pdb.set_trace()."""
    if editor.is_attached():
        editor.stop(sys._getframe(1))
    else:
        stop(sys._getframe(1))


def stop(frame):
    """Stops the user's code in this frame until the user of the client continues it."""
    global _session
    why_not = _why_not()
    if why_not is None:
        if _session is None or not _session.is_tracing:
            try:
                _session = _new_session("breakpoint", frame)
            except _refused() as refusal:
                why_not = _note_refusal(str(refusal))
    if why_not is not None:
        return _tell_once(frame, why_not)
    try:
        return _session.stop(frame)
    except _refused() as refusal:
        return _tell_once(frame, _note_refusal(str(refusal)))


def _new_session(why, frame):
    from polyxeus.engine.debugger import frames
    from polyxeus.engine.debugger.channel import InputChannel, PromptChannel
    from polyxeus.engine.debugger.session import Session

    channel = InputChannel(_shell) if _engine.allows_input else PromptChannel(_engine)
    session = Session(channel)
    channel.open(why, frames.place(frame))
    return session


def _refused():
    from polyxeus.engine.debugger.channel import Refused

    return Refused


def _why_not():
    if forked.is_child():
        return "a forked process cannot ask for commands"
    if threading.current_thread() is not threading.main_thread():
        return "only the main thread of an engine can ask for commands"
    if _session is not None and _session.is_asking:
        return "the debugger is already asking for commands"
    if _refusal is not None and _refusal[0] == _request_id():
        return _refusal[1]
    if _request_id() is None:
        return "no client waits for this code"
    return None


def _note_refusal(why):
    global _refusal
    _refusal = _request_id(), why
    return why


def _request_id():
    return _shell.kernel.parent_header.get("msg_id")


def _tell_once(frame, why):
    from polyxeus.engine.debugger import frames

    place = frames.place(frame)
    key = place["file"], place["line"]
    if key in _told:
        return
    _told.add(key)
    print(f"breakpoint() in {frames.name(place)} did not stop: {why}", file=sys.stderr)


# ---------------------------------------------------------------- post-mortem


def post_mortem():
    """Lets the user of the client look at the frames of the last error.

    errors  NothingToDebug: there is no such error, or the user of the client cannot be asked.
    """
    from polyxeus.engine.debugger import frames

    global _session
    if _engine is None:
        raise NothingToDebug("post_mortem() works in a Python engine of polyxeus only: use `%pxdebug` or rc.post_mortem()")
    if _last is None:
        raise NothingToDebug("no code has failed on this engine since it started: there is no error to debug")
    error, trace = _last
    trace = frames.of_user(trace)
    if trace is None:
        raise NothingToDebug(f"{type(error).__name__}: {error} has no traceback: it cannot be debugged")
    innermost = trace
    while innermost.tb_next is not None:
        innermost = innermost.tb_next
    try:
        _session = _new_session("post-mortem", innermost.tb_frame)
        _session.post_mortem(error, trace, innermost.tb_frame)
    except _refused() as refusal:
        raise NothingToDebug(str(refusal)) from None
    finally:
        if _session is not None:
            _session.leave()
        _session = None


def is_installed():
    """Returns whether this process is an engine, whose breakpoints ask clients."""
    return _engine is not None
