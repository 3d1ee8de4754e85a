"""Decides where the cells of a notebook run: in the notebook's kernel or on engines. Uses no shell and no cluster."""

import re

from polyxeus.counted import read_ranges

__all__ = ["HERE", "MODES", "CellMode", "call_at_begin", "call_below", "engines_of", "has_other_code", "text_of"]

HERE = "here"
ALL = "all"
VIEW = "view"  # the engines of %pxconfig, as %autopx uses them
MODES = (ALL, HERE, VIEW)

_ENGINES = re.compile(r"\d{1,9}(-\d{1,9})?(,\d{1,9}(-\d{1,9})?)*")
_COMMENTS = re.compile(r"(?:[^\S\n]*(?:#[^\n]*)?\n)*[^\S\n]*")
_CALL = re.compile(r"(%{1,2})(\w+)[^\S\n]*([^\n]*)")
_BELOW = re.compile(r"^[^\S\n]*(%(?:px|autopx)\w*)", re.M)
_BESIDE_MODE = re.compile(r"%(?:load_ext\s+polyxeus\b|px)|#")  # lines that are allowed in a cell with %pxmode
_FORMS = "write `%pxmode all`, `%pxmode here`, `%pxmode view` or engines such as `%pxmode 0-3` and `%pxmode 0,2`"


def text_of(line):
    """Returns the mode that a %pxmode line names, without spaces and in lower case.

    errors  ValueError: the line names no mode.

        >>> text_of(" 0-3, 6 ")
        '0-3,6'
        >>> text_of("ALL")
        'all'
    """
    text = "".join(line.split())
    if text.lower() in MODES:
        return text.lower()
    engines_of(text)
    return text


def engines_of(text):
    """Returns the engines of a mode: "all", None for the engines of %pxconfig, or a list of ids.

    errors  ValueError: the mode names no engines.

        >>> engines_of("0-2,5")
        [0, 1, 2, 5]
    """
    if text in (ALL, VIEW):
        return ALL if text == ALL else None
    if _ENGINES.fullmatch(text) is None:
        raise ValueError(f"{text!r} is not a mode: {_FORMS}")
    return read_ranges(text)


def call_at_begin(cell):
    """Returns the magic with which a cell begins, after blank lines and comments, as (marks, name, rest of the line);
    None if the cell begins with other code.

        >>> call_at_begin("# cut it\\n%pxscatter x")
        ('%', 'pxscatter', 'x')
    """
    found = _CALL.match(cell, _COMMENTS.match(cell).end())
    return found and found.groups()


def has_other_code(cell):
    """Returns whether a cell with %pxmode also has other code, to which the mode does not apply.

        >>> has_other_code("# all ranks\\n%load_ext polyxeus\\n%pxmode all")
        False
        >>> has_other_code("%pxmode all\\nx = 1")
        True
    """
    return any(line.strip() and not _BESIDE_MODE.match(line.strip()) for line in cell.splitlines())


def call_below(cell):
    """Finds the first line in a cell that is a call of a polyxeus magic, for example `%pxpull x`,
    even if other code precedes the line. Returns the name of this magic; None if there is no such
    line.

        >>> call_below("x = 1\\n%pxpull x")
        '%pxpull'
    """
    found = _BELOW.search(cell)
    return found and found[1]


class CellMode:
    """Stores where the cells of a notebook run, and which set of magics runs them.

    text    where cells run: "here" (in the kernel), "all", "view" (on the engines of %pxconfig) or engines such as
            "0-3,6"
    suffix  the suffix of the set of magics; "" in most notebooks
    """

    def __init__(self):
        self.text = HERE
        self.suffix = ""

    @property
    def is_here(self):
        """Returns whether cells run in the notebook's kernel."""
        return self.text == HERE

    def is_view_of(self, suffix):
        """Returns whether %autopx is on for this set of magics."""
        return self.text == VIEW and self.suffix == suffix

    def set(self, text, suffix=""):
        """Sets where the next cells run. The text is a result of text_of()."""
        self.text = text
        self.suffix = suffix

    def is_for_engines(self, cell, is_ours):
        """Returns whether the text of a cell runs on engines. A cell that begins with a polyxeus
        magic runs in the notebook's kernel.

        is_ours  a function that returns for ("%" or "%%", name, rest of the line) whether this is a magic of polyxeus
        """
        if self.is_here or not cell.strip():
            return False
        call = call_at_begin(cell)
        return call is None or not is_ours(*call)
