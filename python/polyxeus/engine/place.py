"""Reports which line of the user's code is running. A separate thread finds this line, because the
main thread may be in C code."""

import _thread
import os
import site
import sys
import sysconfig

from polyxeus.engine import debugger, json_text, process_groups
from polyxeus.engine.debugger import editor, frames

__all__ = ["find", "start"]


def start(engine):
    """Starts the thread that waits for questions of `engine` and answers with the line of the
    user's code that is running. Call this function in the main thread."""
    _thread.start_new_thread(_serve, (engine, _thread.get_ident()))


def _serve(engine, main):
    try:
        while engine.wait_place_question():
            engine.answer_place(json_text.dump(_place_in(main)))
    finally:
        engine.leave_place_finder()


def _place_in(thread):
    """Returns the line of the user's code that a thread is executing, as find() describes it, and
    the torch call in which the thread is.

    The function keeps no reference to a frame, because such a reference would keep alive the
    variables of all functions that the thread is executing.
    """
    try:
        frame = sys._current_frames().get(thread)
        stopped_at = debugger.place_of_stop() or editor.frame_of_stop(frame)
        place = find(frame) if stopped_at is None else _at_breakpoint(stopped_at)
        call = process_groups.describe(frame)
        if call is not None:
            place["torch"] = call
        return place
    except Exception:
        return {}


def _folders_of_libraries():
    paths = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    paths += [*site.getsitepackages(), site.getusersitepackages(),
              os.path.dirname(os.path.dirname(os.path.abspath(__file__)))]
    return tuple({os.path.join(path, "") for path in paths if path})


def _at_breakpoint(frame):
    return {**frames.place(frame), "is_breakpoint": True}


def _is_of_user(code, libraries):
    name = code.co_filename
    return not name.startswith((*libraries, "<frozen ")) and os.path.isabs(name)


def find(frame):
    """Returns the line that the main thread is executing, as data for a usage_reply.

    This is the innermost line of the user's cells or, if no cell is running, of the user's files.
    The function returns {} if neither line exists.

    frame  the innermost frame of the main thread
    """
    cells, others = [], []
    libraries = _folders_of_libraries()
    while frame is not None:
        if frames.is_cell(frame.f_code):
            cells.append(frame)
        elif _is_of_user(frame.f_code, libraries):
            others.append(frame)
        frame = frame.f_back
    if not cells and not others:
        return {}
    inner = (cells or others)[0]
    place = frames.told(inner)
    place["is_cell"] = bool(cells) and cells[-1].f_code.co_name == "<module>" and (
        place["file"] == cells[-1].f_code.co_filename)
    return place
