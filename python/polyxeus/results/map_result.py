"""The results of maps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from polyxeus.results.async_result import AsyncHubResult, AsyncResult, T
from polyxeus.results.callers_traceback import ends_at_caller
from polyxeus.results.slices import as_completed
from polyxeus.serialize import requests

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from polyxeus.client.client import Client

__all__ = ["AsyncHubMapResult", "AsyncMapResult", "AsyncRecordedResult", "join_parts"]


def join_parts(map_object, results):
    """Joins the results of a map's requests into the results of the map. If a request failed, its
    exception becomes an item of the joined results."""
    if not any(isinstance(each, Exception) for each in results):
        return map_object.joinPartitions(results)
    joined = []
    for each in results:
        joined += [each] if isinstance(each, Exception) else list(each)
    return joined


def _put_when_done(future, done):
    """Puts a future into a queue of the running event loop when the future is done."""
    import asyncio

    loop = asyncio.get_running_loop()

    def put(future):
        if not loop.is_closed():
            loop.call_soon_threadsafe(done.put_nowait, future)

    future.add_done_callback(put)


class AsyncMapResult(AsyncResult[list[T]]):
    """The results of a map, as one list. Iterating (`for`, `async for`) yields results before all of them have arrived.

    Parameters
    ----------
    client : Client
        The client that has sent the requests.
    tasks : Any
        The requests, as objects of the C++ library.
    read : callable
        A function that reads the value of an answer.
    map_object : Any
        The object that joins the results of the requests.
    ordered : bool
        Whether iteration keeps the order of the items. If False, the results are in the order of their arrival.
    **options : Any
        The further parameters of AsyncResult.

    Examples
    --------
    >>> pending = rc.load_balanced_view().map_async(pow, range(4), [2] * 4)
    >>> [each for each in pending]
    [0, 1, 4, 9]
    >>> pending.get()
    [0, 1, 4, 9]
    """

    def __init__(
        self,
        client: Client,
        tasks: Any,
        read: Callable[..., Any] = requests.read,
        *,
        map_object: Any,
        ordered: bool = True,
        **options: Any,
    ) -> None:
        super().__init__(client, tasks, read, **options)
        self._map_object = map_object
        self.ordered = ordered

    def _reconstruct_result(self, results):
        return join_parts(self._map_object, results)

    def _part(self, index, target):
        part = super()._part(index, target)
        part._single_result = False
        return part

    def __iter__(self) -> Iterator[T]:
        if self.ready():
            yield from self.get()
            return
        for part in self._parts_as_they_come():
            yield from self._items_of(part)

    async def __aiter__(self) -> AsyncIterator[T]:
        """`async for` gets the items as they arrive. The event loop runs in the meantime."""
        import asyncio

        if self.ready():
            for item in self.get():
                yield item
            return
        parts = self.split()
        answered: asyncio.Queue[Any] = asyncio.Queue()
        if not self.ordered:
            for part in parts:
                _put_when_done(part, answered)
        for part in parts:
            if self.ordered:
                _put_when_done(part, answered)
            for item in self._items_of(await answered.get()):
                yield item

    def _items_of(self, part):
        result = part._raw_results[0]
        is_one = isinstance(result, Exception) or not self._gives_items(part)
        return self._collect_exceptions([result] if is_one else result)

    def _gives_items(self, part):
        """Returns whether the result of `part`, one of the AsyncResults of split(), is a list of results."""
        return True

    def _parts_as_they_come(self):
        parts = self.split()
        if self.ordered:
            for part in parts:
                part.wait()
                yield part
        elif self._tasks.is_one_call():
            yield from self._answered(parts)
        else:
            yield from as_completed(parts)

    def _answered(self, parts):
        after, left = 0, len(parts)
        while left:
            with ends_at_caller:
                events, after = self._tasks.events(after, None)
            for kind, index, _ in events:
                if kind == "answered":
                    left -= 1
                    yield parts[index]


class AsyncRecordedResult(AsyncMapResult):
    """The results of requests. If some of the requests are parts of a map, the results of these
    parts are joined into the result of the map.

    calls  a RecordedCalls object, which stores the requests that belong to each map
    """

    def __init__(self, client, tasks, *, calls, owner: bool = False) -> None:
        super().__init__(
            client, tasks, map_object=calls, fname=calls.name, chunk_sizes=calls.sizes, owner=owner
        )

    def _reconstruct_result(self, results):
        return self._map_object.join(results)

    def _gives_items(self, part):
        place = part._origin[1] if part._origin else 0
        return self._map_object.is_of_map[place]


class AsyncHubMapResult(AsyncRecordedResult, AsyncHubResult):
    """The results of maps, from the controller's records. Client.get_result() returns an AsyncHubMapResult.

    Examples
    --------
    >>> other = px.Client(rc.cluster.connection_file)
    >>> rc.load_balanced_view().map(abs, range(-3, 3), label="distances").wait(10)
    True
    >>> other.get_result(label="distances").get(10)
    [3, 2, 1, 0, 1, 2]
    >>> other.close()
    """
