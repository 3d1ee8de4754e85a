"""The results of maps."""

from __future__ import annotations

from polyxeus.results.async_result import AsyncResult
from polyxeus.results.callers_traceback import ends_at_caller
from polyxeus.results.slices import as_completed
from polyxeus.serialize import requests

__all__ = ["AsyncMapResult"]


class AsyncMapResult(AsyncResult):
    """The results of a map, as one list; iterate over it while they come.

    ordered  whether iteration keeps the order of the items; else first come, first served

        pending = rc.load_balanced_view().map_async(pow, range(4), [2] * 4)
        [each for each in pending]                            # -> [0, 1, 4, 9]
        pending.get()                                         # -> [0, 1, 4, 9]
    """

    def __init__(
        self, client, tasks, read=requests.read, *, map_object, ordered: bool = True, **options
    ) -> None:
        super().__init__(client, tasks, read, **options)
        self._map_object = map_object
        self.ordered = ordered

    def _reconstruct_result(self, results):
        if any(isinstance(each, Exception) for each in results):
            joined = []
            for each in results:
                joined += [each] if isinstance(each, Exception) else list(each)
            return joined
        return self._map_object.joinPartitions(results)

    def _part(self, index, target):
        part = super()._part(index, target)
        part._single_result = False
        return part

    def __iter__(self):
        if self.ready():
            yield from self.get()
            return
        for part in self._parts_as_they_come():
            results = part._raw_results[0]
            if isinstance(results, Exception):
                results = [results]
            yield from self._collect_exceptions(results)

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
