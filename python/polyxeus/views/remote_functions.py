"""Functions whose calls run on engines."""

from __future__ import annotations

import inspect
import warnings
from typing import TYPE_CHECKING, Any, Callable, Iterable

from polyxeus.results.map_result import AsyncMapResult
from polyxeus.serialize import requests
from polyxeus.views import partition
from polyxeus.views.stopping import stops_on_interrupt

if TYPE_CHECKING:
    from polyxeus.client.client import Client
    from polyxeus.hints import Dist
    from polyxeus.views.balanced_view import LoadBalancedView
    from polyxeus.views.direct_view import DirectView

__all__ = ["ParallelFunction", "RemoteFunction", "getname", "parallel", "remote"]


def remote(
    view: DirectView | LoadBalancedView, block: bool | None = None, **flags: Any
) -> Callable[[Callable[..., Any]], RemoteFunction]:
    """Makes a decorator. Calls to the decorated function run on the view's engines.

    Parameters
    ----------
    view : DirectView or LoadBalancedView
        The view.
    block : bool, optional
        Whether calls wait for the result. Default: the view's flag.
    **flags : Any
        Flags of the view that are set during each call.

    Returns
    -------
    callable
        The decorator, which makes a RemoteFunction.

    Examples
    --------
    >>> @px.remote(rc[:], block=True)
    ... def power(a, b):
    ...     return a ** b
    >>> power(2, 3)
    [8, 8, 8, 8]
    """
    return lambda f: RemoteFunction(view, f, block=block, **flags)


def parallel(
    view: DirectView | LoadBalancedView,
    dist: Dist = "b",
    block: bool | None = None,
    ordered: bool = True,
    **flags: Any,
) -> Callable[[Callable[..., Any]], ParallelFunction]:
    """Makes a decorator.

    A call to the decorated function runs it on each engine of the view, with one part of each argument.

    The method map() of the decorated function calls the function for each item.

    Parameters
    ----------
    view : DirectView or LoadBalancedView
        The view.
    dist : {"b", "r"}
        "b": each engine gets one block of the items; "r": engine i of n gets the items i, i+n, i+2n ...
    block : bool, optional
        Whether calls wait for the result. Default: the view's flag.
    ordered : bool
        Whether iteration over the result keeps the order of the items.
    **flags : Any
        Flags of the view that are set during each call.

    Returns
    -------
    callable
        The decorator, which makes a ParallelFunction.

    Examples
    --------
    >>> @px.parallel(rc[:], block=True)
    ... def squares(numbers):
    ...     return [each * each for each in numbers]
    >>> squares(range(6))
    [0, 1, 4, 9, 16, 25]
    """
    return lambda f: ParallelFunction(view, f, dist=dist, block=block, ordered=ordered, **flags)


def getname(f: Callable[..., Any]):
    """Returns the name of a function as messages show it."""
    found = getattr(f, "__name__", None)
    if isinstance(found, str):
        return found
    found = getattr(f, "name", None)
    return found if isinstance(found, str) else str(f)


class RemoteFunction:
    """A function whose calls run on the engines of a view.

    Parameters
    ----------
    view : DirectView or LoadBalancedView
        The view.
    f : callable
        The function.
    block : bool, optional
        Whether calls wait for the result. Default: the view's flag.
    **flags : Any
        Flags of the view that are set during each call.

    Examples
    --------
    >>> power = px.RemoteFunction(rc[:], pow, block=True)
    >>> power(2, 3)
    [8, 8, 8, 8]
    """

    def __init__(
        self,
        view: DirectView | LoadBalancedView,
        f: Callable[..., Any],
        block: bool | None = None,
        **flags: Any,
    ) -> None:
        self.view = view
        self.func = f
        self.block = block
        self.flags = flags
        self.__name__ = getname(f)
        if getattr(f, "__doc__", None):
            self.__doc__ = f"{type(self).__name__} wrapping:\n{f.__doc__}"
        try:
            self.__signature__ = inspect.signature(f)
        except (TypeError, ValueError):
            pass

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        block = self.view.block if self.block is None else self.block
        with self.view.temp_flags(block=block, **self.flags):
            return self.view.apply(self.func, *args, **kwargs)


class ParallelFunction(RemoteFunction):
    """A function that engines call with parts of sequences.

    In each call, every engine gets one part of each sequence as an argument.

    The method map() calls the function for each item.

    Parameters
    ----------
    view : DirectView or LoadBalancedView
        The view.
    f : callable
        The function.
    dist : {"b", "r"}
        "b": each engine gets one block of the items; "r": engine i of n gets the items i, i+n, i+2n ...
    block : bool, optional
        Whether calls wait for the result. Default: the view's flag.
    chunksize : int, optional
        The number of items per message, on a load-balanced view. By default, this number depends on the number of
        items.
    ordered : bool
        Whether iteration over the result keeps the order of the items.
    return_exceptions : bool, optional
        Whether exceptions are returned as items of the result instead of being raised.
    **flags : Any
        Flags of the view that are set during each call.

    Examples
    --------
    >>> in_order = px.ParallelFunction(rc[:], sorted, block=True)
    >>> in_order([3, 1, 2, 9, 8, 7, 6, 5])
    [1, 3, 2, 9, 7, 8, 5, 6]
    """

    def __init__(
        self,
        view: DirectView | LoadBalancedView,
        f: Callable[..., Any],
        dist: Dist = "b",
        block: bool | None = None,
        chunksize: int | None = None,
        ordered: bool = True,
        return_exceptions: bool | None = False,
        **flags: Any,
    ) -> None:
        super().__init__(view, f, block=block, **flags)
        if dist not in partition.dists:
            raise ValueError(f"dist must be 'b' or 'r', not {dist!r}")
        self.chunksize = chunksize
        self.ordered = ordered
        self.return_exceptions = return_exceptions
        self._dist = dist
        self.mapObject = partition.dists[dist]()
        self._is_mapping = False

    def __call__(self, *sequences: Any) -> Any:
        return self._run(sequences, is_mapping=False)

    def map(self, *sequences: Iterable[Any]) -> Any:
        """Calls the function for each item, as the builtin map() does.

        Parameters
        ----------
        *sequences : iterable
            A sequence for each argument of the function.

        Returns
        -------
        AsyncMapResult or list
            A list if the call waits, else an AsyncMapResult.

        Raises
        ------
        TypeError
            No sequence is given.

        Examples
        --------
        >>> absolute = px.ParallelFunction(rc[:], abs, block=True)
        >>> absolute.map([-1, 2, -3])
        [1, 2, 3]
        """
        return self._run(sequences, is_mapping=True)

    @property
    def client(self) -> Client:
        """The Client of the view."""
        return self.view.client

    @stops_on_interrupt
    def _run(self, sequences, is_mapping):
        if not sequences:
            raise TypeError("a map needs at least one sequence")
        sequences, counts = partition.lengths(sequences)
        if max(counts) == 0 or (is_mapping and min(counts) == 0):
            return []
        if not is_mapping and min(counts) != max(counts):
            raise ValueError(f"all sequences must have the same length, but have {counts}")
        self._is_mapping = is_mapping
        if self.chunksize and not hasattr(self.view, "retries"):
            warnings.warn("`chunksize` is ignored unless load balancing", UserWarning, stacklevel=3)
        with self.view.temp_flags(**self.flags):
            tasks, targets, sizes, uses = self.view._map_parts(self.func, sequences, self)
        result = AsyncMapResult(
            self.view.client,
            tasks,
            map_object=self.mapObject,
            ordered=self.ordered,
            fname=getname(self.func),
            targets=targets,
            return_exceptions=self.return_exceptions,
            chunk_sizes=sizes if is_mapping else None,
        )
        result._uses = uses
        self.view.client._remember_map(result)
        block = self.view.block if self.block is None else self.block
        return self.view._finish(result, block)

    def requests_for(self, f: Callable[..., Any], parts: Any, forms: Any) -> list[Any]:
        """Makes the requests for parts of the sequences. Views call this method.

        Parameters
        ----------
        f : callable
            The function.
        parts : list
            The parts.
        forms : Any
            The forms of values (see serialize/values.py) that the engines can read.

        Returns
        -------
        list
            The requests.
        """
        if self._is_mapping:
            return requests.map_calls(f, parts, forms, self._dist)
        return [requests.call(f, part, None, forms) for part in parts]
