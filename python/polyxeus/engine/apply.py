"""apply_request: a function and its arguments out of buffers, its result into buffers.

The format is ipyparallel's. Where the client has canned objects, unpickling them imports
ipyparallel, which then does the rest; an engine that never sees one never imports it.
"""

import pickle
import sys

_PLAIN = frozenset({int, float, bool, str, complex, type(None)})
_PROTOCOL = pickle.DEFAULT_PROTOCOL


def _ipyparallel():
    return sys.modules.get("ipyparallel.serialize.serialize")


def _unpack_plain(buffers, function):
    """The rest of a request whose function was not canned. None where something else is."""
    info = pickle.loads(buffers[1])
    rest = buffers[2:]
    if len(rest) != info["nargs"] + len(info["kw_keys"]):
        return None
    values = [pickle.loads(each) for each in rest]
    if _ipyparallel() is not None:  # one of the values has brought it
        return None
    count = info["nargs"]
    return function, tuple(values[:count]), dict(zip(info["kw_keys"], values[count:]))


def unpack(buffers, namespace):
    """(function, args, kwargs).  namespace  that in which References are looked up."""
    if len(buffers) < 2:
        raise AssertionError("not enough buffers!")
    if _ipyparallel() is None:
        function = pickle.loads(buffers[0])
        if _ipyparallel() is None:
            request = _unpack_plain(buffers, function)
            if request is not None:
                return request
    from ipyparallel.serialize import serialize

    return serialize.unpack_apply_message(buffers, namespace, copy=False)


def pack(result):
    """The buffers of a result."""
    if type(result) in _PLAIN:
        return [pickle.dumps(result, _PROTOCOL)]
    module = _ipyparallel()
    if module is None:
        try:
            from ipyparallel.serialize import serialize as module
        except ImportError:
            return [pickle.dumps(result, _PROTOCOL)]
    return module.serialize_object(result)
