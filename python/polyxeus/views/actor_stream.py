"""Streams of generators that run on engines."""

from __future__ import annotations

import asyncio
import concurrent.futures
import functools
import itertools
import queue
from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from polyxeus import error
from polyxeus.engine_calls import actors
from polyxeus.results import completion
from polyxeus.results.slices import take
from polyxeus.serialize import requests
from polyxeus.views.actor_home import lost_error

if TYPE_CHECKING:
    from typing_extensions import Self
    from polyxeus.views.actor_home import ActorHome

__all__ = ["ActorStream"]

_AHEAD = 4  # the number of requests for items that an engine has at a time
_numbers = itertools.count(1)


class ActorStream(Iterator[Any]):
    """The items of an object's generator, as they arrive. ``actor.method.stream()`` returns it.

    The stream is an iterator for ``for`` and ``async for``. The items of one engine are in order. For objects on
    several engines, the stream yields pairs of the engine's id and the item, in the order in which items arrive from
    all engines. Each engine computes up to 4 items in advance, and other calls on the object run between two items. If
    you leave the loop early, or delete the stream, the generators end. As a context manager, a stream is closed at the
    end of the `with` block.

    Parameters
    ----------
    home : Any
        The data that the proxies of the objects share.
    targets : int or list of int
        The engines.
    name : str
        The method.
    args : tuple
        The arguments of the method.
    kwargs : dict
        The keyword arguments of the method.

    Examples
    --------
    >>> class Counter:
    ...     def __init__(self, n):
    ...         self.n = n
    ...     def upwards(self):
    ...         while True:
    ...             yield self.n
    ...             self.n += 1
    >>> counter = rc[0].spawn(Counter, 5)
    >>> with counter.upwards.stream() as numbers:
    ...     [next(numbers), next(numbers)]
    [5, 6]
    """

    def __init__(self, home: ActorHome, targets: int | list[int], name: str, args: Any, kwargs: Any) -> None:
        self._items = _Items(home, targets, name, args, kwargs)

    def __repr__(self):
        return f"<ActorStream({self._items.title}): {'open' if self._items.pending else 'ended'}>"

    def __next__(self) -> Any:
        items = self._items
        try:
            while items.pending:
                found = items.received(take(items.arrived))
                if found is not None:
                    return found[0]
        except KeyboardInterrupt:
            items.stop(is_interrupt=True)
            raise
        raise StopIteration

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        items = self._items
        while items.pending:
            try:
                engine = items.arrived.get_nowait()
            except queue.Empty:
                await items.arrival()
                continue
            found = items.received(engine)
            if found is not None:
                return found[0]
        raise StopAsyncIteration

    def close(self) -> None:
        """Ends the generators, and waits until their ``finally`` blocks have run.

        Raises
        ------
        RemoteError
            A generator raised an exception when it was closed.
        CompositeError
            Several generators raised an exception when they were closed.
        """
        closing = self._items.stop()
        if closing is not None:
            closing.get()

    async def aclose(self) -> None:
        """Does the same as close(), for coroutines. contextlib.aclosing() calls it."""
        closing = self._items.stop()
        if closing is not None:
            await closing

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def __del__(self):
        # May be called at any time: takes no lock, waits for nothing.
        items = self.__dict__.get("_items")
        if items is not None and items.pending:
            completion.call_when_ready(items.begun._tasks, items.stop_quietly)


class _Items:
    """The state that the stream shares with the thread that handles answers."""

    def __init__(self, home, targets, name, args, kwargs):
        self.title = f"{home.name}.{name}"
        self.pending = {}  # engine -> its unread answers, in order
        self.arrived = queue.SimpleQueue()  # an engine for each answer that has arrived
        self._home = home
        self._token = f"{home.client._connection.session_id}-{next(_numbers)}"
        self._is_single = type(targets) is int
        self._has_begun = set()
        self._waker = None
        work = (home.key, self._token, name, *args)
        self.begun = home.send(targets, actors.begin_stream, work, kwargs, self.title, block=False)
        engines = [targets] if self._is_single else targets
        self._uuids = {engine: home.places.uuids[engine] for engine in engines}
        for engine, part in zip(engines, self.begun.split()):
            self.pending[engine] = deque()
            self._expect(engine, part)
            for _ in range(_AHEAD):
                self._ask(engine)

    def _ask(self, engine):
        home = self._home
        answer = home.send(engine, actors.next_item, (home.key, self._token), None, self.title, block=False)
        if home.places.uuids[engine] != self._uuids[engine]:  # send() has made the object again, without this stream
            raise lost_error(f"the stream of {self.title} on engine {engine}", [engine], "the engine was started again")
        self._expect(engine, answer)

    def _expect(self, engine, result):
        self.pending[engine].append(result)
        completion.call_when_ready(result._tasks, functools.partial(self._tell, engine))

    def _tell(self, engine):
        """Records that an answer of this engine has arrived, and wakes a coroutine that waits in arrival(). The
        thread of results/completion.py calls this method."""
        self.arrived.put(engine)
        waker, self._waker = self._waker, None
        if waker is not None and waker.set_running_or_notify_cancel():
            waker.set_result(None)

    async def arrival(self):
        """Waits until `arrived` may contain an engine."""
        self._waker = waker = concurrent.futures.Future()
        if self.arrived.empty():
            await asyncio.wrap_future(waker)

    def received(self, engine):
        """Reads an engine's next answer. Returns a tuple with the value that the stream yields; None if the answer has
        no item.

        errors  exceptions of the generator; the method then ends all generators of the stream.
        """
        answers = self.pending.get(engine)
        if not answers:
            return None  # the generator has ended
        try:
            item = answers.popleft().get()
            if engine not in self._has_begun:
                self._has_begun.add(engine)
                return None
            if item is actors.StreamEnd:
                del self.pending[engine]
                return None
            self._ask(engine)
        except Exception:
            self.pending.pop(engine, None)
            self.stop()
            raise
        return (item,) if self._is_single else ((engine, item),)

    def stop_quietly(self):
        """Does the same as stop(), but raises no exception, because no caller could handle one."""
        try:
            self.stop()
        except (ConnectionError, IndexError, error.IPythonError):  # the engines or the controller have ended
            pass

    def stop(self, is_interrupt=False):
        """Ends the generators of the engines that still have one. Returns the AsyncResult of the call that ends them;
        None if there are no generators."""
        pending, self.pending = self.pending, {}
        client, view = self._home.client, self._home.view
        if not pending or client._closed:
            return None
        living = client._engines
        engines = [engine for engine in pending if living.get(engine) == self._uuids[engine]]
        waiting = [answer for engine in engines for answer in pending[engine] if not answer.ready()]
        if is_interrupt:
            for answer in waiting:
                answer._stop()
        elif waiting:
            client.abort(waiting, targets=engines, block=False)
        if not engines:
            return None
        work = requests.call(actors.end_stream, (self._home.key, self._token))
        return view._sent(work, engines, engines, None, requests.read, self.title)
