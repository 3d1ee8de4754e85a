"""Views that give each task to a free engine."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Callable, Iterable, Literal

from polyxeus.results.async_result import AsyncResult
from polyxeus.results.lazy_map import LazyMapIterator, MapOfExecutor, lazy_map
from polyxeus.results.recomputing import SentTask
from polyxeus.results.ref import Ref, Uses, gathered, unfinished
from polyxeus.serialize import requests
from polyxeus.views import actors, partition
from polyxeus.views.dependency import Dependency
from polyxeus.views.ranks import as_metadata, in_cpp, on_one_rank, ranks_in, ranks_of
from polyxeus.views.remote_functions import ParallelFunction, getname
from polyxeus.views.stopping import stops_on_interrupt
from polyxeus.views.view import View, label_text

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from typing_extensions import Self, Unpack
    from polyxeus.client.client import Client
    from polyxeus.hints import P, T, BalancedFlags, BalancedViewFlags, Dependencies
    from polyxeus.views.ranks import Ranks

__all__ = ["LoadBalancedView"]


class LoadBalancedView(View):
    """Runs each task on a free engine. `client.load_balanced_view()` returns it.

    Parameters
    ----------
    client : Client
        The connection.
    targets : list of int, optional
        The engines that may get tasks. Default: all.
    **flags : Any
        The attributes below, and `block`, `track` and `label`, as in View.

    Attributes
    ----------
    after : AsyncResult, str, Dependency or list of them
        Results, or ids of requests. Tasks wait until these requests have succeeded. If tasks should also run after
        requests that failed, pass a Dependency with `failure=True`.
    follow : AsyncResult, str, Dependency or list of them
        Results, or ids of requests, as for `after`. Tasks wait for these requests, and run on the engine that ran them.
    timeout : float
        Seconds that a task may wait for the requests in `after` and `follow`. 0 means no limit.
    retries : int
        How many times a task that fails is tried again, on another engine.
    ranks : int, (int, int) or Ranks
        How many engines of one MPI world run each task together: a number, or the smallest and the largest number. The
        function gets the communicator of these engines as its parameter `comm`, or by calling `polyxeus.mpi.comm()`.

    Examples
    --------
    >>> balanced = rc.load_balanced_view()
    >>> balanced.apply_sync(pow, 2, 3)
    8
    >>> balanced.map_sync(lambda i: i * i, range(6))
    [0, 1, 4, 9, 16, 25]
    >>> first = balanced.apply_async(pow, 2, 3)
    >>> with balanced.temp_flags(after=first, retries=2):    # when `first` is done; up to three attempts
    ...     second = balanced.apply_async(abs, -1)
    >>> second.get()
    1
    """

    _flag_names = ["targets", "block", "track", "follow", "after", "timeout", "retries", "ranks", "label"]

    if TYPE_CHECKING:  # the result of a task is a single value

        def temp_flags(self, **kwargs: Unpack[BalancedFlags]) -> AbstractContextManager[None]: ...
        def apply_async(self, f: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> AsyncResult[T]: ...
        def apply_sync(self, f: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T: ...
        def apply_ref(self, f: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Ref[T]: ...

    def __init__(self, client: Client, targets: Any = None, **flags: Unpack[BalancedViewFlags]) -> None:
        self.follow: Dependencies = None
        self.after: Dependencies = None
        self.timeout = 0.0
        self.retries = 0
        self.ranks: Any = None
        super().__init__(client, targets, **flags)

    def set_flags(self, **kwargs: Unpack[BalancedFlags]) -> Self:
        """Sets several flags at once.

        Parameters
        ----------
        **kwargs : Any
            Flags and their values.

        Returns
        -------
        LoadBalancedView
            This view.

        Raises
        ------
        KeyError
            A flag is unknown.
        ValueError
            A dependency, the timeout or the number of ranks is invalid.

        Examples
        --------
        >>> rc.load_balanced_view().set_flags(retries=2, block=True).apply(pow, 2, 3)
        8
        """
        for name in ("follow", "after"):
            if name in kwargs:
                _render_dependency(kwargs[name])  # raises an error now if the dependency is invalid
        if "timeout" in kwargs:
            kwargs["timeout"] = _checked_timeout(kwargs["timeout"])
        ranks_of(kwargs.get("ranks"))
        return super().set_flags(**kwargs)

    def _submit(self, works, refs, after, follow, timeout, uuids, retries, label, ranks, is_kept=False):
        """Sends the tasks. Returns (tasks, uses, task).

        refs  the Refs in the arguments, as {key: Ref}. The tasks wait until the results of these
              Refs are ready
        uses  the Uses object that keeps the results of the Refs until the tasks are answered; None
              if there are no Refs
        task  the SentTask with which a single task can be sent again; None if this is not possible
        """
        if isinstance(retries, bool) or not isinstance(retries, int):
            raise TypeError(f"retries must be an int, not {retries!r}")
        if retries < 0:
            raise ValueError(f"retries must not be negative: {retries}")
        send = self._sender(after, follow, _checked_timeout(timeout), uuids, retries, label, ranks)
        task = None
        if len(works) == 1 and (refs or (is_kept and retries)):
            task = SentTask(functools.partial(_sent_again, send), works[0], retries)
            task = task if task.freeze() else None
        uses = Uses(refs.values(), task, self.client._kept_results) if refs else None
        tasks = send(works, refs.values())
        if uses is not None:
            uses.sent(tasks)
        return tasks, uses, task

    def _sender(self, after, follow, timeout, uuids, retries, label, ranks):
        """Returns a function send(works, refs, engines), which sends tasks and returns the tasks of the C++ library.

        engines  the uuids of the engines that should run the tasks, if the view allows these engines
        """

        def send(works, refs, engines=()):
            wanted = _after_also(after, unfinished(refs)) if refs else after
            tasks = self.client._connection.send_balanced(
                on_one_rank(works) if ranks is not None and ranks.most == 1 else works,
                label_text(label),
                [each for each in engines if not uuids or each in uuids] or uuids,
                requests.dump(_render_dependency(wanted)) if wanted is not None else "[]",
                requests.dump(_render_dependency(follow)) if follow is not None else "[]",
                timeout,
                retries,
                as_metadata(ranks),
            )
            self._note(tasks)
            return tasks

        return send

    def _candidates(self, targets):
        """Returns the uuids of the engines that may get the task (an empty list means any engine),
        and the forms of values (see serialize/values.py) that all these engines can read."""
        if targets is None and not len(self.client) and self.client._comes_on_demand():
            return [], self.client._forms([])
        uuids, _, forms = self.client._addressed(targets)
        return ([] if targets is None else uuids), forms

    @stops_on_interrupt
    def _really_apply(
        self,
        f,
        args=(),
        kwargs=None,
        block=None,
        track=None,
        after=None,
        follow=None,
        timeout=None,
        targets=None,
        retries=None,
        label=None,
        kind=AsyncResult,
        keep=False,
        ranks=None,
    ):
        uuids, forms = self._candidates(self.targets if targets is None else targets)
        key, kept = self._new_key(forms, False) if keep else (None, None)
        sent = args if "pickle" in forms else in_cpp(args)
        with gathered() as refs:
            work = requests.call(f, sent, kwargs, forms, kept)
        tasks, uses, task = self._submit(
            [work],
            refs,
            self.after if after is None else after,
            self.follow if follow is None else follow,
            self.timeout if timeout is None else timeout,
            uuids,
            self.retries if retries is None else retries,
            self.label if label is None else label,
            ranks_in(args, kwargs) or ranks_of(self.ranks if ranks is None else ranks),
            keep,
        )
        result = kind(self.client, tasks, fname=getname(f), single=True, owner=True)
        result._uses = uses
        if keep:
            table = self.client._kept_results
            return Ref(table, key, result, True, table.recipe(getname(f), key, task, refs.values()))
        return self._finish(result, self.block if block is None else block)

    def submit(self, f: Callable[..., T], /, *args: Any, keep: bool = False, **kwargs: Any) -> AsyncResult[Any]:
        """Calls f(*args, **kwargs) on an engine, and returns at once.

        Parameters
        ----------
        f : callable
            The function.
        *args : Any
            The arguments of this function. On the engine, each Ref in the arguments, at any depth,
            is replaced by the Ref's value. An AsyncResult of a call with ``keep=True`` is also
            replaced by its value. The call runs when these values are ready.
        keep : bool
            Whether the result stays on the engine's host. If True, the value of the AsyncResult is
            a Ref. The AsyncResult's attribute `ref` is this Ref; the attribute exists as soon as
            submit() returns. `keep` is not passed to `f`: if `f` has such an argument, use
            apply_ref().
        **kwargs : Any
            The keyword arguments of this function.

        Returns
        -------
        AsyncResult
            The result.

        Raises
        ------
        TypeError
            `f` cannot be called, or an argument cannot be sent.
        RuntimeError
            Results cannot be kept: the cluster has no shared memory.

        Examples
        --------
        >>> balanced = rc.load_balanced_view()
        >>> numbers = balanced.submit(list, range(4), keep=True)
        >>> balanced.submit(sum, numbers).get()                      # `numbers` itself never comes to this process
        6
        """
        if not keep:
            return self._really_apply(f, args, kwargs, block=False)
        ref = self._really_apply(f, args, kwargs, keep=True)
        result = AsyncResult(
            self.client, ref._call._tasks, lambda content, buffers: ref, fname=getname(f), single=True, owner=True
        )
        result._ref, result._uses = ref, ref._call._uses
        return result

    def _view_for_objects(self, kind):
        return actors.view_of_least_busy(self, kind)

    def map(
        self,
        f: Callable[..., Any],
        *sequences: Iterable[Any],
        block: bool | None = None,
        chunksize: int | None = None,
        ordered: bool = True,
        return_exceptions: bool | None = False,
        label: Any = None,
        ranks: int | tuple[int, int] | Ranks | None = None,
        after: Dependencies = None,
        keep: bool = False,
    ) -> Any:
        """Calls f for each item of the sequences, on free engines.

        Parameters
        ----------
        f : callable
            The function.
        *sequences : iterable
            A sequence for each argument of `f`. The first call to `f` gets the first item of each sequence, the second
            call gets the second items, and so on.
        block : bool, optional
            Whether to wait. Default: the view's flag.
        chunksize : int, optional
            The number of items per message. Default: one if there are few items, else up to 128, which reduces the
            overhead of short calls.
        ordered : bool
            Whether iteration over the result keeps the order of the items. If False, the results are in the order of
            their arrival.
        return_exceptions : bool, optional
            Whether exceptions are returned as items of the result. If True, each item is sent in a
            separate message.
        label : Any, optional
            A label that the controller records with the requests. Default: the view's flag.
        ranks : int, (int, int) or Ranks, optional
            How many engines of one MPI world run each call together. Default: the view's flag.
        after : AsyncResult, str, Dependency or list of them, optional
            Results, or ids of requests, that must have succeeded before the calls run. If the calls should also run
            after requests that failed, pass a Dependency with `failure=True`. Default: the view's flag.
        keep : bool
            Whether the results stay on the hosts of their engines. If True, map() returns a list of Refs at once. Each
            item is a task of its own, which waits only for the Refs in its own arguments.

        Returns
        -------
        AsyncMapResult or list
            A list if the call waits or `keep` is set, else an AsyncMapResult.

        Raises
        ------
        ValueError
            `chunksize` is not a number of at least 1, or `after` is not a valid dependency.
        TypeError
            No sequence is given, or `keep` is combined with `block`, `chunksize`, `ordered` or `return_exceptions`.
        RuntimeError
            Results cannot be kept: the cluster has no shared memory.

        Examples
        --------
        >>> balanced = rc.load_balanced_view()
        >>> balanced.map(abs, [-1, 2, -3], block=True)
        [1, 2, 3]
        >>> first = balanced.submit(abs, -1)
        >>> balanced.map(abs, [-4, 5], after=first, block=True)
        [4, 5]
        >>> lists = balanced.map(list, ["ab", "cde"], keep=True)
        >>> balanced.map(len, lists, block=True)                     # the lists themselves stay on the engines
        [2, 3]
        """
        if keep:
            if not sequences or block or chunksize or not ordered or return_exceptions:
                raise TypeError(
                    "map(keep=True) needs a sequence, and takes no `block`, `chunksize`, `ordered` or "
                    "`return_exceptions`: it returns at once, with one Ref for each item"
                )
            return [
                self._really_apply(f, call, label=label, ranks=ranks, after=after, keep=True) for call in zip(*sequences)
            ]
        if chunksize is not None and (not isinstance(chunksize, int) or chunksize < 1):
            raise ValueError(f"chunksize must be a number from 1 on, or None, not {chunksize!r}")
        function = ParallelFunction(
            self,
            f,
            block=self._flag("block", block),
            chunksize=chunksize or (1 if return_exceptions else None),
            ordered=ordered,
            return_exceptions=return_exceptions,
            label=self._flag("label", label),
            ranks=self._flag("ranks", ranks),
            after=self._flag("after", after),
        )
        return function.map(*sequences)

    def _map_parts(self, f, sequences, function):
        """Cuts the sequences into parts and sends the parts as tasks. `function` is the
        ParallelFunction that is called."""
        uuids, forms = self._candidates(self.targets)
        count = min(len(each) for each in sequences)
        ranks = ranks_of(self.ranks)
        at_once = len(self) if ranks is None else max(1, len(self) // ranks.least)
        bounds = partition.chunks(count, at_once, function.chunksize)
        parts = [
            [partition.cut(each, first, behind) for each in sequences] for first, behind in bounds
        ]
        with gathered() as refs:
            works = function.requests_for(f, parts, forms)
        tasks, uses, _ = self._submit(
            works,
            refs,
            self.after,
            self.follow,
            self.timeout,
            uuids,
            self.retries,
            self.label,
            ranks,
        )
        return tasks, None, [behind - first for first, behind in bounds], uses

    def imap(
        self,
        f: Callable[..., T],
        *sequences: Iterable[Any],
        ordered: bool = True,
        max_outstanding: int | Literal["auto"] = "auto",
        return_exceptions: bool | None = False,
        ranks: int | tuple[int, int] | Ranks | None = None,
    ) -> LazyMapIterator[T]:
        """Calls f for each item of the sequences, which are read while results arrive and may be infinite.

        Parameters
        ----------
        f : callable
            The function.
        *sequences : iterable
            A sequence for each argument of `f`. The first call to `f` gets the first item of each sequence, the second
            call gets the second items, and so on.
        ordered : bool
            Whether the results are in the order of the items. If False, the results are in the order of their arrival.
        max_outstanding : int or "auto"
            The number of calls that may be outstanding (sent, but not answered) at the same time. "auto" means one call
            for each engine. 0 means any number of calls, so the sequences are read at once.
        return_exceptions : bool, optional
            Whether exceptions are returned as items of the result instead of being raised.
        ranks : int, (int, int) or Ranks, optional
            How many engines of one MPI world run each call together. Default: the view's flag.

        Returns
        -------
        iterator
            The results.

        Raises
        ------
        ValueError
            `max_outstanding` is not a number of at least 0, or `ranks` is not a valid number of engines.
        TypeError
            No sequence is given.

        Examples
        --------
        >>> import itertools
        >>> squares = rc.load_balanced_view().imap(lambda i: i * i, itertools.count())
        >>> [next(squares) for _ in range(5)]
        [0, 1, 4, 9, 16]
        >>> squares.cancel()
        """
        if not sequences:
            raise TypeError("a map needs at least one sequence")
        options = {"ordered": ordered, "max_outstanding": max_outstanding, "return_exceptions": return_exceptions}
        wanted = ranks_of(self.ranks if ranks is None else ranks)
        sender = MapOfExecutor(lambda f, *call: self._really_apply(f, call, block=False, ranks=wanted))
        return lazy_map(self, f, zip(*sequences), of_executor=sender, **options)

    def register_joblib_backend(self, name: str | None = None, make_default: bool = False) -> None:
        """Registers this view as a joblib backend: ``Parallel(backend=name)``.

        Parameters
        ----------
        name : str, optional
            The name of the backend. Default: "polyxeus", and "ipyparallel" if no other backend has that name.
        make_default : bool
            Whether joblib uses this backend in this process for calls that name no backend.
        """
        from polyxeus.views import joblib_backend

        joblib_backend.register_view(self, name, make_default)


def _sent_again(send, work, refs, engines):
    return send([work], refs, engines)


def _render_dependency(dependency):
    """Returns the dependency of a task in the form that messages use. Raises TypeError or ValueError if the value is
    not a dependency."""
    if dependency is None:
        return []
    if isinstance(dependency, Dependency):
        return dependency.as_dict()
    if isinstance(dependency, AsyncResult):
        return list(dependency.msg_ids)
    if isinstance(dependency, dict):
        return Dependency(dependency).as_dict()
    try:
        return list(Dependency(dependency))
    except TypeError as problem:
        raise ValueError(
            f"after and follow take results, msg_ids, lists of them or a Dependency: {problem}"
        ) from None


def _after_also(after, ids):
    """Returns a dependency that requires `after` and the success of the tasks with these ids.
    Raises ValueError if `after` does not require the success of all its requests, because no single
    dependency can then express both conditions."""
    if not ids:
        return after
    rendered = _render_dependency(after)
    if isinstance(rendered, dict):
        if (rendered["all"], rendered["success"], rendered["failure"]) != (True, True, False):
            raise ValueError(
                "after is a Dependency that does not wait for the success of all its requests, and the arguments have Refs that "
                "are not ready: wait for these Refs first"
            )
        rendered = rendered["dependencies"]
    return [*rendered, *ids]


def _checked_timeout(timeout):
    if timeout is None:
        return 0.0
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)):
        raise TypeError(f"timeout must be a number of seconds, not {timeout!r}")
    if timeout < 0:
        raise ValueError(f"timeout must not be negative, but is {timeout}")
    return float(timeout)
