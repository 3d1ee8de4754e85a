"""Connects this engine's code with debugpy, the debugger of editors. This module does not load debugpy; debugpy is
loaded only when a client requests it."""

import os
import sys

__all__ = ["frame_of_stop", "is_attached", "stop"]

_WAITING = ("do_wait_suspend", "_do_wait_suspend")  # functions of pydevd.py in which a thread waits for the editor


def is_attached():
    """Returns whether an editor debugs this engine now."""
    debugpy = sys.modules.get("debugpy")
    try:
        return debugpy is not None and debugpy.is_client_connected()
    except AttributeError:  # debugpy is being imported, or this is another module with the same name
        return False


def stop(frame):
    """Stops the user's code in this frame until the user of the editor continues."""
    import pydevd  # a part of debugpy

    pydevd.settrace(suspend=True, trace_only_current_thread=True, patch_multiprocessing=False, stop_at_frame=frame)


def frame_of_stop(frame):
    """Returns the user's frame at which a thread waits for the editor; None if the thread does not wait.

    frame  the thread's innermost frame
    """
    if "pydevd" not in sys.modules:
        return None
    while frame is not None and not _is_waiting(frame.f_code):
        frame = frame.f_back
    while frame is not None and _is_of_debugger(frame.f_code):
        frame = frame.f_back
    return frame


def _is_waiting(code):
    return code.co_name in _WAITING and os.path.basename(code.co_filename) == "pydevd.py"


def _is_of_debugger(code):
    folder, name = os.path.split(code.co_filename)
    return name.startswith("pydevd") or "pydevd" in os.path.basename(folder) or os.path.basename(folder) == "debugpy"
