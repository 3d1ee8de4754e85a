"""Maps that read their input while they run."""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Iterator
from typing import TypeVar

from polyxeus.results.async_result import AsyncResult
from polyxeus.results.slices import TimedOut, left, slices, take

__all__ = ["LazyMapIterator", "MapOfExecutor", "lazy_map"]

_END = object()
T = TypeVar("T")


def lazy_map(view, f, arguments, *, ordered=True, max_outstanding="auto", return_exceptions=False, of_executor=None):
    """Makes and starts a LazyMapIterator. The docstring of this class describes the arguments.

    arguments        an iterator that yields one tuple for each call: the arguments of this call
    max_outstanding  a number of calls, or "auto" for one call for each engine
    """
    if max_outstanding == "auto":
        max_outstanding = max(1, len(view))
    if not isinstance(max_outstanding, int) or max_outstanding < 0:
        raise ValueError(f"max_outstanding must be a number from 0 on, not {max_outstanding!r}")
    return LazyMapIterator(view, f, arguments, ordered, max_outstanding, return_exceptions, of_executor).start()


class LazyMapIterator(Iterator[T]):
    """The results of a map over sequences that are read while results arrive.

    imap() returns it. The sequences may be infinite.

    A separate thread reads the sequences, because reading may take a long time.

    Parameters
    ----------
    view : LoadBalancedView
        The view on which the calls run.
    f : callable
        The function.
    arguments : iterator
        Yields one tuple for each call: the arguments of this call.
    ordered : bool
        Whether the results are in the order of the items.
    max_outstanding : int
        The number of calls that may be outstanding (sent, but not answered) at the same time. 0
        means any number.
    return_exceptions : bool
        Whether exceptions are returned as items of the result instead of being raised.
    of_executor : MapOfExecutor, optional
        Further options, for Executor.map(). Default: none.
    """

    def __init__(self, view, f, arguments, ordered, max_outstanding, return_exceptions, of_executor=None):
        self._executor = of_executor or MapOfExecutor(lambda *call: view.apply_async(*call))
        self._end = _moment(self._executor.timeout)
        self._view = view
        self._f = f
        self._arguments = arguments
        self._ordered = ordered
        self._limit = max_outstanding
        self._return_exceptions = return_exceptions
        self._permits = threading.Semaphore(max_outstanding) if max_outstanding else None
        self._sent = queue.SimpleQueue()  # results, an exception of the input, then _END
        self._done = queue.SimpleQueue()  # the same items, in the order of the answers
        self._is_cancelled = self._is_stopped = self._is_cut_off = False
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
            while self._may_read():
                try:
                    arguments = next(self._arguments)
                except StopIteration:
                    break
                result = self._executor.send(self._f, *arguments)
                result.wait_for_send()  # the iterator of the arguments may then use their memory again
                count += 1
                if not self._ordered:
                    result.add_done_callback(self._done.put)
                if self._permits is not None and not self._executor.counts_unread:
                    result.add_done_callback(lambda _: self._permits.release())
                self._sent.put(result)
                del result  # otherwise this result would exist until the next one
                if count >= max(1, self._limit):
                    self._first.set()
        except Exception as problem:
            if count == 0:
                self._problem = problem
            self._sent.put(problem)
        finally:
            if self._is_stopped:  # this thread may have sent another call in the meantime
                self._view.client._connection.stop_since(self._mark)
            self._view._outstanding_maps.discard(self)
            self._sent.put(_END)
            self._first.set()

    def _may_read(self):
        """Waits until a further call may be sent. Returns False if the map must not read further input."""
        if self._permits is not None:
            self._permits.acquire()
        return not self._is_cancelled

    def end_with_executor(self, is_at_once: bool) -> None:
        """Called when the executor of the map is shut down.

        Stops the map, or lets the map read its remaining items: see `is_at_once`.

        After a map has stopped, it reads no further items, and next() on it raises RuntimeError.

        Parameters
        ----------
        is_at_once : bool
            Whether the map stops now. If False, a map without a `buffersize` still reads all its
            items. A map with a `buffersize` stops in either case, because it reads an item only
            after a result was taken.
        """
        if is_at_once or self._executor.counts_unread:
            self._is_cut_off = True
            self.cancel()

    def cancel(self) -> None:
        """Makes the map read no further items of the sequences. Calls that were already sent continue."""
        self._is_cancelled = True
        if self._permits is not None:
            self._permits.release()

    def _stop(self):
        """Ends the iteration after an interrupt: interrupts the calls that run, and aborts the
        calls that wait."""
        self._is_stopped = True
        self.cancel()
        if self._feeder.ident is None:  # the thread has not started
            self._view._outstanding_maps.discard(self)
        self._view.client._connection.stop_since(self._mark, self._feeder.ident)

    def __iter__(self) -> Iterator[T]:
        return self._iterator

    def __next__(self) -> T:
        return next(self._iterator)

    def _results(self):
        try:
            yield  # start() runs the generator up to this line; from now on, an interrupt ends the map
            yield from self._in_order() if self._ordered else self._as_they_come()
            if self._is_cut_off and next(self._arguments, _END) is not _END:
                raise RuntimeError("cannot schedule new futures after shutdown")
        except KeyboardInterrupt:
            self._stop()
            raise
        except Exception:
            if self._executor.cancels_rest:
                self._cancel_rest()
            raise

    def _cancel_rest(self):
        """Sends no further calls, and cancels the calls that have not begun."""
        self.cancel()
        rest = []
        while not self._sent.empty():
            rest.append(self._sent.get())
        rest = [each for each in rest if isinstance(each, AsyncResult) and not each.ready()]
        if rest:
            self._view.client.abort(rest, block=False)

    def _in_order(self):
        while (result := take(self._sent, self._end)) is not _END:
            items = self._items(result)
            del result  # does not keep the result and its value alive
            while items:
                yield items.pop()

    def _as_they_come(self):
        known, problems, is_all_known = 0, deque(), False
        given = 0
        while True:
            while not is_all_known and (known <= given or not self._sent.empty()):
                result = take(self._sent, self._end)
                if result is _END:
                    is_all_known = True
                elif isinstance(result, Exception):
                    problems.append(result)
                else:
                    known += 1
            if given < known:
                items = self._items(take(self._done, self._end))
                given += 1
                while items:
                    yield items.pop()
            elif problems:
                raise problems.popleft()
            elif is_all_known:
                return

    def _items(self, result):
        """Returns the results of one call, in reverse order. The call then counts as read, and its
        AsyncResult no longer keeps the results alive."""
        if isinstance(result, Exception):
            raise result
        if self._end is not None and not result.wait(left(self._end)):
            raise TimedOut(result._not_ready())
        try:
            value = result.get(return_exceptions=self._return_exceptions)
        finally:
            result._results = result._value = None
            if self._permits is not None and self._executor.counts_unread:
                self._permits.release()
        if self._executor.gives_lists and not isinstance(value, Exception):
            return value[::-1]
        return [value]


class MapOfExecutor:
    """The options with which Executor.map() uses a LazyMapIterator.

    send           a function that sends a call: send(f, *arguments) -> AsyncResult
    timeout        the number of seconds from now within which the program must take all results.
                   None means no limit
    gives_lists    whether each call returns a list of items
    counts_unread  whether `max_outstanding` limits the calls whose results were not taken yet, instead of the
                   unanswered calls
    cancels_rest   whether the calls that have not begun are cancelled after a failure
    """

    def __init__(self, send, *, timeout=None, gives_lists=False, counts_unread=False, cancels_rest=False):
        self.send = send
        self.timeout = timeout
        self.gives_lists = gives_lists
        self.counts_unread = counts_unread
        self.cancels_rest = cancels_rest


def _moment(seconds):
    """Returns the value that time.monotonic() will have in `seconds` seconds; None if `seconds` is None (no limit)."""
    return None if seconds is None else time.monotonic() + seconds
