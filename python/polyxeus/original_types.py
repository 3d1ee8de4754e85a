"""Finds this process's classes for exceptions that engines raised, and makes errors that are also instances of these
classes.

An engine sends the names of the class of an exception and of its base classes, in the form "module:qualified name"
(engine/tracebacks.py). This module looks these names up in the modules that this process has already imported. The
module imports and unpickles nothing, and runs no code of the classes.
"""

from __future__ import annotations

import builtins
import concurrent.futures
import sys
import weakref
from collections.abc import Iterable
from types import ModuleType
from typing import Any, TypeVar

__all__ = ["in_common", "made", "named", "of_both", "original_of"]

_Kind = TypeVar("_Kind", bound=type)
_Error = TypeVar("_Error", bound=Exception)

# The first, second and fourth class would end a loop, a generator or a wait instead of reaching its `except`. Displays
# of a SyntaxError show its file and line, not its text.
_NEVER = (StopIteration, StopAsyncIteration, SyntaxError, concurrent.futures.CancelledError)
# Methods that a class must not define: they would run when an error of this class is made, read, printed or deleted.
_ODD = frozenset(["__new__", "__init_subclass__", "__getattr__", "__getattribute__", "__setattr__", "__del__"])
# The exceptions of C++ engines, with the classes to which pybind11 translates them.
_OF_CPP = {
    "std::bad_alloc": MemoryError, "std::domain_error": ValueError, "std::invalid_argument": ValueError,
    "std::length_error": ValueError, "std::out_of_range": IndexError, "std::overflow_error": OverflowError,
    "std::range_error": ValueError, "std::runtime_error": RuntimeError,
}  # fmt: skip
# The classes that exist. Each refers to its original class, so neither is kept for ever.
_made: weakref.WeakValueDictionary[tuple[type, type], type] = weakref.WeakValueDictionary()


def named(name: str, classes: Iterable[Any]) -> type[Exception] | None:
    """Returns the class of an exception, or the nearest base class that is found in this process. Returns None if no
    error can be an instance of these classes.

    name     the name of the class
    classes  the full names of the class and of its base classes. If `classes` is empty, because the names are not
             known, `name` is looked up among the builtin classes
    """
    classes = [each for each in classes if isinstance(each, str)]
    for each in classes:
        found = _find(*each.partition(":")[::2])
        if _is_fitting(found):
            return found
    if classes:
        return None
    found = _OF_CPP.get(name) or vars(builtins).get(name)
    return found if _is_fitting(found) else None


def in_common(originals: Iterable[type[Exception] | None]) -> type[Exception] | None:
    """Returns the nearest class that is a base class of all `originals` and from which an error class can be derived.
    Returns None if there is no such class."""
    first, *others = dict.fromkeys(originals)
    for each in first.__mro__ if first is not None else ():
        if _is_fitting(each) and all(other is not None and issubclass(other, each) for other in others):
            return each
    return None


def of_both(kind: _Kind, original: type[Exception] | None) -> _Kind:
    """Returns a class with the name of `kind` that is derived from `kind` and `original`. If such a class cannot be
    made, returns `kind` itself."""
    if original is None:
        return kind
    found = _made.get((kind, original))
    if found is None:
        namespace = {
            "__module__": kind.__module__, "__qualname__": kind.__qualname__, "__doc__": kind.__doc__,
            "__eq__": object.__eq__, "__hash__": object.__hash__, "__reduce_ex__": object.__reduce_ex__,
            "_original": original,
        }  # fmt: skip
        try:
            found = type(kind.__name__, (kind, original), namespace)
        except TypeError:  # no class can be derived from it, or not together with `kind`
            return kind
        _made[kind, original] = found
    return found  # type: ignore[return-value]


def made(kind: type[_Error], original: type[Exception] | None, *arguments: Any) -> _Error:
    """Returns an error that is an instance of both `kind` and `original`.

    If no class can be derived from both, the nearest suitable base class of `original` is used instead; if there
    is none, the error is only a `kind`.
    """
    for each in original.__mro__ if original is not None else ():
        if _is_fitting(each):
            try:
                return of_both(kind, each)(*arguments)
            except Exception:  # e.g. the class has a property `evalue`
                continue
    return kind(*arguments)


def original_of(kind: type) -> type[Exception] | None:
    """Returns the original class of a class that of_both() made; None for other classes."""
    return getattr(kind, "_original", None)


def _find(module: str, name: str) -> Any:
    """Returns the object with this qualified name in this module; None if the module is not imported or lacks the name.
    Reads the dictionaries of modules, not their attributes, because some modules import others if an attribute is
    read."""
    place: Any = sys.modules.get(module)
    for part in name.split("."):
        if not isinstance(place, (ModuleType, type)):
            return None
        place = object.__getattribute__(place, "__dict__").get(part)
    return place


def _is_fitting(found: Any) -> bool:
    if type(found) is not type or not issubclass(found, Exception) or found is Exception:
        return False
    if issubclass(found, _NEVER) or str(found.__module__).partition(".")[0] == "polyxeus":
        return False
    return not any(_ODD & vars(each).keys() for each in found.__mro__ if each.__module__ != "builtins")
