"""Changes the text of cells before IPython runs them, so that each cell runs on the engines or in the kernel,
depending on the mode of the notebook (%pxmode)."""

import os
import re

from polyxeus.magics import cell_mode

__all__ = ["CellRouting"]

_MARK = "get_ipython().run_cell_magic('autopx_cell"
_EXTENSION = re.compile(r"(load|reload|unload)_ext")
_LOCAL = re.compile(r"\s*%%here[^\S\n]*(?:\n|\Z)")


class CellRouting:
    """Hooks in an IPython shell. The hooks send cells to the engines if the mode requires it, and
    run `%%here` cells in the kernel.

    Two kinds of cells always run in the kernel: cells that front ends run without showing them to the user (silent
    requests), and cells that the code of a running cell starts.

    session  the Session, whose shell, mode and request() are used
    sets     the sets of magics, by their suffix
    """

    def __init__(self, session, sets):
        self._shell = session.shell
        self._session = session
        self._mode = session.mode
        self._sets = sets
        self._depth = 0  # the number of cells that are running, one inside the other
        self._request = None  # the request that runs the outermost cell

    def hook(self):
        self._transform.__func__.has_side_effects = True  # IPython then does not call it while the user types a cell
        self._shell.input_transformer_manager.cleanup_transforms.insert(0, self._transform)
        self._shell.events.register("pre_run_cell", self._begin)
        self._shell.events.register("post_run_cell", self._end)
        if wanted := os.environ.get("POLYXEUS_MODE", ""):
            self._mode.set(_checked(wanted))

    def unhook(self):
        self._shell.input_transformer_manager.cleanup_transforms.remove(self._transform)
        self._shell.events.unregister("pre_run_cell", self._begin)
        self._shell.events.unregister("post_run_cell", self._end)

    def is_for_engines(self, cell):
        """Returns whether this text would run on engines if the user ran it as a cell."""
        return self._mode.is_for_engines(cell, self._is_ours)

    def _is_ours(self, marks, name, rest):
        if marks == "%" and _EXTENSION.fullmatch(name):
            return rest.split()[:1] == ["polyxeus"]
        kind = "cell" if marks == "%%" else "line"
        return any(name in each.magics[kind] for each in self._sets.values())

    # ------------------------------------------------------------ cells

    def _transform(self, lines):
        cell = "".join(lines)
        if cell.startswith(_MARK):  # the cell is already transformed
            return lines
        if _LOCAL.match(cell):
            return _local_lines(cell)
        if not self.is_for_engines(cell) or self._is_in_cell() or self._is_silent():
            return lines
        mode = self._mode
        return [f"{_MARK}{mode.suffix}', {mode.text!r}, {cell!r})\n"]

    def _is_silent(self):
        return (self._session.request().get("content") or {}).get("silent")

    def _request_id(self):
        return (self._session.request().get("header") or {}).get("msg_id")  # None in a terminal

    def _is_in_cell(self):
        """Returns whether a cell of the current request is already being run."""
        return self._depth > 0 and self._request == self._request_id()

    def _begin(self, info):
        if not self._is_in_cell():
            self._depth, self._request = 0, self._request_id()
        self._depth += 1

    def _end(self, result):
        cell = getattr(getattr(result, "info", None), "raw_cell", None)
        if cell is None or cell.strip():  # IPython reports the end of an empty cell, but not its beginning
            self._depth = max(0, self._depth - 1)


def _checked(text):
    """Returns the mode that this string names. A string that names no mode is returned unchanged, and cells then fail
    when they are run."""
    try:
        return cell_mode.text_of(text)
    except ValueError:
        return text


def _local_lines(cell):
    """Returns the lines of a `%%here` cell, with a comment instead of the line `%%here`, so that tracebacks have the
    right line numbers. If another cell magic follows, there is no comment, because a cell magic must be in the first
    line."""
    body = cell[_LOCAL.match(cell).end() :]
    if body.lstrip().startswith("%%"):
        return body.splitlines(keepends=True)
    return ["# %%here\n", *body.splitlines(keepends=True)]
