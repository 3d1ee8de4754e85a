"""Functions with ipyparallel's names that turn functions, values and calls into bytes."""

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
    """A function or class as bytes, which any pickler accepts."""

    def __init__(self, thing):
        self.data = functions.dumps(thing)


class PrePickled:
    """A value that is pickled once, and can then be sent many times without being pickled again.

    If a PrePickled is an argument of a call, the function gets the value.

    Parameters
    ----------
    obj : Any
        The value.

    Examples
    --------
    >>> table = px.PrePickled({"a": 1})
    >>> view.apply_sync(len, table)
    [1, 1, 1, 1]
    """

    def __init__(self, obj: Any) -> None:
        self.data = functions.dumps(obj)

    def __reduce__(self):
        return functions.loads, (self.data,)


def can(obj: Any) -> Any:
    """Turns functions and classes, including those in lists, tuples and dicts, into bytes that any pickler accepts.

    Parameters
    ----------
    obj : Any
        A function, a class, or a container of them.

    Returns
    -------
    Any
        The same object, with functions and classes as bytes.

    Examples
    --------
    >>> px.uncan(px.can([abs, 1])) == [abs, 1]
    True
    """
    if isinstance(obj, dict):
        return {key: can(value) for key, value in obj.items()}
    if type(obj) in (list, tuple):
        return type(obj)([can(each) for each in obj])
    if isinstance(obj, type) or (callable(obj) and hasattr(obj, "__code__")):
        return Canned(obj)
    return obj


def uncan(obj: Any, g: dict[str, Any] | None = None) -> Any:
    """Returns the object that was passed to can().

    Parameters
    ----------
    obj : Any
        The result of can().
    g : dict, optional
        The namespace in which References are looked up. Default: References are not replaced.

    Returns
    -------
    Any
        The object.
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
    """Applies can() to each value of a dict.

    Parameters
    ----------
    mapping : dict
        The values.

    Returns
    -------
    dict
        The results.
    """
    return {key: can(value) for key, value in mapping.items()}


def uncan_map(mapping: dict[str, Any], g: dict[str, Any] | None = None) -> dict[str, Any]:
    """Applies uncan() to each value of a dict.

    Parameters
    ----------
    mapping : dict
        The values.
    g : dict, optional
        The namespace in which References are looked up. Default: References are not replaced.

    Returns
    -------
    dict
        The results.

    Examples
    --------
    >>> px.uncan_map(px.can_map({"f": abs, "x": 1})) == {"f": abs, "x": 1}
    True
    """
    return {key: uncan(value, g) for key, value in mapping.items()}


def serialize_object(
    obj: Any, buffer_threshold: int | None = None, item_threshold: int | None = None
) -> list[Any]:
    """Turns an object into a list of buffers for deserialize_object(). Large buffers are not copied.

    Parameters
    ----------
    obj : Any
        The object.
    buffer_threshold : int, optional
        Accepted, but without effect: buffers that pickle passes out of band are not copied.
    item_threshold : int, optional
        Accepted, but without effect.

    Returns
    -------
    list
        The buffers.

    Examples
    --------
    >>> px.deserialize_object(px.serialize_object({"a": [1]}))[0]
    {'a': [1]}
    """
    buffers = []
    data = functions.dumps(obj, buffers)
    return [pickle.dumps((len(buffers), data)), *buffers]


def deserialize_object(buffers: Sequence[Any], g: dict[str, Any] | None = None) -> tuple[Any, list[Any]]:
    """Restores the object from the buffers of serialize_object().

    Parameters
    ----------
    buffers : sequence
        The buffers of the object. Further buffers may follow.
    g : dict, optional
        The namespace in which References are looked up. Default: the namespace of cells.

    Returns
    -------
    tuple
        (the object, the remaining buffers).
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
    """Turns a call into a list of buffers for unpack_apply_message().

    Parameters
    ----------
    f : callable
        The function.
    args : iterable
        The arguments of this function.
    kwargs : dict
        The keyword arguments of this function.
    buffer_threshold : int, optional
        Accepted, but without effect.
    item_threshold : int, optional
        Accepted, but without effect.

    Returns
    -------
    list
        The buffers.
    """
    return serialize_object((f, tuple(args), dict(kwargs)))


def unpack_apply_message(
    bufs: Sequence[Any], g: dict[str, Any] | None = None, copy: bool = True
) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """Restores the call from the buffers of pack_apply_message().

    Parameters
    ----------
    bufs : sequence
        The buffers of the call.
    g : dict, optional
        The namespace in which References are looked up. Default: the namespace of cells.
    copy : bool
        Accepted, but without effect.

    Returns
    -------
    tuple
        (function, args, kwargs).

    Examples
    --------
    >>> px.unpack_apply_message(px.pack_apply_message(pow, [2, 3], {}))[1]
    (2, 3)
    """
    return deserialize_object(bufs, g)[0]


def use_dill() -> None:
    """Makes dill pickle those objects of this process that polyxeus cannot pickle.

    DirectView.use_dill() also does this on the engines.

    Raises
    ------
    ImportError
        dill is not installed.
    """
    other_pickler.use("dill")


def use_cloudpickle() -> None:
    """Undoes use_dill(). Functions from cells are always sent by value, other functions by name."""
    other_pickler.use(None)


def use_pickle() -> None:
    """Undoes use_dill(). Functions from cells are always sent by value, other functions by name."""
    other_pickler.use(None)
