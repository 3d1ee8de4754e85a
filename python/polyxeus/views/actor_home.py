"""The state that all proxies of the same objects share.

`Places` knows on which engines the objects are, and which of them are lost. `ActorHome` makes the objects, makes them
again, and frees them.
"""

from __future__ import annotations

import functools
import itertools
import os
import sys
import threading
import weakref
from typing import TYPE_CHECKING, Any

from polyxeus import error
from polyxeus.engine_calls import actors
from polyxeus.results import completion
from polyxeus.serialize import requests

if TYPE_CHECKING:
    from collections.abc import Iterable
    from polyxeus.client.client import Client
    from polyxeus.views.direct_view import DirectView
    from polyxeus.views.view import View

__all__ = ["ActorHome", "Places", "free_objects_of", "least_busy", "lost_error", "objects_by_engine"]

_CLOSE_PATIENCE = 2.0  # seconds
_SPAWN_AGAIN = "spawn the object again, or make it with spawn(..., respawn=True)"
_numbers = itertools.count(1)
_homes: weakref.WeakValueDictionary[str, ActorHome] = weakref.WeakValueDictionary()  # by key
_dropped: dict[str, tuple[DirectView, Places, Any]] = {}  # by key: objects to free when their constructors have ended


class Places:
    """Decides which objects are lost, and which can be made again.

    name          the name of the objects' class, for errors.
    uuids         where the objects are: {id of the engine: uuid of its process}.
    is_respawned  whether objects are made again after the death of their engine.
    """

    def __init__(self, name: str, uuids: dict[int, str], is_respawned: bool) -> None:
        self.uuids = dict(uuids)
        self._name = name
        self._is_respawned = is_respawned

    def living(self, engines: dict[int, str]) -> list[int]:
        """Returns the engines that still have their object.  engines  {id: uuid} of the registered engines."""
        return [each for each, uuid in self.uuids.items() if engines.get(each) == uuid]

    def to_make_again(self, ids: Iterable[int], engines: dict[int, str]) -> list[int]:
        """Returns the engines among `ids` that must make their object again, because they were restarted.

        errors  EngineError: an object is lost and cannot be made again now.
        """
        lost = [each for each in ids if engines.get(each) != self.uuids[each]]
        absent = [each for each in lost if each not in engines]
        if absent:
            fix = "restart the engine by client.restart_engines(), and call again" if self._is_respawned else _SPAWN_AGAIN
            raise lost_error(f"the {self._name} of {_engines(absent)}", absent, f"the process has ended; {fix}")
        if lost and not self._is_respawned:
            raise lost_error(f"the {self._name} of {_engines(lost)}", lost, f"the engine was started again; {_SPAWN_AGAIN}")
        return lost


def _engines(ids):
    return f"engine{'s' if len(ids) > 1 else ''} {', '.join(map(str, ids))}"


def lost_error(what: str, engines: list[int], why: str) -> error.RemoteError:
    """Returns the EngineError for lost objects on these engines."""
    return error.remote_error("EngineError", f"{what} is lost: {why}", None, {"engine_id": engines[0], "method": "apply"})


class ActorHome:
    """Owns some objects, one on each engine of a view, and frees them when the last proxy is deleted.

    flags   the view that has made the objects; its `block` and `label` apply to calls.
    view    a direct view of the engines. All requests go through this view, so that they stay in order.
    recipe  (class, arguments, keyword arguments) for making the objects again; None if they are not made again.
    """

    def __init__(self, flags: View, view: DirectView, key: str, cls: Any, name: str, uuids: dict[int, str], recipe: Any) -> None:
        self.flags = flags
        self.view = view
        self.key = key
        self.cls = cls
        self.name = name
        self.properties = _properties(cls)
        self.places = Places(name, uuids, recipe is not None)
        self.spawned: Any = None
        self.is_closed = False
        self._recipe = recipe
        self._saved: dict[int, Any] = {}  # engine -> (folder, entry) of the last checkpoint
        self._seen = None  # the version of the list of engines at the last check
        self._looking = threading.Lock()
        self._process = os.getpid()

    @staticmethod
    def new_key(client: Client, name: str) -> str:
        """Makes the key of new objects. The key contains the name of the class, for readers of error messages."""
        return f"{name}-{next(_numbers)}-{client._connection.session_id}"

    @staticmethod
    def of_key(key: str) -> ActorHome | None:
        """Returns the ActorHome with this key; None if this process has not made its objects."""
        return _homes.get(key)

    @property
    def client(self) -> Client:
        return self.view.client

    # ------------------------------------------------------------ requests

    def send(self, targets: Any, function: Any, args: Any, kwargs: Any, title: str, block: bool | None = None) -> Any:
        """Calls a function of engine_calls on the engines `targets`, which is an id or a list of ids.

        errors  RuntimeError: the objects were freed; EngineError: an engine has lost its object.
        """
        if self.is_closed:
            raise RuntimeError(f"the {self.name} was freed by close(): spawn it again")
        self._look([targets] if type(targets) is int else targets)
        flags = self.flags
        return self.view._really_apply(
            function, args, kwargs, targets=targets, block=flags.block if block is None else block, label=flags.label, name=title
        )

    def call(self, targets: Any, method: str, args: Any, kwargs: Any) -> Any:
        """Calls a method of the objects; see Actor.call()."""
        return self.send(targets, actors.call, (self.key, method, *args), kwargs, f"{self.name}.{method}")

    def attribute(self, targets: Any, name: str) -> Any:
        """Requests an attribute of the objects; see Actor.attribute()."""
        return self.send(targets, actors.attribute, (self.key, name), None, f"{self.name}.{name}")

    def freeing(self) -> Any:
        """Returns the request that frees an object."""
        return requests.call(actors.free, ([self.key],))

    def _look(self, ids):
        """Makes the lost objects of these engines again. Raises an EngineError if one of them cannot be made again."""
        version = self.client._connection.engines_version()
        if version == self._seen:
            return
        with self._looking:
            engines = self.client._engines
            for engine in self.places.to_make_again(ids, engines):
                cls, args, kwargs = self._recipe
                self._make(engine, self._saved.get(engine), cls, args, kwargs)
                self.places.uuids[engine] = engines[engine]
            if len(self.places.living(engines)) == len(self.places.uuids):
                self._seen = version

    def spawn(self, targets: Any, cls: Any, args: Any, kwargs: Any) -> None:
        """Makes the objects; this ActorHome then owns them."""
        completion.start()  # starts the thread now, because the last proxy may be deleted at any time
        _homes[self.key] = self
        self.spawned = self._make(targets, None, cls, args, kwargs)

    def _make(self, targets, saved, cls, args, kwargs):
        args, label = (self.key, saved, cls, *args), self.flags.label
        return self.view._really_apply(actors.make, args, kwargs, targets=targets, block=False, label=label, name=self.name)

    # ------------------------------------------------------------ checkpoints

    def saved(self, engine: int, folder: str, entry: dict[str, Any]) -> None:
        """Records the entry of a checkpoint from which the object of this engine is restored."""
        self._saved[engine] = folder, entry

    # ------------------------------------------------------------ the end

    def close(self) -> None:
        """Frees the objects, after the engines have run the calls that were submitted earlier."""
        if not self.is_closed:
            self.is_closed = True
            _free(self.view, self.places, self.freeing())

    def __del__(self):
        # May be called at any time: takes no lock, waits for nothing.
        if getattr(self, "spawned", None) is None or self.is_closed or os.getpid() != self._process or sys.is_finalizing():
            return
        _dropped[self.key] = self.view, self.places, self.freeing()
        completion.call_when_ready(self.spawned._tasks, functools.partial(_free_dropped, self.key))


def _properties(cls):
    """Returns the names of the properties of a class. A proxy refuses to call a property."""
    bases = cls.__mro__ if isinstance(cls, type) else ()
    return frozenset(name for base in bases for name, value in vars(base).items() if isinstance(value, property))


def _free(view, places, freeing):
    """Sends the request `freeing` to all engines that have objects. Returns these requests; None if there are no
    objects, or if the engines or the controller have ended."""
    try:
        engines = places.living(view.client._engines)
        return view._submit(engines, [freeing], None) if engines else None
    except (ConnectionError, IndexError, error.IPythonError):
        return None


def _free_dropped(key):
    """Frees the objects with this key, whose last proxy was deleted. A second call does nothing."""
    where = _dropped.pop(key, None)
    return None if where is None else _free(*where)


def free_objects_of(client: Client) -> None:
    """Frees all objects that this client has made."""
    sent = [_free_dropped(key) for key, (view, _, _) in list(_dropped.items()) if view.client is client]
    for home in list(_homes.values()):
        if home.client is client and not home.is_closed:
            home.is_closed = True
            sent.append(_free(home.view, home.places, home.freeing()))
    for tasks in filter(None, sent):
        tasks.wait(_CLOSE_PATIENCE / len(sent))


# ---------------------------------------------------------------- the engine for one object


def objects_by_engine(client: Client) -> dict[int, int]:
    """Returns the number of objects that this client has on each engine, by engine id."""
    found: dict[int, int] = {}
    for home in list(_homes.values()):
        if home.client is client and not home.is_closed:
            for engine in home.places.uuids:
                found[engine] = found.get(engine, 0) + 1
    return found


def least_busy(engines: Iterable[int], status: dict[Any, Any], objects: dict[int, int]) -> int:
    """Returns the engine with the fewest unfinished requests of all clients. If several engines have
    equally few requests, returns the one with the fewest objects, and among these the one with the lowest id.

    status   the result of Client.queue_status().
    objects  the result of objects_by_engine().
    """

    def load(engine):
        told = status.get(engine, {})
        return told.get("queue", 0) + told.get("tasks", 0), objects.get(engine, 0), engine

    return min(engines, key=load)
