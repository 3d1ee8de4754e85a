"""Finds out whether a result is an array to which no variable refers. Such an array is sent without a copy.

Other results are copied before they are sent, because a variable may refer to such a result or to a part of it. The
next request may change the value of this variable before the result is sent.
"""

import sys
import weakref

__all__ = ["all_new", "is_new"]


def _references(value):
    """Returns the number of references to a value, as is_new() counts them."""
    return sys.getrefcount(value)


def _most_references(values):
    return max(sys.getrefcount(each) for each in values)


def _references_of_a_local():
    result = object()
    return _references(result)


_OF_A_LOCAL = _references_of_a_local()
_OF_AN_ITEM = _most_references([object() for _ in range(2)])


def is_new(value):
    """Returns whether the value is an array that owns its memory, and a local variable of the caller is the only
    reference to it."""
    return sys.getrefcount(value) <= _OF_A_LOCAL and _owns_its_memory(value)


def all_new(values):
    """Returns whether is_new() is true for all items of a list. The list must not be empty."""
    return all(map(_owns_its_memory, values)) and _most_references(values) <= _OF_AN_ITEM


def _owns_its_memory(value):
    numpy = sys.modules.get("numpy")
    return (
        numpy is not None
        and type(value) is numpy.ndarray
        and value.base is None
        and value.flags.owndata
        and not value.dtype.hasobject
        and not weakref.getweakrefcount(value)
    )
