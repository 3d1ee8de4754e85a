"""The table of the objects that live on an engine, and the calls that clients make on these objects.

Each object has a key, a string that the client chooses. The client's part of this feature is in views/actors.py.
"""

import sys
import types

from polyxeus.error import UnmetDependency
from polyxeus.serialize import ref_files

__all__ = [
    "StreamEnd", "attribute", "begin_stream", "call", "end_stream", "found", "free", "make", "next_item", "write"
]  # fmt: skip

_GENERATORS = (types.GeneratorType, types.AsyncGeneratorType)
_homes = {}  # key -> _Home


class StreamEnd:
    """next_item() returns this class itself after the last item of a stream."""


class _Home:
    """An entry of the table: an object, or the error of the object's constructor, and the streams
    of the object's generators. A token identifies each stream."""

    def __init__(self, value=None, failure=None):
        self.value = value
        self.failure = failure
        self.trace = failure and failure.__traceback__
        self.streams = {}


def _home(key):
    home = _homes.get(key)
    if home is None:
        raise RuntimeError(
            f"this engine has no object {key}: it was freed, or the engine was started again; spawn the object again"
        )
    if home.failure is not None:
        raise home.failure.with_traceback(home.trace)
    return home


# ---------------------------------------------------------------- the objects


def make(key, saved, cls, /, *args, **kwargs):
    """Makes the object cls(*args, **kwargs). If the constructor fails, each call on the object fails with the error of
    the constructor.

    saved  (the folder of a checkpoint, an entry of its manifest) if the object is read from this
           checkpoint instead of being made; else None
    """
    free([key])
    name = getattr(cls, "__name__", "object")
    try:
        value = cls(*args, **kwargs) if saved is None else _read(*saved)
    except Exception as failure:
        _homes[key] = _Home(failure=failure)
        raise
    except BaseException:  # an interrupt; later calls get another error, so that they do not look interrupted
        _homes[key] = _Home(failure=RuntimeError(f"the constructor of {name} was interrupted: spawn the object again"))
        raise
    _homes[key] = _Home(value)


def free(keys):
    """Removes objects from the table, and ends their streams."""
    for key in keys:
        home = _homes.pop(key, None)
        for token in list(home.streams) if home is not None else ():
            try:
                _close(home.streams.pop(token))
            except Exception:  # the generator raised it, but its stream is no longer read
                pass


def found(key, name, *proxy):
    """Returns the value that replaces a proxy in the arguments of a call: on an engine, the object;
    in a client, another proxy.

    errors  UnmetDependency: this engine has no such object. If the call is a task, the controller then sends the task
            to another engine.
    """
    if key in _homes:
        return _home(key).value
    clients = sys.modules.get("polyxeus.views.actor_home")  # code on an engine may have its own client
    if ref_files.engine() and (clients is None or clients.ActorHome.of_key(key) is None):
        raise UnmetDependency(f"this engine does not have the {name} that is an argument of the call")
    return sys.modules["polyxeus"].Actor._unpickled(key, name, *proxy)  # engines do not import this class


# ---------------------------------------------------------------- calls


def _awaited(awaitable):
    """Runs an awaitable in the engine's event loop, and returns its result."""
    from IPython import get_ipython

    async def as_coroutine():
        return await awaitable

    return get_ipython().loop_runner(as_coroutine())


def _method(value, name):
    method = getattr(value, name)
    if not callable(method):
        raise TypeError(
            f"{name!r} of {type(value).__name__} is not a method: its type is {type(method).__name__}; use attribute({name!r})"
        )
    return method


def call(key, name, /, *args, **kwargs):
    """Calls a method of an object and returns its result. If the method returns a coroutine, the
    function awaits the coroutine."""
    result = _method(_home(key).value, name)(*args, **kwargs)
    kind = type(result)
    if kind in _GENERATORS:
        raise TypeError(f"{name}() is a generator: use stream({name!r}), which gives its items as they come")
    return _awaited(result) if hasattr(kind, "__await__") else result


def attribute(key, name):
    """Returns the value of an attribute of an object."""
    return getattr(_home(key).value, name)


# ---------------------------------------------------------------- streams


def begin_stream(key, token, name, /, *args, **kwargs):
    """Calls a method that returns a generator or another iterable, and stores the iterable as a
    stream."""
    home = _home(key)
    items = _method(home.value, name)(*args, **kwargs)
    if hasattr(type(items), "__await__"):
        items = _awaited(items)
    if hasattr(type(items), "__aiter__"):
        items = type(items).__aiter__(items)
    else:
        try:
            items = iter(items)
        except TypeError:
            raise TypeError(
                f"{name}() returns a value of type {type(items).__name__}, which has no items: call it without stream"
            ) from None
    home.streams[token] = items


def next_item(key, token):
    """Returns the next item of a stream. Returns StreamEnd after the last item or after an error."""
    streams = _home(key).streams
    items = streams.get(token)
    if items is None:
        return StreamEnd
    try:
        item = _next_awaited(items) if hasattr(type(items), "__anext__") else next(items, StreamEnd)
    except BaseException:
        streams.pop(token, None)
        raise
    if item is StreamEnd:
        streams.pop(token, None)
    return item


def _next_awaited(items):
    async def step():
        try:
            return await items.__anext__()
        except StopAsyncIteration:
            return StreamEnd

    return _awaited(step())


def end_stream(key, token):
    """Closes the generator of a stream before its last item was read, so that the `finally` blocks
    of the generator run."""
    home = _homes.get(key)
    if home is not None and token in home.streams:
        _close(home.streams.pop(token))


def _close(items):
    if hasattr(type(items), "aclose"):
        _awaited(items.aclose())
    elif hasattr(type(items), "close"):
        items.close()


# ---------------------------------------------------------------- checkpoints


def write(key, path, token, previous, rank):
    """Writes the object as a variable of a new checkpoint; see checkpoint.write()."""
    from polyxeus.engine_calls import checkpoint

    value = _home(key).value
    told = checkpoint.write_values(path, token, previous, rank, {type(value).__name__: value}, leaves_out=False)
    for entry in told["variables"]:
        entry["scattered"] = False
    return told


def _read(folder, entry):
    """Reads an object from a checkpoint."""
    from polyxeus.engine_calls import checkpoint

    (name,) = entry["names"]
    values, _ = checkpoint.read_values(folder, [{"names": [name], "parts": [{"entry": entry}]}])
    return values[name]
