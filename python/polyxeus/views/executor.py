"""Views as executors of concurrent.futures."""

from __future__ import annotations

import concurrent.futures
import time
import warnings
from typing import TYPE_CHECKING, Any, Callable, Iterable

from polyxeus.results.async_result import AsyncResult

if TYPE_CHECKING:
    from collections.abc import Iterator
    from polyxeus.hints import P, T
    from polyxeus.views.balanced_view import LoadBalancedView
    from polyxeus.views.direct_view import DirectView

__all__ = ["ViewExecutor"]


class ViewExecutor(concurrent.futures.Executor):
    """An executor of concurrent.futures (PEP 3148) on a view. `view.executor` and `client.executor()` make it.

    Parameters
    ----------
    view : DirectView or LoadBalancedView
        The view on which it runs.

    Examples
    --------
    >>> with rc.executor() as executor:
    ...     list(executor.map(pow, [2, 3], [5, 2]))
    [32, 9]
    """

    def __init__(self, view: DirectView | LoadBalancedView) -> None:
        self.view = view

    @property
    def _max_workers(self):
        return len(self.view)

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> AsyncResult[T]:
        """Calls fn(*args, **kwargs) on the view, and returns at once.

        Parameters
        ----------
        fn : callable
            The function.
        *args : Any
            Its arguments.
        **kwargs : Any
            Its keyword arguments.

        Returns
        -------
        AsyncResult
            The result, which is a Future.

        Examples
        --------
        >>> rc.executor().submit(pow, 2, 3).result()
        8
        """
        return self.view.apply_async(fn, *args, **kwargs)

    def map(self, func: Callable[..., T], *iterables: Iterable[Any], **kwargs: Any) -> Iterator[T]:
        """Calls func for each item of the iterables.

        Parameters
        ----------
        func : callable
            The function.
        *iterables : iterable
            An iterable for each argument of `func`.
        **kwargs : Any
            Options of the view's imap(). `timeout` and `chunksize` have no effect, with a warning.

        Returns
        -------
        iterator
            The results.

        Examples
        --------
        >>> list(rc.executor().map(abs, [-1, 2, -3]))
        [1, 2, 3]
        """
        if kwargs.pop("timeout", None) is not None:
            warnings.warn("map() of a ViewExecutor has no timeout", stacklevel=2)
        if kwargs.pop("chunksize", 1) != 1:
            warnings.warn("map() of a ViewExecutor makes each call a task: chunksize has no effect", stacklevel=2)
        return self.view.imap(func, *iterables, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Waits for the calls that were submitted. The engines keep running.

        Parameters
        ----------
        wait : bool
            Whether to wait.
        cancel_futures : bool
            Whether calls that have not started are cancelled.

        Examples
        --------
        >>> executor = rc.executor()
        >>> future = executor.submit(pow, 2, 3)
        >>> executor.shutdown()
        >>> future.done()
        True
        """
        if cancel_futures:
            for each in list(getattr(self.view, "_outstanding_maps", ())):
                each.cancel()
            self.view.abort(block=False)
        if wait:
            while getattr(self.view, "_outstanding_maps", None):
                time.sleep(0.01)  # they submit what the wait is for
            self.view.wait()
