"""Finds the classes of exceptions that engines raised in this process, and makes errors that are also of such a class.

An engine names the class of an exception and its bases, "module:qualified name" each (engine/tracebacks.py). Here the
names are looked up in the modules that this process has already imported: nothing is imported, nothing is unpickled,
and no code of the classes runs.
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

# They end a loop, a generator or a wait instead of reaching its `except`; displays of a SyntaxError show its file and
# line, not its text.
_NEVER = (StopIteration, StopAsyncIteration, SyntaxError, concurrent.futures.CancelledError)
# What a class must not define: it would run when an error of this class is made, read, printed or deleted.
_ODD = frozenset(["__new__", "__init_subclass__", "__getattr__", "__getattribute__", "__setattr__", "__del__"])
# C++ engines: as pybind11 translates them.
_OF_CPP = {
    "std::bad_alloc": MemoryError, "std::domain_error": ValueError, "std::invalid_argument": ValueError,
    "std::length_error": ValueError, "std::out_of_range": IndexError, "std::overflow_error": OverflowError,
    "std::range_error": ValueError, "std::runtime_error": RuntimeError,
}  # fmt: skip
# Those that live; each refers to its original class, so that neither is kept for ever.
_made: weakref.WeakValueDictionary[tuple[type, type], type] = weakref.WeakValueDictionary()


def named(name: str, classes: Iterable[Any]) -> type[Exception] | None:
    """The class of an exception, or its nearest base class that is found here; None: no error can be of that class.

    name     the name of the class
    classes  its full name and those of its bases; empty if these are not known: then `name` is taken for a builtin class
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
    """The nearest common class of all of these that an error can have as a base; None if there is none."""
    first, *others = dict.fromkeys(originals)
    for each in first.__mro__ if first is not None else ():
        if _is_fitting(each) and all(other is not None and issubclass(other, each) for other in others):
            return each
    return None


def of_both(kind: _Kind, original: type[Exception] | None) -> _Kind:
    """A class derived from `kind` and `original`, with the name of `kind`; `kind` itself if there can be no such class."""
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
    """An error that is `kind`, and also of the class, or of the nearest of its bases with which it can be made."""
    for each in original.__mro__ if original is not None else ():
        if _is_fitting(each):
            try:
                return of_both(kind, each)(*arguments)
            except Exception:  # e.g. the class has a property `evalue`
                continue
    return kind(*arguments)


def original_of(kind: type) -> type[Exception] | None:
    """The original class of one that of_both() made; None for others."""
    return getattr(kind, "_original", None)


def _find(module: str, name: str) -> Any:
    """The class or None. Does not access attributes, because modules may then import others."""
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
