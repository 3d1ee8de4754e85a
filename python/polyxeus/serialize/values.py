"""Represents values in messages, in forms that every language can read (docs/protocol.md, "Native messages").

A small dict in the content of a message describes a value. Large data is in the buffers of the message, and the dict
refers to the buffers by number:

    {"json": 3.5}
    {"array": {"dtype": "<f8", "shape": [20, 10], "buffer": 0}}
    {"bytes": 1}
    {"pickle": [2, 3, 4]}       the pickle, its out-of-band buffers
    {"reference": "x"}          an expression that the engine evaluates
"""

import math
import operator
import pickle
import sys

from polyxeus.counted import counted
from polyxeus.error import UnmetDependency
from polyxeus.serialize import tensors
from polyxeus.serialize.compact_json import dump, quote

__all__ = [
    "FORMS", "NO_PICKLE", "decode", "encode", "encode_results", "encode_text", "is_text", "pickled_text"
]  # fmt: skip

# The forms that a Python program can read, and the forms that a program without pickles can request.
FORMS = ("json", "array", "bytes", "pickle")
NO_PICKLE = ("json", "array", "bytes")

_LEAST_INT, _MOST_INT = -(1 << 63), (1 << 63) - 1
# ZeroMQ leaves small frames in its receive buffer, at unaligned addresses, so they are copied.
_COPIED_BELOW = 16384
_SMALL = 4096


def _numpy():
    """Returns NumPy, which is imported only when the first array arrives."""
    module = sys.modules.get("numpy")
    if module is None:
        try:
            import numpy as module
        except ImportError:
            raise ImportError("numpy is needed for arrays: pip install numpy") from None
    return module


# ---------------------------------------------------------------- from a message


def _buffer(number, buffers):
    if type(number) is not int or not 0 <= number < len(buffers):
        raise ValueError(
            f"a value refers to buffer {number!r}, but the message has {len(buffers)}"
        )
    return buffers[number]


def _writable(buffer):
    view = memoryview(buffer)
    return bytearray(view) if view.readonly or view.nbytes < _COPIED_BELOW else view


def _decode_array(description, buffers):
    numpy = _numpy()
    try:
        dtype = numpy.dtype(description["dtype"])
        shape = tuple(map(operator.index, description["shape"]))
        buffer = _buffer(description["buffer"], buffers)
    except (KeyError, TypeError) as problem:
        raise ValueError(f"an array must have dtype, shape and buffer: {problem}") from None
    count = math.prod(shape)
    size = memoryview(buffer).nbytes
    if dtype.hasobject or any(extent < 0 for extent in shape) or count * dtype.itemsize != size:
        raise ValueError(
            f"an array of {description['dtype']} with the shape {list(shape)} does not have {counted(size, 'byte')}"
        )
    if size == 0:
        return numpy.zeros(shape, dtype)
    return numpy.ndarray(shape, dtype, _writable(buffer))


def _decode_bytes(number, buffers):
    buffer = _buffer(number, buffers)
    return buffer if type(buffer) is bytes else bytes(buffer)


def _decode_pickle(numbers, buffers, loads):
    if not isinstance(numbers, list) or not numbers:
        raise ValueError("a pickle must name its buffers")
    data, *beside = [_buffer(number, buffers) for number in numbers]
    try:
        return loads(data, buffers=list(map(_writable, beside)))
    except (tensors.ReceiverLacks, UnmetDependency):  # UnmetDependency: another engine has the result of a Ref
        raise
    except ImportError as problem:
        if problem.name == "torch":
            raise ImportError(
                f"{tensors.receiver()} received a value that needs torch, but {sys.executable} there has no torch: "
                "pip install torch for it, or send tensor.numpy()",
                name="torch",
            ) from None
        raise type(problem)(
            f"cannot import a module that a received function or value needs ({problem}): install "
            "it here, or define it in the session that sends it",
            name=problem.name,
        ) from None
    except Exception as problem:
        raise pickle.UnpicklingError(
            f"cannot unpickle a received value: {type(problem).__name__}: {problem}"
        ) from problem


_DECODERS = {"array": _decode_array, "bytes": _decode_bytes}


def decode(description, buffers, evaluate=None, loads=pickle.loads):
    """Returns the value that a description represents.

    buffers   the buffers of the message. Arrays share the memory of the buffers, except that small
              or read-only buffers are copied, so that arrays are writable.
    evaluate  a function that is called with the expression of a reference; if None, a reference is
              an error.
    loads     a function that reads pickles.
    errors    ValueError for a bad description; exceptions of unpickling or of `evaluate`.
    """
    try:
        ((kind, rest),) = description.items()
    except (AttributeError, ValueError):
        kind = rest = None
    if kind == "json":
        return rest
    if kind == "reference" and evaluate is not None and isinstance(rest, str):
        return evaluate(rest)
    if kind == "pickle":
        return _decode_pickle(rest, buffers, loads)
    decoder = _DECODERS.get(kind)
    if decoder is None:
        raise ValueError(
            "a value must be described as one of json, array, bytes, pickle or reference"
        )
    return decoder(rest, buffers)


# ---------------------------------------------------------------- into a message


def encode(value, accepts, buffers, snapshot=0):
    """Describes `value` in the first accepted form that represents it without loss of meaning.

    accepts   the forms that the receiver can read; a subset of FORMS.
    buffers   the message's list of buffers, to which large data is appended.
    snapshot  a number of bytes. Smaller arrays are copied, because the caller may change them before the message is
              sent; `buffers` share the memory of other arrays.
    errors    TypeError if no accepted form can represent the value. The text names the part of the value that has no
              such form, and the reason.
    """
    kind = type(value)
    if "json" in accepts and (
        value is None
        or kind is bool
        or (kind is int and _LEAST_INT <= value <= _MOST_INT)
        or (kind is float and math.isfinite(value))
        or (kind is str and is_text(value))
    ):
        return {"json": value}
    if kind is bytes and "bytes" in accepts:
        return {"bytes": _append(buffers, value)}
    numpy = sys.modules.get("numpy")
    if numpy is not None and kind is numpy.ndarray and "array" in accepts:
        if _is_plain_array(value) and (value.dtype.isnative or "pickle" not in accepts):
            return _describe_array(numpy, value, buffers, snapshot)
    if "pickle" in accepts:
        return _describe_pickle(value, buffers, snapshot)
    return _encode_without_pickle(value, accepts, buffers, snapshot)


# Functions that write a value of a type as JSON text. Other types need an encoder.
_WRITERS = {
    int: int.__repr__,
    float: float.__repr__,
    str: quote,
    bool: lambda value: "true" if value else "false",
    type(None): lambda value: "null",
}


def encode_text(value, accepts, buffers, snapshot=0):
    """Does the same as encode(), but returns the description as JSON text."""
    if type(value) is int and _LEAST_INT <= value <= _MOST_INT and "json" in accepts:
        return f'{{"json":{value}}}'  # the most frequent argument and result
    if type(value) is str and value.isascii() and "json" in accepts:
        return f'{{"json":{quote(value)}}}'
    description = encode(value, accepts, buffers, snapshot)
    ((form, rest),) = description.items()
    write = repr if form == "pickle" else _WRITERS.get(type(rest))
    return dump(description) if write is None else f'{{"{form}":{write(rest)}}}'


def pickled_text(value, buffers):
    """Does the same as encode_text(), for a value that only a pickle can represent."""
    return f'{{"pickle":{_describe_pickle(value, buffers, 0)["pickle"]}}}'


def encode_results(results, accepts, buffers, snapshot):
    """Does the same as encode(), for the list of the results of a map.

    If pickles are not accepted, numbers of one type, or arrays of one type and shape, become one array.
    """
    if "pickle" not in accepts and "array" in accepts and results:
        array = _joined(results)
        if array is not None:
            return _describe_array(_numpy(), array, buffers, 0)
    return encode(results, accepts, buffers, snapshot)


def _append(buffers, data):
    buffers.append(data)
    return len(buffers) - 1


def is_text(text):
    """Returns whether UTF-8 can encode the string. UTF-8 cannot encode lone surrogates."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_plain_array(array):
    """Returns whether the elements of an array have a fixed size and contain neither Python objects
    nor fields."""
    dtype = array.dtype
    return not dtype.hasobject and dtype.names is None and dtype.kind in "biufcmMSUV"


def _describe_array(numpy, array, buffers, snapshot):
    given = array
    dtype = array.dtype.newbyteorder("=")
    array = numpy.asarray(array, dtype=dtype, order="C")
    if array.nbytes < _SMALL:
        data = array.tobytes()
    else:
        if array.nbytes < snapshot and numpy.may_share_memory(array, given):
            array = array.copy()
        # Views the array as bytes, because the array's own buffer interface does not support dates.
        data = memoryview(array.reshape(-1).view(numpy.uint8))
    return {
        "array": {
            "dtype": dtype.str,
            "shape": list(array.shape),
            "buffer": _append(buffers, data),
        }
    }


_dumps = None


def _describe_pickle(value, buffers, snapshot):
    global _dumps
    if _dumps is None:  # imported when it is first needed
        from polyxeus.serialize.functions import dumps as _dumps
    beside = []
    try:
        data = _dumps(value, beside)
    except Exception as problem:
        raise TypeError(
            f"{_named(value)} cannot be pickled: {type(problem).__name__}: {problem}"
        ) from None
    numbers = [_append(buffers, data)]
    for each in beside:
        is_copied = snapshot and memoryview(each).nbytes < snapshot
        numbers.append(_append(buffers, bytearray(each) if is_copied else each))
    return {"pickle": numbers}


def _named(value):
    name = type(value).__name__
    return ("an " if name[:1].lower() in tuple("aeiou") else "a ") + name


# ---------------------------------------------------------------- values for programs that do not read pickles


class _NotJson(Exception):
    """Raised with the reason why JSON cannot represent a part of a value."""


def _encode_without_pickle(value, accepts, buffers, snapshot):
    kind = type(value)
    if kind in (bytearray, memoryview) and "bytes" in accepts:
        return {"bytes": _append(buffers, bytes(value))}
    if "array" in accepts:
        array = _as_array(value, "json" in accepts)
        if array is not None:
            return _describe_array(_numpy(), array, buffers, snapshot)
    if "json" not in accepts:
        raise TypeError(f"{_named(value)} cannot be sent as {', '.join(accepts)}")
    try:
        return {"json": _plain(value)}
    except _NotJson as problem:
        where = "".join(f"[{step!r}]" for step in reversed(problem.args[1:]))
        position = f", found at {where}," if where else ""
        raise TypeError(f"{problem.args[0]}{position} cannot be sent without a pickle: "
                        f"{_advice(problem.args[0])}") from None


def _advice(what):
    if what.startswith("an ndarray of"):
        return "use a dtype of fixed size"
    if "ndarray" in what:
        return "send the array alone, or as a list (.tolist())"
    if what in ("a Tensor", "a Parameter"):
        return "use a tensor on the CPU of a dtype that NumPy has (.float().cpu())"
    if what.startswith("the float"):
        return "send an array instead, or replace this number"
    return "use only numbers, text, lists, dicts with text as keys, or arrays"


def _as_array(value, has_json):
    """Returns an array that represents the value. Returns None if the value can be represented in
    JSON, or if no array can represent it."""
    array = tensors.array_of(value)
    if array is not None:
        return array
    kind = type(value)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        if isinstance(value, numpy.ndarray):
            is_whole = _is_plain_array(value) and not isinstance(value, numpy.ma.MaskedArray)
            return numpy.asarray(value) if is_whole else None
        if isinstance(value, numpy.generic):
            if has_json and _is_json_scalar(numpy, value):
                return None
            array = numpy.asarray(value)
            return array if _is_plain_array(array) else None
    is_number = kind in (bool, int, float, complex)
    has_no_word = kind is complex or (kind is float and not math.isfinite(value))
    if not is_number or (has_json and not has_no_word):
        return None
    array = _numpy().asarray(value)
    return array if _is_plain_array(array) else None


def _is_json_scalar(numpy, value):
    """Returns whether JSON can represent a NumPy scalar."""
    if isinstance(value, (numpy.timedelta64, numpy.longdouble)):
        return False
    if isinstance(value, numpy.floating):
        return math.isfinite(value)
    return isinstance(value, (numpy.bool_, numpy.integer, numpy.str_))


def _plain(value):
    """Returns the value, with NumPy's scalars converted to types that JSON can represent."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        if _LEAST_INT <= value <= _MOST_INT:
            return int(value)
        raise _NotJson(f"the int {str(value)[:20]}..., which has more than 64 bits,")
    if isinstance(value, float):
        if math.isfinite(value):
            return float(value)
        raise _NotJson(f"the float {value}")
    if isinstance(value, str):
        if is_text(value):
            return str(value)
        raise _NotJson("a str with lone surrogates")
    if isinstance(value, (list, tuple, range)):
        return [_part(each, index) for index, each in enumerate(value)]
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise _NotJson(f"a dict with {_named(key)} as a key")
        return {key: _part(each, key) for key, each in value.items()}
    return _plain_scalar(value)


def _plain_scalar(value):
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        if isinstance(value, numpy.generic) and _is_json_scalar(numpy, value):
            return _plain(value.item())
        if isinstance(value, numpy.floating):
            raise _NotJson(f"the float {value}")
        if isinstance(value, numpy.ndarray):
            if value.ndim == 0 and value.dtype.kind in "biufU" and value.dtype.itemsize <= 8:
                return _plain(value.item())
            kind = "an ndarray"
            raise _NotJson(kind if _is_plain_array(value) else f"{kind} of {value.dtype}")
    raise _NotJson(_named(value))


def _part(value, step):
    try:
        return _plain(value)
    except _NotJson as problem:
        problem.args += (step,)
        raise


def _joined(results):
    """Joins results into one array, if all of them are numbers of one type, or arrays of one type and shape."""
    kind = type(results[0])
    if any(type(each) is not kind for each in results):
        return None
    numpy = sys.modules.get("numpy")
    is_numpy = numpy is not None and issubclass(kind, (numpy.generic, numpy.ndarray))
    if not is_numpy and kind not in (bool, int, float, complex):
        return None
    if is_numpy:
        first = results[0]
        if not all(each.dtype == first.dtype and each.shape == first.shape for each in results):
            return None
    try:
        array = _numpy().array(results)
    except ImportError:
        return None
    return array if _is_plain_array(array) and array.dtype.kind in "biufcmM" else None
