"""What the C++ magics read from and write to: the user's variables."""

import keyword
import math
import sys

from polyxeus.serialize.values import FORMS, decode, encode

__all__ = ["Variables"]


class Variables:
    """The user's variables, as values of messages: (description, buffers)."""

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
        """How many items it has as a sequence."""
        value = self._variables[name]
        if isinstance(value, (str, bytes, dict, set)) or not hasattr(value, "__getitem__"):
            kind = type(value).__name__
            raise TypeError(f"cannot split '{name}': its type is {kind}")
        try:
            return len(value)
        except TypeError:  # an array of no dimension
            raise TypeError(f"cannot split '{name}': it has no length") from None

    def cut(self, name, begin, end):
        value = self._variables[name][begin:end]
        return self._encode(list(value) if isinstance(value, range) else value)

    def set(self, name, value):
        self._define(name, decode(*value))

    def set_list(self, name, values):
        self._define(name, [decode(*value) for value in values])

    def set_joined(self, name, parts):
        self._define(name, _join([decode(*part) for part in parts]))

    def _define(self, name, value):
        if keyword.iskeyword(name):
            raise ValueError(f"'{name}' cannot be the name of a variable: it is a Python keyword")
        self._variables[name] = value


def _join(parts):
    kinds = {type(part) for part in parts}
    if len(kinds) == 1 and kinds <= {list, tuple}:
        return type(parts[0])(item for part in parts for item in part)
    numpy = sys.modules.get("numpy")
    if numpy is not None and kinds == {numpy.ndarray}:
        if any(part.ndim == 0 for part in parts):
            return numpy.array(parts)
        if len({part.shape[1:] for part in parts}) > 1:
            shapes = " and ".join(dict.fromkeys(str(part.shape) for part in parts))
            raise ValueError(f"cannot join arrays of the shapes {shapes}: use %pxpull")
        return numpy.concatenate(parts)
    names = " and ".join(sorted(kind.__name__ for kind in kinds))
    raise TypeError(f"cannot join parts of type {names}: use %pxpull")
