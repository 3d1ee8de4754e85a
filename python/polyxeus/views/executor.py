"""Views as concurrent.futures executors."""

from __future__ import annotations

import concurrent.futures
import itertools
import os
import time
from concurrent.futures import BrokenExecutor
from typing import TYPE_CHECKING, Any, Callable, Iterable

from polyxeus.engine_calls.executor_calls import ForEach, Initialized
from polyxeus.results.executor_future import ExecutorFuture
from polyxeus.results.lazy_map import MapOfExecutor, lazy_map

if TYPE_CHECKING:
    from collections.abc import Iterator
    from polyxeus.hints import P, T
    from polyxeus.views.balanced_view import LoadBalancedView
    from polyxeus.views.direct_view import DirectView

__all__ = ["ViewExecutor"]

_PATIENCE = 2.0  # seconds to wait until engines have received a cancellation
_SHUT_DOWN = "cannot schedule new futures after shutdown"  # the text of CPython


class ViewExecutor(concurrent.futures.Executor):
    """A concurrent.futures executor (PEP 3148) on a view. `view.executor` and `client.executor()` return it.

    On a load-balanced view each call runs on a free engine; on a direct view each call runs on all engines of the view.
    A map on a direct view gives each item to one engine, in turn.

    Parameters
    ----------
    view : DirectView or LoadBalancedView
        The view on which the calls run.
    initializer : callable, optional
        A function that runs once on each engine, before the first call on this engine. If this
        function fails on an engine, the calls on this engine and all further calls fail with
        BrokenExecutor.
    initargs : tuple
        The arguments of `initializer`.

    Examples
    --------
    >>> with rc.executor() as executor:
    ...     list(executor.map(pow, [2, 3], [5, 2]))
    [32, 9]
    """

    def __init__(
        self,
        view: DirectView | LoadBalancedView,
        initializer: Callable[..., Any] | None = None,
        initargs: tuple[Any, ...] = (),
    ) -> None:
        if initializer is not None and not callable(initializer):
            raise TypeError("initializer must be a callable")
        self.view = view
        self._initializer = initializer
        self._initargs = initargs
        self._key = os.urandom(16).hex() if initializer is not None else None
        self._is_shut_down = False
        self._broken: str | None = None  # the reason

    @property
    def _max_workers(self):
        return len(self.view)

    def _check(self):
        if self._broken is not None:
            raise BrokenExecutor(self._broken)
        if self._is_shut_down:
            raise RuntimeError(_SHUT_DOWN)

    def _send(self, fn, args, kwargs=None, **options):
        if self._initializer is None:
            return self.view._really_apply(fn, args, kwargs, block=False, kind=ExecutorFuture, **options)
        function = Initialized(self._key, self._initializer, self._initargs, fn)
        future = self.view._really_apply(function, args, kwargs, block=False, kind=ExecutorFuture, **options)
        future.add_done_callback(self._look)
        return future

    def _look(self, future):
        """Makes the executor refuse further calls if this future failed because the initializer has
        failed on the engine."""
        if self._broken is not None or not future._has_failed() or future.cancelled():
            return
        problem = future.exception()
        if isinstance(problem, BrokenExecutor):
            concurrent.futures._base.LOGGER.critical("Exception in initializer:", exc_info=problem)
            self._broken = "the initializer failed on an engine, so the executor takes no further calls"

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> ExecutorFuture[T]:
        """Calls fn(*args, **kwargs) on the view, and returns at once.

        Parameters
        ----------
        fn : callable
            The function.
        *args : Any
            The arguments of this function.
        **kwargs : Any
            The keyword arguments of this function.

        Returns
        -------
        ExecutorFuture
            The result: a Future of concurrent.futures and an AsyncResult.

        Raises
        ------
        RuntimeError
            The executor is shut down.
        BrokenExecutor
            The initializer has failed.

        Examples
        --------
        >>> rc.executor().submit(pow, 2, 3).result()
        8
        """
        self._check()
        return self._send(fn, args, kwargs)

    def map(
        self,
        func: Callable[..., T],
        *iterables: Iterable[Any],
        timeout: float | None = None,
        chunksize: int = 1,
        buffersize: int | None = None,
        **kwargs: Any,
    ) -> Iterator[T]:
        """Calls func for each item of the iterables. If a call fails, the calls that have not begun are cancelled.

        Parameters
        ----------
        func : callable
            The function.
        *iterables : iterable
            An iterable for each argument of `func`.
        timeout : float, optional
            The number of seconds, counted from this call, within which all items must arrive. If an
            item arrives later, TimeoutError is raised. Default: no limit.
        chunksize : int
            The number of items that each call on an engine gets.
        buffersize : int, optional
            The number of calls that may be sent before you take their results. The iterables are read only as far as
            these calls need. Default: on a load-balanced view, the iterables are read as answers arrive; on a direct
            view, they are read at once.
        **kwargs : Any
            Options of LoadBalancedView.imap(): `ordered`, `max_outstanding`, `return_exceptions`.

        Returns
        -------
        iterator
            The results.

        Raises
        ------
        ValueError
            `chunksize` or `buffersize` is less than 1.
        TypeError
            No iterable is given, or `buffersize` is not an int.
        RuntimeError
            The executor is shut down.

        Examples
        --------
        >>> list(rc.executor().map(abs, [-1, 2, -3]))
        [1, 2, 3]
        """
        if chunksize < 1:
            raise ValueError("chunksize must be >= 1.")
        if buffersize is not None and not isinstance(buffersize, int):
            raise TypeError("buffersize must be an integer or None")
        if buffersize is not None and buffersize < 1:
            raise ValueError("buffersize must be None or > 0")
        if not iterables:
            raise TypeError("a map needs at least one iterable")
        self._check()
        arguments: Any = zip(*iterables)
        if chunksize > 1:
            arguments = _chunks(arguments, chunksize)
        executor = MapOfExecutor(
            self._sender(), timeout=timeout, gives_lists=chunksize > 1, counts_unread=buffersize is not None,
            cancels_rest=True,
        )  # fmt: skip
        options = {"max_outstanding": "auto" if self._is_balanced() else 0, **kwargs}
        if buffersize is not None:
            options["max_outstanding"] = buffersize
        function = ForEach(func) if chunksize > 1 else func
        return lazy_map(self.view, function, arguments, of_executor=executor, **options)

    def _is_balanced(self):
        return hasattr(self.view, "retries")

    def _sender(self):
        """Returns the function with which map() sends one call to the engines."""
        if self._is_balanced():
            return lambda f, *arguments: self._send(f, arguments)
        turn = itertools.cycle(self.view._engines(None)[0])
        return lambda f, *arguments: self._send(f, arguments, targets=next(turn))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Refuses further calls, and waits for the calls that were submitted. The engines keep running.

        Parameters
        ----------
        wait : bool
            Whether to wait for the submitted calls.
        cancel_futures : bool
            Whether to cancel calls that have not begun. The oldest unfinished call of each engine counts as begun. If
            `wait` is False, `cancelled()` of a cancelled future becomes True only when the engines have answered.

        Examples
        --------
        >>> executor = rc.executor()
        >>> future = executor.submit(pow, 2, 3)
        >>> executor.shutdown()
        >>> future.done()
        True
        """
        self._is_shut_down = True
        maps = self.view._outstanding_maps
        for each in list(maps):
            each.end_with_executor(cancel_futures)
        if cancel_futures:
            self._cancel_waiting()
        if wait:
            while maps:
                time.sleep(0.01)  # the maps submit the calls for which wait() waits
            self.view.wait()

    def _cancel_waiting(self):
        unfinished = self.view.outstanding
        # The first call of each engine is not cancelled: a free engine has begun it, or begins it now.
        waiting = [msg_id for msg_id in self.view.history if msg_id in unfinished][len(self.view) :]
        if waiting:
            self.view.abort(waiting, block=False).wait(_PATIENCE)


def _chunks(arguments, size):
    """Yields lists of `size` arguments each; each list goes to the engines as one call."""
    while chunk := list(itertools.islice(arguments, size)):
        yield (chunk,)
