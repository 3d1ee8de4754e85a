"""Describes variables of an engine by short strings and digests. Equal digests mean that two engines have equal
values."""

import hashlib
import re
import reprlib
import sys
import types

from polyxeus.engine_calls.kept_variables import users_names
from polyxeus.serialize import functions

__all__ = ["describe"]

_MOST_NAMES = 500
_MOST_BYTES = 1 << 30  # the largest size of an array whose content is compared
_MOST_ITEMS = 1_000_000  # the largest number of items of a container, including the items of inner containers
_MOST_SHOWN = 6  # the largest number of items of an array that are shown
_CODE = (types.ModuleType, types.FunctionType, types.BuiltinFunctionType, type)
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_SCALARS = (bool, int, float, complex, str, bytes, bytearray, range, type(None), type(...))

_shown = reprlib.Repr()
_shown.maxstring = _shown.maxother = 60
_shown.maxlong = 40


class _Unknown(Exception):
    """Raised if the content of a value cannot be compared."""


def describe(expressions=None):
    """Returns {expression: (type, text, digest)} for the expressions that can be evaluated on this engine.

    expressions  names of variables, or other expressions; None means all variables that the user has defined, except
                 modules, functions and classes
    digest       a string that is the same on all engines with equal values; None if the content cannot be compared
    """
    known = functions.namespace()
    if expressions is None:
        names = (name for name in users_names(known) if not isinstance(known[name], _CODE))
        return {name: _described(known[name]) for name in sorted(names)[:_MOST_NAMES]}
    found = {}
    for expression in expressions:
        try:
            found[expression] = _described(eval(expression, known))
        except NameError:
            pass
        except Exception as problem:
            found[expression] = (type(problem).__name__, f"{type(problem).__name__}: {problem}", None)
    return found


def _described(value):
    kind = type(value).__name__
    try:
        text = " ".join(_text(value).split())
    except Exception as problem:
        text = f"{kind}, whose repr() raises {type(problem).__name__}"
    digest = hashlib.blake2b(digest_size=16)
    try:
        _add(digest, value, [_MOST_ITEMS])
    except Exception:
        return kind, text, None
    return kind, text, digest.hexdigest()


def _text(value):
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if isinstance(shape, tuple) and shape:
        kind = type(value).__name__ if dtype is None else str(dtype)
        sizes = "x".join(str(size) for size in shape)
        items = f" {value}" if dtype is not None and len(shape) == 1 and shape[0] <= _MOST_SHOWN else ""
        return f"{kind} {sizes}{items}"
    return _ADDRESS.sub("", _shown.repr(value))


def _add(digest, value, left):
    """Adds a value to the digest.

    left    a list with one number: how many further items may be added.
    errors  _Unknown: the type of the value is not supported, or the value is too large.
    """
    left[0] -= 1
    if left[0] < 0:
        raise _Unknown
    kind = type(value)
    digest.update(f"{kind.__module__}.{kind.__qualname__};".encode())
    if kind in _SCALARS:
        _add_bytes(digest, bytes(value) if kind is bytearray else value if kind is bytes else repr(value).encode())
    elif kind in (list, tuple):
        digest.update(f"{len(value)};".encode())
        for item in value:
            _add(digest, item, left)
    elif kind in (set, frozenset, dict):
        _add_unordered(digest, value, left)
    elif not _add_array(digest, value):
        raise _Unknown


def _add_bytes(digest, data):
    digest.update(f"{len(data)};".encode())
    digest.update(data)


def _add_unordered(digest, value, left):
    parts = []
    for key in value:
        part = hashlib.blake2b(digest_size=16)
        _add(part, key, left)
        if type(value) is dict:
            _add(part, value[key], left)
        parts.append(part.digest())
    _add_bytes(digest, b"".join(sorted(parts)))


def _add_array(digest, value):
    """Adds the value to the digest if the value is an array, a tensor or a data frame. Returns
    whether the value has one of these types. The function imports no library."""
    numpy, torch, pandas = (sys.modules.get(name) for name in ("numpy", "torch", "pandas"))
    if pandas and isinstance(value, (pandas.DataFrame, pandas.Series, pandas.Index)):
        digest.update(f"{value.shape};{list(getattr(value, 'columns', []))};".encode())
        _add_bytes(digest, pandas.util.hash_pandas_object(value).to_numpy().tobytes())
        return True
    if torch and isinstance(value, torch.Tensor):
        digest.update(f"{value.dtype};".encode())
        value = value.detach().to("cpu").contiguous().view(torch.uint8 if value.dim() else value.dtype).numpy()
    if not numpy or not isinstance(value, (numpy.ndarray, numpy.generic)):
        return False
    if value.dtype.hasobject or value.nbytes > _MOST_BYTES:
        raise _Unknown
    digest.update(f"{value.dtype};{value.shape};".encode())
    _add_bytes(digest, value.tobytes())
    return True
