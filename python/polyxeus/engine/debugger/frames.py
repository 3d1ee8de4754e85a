"""Finds the frames of the user's code, and describes a frame."""

import functools
import linecache
import os

_CELLS = ("<ipython-input-", "<function ")
_MOST_CHARACTERS = 80  # the largest number of characters of a line
_OURS = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep


def is_cell(code):
    """Returns whether this code belongs to a cell."""
    return code.co_filename.startswith(_CELLS) or "ipykernel_" in code.co_filename


def told(frame):
    """Returns the file, line, function and source of a frame."""
    name, line = frame.f_code.co_filename, frame.f_lineno
    place = {"file": name, "line": line, "function": frame.f_code.co_name}
    source = linecache.getline(name, line or 0).strip()
    if len(source) > _MOST_CHARACTERS:
        source = source[: _MOST_CHARACTERS - 3] + "..."
    if source:
        place["source"] = source
    return place


@functools.lru_cache(maxsize=1)
def _folders():
    import asyncio

    import IPython

    return (_OURS, os.path.dirname(IPython.__file__) + os.sep, os.path.dirname(asyncio.__file__) + os.sep)


def is_internal(frame):
    """Returns whether the frame belongs to the engine, to IPython or to asyncio."""
    name = frame.f_code.co_filename
    return name.startswith(("<frozen ", *_folders())) or os.path.basename(name) == "runpy.py"


def outermost(frame):
    """Returns the outermost frame of the user's code among the callers of `frame`."""
    above = []
    each = frame
    while each is not None:
        above.append(each)
        each = each.f_back
    while len(above) > 1 and is_internal(above[-1]):
        above.pop()
    return above[-1]


def of_user(trace):
    """Returns a traceback without the frames that come before the user's code; None if no frame
    belongs to the user's code."""
    while trace is not None and is_internal(trace.tb_frame):
        trace = trace.tb_next
    return trace


def is_statement(frame):
    """Returns whether the frame belongs to a statement of a cell. IPython runs each statement of a cell as a separate
    module."""
    return is_cell(frame.f_code) and frame.f_code.co_name == "<module>"


def place(frame):
    """Returns the facts about a frame that rc.where() shows: file, line, function, source, is_cell."""
    first = outermost(frame)
    is_line_of_cell = is_statement(first) and first.f_code.co_filename == frame.f_code.co_filename
    found = {**told(frame), "is_cell": is_line_of_cell}
    if is_cell(frame.f_code) and not found["file"].startswith("<"):  # ipykernel gives cells such file names
        found["file"] = f"<{os.path.basename(found['file'])}>"
    return found


def name(place):
    """Returns the name of a line of code as it appears in messages: "cell line 3",
    "solver.py:12"."""
    if place["is_cell"]:
        return f"cell line {place['line']}"
    if place["file"].startswith("<"):
        return f"line {place['line']} of {place['function']}()"
    return f"{os.path.basename(place['file'])}:{place['line']}"
