"""Proxies of objects that live on engines."""

from __future__ import annotations

import json
import os
import secrets
import warnings
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, Callable

from polyxeus.counted import counted
from polyxeus.engine_calls import actors, checkpoint
from polyxeus.results.ref import note_object
from polyxeus.version import __version__
from polyxeus.views.actor_home import ActorHome, Places, least_busy, objects_by_engine
from polyxeus.views.actor_stream import ActorStream
from polyxeus.views.cpp_actor_home import CppActorHome
from polyxeus.views.remote_functions import getname

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing_extensions import Self
    from polyxeus.client.client import Client
    from polyxeus.results.async_result import AsyncResult
    from polyxeus.views.direct_view import DirectView
    from polyxeus.views.view import View

__all__ = ["Actor"]


class Actor:
    """A proxy of an object that lives on an engine, or of one object on each of several engines. `spawn()` returns it.

    A method of the proxy calls the method of the object on all of the engines, in the order in which the calls are
    made. Like a call of the view, the method returns an AsyncResult, or the result if the view's `block` is set.
    Coroutines are awaited on the engine. ``actor[2]`` and ``actor[0:2]`` are proxies of the objects at these positions.

    If you pass the proxy as an argument of a call, an engine that has the object passes the object
    itself to the function. When the last proxy is deleted, or the client is closed, the objects are
    freed. As a context manager, a proxy frees the objects at the end of the `with` block.

    Parameters
    ----------
    home : Any
        The data that the proxies of these objects share.
    targets : int or list of int
        The engines.

    Examples
    --------
    >>> class Counter:
    ...     def __init__(self, n):
    ...         self.n = n
    ...     def add(self, k):
    ...         self.n += k
    ...         return self.n
    ...     def items(self):
    ...         yield from range(self.n)
    >>> counter = view.spawn(Counter, 0)
    >>> counter.add(3).get()
    [3, 3, 3, 3]
    >>> counter[2].add(4).get(), counter[0:2].add(1).get()
    (7, [4, 4])
    >>> counter.attribute("n").get()
    [4, 4, 7, 3]
    >>> list(counter[0].items.stream())
    [0, 1, 2, 3]
    >>> counter.close()
    """

    def __init__(self, home: Any, targets: int | list[int]) -> None:
        self._home = home
        self._targets = targets

    # ------------------------------------------------------------ which objects

    @property
    def targets(self) -> int | list[int]:
        """The id of the engine that has the object; a list of ids if several engines have an object.

        Examples
        --------
        >>> rc[:2].spawn(dict).targets
        [0, 1]
        """
        return self._targets if isinstance(self._targets, int) else list(self._targets)

    @property
    def spawned(self) -> AsyncResult[Any]:
        """The AsyncResult of the constructor call.

        ``spawned.get()`` waits until the objects are made, and raises an exception if the constructor failed.

        Raises
        ------
        RuntimeError
            Another process has made the objects.

        Examples
        --------
        >>> rc[0].spawn(dict).spawned.wait(10)
        True
        """
        if self._home.spawned is None:
            raise RuntimeError(f"another process has made this {self._home.name}: call one of its methods to wait for it")
        return self._home.spawned

    def __len__(self) -> int:
        if isinstance(self._targets, int):
            raise TypeError("this proxy refers to one object, so it has no length")
        return len(self._targets)

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, position: int | slice) -> Actor:
        if isinstance(self._targets, int) or not isinstance(position, (int, slice)):
            raise TypeError(f"only a proxy of several objects has an index, and only an int or a slice, not {position!r:.80}")
        return Actor(self._home, self._targets[position])

    def __iter__(self) -> Iterator[Actor]:
        return (self[position] for position in range(len(self)))

    def __repr__(self):
        if self._home.is_closed:
            return f"<Actor({self._home.name}): closed>"
        several = not isinstance(self._targets, int)
        where = f"engines {', '.join(map(str, self._targets))}" if several else f"engine {self._targets}"
        return f"<Actor({self._home.name}): {where}>"

    # ------------------------------------------------------------ calls

    def __getattr__(self, name: str) -> ActorMethod:
        if name.startswith("_"):
            raise AttributeError(f"{name!r} is private: use call({name!r}) or attribute({name!r})")
        if name in self._home.properties:
            raise AttributeError(f"{name!r} is a property of {self._home.name}: use attribute({name!r})")
        return ActorMethod(self, name)

    def __dir__(self) -> list[str]:
        methods = () if isinstance(self._home.cls, str) else dir(self._home.cls)
        return [*super().__dir__(), *(each for each in methods if not each.startswith("_"))]

    def call(self, method: str, /, *args: Any, **kwargs: Any) -> Any:
        """Calls a method of the objects. ``actor.call("add", 3)`` is the same as ``actor.add(3)``.

        Parameters
        ----------
        method : str
            The name of the method. ``call`` also reaches methods whose names the proxy uses itself, such as ``close``.
        *args : Any
            The arguments of this method.
        **kwargs : Any
            The keyword arguments of this method.

        Returns
        -------
        AsyncResult or its result
            The result if the view's `block` is set, else an AsyncResult.

        Raises
        ------
        EngineError
            The object is lost, because its engine has ended.
        RuntimeError
            The object was freed.
        RemoteError
            The call failed on the view's only engine. Only a call that waits for its result raises
            this error.
        CompositeError
            The call failed on some of the view's engines. Only a call that waits for its result
            raises this error.

        Examples
        --------
        >>> rc[0].spawn(dict, a=1).call("__len__").get()
        1
        """
        return self._home.call(self._targets, method, args, kwargs)

    def attribute(self, name: str) -> Any:
        """Returns the value of an attribute of the objects.

        Parameters
        ----------
        name : str
            The name of the attribute.

        Returns
        -------
        AsyncResult or its result
            The value if the view's `block` is set, else an AsyncResult.

        Raises
        ------
        EngineError
            The object is lost, because its engine has ended.
        RuntimeError
            The object was freed.

        Examples
        --------
        >>> import fractions
        >>> rc[0].spawn(fractions.Fraction, 3, 4).attribute("denominator").get()
        4
        """
        return self._home.attribute(self._targets, name)

    def stream(self, method: str, /, *args: Any, **kwargs: Any) -> ActorStream:
        """Calls a method that is a generator, and yields its items as they arrive.

        ``actor.stream("items")`` is the same as ``actor.items.stream()``.

        Parameters
        ----------
        method : str
            The name of the method: a generator, an asynchronous generator, or a method that returns an iterable.
        *args : Any
            The arguments of this method.
        **kwargs : Any
            The keyword arguments of this method.

        Returns
        -------
        ActorStream
            An iterator over the items; for several engines, over pairs of the engine's id and the item.

        Raises
        ------
        EngineError
            The object is lost, because its engine has ended.
        RuntimeError
            The object was freed.

        Examples
        --------
        >>> list(rc[0].spawn(dict, a=1, b=2).stream("items"))
        [('a', 1), ('b', 2)]
        """
        return ActorStream(self._home, self.targets, method, args, kwargs)

    # ------------------------------------------------------------ checkpoints

    def checkpoint(self, path: str | os.PathLike[str], keep_last: int = 2) -> str:
        """Writes the objects to files, and waits until they are written.

        If the objects were created with ``spawn(..., respawn=True)``, lost objects are recreated from these files.

        The objects are pickled. The files have the format of DirectView.checkpoint(); each engine writes its own file.

        Parameters
        ----------
        path : str or path
            A folder that all hosts of the engines share.
        keep_last : int
            The number of checkpoints of these objects to keep; older ones are removed.

        Returns
        -------
        str
            The folder of this checkpoint.

        Raises
        ------
        RemoteError
            A file cannot be written, or an object cannot be pickled.
        ValueError
            `keep_last` is not a number of at least 1.

        Examples
        --------
        >>> counts = rc[:2].spawn(dict, a=1)
        >>> counts.checkpoint("/tmp/polyxeus-example-objects", keep_last=1)    # doctest: +ELLIPSIS
        '/tmp/polyxeus-example-objects/...'
        """
        if isinstance(keep_last, bool) or not isinstance(keep_last, int) or keep_last < 1:
            raise ValueError(f"keep_last must be a number of checkpoints from 1 on, not {keep_last!r}")
        home, path, token = self._home, os.path.abspath(os.path.expanduser(os.fspath(path))), secrets.token_hex(8)
        engines = [self._targets] if isinstance(self._targets, int) else self._targets

        def send(engine, function, *args):
            return home.send(engine, function, args, None, f"{home.name}.checkpoint", block=False)

        previous = send(engines[0], checkpoint.begin, path, token).get()["previous"]
        try:
            writing = [send(each, actors.write, home.key, path, token, previous, rank) for rank, each in enumerate(engines)]
            ranks = [{**each.get(), "rank": rank, "engine": engines[rank]} for rank, each in enumerate(writing)]
            manifest = json.dumps({
                "format": 1,
                "polyxeus": __version__,
                "time": datetime.now(timezone.utc).isoformat(),
                "label": home.key,
                "size": len(ranks),
                "ranks": ranks,
            }, indent=1)  # fmt: skip
            name = send(engines[0], checkpoint.commit, path, token, manifest, keep_last).get()["name"]
        except BaseException:
            send(engines[0], checkpoint.abort, path, token)
            raise
        folder = os.path.join(path, name)
        for engine, rank in zip(engines, ranks):
            home.saved(engine, folder, rank["variables"][0])
        return folder

    # ------------------------------------------------------------ the end

    def close(self) -> None:
        """Frees the objects on all engines, after the calls that were submitted earlier. Returns at once.

        Later calls raise a RuntimeError, even if another proxy of the same objects makes them.

        Examples
        --------
        >>> actor = rc[0].spawn(dict)
        >>> actor.close()
        >>> actor
        <Actor(dict): closed>
        """
        self._home.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    # ------------------------------------------------------------ other processes

    def __reduce__(self):
        home = self._home
        if isinstance(home, CppActorHome):
            raise TypeError("a proxy of C++ objects cannot be pickled, and so it cannot be an argument of a call")
        if home.spawned is not None:
            note_object(home.key, home, home.spawned)
        return actors.found, (home.key, home.name, self._targets, home.places.uuids)

    @classmethod
    def _unpickled(cls, key, name, targets, uuids):
        """Returns the proxy for a pickled proxy that is loaded in a process other than an engine."""
        home = ActorHome.of_key(key)
        return cls(_FarHome(key, name, uuids) if home is None else home, targets)

    def bind(self, client: Client) -> Actor:
        """Returns a proxy that sends its calls through this client.

        Use this method for a proxy that was unpickled in another process.

        The new proxy does not own the objects: they are freed when the last proxy of the client that spawned them is
        deleted, or when that client is closed.

        Parameters
        ----------
        client : Client
            A client of the same cluster.

        Returns
        -------
        Actor
            The proxy.

        Examples
        --------
        >>> counts = rc[0].spawn(dict, a=1)
        >>> with px.Client(rc.cluster.connection_file) as other:
        ...     counts.bind(other).call("__len__").get()
        1
        """
        home = self._home
        view = client.direct_view(self._targets)
        kind = CppActorHome if isinstance(home, CppActorHome) else ActorHome
        bound = kind(view, view, home.key, home.cls, home.name, home.places.uuids, None)
        return Actor(bound, self._targets)


class _FarHome:
    """The `home` of a proxy that was unpickled and is not bound to a client: a call of the proxy
    raises an error."""

    cls = object
    properties: frozenset[str] = frozenset()
    spawned = None
    is_closed = False

    def __init__(self, key, name, uuids):
        self.key = key
        self.name = name
        self.places = Places(name, uuids, False)

    def send(self, *args, **kwargs):
        raise RuntimeError(f"this proxy of a {self.name} comes from another process: use its bind(client)")

    call = attribute = close = send


class ActorMethod:
    """A method of the objects of an Actor. A call to this ActorMethod calls the objects' method on the engines.

    Parameters
    ----------
    actor : Actor
        The proxy.
    name : str
        The name of the method.
    """

    __slots__ = ("_actor", "__name__")

    def __init__(self, actor: Actor, name: str) -> None:
        self._actor = actor
        self.__name__ = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the method, as Actor.call() does."""
        return self._actor.call(self.__name__, *args, **kwargs)

    def stream(self, *args: Any, **kwargs: Any) -> ActorStream:
        """Yields the items of a generator, as Actor.stream() does."""
        return self._actor.stream(self.__name__, *args, **kwargs)

    def __repr__(self):
        return f"<method {self.__name__} of {self._actor!r}>"


# ---------------------------------------------------------------- spawn


def spawn(flags: View, view: DirectView, cls: Callable[..., Any] | str, args: Any, kwargs: Any, respawn: bool) -> Actor:
    """See View.spawn().

    flags  the view whose flag `block` applies to calls of the objects' methods.
    view   a direct view of the engines.
    """
    if not callable(cls) and not isinstance(cls, str):
        raise TypeError(f"spawn() needs a class, or a function that makes an object, not {cls!r:.80}")
    client = view.client
    uuids, ids, _ = client._addressed(view.targets)
    if len(_engines_for(cls, client, ids)) < len(ids):
        raise TypeError(f"{_wanted(cls)}, and some engines of this view do not: use a view without these")
    name = cls if isinstance(cls, str) else getname(cls)
    _warn_of_hidden(cls, name)
    recipe = (cls, args, kwargs) if respawn else None
    kind = CppActorHome if isinstance(cls, str) else ActorHome
    home = kind(flags, view, ActorHome.new_key(client, name), cls, name, dict(zip(ids, uuids)), recipe)
    targets = ids[0] if isinstance(view.targets, int) else list(ids)
    home.spawn(targets, cls, args, kwargs)
    if flags.block:
        home.spawned.get()
    return Actor(home, targets)


def view_of_least_busy(view: View, cls: Callable[..., Any] | str) -> DirectView:
    """Returns a direct view of one engine of a balanced view: of the engines that can have objects of this class, the
    one that has the least work."""
    client = view.client
    _, ids, _ = client._addressed(view.targets)
    engines = _engines_for(cls, client, ids)
    if not engines:
        raise TypeError(f"{_wanted(cls)}, and no engine of this view does")
    return client.direct_view(least_busy(engines, client.queue_status(), objects_by_engine(client)))


def _engines_for(cls, client, ids):
    """Returns those of these engines that run the language of the class."""
    languages = client.languages
    return [each for each in ids if (languages.get(each) == "cpp") == isinstance(cls, str)]


def _wanted(cls):
    if isinstance(cls, str):
        return f"objects of the C++ class {cls!r:.80} need engines that run C++"
    return "objects of Python classes need engines that run Python"


_OWN_NAMES = frozenset(name for name in dir(Actor) if not name.startswith("_"))


def _warn_of_hidden(cls, name):
    hidden = sorted(each for each in _OWN_NAMES if callable(getattr(cls, each, None)))
    if hidden:
        warnings.warn(
            f"{counted(len(hidden), 'method')} of {name} can only be called by actor.call({hidden[0]!r}, ...), because "
            f"Actor has the same names: {', '.join(hidden)}",
            RuntimeWarning,
            stacklevel=4,
        )
