"""Tells in which line the user's code is, in a separate thread, because the main thread may be in C code."""

import _thread
import linecache
import os
import site
import sys
import sysconfig

from polyxeus.engine import json_text, process_groups

_CELLS = ("<ipython-input-", "<function ")
_MOST_CHARACTERS = 80  # of a line


def start(engine):
    """Starts the thread that answers queries of `engine`; call it in the main thread."""
    _thread.start_new_thread(_serve, (engine, _thread.get_ident()))


def _serve(engine, main):
    try:
        while engine.wait_place_question():
            try:
                frame = sys._current_frames().get(main)
                place = find(frame)
                call = process_groups.describe(frame)
                if call is not None:
                    place["torch"] = call
            except Exception:
                place = {}
            engine.answer_place(json_text.dump(place))
    finally:
        engine.leave_place_finder()


def _folders_of_libraries():
    paths = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    paths += [*site.getsitepackages(), site.getusersitepackages(),
              os.path.dirname(os.path.dirname(os.path.abspath(__file__)))]
    return tuple({os.path.join(path, "") for path in paths if path})


def _is_cell(code):
    return code.co_filename.startswith(_CELLS) or "ipykernel_" in code.co_filename


def _is_of_user(code, libraries):
    name = code.co_filename
    return not name.startswith((*libraries, "<frozen ")) and os.path.isabs(name)


def find(frame):
    """The data for a usage_reply about the innermost line of a cell, or else of a file, of the user.

    frame  the innermost frame of the main thread
    """
    cells, others = [], []
    libraries = _folders_of_libraries()
    while frame is not None:
        if _is_cell(frame.f_code):
            cells.append(frame)
        elif _is_of_user(frame.f_code, libraries):
            others.append(frame)
        frame = frame.f_back
    if not cells and not others:
        return {}
    inner = (cells or others)[0]
    name, line = inner.f_code.co_filename, inner.f_lineno
    place = {"file": name, "line": line, "function": inner.f_code.co_name}
    source = linecache.getline(name, line or 0).strip()
    if len(source) > _MOST_CHARACTERS:
        source = source[: _MOST_CHARACTERS - 3] + "..."
    if source:
        place["source"] = source
    place["is_cell"] = bool(cells) and cells[-1].f_code.co_name == "<module>" and (
        name == cells[-1].f_code.co_filename)
    return place
