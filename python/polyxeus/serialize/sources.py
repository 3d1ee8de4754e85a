"""Sends the source lines of functions together with the functions, so that tracebacks on the engines show these
lines."""

import functools
import inspect
import linecache
import os
import textwrap
import weakref
from collections import OrderedDict

__all__ = ["lines_of", "remember"]

_MOST_CHARACTERS = 16 << 10  # in the source of a function; longer sources are not sent
_MOST_FILES = 256  # the largest number of files whose lines a receiver keeps

_texts = weakref.WeakKeyDictionary()  # code -> its source; "" if it is unknown
_files = OrderedDict()  # name of a file that this process does not have -> the lines that arrived


def lines_of(code):
    """Returns (name of the file, number of the first line, text) of a function's source; None if
    the source is not known."""
    text = _texts.get(code)
    if text is None:
        text = _texts[code] = _find(code)
    return (code.co_filename, code.co_firstlineno, text) if text else None


def _find(code):
    lines = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 :]
    try:
        text = textwrap.dedent("".join(inspect.getblock(lines)))
    except Exception:  # the file has changed, and these lines are not a function any more
        return ""
    return text if len(text) <= _MOST_CHARACTERS else ""


@functools.lru_cache(_MOST_FILES)
def _is_here(file):
    """Returns whether a file exists on this host. The answer is cached, because each call to a function comes with the
    function's source, and the file may be on a slow file system."""
    return os.path.exists(file)


def remember(file, first, text):
    """Registers the result of lines_of() for tracebacks in this process, unless the file exists on this host."""
    lines = _files.get(file)
    if lines is None:
        if file in linecache.cache or _is_here(file):
            return
        lines = _files[file] = []
        if len(_files) > _MOST_FILES:
            linecache.cache.pop(_files.popitem(last=False)[0], None)
    new = text.splitlines(keepends=True)
    place = slice(first - 1, first - 1 + len(new))
    if lines[place] == new and file in linecache.cache:
        return
    lines.extend(["\n"] * (place.stop - len(lines)))
    lines[place] = new
    linecache.cache[file] = sum(map(len, lines)), None, lines, file
