"""ipyparallel's names for turning functions, values and calls into bytes."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

from polyxeus.serialize import functions, other_pickler
from polyxeus.serialize.reference import Reference

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = [
    "PrePickled", "can", "can_map", "deserialize_object", "pack_apply_message", "serialize_object", "uncan",
    "uncan_map", "unpack_apply_message", "use_cloudpickle", "use_dill", "use_pickle"
]  # fmt: skip


class Canned:
    """A function or class as bytes, which any pickle takes."""

    def __init__(self, thing):
        self.data = functions.dumps(thing)


class PrePickled:
    """A value that is pickled once and may be sent many times.

    Where it arrives it is the value.

        table = ipp.PrePickled({"a": 1})
        view.apply_sync(len, table)                           # -> [1, 1, 1, 1]
    """

    def __init__(self, obj: Any) -> None:
        self.data = functions.dumps(obj)

    def __reduce__(self):
        return functions.loads, (self.data,)


def can(obj: Any) -> Any:
    """`obj` with its functions and classes as bytes, which any pickle takes.

    Those in its lists, tuples and dicts are turned into bytes, too.

        ipp.uncan(ipp.can([abs, 1])) == [abs, 1]              # -> True
    """
    if isinstance(obj, dict):
        return {key: can(value) for key, value in obj.items()}
    if type(obj) in (list, tuple):
        return type(obj)([can(each) for each in obj])
    if isinstance(obj, type) or (callable(obj) and hasattr(obj, "__code__")):
        return Canned(obj)
    return obj


def uncan(obj: Any, g: dict[str, Any] | None = None) -> Any:
    """What can() was given.

    g  the namespace in which References are looked up; None: they stay
    """
    if isinstance(obj, Canned):
        return functions.loads(obj.data)
    if isinstance(obj, Reference) and g is not None:
        return eval(obj.name, g)
    if isinstance(obj, dict):
        return {key: uncan(value, g) for key, value in obj.items()}
    if type(obj) in (list, tuple):
        return type(obj)([uncan(each, g) for each in obj])
    return obj


def can_map(mapping: dict[str, Any]) -> dict[str, Any]:
    """can() for each value of a dict."""
    return {key: can(value) for key, value in mapping.items()}


def uncan_map(mapping: dict[str, Any], g: dict[str, Any] | None = None) -> dict[str, Any]:
    """uncan() for each value of a dict."""
    return {key: uncan(value, g) for key, value in mapping.items()}


def serialize_object(
    obj: Any, buffer_threshold: int | None = None, item_threshold: int | None = None
) -> list[Any]:
    """`obj` as a list of buffers for deserialize_object(); large ones are not copied.

    buffer_threshold, item_threshold  accepted; large is what pickle holds out of band

        ipp.deserialize_object(ipp.serialize_object({"a": [1]}))[0]       # -> {'a': [1]}
    """
    buffers = []
    data = functions.dumps(obj, buffers)
    return [pickle.dumps((len(buffers), data)), *buffers]


def deserialize_object(buffers: Sequence[Any], g: dict[str, Any] | None = None) -> tuple[Any, list[Any]]:
    """(the object that serialize_object() was given first, the buffers that follow it)

    g  the namespace in which References are looked up; None: that of cells
    """
    head, *rest = buffers
    count, data = pickle.loads(head)
    before = functions.set_namespace(functions.namespace() if g is None else g)
    try:
        return functions.loads(data, rest[:count]), rest[count:]
    finally:
        functions.set_namespace(before)


def pack_apply_message(
    f: Any,
    args: Iterable[Any],
    kwargs: dict[str, Any],
    buffer_threshold: int | None = None,
    item_threshold: int | None = None,
) -> list[Any]:
    """A call as a list of buffers for unpack_apply_message()."""
    return serialize_object((f, tuple(args), dict(kwargs)))


def unpack_apply_message(
    bufs: Sequence[Any], g: dict[str, Any] | None = None, copy: bool = True
) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """(function, args, kwargs) of a call; References are looked up in `g`."""
    return deserialize_object(bufs, g)[0]


def use_dill() -> None:
    """dill pickles in this process what polyxeus cannot; DirectView.use_dill() does so on the engines, too.

    errors  ImportError: dill is not installed
    """
    other_pickler.use("dill")


def use_cloudpickle() -> None:
    """Ends use_dill(): functions of cells always travel by value, others by name."""
    other_pickler.use(None)


def use_pickle() -> None:
    """Ends use_dill(): functions of cells always travel by value, others by name."""
    other_pickler.use(None)
