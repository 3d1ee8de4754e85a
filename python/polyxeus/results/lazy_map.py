"""Maps that read their input while they run."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Iterator
from typing import TypeVar

from polyxeus.results.slices import slices, take

__all__ = ["LazyMapIterator"]

_END = object()
T = TypeVar("T")


class LazyMapIterator(Iterator[T]):
    """The results of a map over sequences that are read while results arrive and may be endless. imap() makes it.

    A separate thread reads the sequences, because reading may take long.

    Parameters
    ----------
    view : LoadBalancedView
        The view on which it runs.
    f : callable
        The function.
    arguments : iterator
        The arguments of each call, as a tuple.
    ordered : bool
        Whether the results come in the order of the items.
    max_outstanding : int
        How many calls may be unanswered at a time; 0: any number.
    return_exceptions : bool
        Whether exceptions are returned as items of the result instead of being raised.
    """

    def __init__(self, view, f, arguments, ordered, max_outstanding, return_exceptions):
        self._view = view
        self._f = f
        self._arguments = arguments
        self._ordered = ordered
        self._limit = max_outstanding
        self._return_exceptions = return_exceptions
        self._permits = threading.Semaphore(max_outstanding) if max_outstanding else None
        self._sent = queue.SimpleQueue()  # results, an exception of the input, then _END
        self._done = queue.SimpleQueue()  # the same, in the order in which they are answered
        self._is_cancelled = self._is_stopped = False
        self._count = None  # how many there are, once it is known
        self._given = 0
        self._first = threading.Event()
        self._problem = None
        self._mark = view.client._connection.sent_calls
        self._feeder = threading.Thread(target=self._feed, name="polyxeus-map", daemon=True)

    def start(self):
        """Starts to read the sequences.

        Returns
        -------
        LazyMapIterator
            This iterator.
        """
        self._iterator = self._results()
        try:
            self._view._outstanding_maps.add(self)
            self._feeder.start()
            for seconds in slices(None):
                if self._first.wait(seconds):
                    break
            if self._problem is not None:
                raise self._problem
            next(self._iterator)
            return self
        except KeyboardInterrupt:
            self._stop()
            raise

    def _feed(self):
        count = 0
        try:
            for arguments in self._arguments:
                if self._permits is not None:
                    self._permits.acquire()
                if self._is_cancelled:
                    break
                result = self._view.apply_async(self._f, *arguments)
                result.wait_for_send()  # whoever gives the arguments may use their memory again
                count += 1
                if not self._ordered:
                    result.add_done_callback(self._done.put)
                if self._permits is not None:
                    result.add_done_callback(lambda _: self._permits.release())
                self._sent.put(result)
                if count >= max(1, self._limit):
                    self._first.set()
        except Exception as problem:
            if count == 0:
                self._problem = problem
            self._sent.put(problem)
        finally:
            if self._is_stopped:  # it may have sent one more meanwhile
                self._view.client._connection.stop_since(self._mark)
            self._view._outstanding_maps.discard(self)
            self._sent.put(_END)
            self._first.set()

    def cancel(self) -> None:
        """Reads no further items of the sequences. Calls that were already sent continue."""
        self._is_cancelled = True
        if self._permits is not None:
            self._permits.release()

    def _stop(self):
        """Ends the iteration: no further results can be requested."""
        self._is_stopped = True
        self.cancel()
        if self._feeder.ident is None:  # it has not begun
            self._view._outstanding_maps.discard(self)
        self._view.client._connection.stop_since(self._mark, self._feeder.ident)

    def __iter__(self) -> Iterator[T]:
        return self._iterator

    def __next__(self) -> T:
        return next(self._iterator)

    def _results(self):
        try:
            yield  # start() has it here: from now on an interrupt ends the map
            yield from self._in_order() if self._ordered else self._as_they_come()
        except KeyboardInterrupt:
            self._stop()
            raise

    def _in_order(self):
        while True:
            result = take(self._sent)
            if result is _END:
                return
            yield self._value(result)

    def _as_they_come(self):
        known, problems, is_all_known = 0, deque(), False
        given = 0
        while True:
            while not is_all_known and (known <= given or not self._sent.empty()):
                result = take(self._sent)
                if result is _END:
                    is_all_known = True
                elif isinstance(result, Exception):
                    problems.append(result)
                else:
                    known += 1
            if given < known:
                yield self._value(take(self._done))
                given += 1
            elif problems:
                raise problems.popleft()
            elif is_all_known:
                return

    def _value(self, result):
        if isinstance(result, Exception):
            raise result
        return result.get(return_exceptions=self._return_exceptions)
