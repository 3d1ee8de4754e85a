"""Handles apply_request messages: reads a function and its arguments from buffers, and writes the
result into buffers.

The buffers have ipyparallel's format. If the client has canned objects, unpickling these objects
imports ipyparallel, and ipyparallel restores the objects. Without such objects an engine does not
import ipyparallel.
"""

import functools
import importlib.machinery
import io
import pickle
import sys

_PLAIN = frozenset({int, float, bool, str, complex, type(None)})
_PROTOCOL = pickle.DEFAULT_PROTOCOL


def _ipyparallel():
    """Returns ipyparallel's module that cans objects; None if this module was not imported, or if
    polyxeus replaces ipyparallel."""
    module = sys.modules.get("ipyparallel.serialize.serialize")
    return None if getattr(module, "is_polyxeus", False) else module


@functools.lru_cache(maxsize=None)
def _is_installed():
    return importlib.machinery.PathFinder.find_spec("ipyparallel") is not None


def _canning():
    """Imports and returns ipyparallel's module that cans objects, or None if ipyparallel is not installed."""
    if _is_installed() and _ipyparallel() is None:
        from ipyparallel.serialize import serialize  # noqa: F401
    return _ipyparallel()


class _Unpickler(pickle.Unpickler):
    """The unpickler of engines without ipyparallel. This unpickler does not mistake polyxeus's classes for
    ipyparallel's canned objects, although the names are the same."""

    def find_class(self, module, name):
        if module.partition(".")[0] == "ipyparallel":
            raise ImportError(
                "ipyparallel's client sent an object that only ipyparallel can open, which the Python of this engine "
                "lacks: pip install ipyparallel there, or use polyxeus.Client"
            )
        return super().find_class(module, name)


def _load(data):
    return pickle.loads(data) if _is_installed() else _Unpickler(io.BytesIO(data)).load()


def _unpack_plain(buffers, function):
    """Returns (function, args, kwargs) of a request whose function was not canned; None if an argument was canned."""
    info = _load(buffers[1])
    rest = buffers[2:]
    if len(rest) != info["nargs"] + len(info["kw_keys"]):
        return None
    values = [_load(each) for each in rest]
    if _ipyparallel() is not None:  # unpickling one of the values has imported it
        return None
    count = info["nargs"]
    return function, tuple(values[:count]), dict(zip(info["kw_keys"], values[count:]))


def unpack(buffers, namespace):
    """Returns (function, args, kwargs) of a request. Each Reference in the arguments is replaced by
    a value from `namespace`."""
    if len(buffers) < 2:
        raise AssertionError("not enough buffers!")
    if _ipyparallel() is None:
        function = _load(buffers[0])
        if _ipyparallel() is None:
            request = _unpack_plain(buffers, function)
            if request is not None:
                return request
    return _canning().unpack_apply_message(buffers, namespace, copy=False)


def pack(result, is_new=False):
    """Writes a result into buffers, and returns the buffers.

    is_new  whether the result is an array to which nothing else refers. If so, its memory is shared instead of copied
    """
    if type(result) in _PLAIN:
        return [pickle.dumps(result, _PROTOCOL)]
    module = _canning()
    if module is None:
        return [pickle.dumps(result, _PROTOCOL)]
    buffers = module.serialize_object(result)
    return buffers if is_new else [each if type(each) is bytes else bytes(each) for each in buffers]
