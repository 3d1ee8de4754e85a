"""Finds results that are arrays to which nothing else refers: these are sent without a copy.

Any other result may be, or contain, an object to which a variable refers, too, and the next request may change it
before it is sent.
"""

import sys
import weakref

__all__ = ["all_new", "is_new"]


def _references(value):
    """The number of references to a value, as is_new() counts them."""
    return sys.getrefcount(value)


def _most_references(values):
    return max(sys.getrefcount(each) for each in values)


def _references_of_a_local():
    result = object()
    return _references(result)


_OF_A_LOCAL = _references_of_a_local()
_OF_AN_ITEM = _most_references([object() for _ in range(2)])


def is_new(value):
    """Whether only a local variable of the caller refers to this array, and nothing else to its memory."""
    return sys.getrefcount(value) <= _OF_A_LOCAL and _owns_its_memory(value)


def all_new(values):
    """The same for all items of a list that is not empty."""
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
