"""Gives the C++ magics access to the user's variables."""

import keyword
import math
from collections.abc import Mapping

from polyxeus.serialize.values import FORMS, decode, encode
from polyxeus.views.joining import can_join, join
from polyxeus.views.partition import cut

__all__ = ["Variables"]


class Variables:
    """Reads and defines the user's variables for the C++ magics. A value is a tuple (description,
    buffers), as in messages."""

    forms = list(FORMS)

    def __init__(self, variables):
        self._variables = variables

    def has(self, name):
        return name in self._variables

    def get(self, name):
        return self._encode(self._variables[name])

    @staticmethod
    def _encode(value):
        buffers = []
        return encode(value, FORMS, buffers, snapshot=math.inf), buffers

    def count(self, name):
        """Returns the number of items of the variable `name`, which is a sequence."""
        value = self._variables[name]
        if isinstance(value, (str, bytes, Mapping, set)) or not hasattr(value, "__getitem__"):
            kind = type(value).__name__
            raise TypeError(f"cannot split '{name}': its type is {kind}")
        try:
            return len(value)
        except TypeError:  # an array without dimensions
            raise TypeError(f"cannot split '{name}': it has no length") from None

    def cut(self, name, begin, end):
        value = cut(self._variables[name], begin, end)
        return self._encode(list(value) if isinstance(value, range) else value)

    def set(self, name, value):
        self._define(name, decode(*value))

    def set_list(self, name, values):
        self._define(name, [decode(*value) for value in values])

    def set_joined(self, name, parts):
        parts = [decode(*part) for part in parts]
        if not can_join(parts[0]):
            kinds = " and ".join(sorted({type(part).__name__ for part in parts}))
            raise TypeError(f"cannot join parts of type {kinds}: use %pxpull")
        self._define(name, join(parts, instead="%pxpull"))

    def _define(self, name, value):
        if keyword.iskeyword(name):
            raise ValueError(f"'{name}' cannot be the name of a variable: it is a Python keyword")
        self._variables[name] = value
