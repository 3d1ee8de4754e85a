"""Says how to define names on the engines if only the notebook has them."""

from __future__ import annotations

import keyword
import os
import re
import sys
import types
from collections.abc import Iterable, Mapping
from typing import Any

from polyxeus import error

__all__ = ["advice", "show_advice"]

_UNDEFINED = re.compile(r"name '(\w+)' is not defined\b(?! on )")  # not if "on engine 3; it was too large ..." follows
_NO_MODULE = re.compile(r"No module named '([\w.]+)'")
# The names that every shell defines itself.
_SHELL_NAME = re.compile(r"(_+|_i?\d+|_(i{1,3}|ih|oh|dh|sh)|__\w+__|In|Out|exit|quit|get_ipython|rc|view)$")
_FETCHES = re.compile(r"%px(pull|gather)|\.(pull|gather)\(")
_MOST = 5  # the largest number of sentences


def advice(entries: Iterable[Any], names: Mapping[str, Any], folder: str = ".") -> list[str]:
    """Returns a sentence for each name that the notebook has, but the engines lack according to
    their errors.

    entries  errors, in the form of CompositeError.elist
    names    {name: value} of the notebook's variables
    folder   the folder of the notebook

    >>> import math
    >>> advice([("NameError", "name 'm' is not defined", None, {})], {"m": math})
    ['m is defined in your notebook, not on the engines: `%px import math as m`']
    """
    sentences = (_sentence(entry[0], str(entry[1]), names, folder) for entry in entries)
    return list(dict.fromkeys(filter(None, sentences)))[:_MOST]


def _sentence(kind, text, names, folder):
    if kind == "NameError":
        found = _UNDEFINED.match(text)
        if found and found[1] in names and not _SHELL_NAME.match(found[1]):
            return f"{found[1]} is defined in your notebook, not on the engines: `{_line_for(found[1], names[found[1]])}`"
    if kind == "ModuleNotFoundError":
        found = _NO_MODULE.match(text)
        place = found and os.path.join(folder, *found[1].split("."))
        if place and (os.path.isfile(place + ".py") or os.path.isfile(os.path.join(place, "__init__.py"))):
            return f"{found[1]} is in the notebook's folder, which the engines do not have: `%pxautoreload push` sends it"
    return None


def _line_for(name: str, value: Any) -> str:
    """Returns the magic that defines the name on the engines."""
    if isinstance(value, types.ModuleType):
        module = value.__name__
        return f"%px import {module}" if module == name else f"%px import {module} as {name}"
    module, own = getattr(value, "__module__", None), getattr(value, "__name__", None)
    if isinstance(module, str) and isinstance(own, str) and module not in ("__main__", "builtins"):
        home = sys.modules.get(module)
        if getattr(home, own, None) is value and not keyword.iskeyword(own):
            return f"%px from {module} import {own}" + ("" if own == name else f" as {name}")
    return f"%pxpush {name}"


def show_advice(problem: BaseException | None, code: str, names: Mapping[str, Any], folder: str = ".") -> None:
    """Prints the sentences of advice() about the error of a cell, if engines raised this error.

    code  the source of the cell. If the cell calls pull or gather, no advice is printed
    """
    if _FETCHES.search(code):
        return
    if isinstance(problem, error.AlreadyDisplayedError):
        problem = problem.original_error
    if isinstance(problem, error.RemoteError):
        for sentence in advice(error.entries_of(problem), names, folder):
            print(sentence, file=sys.stderr)
