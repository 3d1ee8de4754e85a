"""The methods that all views have."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Callable, Iterable

from polyxeus.counted import counted
from polyxeus.results.async_result import AsyncResult
from polyxeus.results.history import History
from polyxeus.results.html_parts import paragraph
from polyxeus.results.map_result import AsyncMapResult
from polyxeus.serialize import requests
from polyxeus.trace import recording
from polyxeus.views import actors
from polyxeus.views.executor import ViewExecutor
from polyxeus.views.remote_functions import getname, parallel, remote

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing_extensions import Self, Unpack
    from polyxeus.client.client import Client
    from polyxeus.hints import P, T, Dist, Flags, SomeRequests, Targets, ViewFlags
    from polyxeus.views.actors import Actor
    from polyxeus.views.remote_functions import ParallelFunction, RemoteFunction

__all__ = ["View"]


class View:
    """The base class of DirectView, LoadBalancedView and BroadcastView.

    Parameters
    ----------
    client : Client
        The connection.
    targets : int, list of int or "all", optional
        The engines.
    **flags : Any
        The flags of the view, by their names.

    Attributes
    ----------
    block : bool
        Whether methods wait for results. If False, the methods return an AsyncResult.
    track : bool
        Accepted, but without effect. You may change arrays of at least 256 KiB after AsyncResult.wait_for_send() has
        returned, and smaller arrays as soon as the method that sends them returns.
    targets : int, list of int or "all"
        The engines.
    label : Any
        A string, or any other value that JSON can represent. The controller records this label with each request.
    history : list of str
        The ids of the requests of this view.
    """

    _flag_names = ["targets", "block", "track", "label"]

    def __init__(self, client: Client, targets: Any = None, **flags: Unpack[ViewFlags]) -> None:
        self.client = client
        self.block = client.block
        self.track = False
        self.label: Any = None
        self.targets = targets
        self.history = History(lambda: client.outstanding)
        self.results = client.results
        self._executor: ViewExecutor | None = None
        self._outstanding_maps: set[Any] = set()  # the maps of imap() and of executors that still read their input
        self.set_flags(**flags)

    def __repr__(self):
        targets = str(self.targets)
        if len(targets) > 16:
            targets = targets[:12] + "...]"
        return f"<{type(self).__name__} {targets}>"

    def _repr_html_(self):
        targets = self.targets
        ids = None  # None: all engines
        if isinstance(targets, int):
            ids = [targets]
        elif isinstance(targets, (list, tuple, range)):
            ids = list(targets)
        flags = "".join(f", {name} {getattr(self, name)!r}" for name in ("block", "label") if getattr(self, name))
        said = f"{self!r}: {counted(len(self.outstanding), 'unanswered request')}{flags}"
        return paragraph(said) + self.client._engines_html(ids)

    def __len__(self) -> int:
        if isinstance(self.targets, (list, tuple)):
            return len(self.targets)
        return 1 if isinstance(self.targets, int) else len(self.client)

    @property
    def executor(self) -> ViewExecutor:
        """The concurrent.futures executor on this view.

        After you shut the executor down, this attribute is a new executor.

        Examples
        --------
        >>> with rc[0].executor as executor:
        ...     executor.submit(pow, 2, 3).result()
        8
        """
        if self._executor is None or self._executor._is_shut_down:
            self._executor = ViewExecutor(self)
        return self._executor

    @property
    def outstanding(self) -> set[str]:
        """The ids of the requests of this view that have no answer yet.

        Examples
        --------
        >>> pending = view.apply_async(pow, 2, 3)
        >>> view.wait(timeout=10)
        True
        >>> view.outstanding
        set()
        """
        return self.client.outstanding.intersection(self.history)

    # ------------------------------------------------------------ flags

    def set_flags(self, **kwargs: Unpack[Flags]) -> Self:
        """Sets several flags at once.

        Parameters
        ----------
        **kwargs : Any
            Flags and their values.

        Returns
        -------
        View
            This view.

        Raises
        ------
        KeyError
            A flag is unknown.
        TypeError
            A value is of a wrong type.

        Examples
        --------
        >>> view.set_flags(block=True, label="first").apply(pow, 2, 3)
        [8, 8, 8, 8]
        """
        for name, value in kwargs.items():
            if name not in self._flag_names:
                raise KeyError(
                    f"unknown flag {name!r} of {type(self).__name__}; its flags are "
                    f"{', '.join(self._flag_names)}"
                )
            if name in ("block", "track") and not isinstance(value, (bool, type(None))):
                raise TypeError(f"{name} must be True or False, not {value!r:.80}")
            setattr(self, name, value)
        return self

    @contextmanager
    def temp_flags(self, **kwargs: Unpack[Flags]) -> Iterator[None]:
        """Sets flags during a `with` statement.

        Parameters
        ----------
        **kwargs : Any
            Flags and their values.

        Yields
        ------
        None
            Nothing.

        Raises
        ------
        KeyError
            A flag is unknown.

        Examples
        --------
        >>> with view.temp_flags(block=True):
        ...     view.apply(pow, 2, 3)
        [8, 8, 8, 8]
        """
        saved = {name: getattr(self, name) for name in self._flag_names}
        self.set_flags(**kwargs)
        try:
            yield
        finally:
            self.set_flags(**saved)

    def _flag(self, name, given):
        return getattr(self, name) if given is None else given

    def _note(self, tasks):
        """Adds the requests to the history."""
        if recording.recorders and (now := recording.begin()) is not None:
            recording.end("sent", "sent", now)
        msg_ids = tasks.msg_ids()
        self.client.history.extend(msg_ids)
        self.history.extend(msg_ids)
        return msg_ids

    @staticmethod
    def _finish(result, block):
        """Returns the AsyncResult, or its value if the caller waits for it."""
        return result.get() if block else result

    # ------------------------------------------------------------ calls

    def _really_apply(self, f, args=(), kwargs=None, block=None, **options):
        raise NotImplementedError("use a DirectView, a LoadBalancedView or a BroadcastView")

    def apply(self, f: Callable[P, Any], /, *args: P.args, **kwargs: P.kwargs) -> Any:
        """Calls f(*args, **kwargs) on the engines, and waits for the result if the view's flag `block` is set.

        Parameters
        ----------
        f : callable
            The function. A function that is defined in a cell or script is sent together with the
            functions, classes and small data that it uses.
        *args : Any
            The arguments of this function.
        **kwargs : Any
            The keyword arguments of this function.

        Returns
        -------
        AsyncResult or its result
            The result if `block` is set, else an AsyncResult.

        Raises
        ------
        TypeError
            `f` cannot be called, or an argument cannot be sent.
        RemoteError
            The call failed on the view's only engine. Only a call that waits for its result raises
            this error.
        CompositeError
            The call failed on some of the view's engines. Only a call that waits for its result
            raises this error.
        """
        return self._really_apply(f, args, kwargs)

    def apply_async(self, f: Callable[P, Any], /, *args: P.args, **kwargs: P.kwargs) -> AsyncResult[Any]:
        """Calls f(*args, **kwargs) on the engines, and returns at once.

        Parameters
        ----------
        f : callable
            The function. A function that is defined in a cell or script is sent together with the
            functions, classes and small data that it uses.
        *args : Any
            The arguments of this function.
        **kwargs : Any
            The keyword arguments of this function.

        Returns
        -------
        AsyncResult
            The result, which may not have arrived yet.

        Raises
        ------
        TypeError
            `f` cannot be called, or an argument cannot be sent.

        Examples
        --------
        >>> pending = view.apply_async(pow, 2, 3)
        >>> pending.get(timeout=10)
        [8, 8, 8, 8]
        """
        return self._really_apply(f, args, kwargs, block=False)

    def apply_sync(self, f: Callable[P, Any], /, *args: P.args, **kwargs: P.kwargs) -> Any:
        """Calls f(*args, **kwargs) on the engines, and waits for the result.

        Parameters
        ----------
        f : callable
            The function. A function that is defined in a cell or script is sent together with the
            functions, classes and small data that it uses.
        *args : Any
            The arguments of this function.
        **kwargs : Any
            The keyword arguments of this function.

        Returns
        -------
        Any
            One result, or a list with the result of each engine.

        Raises
        ------
        TypeError
            `f` cannot be called, or an argument cannot be sent.
        RemoteError
            The call failed on the view's only engine.
        CompositeError
            The call failed on some of the view's engines.

        Examples
        --------
        >>> view.apply_sync(pow, 2, 3)
        [8, 8, 8, 8]
        """
        return self._really_apply(f, args, kwargs, block=True)

    def apply_ref(self, f: Callable[P, Any], /, *args: P.args, **kwargs: P.kwargs) -> Any:
        """Calls f(*args, **kwargs) on the engines, and returns at once. The results stay on the engines' hosts.

        Parameters
        ----------
        f : callable
            The function.
        *args : Any
            The arguments of this function. On the engine, each Ref in the arguments, at any depth,
            is replaced by the Ref's value.
        **kwargs : Any
            The keyword arguments of this function.

        Returns
        -------
        Ref or list of Ref
            References to the results, for the arguments of further calls; a list for several engines.

        Raises
        ------
        TypeError
            `f` cannot be called, or an argument cannot be sent.
        RuntimeError
            Results cannot be kept: the cluster has no shared memory.

        Examples
        --------
        >>> numbers = rc[0].apply_ref(list, range(4))
        >>> rc[1].apply_sync(sum, numbers)
        6
        """
        return self._really_apply(f, args, kwargs, keep=True)

    def spawn(self, kind: Callable[..., Any] | str, /, *args: Any, respawn: bool = False, **kwargs: Any) -> Actor:
        """Makes an object kind(*args, **kwargs) on each engine of the view, and returns a proxy that calls its methods.

        A balanced view makes one object, on the engine that has the fewest unfinished requests at
        the time of the call. If several engines have equally few requests, the view chooses the
        engine with the fewest objects of this client.

        Parameters
        ----------
        kind : callable or str
            The class, or a function that makes the object. On C++ engines: the name of a C++ class that a cell has
            defined there, such as ``"Counter"`` or ``"std::vector<double>"``.
        *args : Any
            The arguments of the constructor.
        respawn : bool
            Whether to make the object again when its engine has died and was restarted with the same id. The next call
            then makes the object, by its constructor or from the last `checkpoint()`. `respawn` is not passed to
            `kind`.
        **kwargs : Any
            The keyword arguments of the constructor.

        Returns
        -------
        Actor
            The proxy. The constructor runs before the first call; ``actor.spawned`` is the AsyncResult of the
            constructor.

        Raises
        ------
        TypeError
            `kind` cannot be called or sent, or an engine of the view runs another language.
        RemoteError
            The view's `block` is set, and the constructor failed.

        Examples
        --------
        >>> class Counter:
        ...     def __init__(self, n):
        ...         self.n = n
        ...     def add(self, k):
        ...         self.n += k
        ...         return self.n
        >>> view.spawn(Counter, 5).add(1).get()
        [6, 6, 6, 6]
        >>> rc.load_balanced_view().spawn(Counter, 5).add(1).get()
        6
        """
        return actors.spawn(self, self._view_for_objects(kind), kind, args, kwargs, respawn)

    def _view_for_objects(self, kind):
        """Returns a direct view of the engines on which spawn() makes objects of this class. Subclasses implement
        this method."""
        raise NotImplementedError("use a DirectView, a LoadBalancedView or a BroadcastView")

    def _new_key(self, forms, each):
        """Returns a tuple for a result that stays on its engine: the result's Key, and the member
        `keep` of the request. `each` says whether several engines may get the request."""
        if "pickle" not in forms:
            raise TypeError("C++ engines cannot keep results for other calls")
        kept = self.client._kept_results
        key = kept.new_key()
        return key, kept.request(key, each)

    # ------------------------------------------------------------ maps

    def map(self, f: Callable[..., Any], *sequences: Iterable[Any], **kwargs: Any):
        """Calls f for each item of the sequences. Each class of views implements this method.

        Parameters
        ----------
        f : callable
            The function.
        *sequences : iterable
            A sequence for each argument of `f`. The first call to `f` gets the first item of each sequence, the second
            call gets the second items, and so on.
        **kwargs : Any
            Options of the map() of this view's class.
        """
        raise NotImplementedError("use a DirectView, a LoadBalancedView or a BroadcastView")

    def map_async(self, f: Callable[..., T], *sequences: Iterable[Any], **kwargs: Any) -> AsyncMapResult[T]:
        """Calls f for each item of the sequences, and returns at once.

        Parameters
        ----------
        f : callable
            The function.
        *sequences : iterable
            A sequence for each argument of `f`. The first call to `f` gets the first item of each sequence, the second
            call gets the second items, and so on.
        **kwargs : Any
            Options of the map() of this view's class.

        Returns
        -------
        AsyncMapResult
            The results. Each result is available as soon as it has arrived.

        Raises
        ------
        TypeError
            No sequence is given, or `block` is given.

        Examples
        --------
        >>> view.map_async(pow, [2, 3], [5, 2]).get()
        [32, 9]
        """
        self._refuse_block("map_async", kwargs)
        return self.map(f, *sequences, block=False, **kwargs)

    def map_sync(self, f: Callable[..., T], *sequences: Iterable[Any], **kwargs: Any) -> list[T]:
        """Calls f for each item of the sequences, and waits for the results.

        Parameters
        ----------
        f : callable
            The function.
        *sequences : iterable
            A sequence for each argument of `f`. The first call to `f` gets the first item of each sequence, the second
            call gets the second items, and so on.
        **kwargs : Any
            Options of the map() of this view's class.

        Returns
        -------
        list
            The results, in the order of the items.

        Raises
        ------
        TypeError
            No sequence is given, or `block` is given.
        CompositeError
            The call failed for some items.

        Examples
        --------
        >>> view.map_sync(pow, [2, 3], [5, 2])
        [32, 9]
        """
        self._refuse_block("map_sync", kwargs)
        return self.map(f, *sequences, block=True, **kwargs)

    def imap(self, f: Callable[..., T], *sequences: Iterable[Any], **kwargs: Any) -> Iterator[T]:
        """Calls f for each item of the sequences, and returns an iterator over the results.

        Parameters
        ----------
        f : callable
            The function.
        *sequences : iterable
            A sequence for each argument of `f`. The first call to `f` gets the first item of each sequence, the second
            call gets the second items, and so on.
        **kwargs : Any
            Options of the map() of this view's class.

        Returns
        -------
        iterator
            The results.

        Examples
        --------
        >>> list(view.imap(abs, [-1, 2, -3]))
        [1, 2, 3]
        """
        return iter(self.map_async(f, *sequences, **kwargs))

    @staticmethod
    def _refuse_block(method, kwargs):
        if "block" in kwargs:
            raise TypeError(f"{method}() does not take `block`: use apply() or map() with block=")

    def remote(
        self, block: bool | None = None, **flags: Any
    ) -> Callable[[Callable[..., Any]], RemoteFunction]:
        """Makes a decorator. Calls to the decorated function run on the engines.

        Parameters
        ----------
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
        >>> @view.remote(block=True)
        ... def power(a, b):
        ...     return a ** b
        >>> power(2, 3)
        [8, 8, 8, 8]
        """
        return remote(self, block=self._flag("block", block), **flags)

    def parallel(
        self, dist: Dist = "b", block: bool | None = None, **flags: Any
    ) -> Callable[[Callable[..., Any]], ParallelFunction]:
        """Makes a decorator. A call to the decorated function runs it on each engine with one part of each argument.

        Parameters
        ----------
        dist : {"b", "r"}
            "b": each engine gets one block of the items; "r": engine i of n gets the items i, i+n, i+2n ...
        block : bool, optional
            Whether calls wait for the result. Default: the view's flag.
        **flags : Any
            Flags of the view that are set during each call.

        Returns
        -------
        callable
            The decorator, which makes a ParallelFunction.

        Examples
        --------
        >>> @view.parallel(block=True)
        ... def squares(numbers):
        ...     return [each * each for each in numbers]
        >>> squares(range(6))
        [0, 1, 4, 9, 16, 25]
        """
        return parallel(self, dist=dist, block=self._flag("block", block), **flags)

    # ------------------------------------------------------------ control messages and queries

    def spin(self) -> None:
        """Does nothing, because results arrive without this call.

        This method exists for programs that were written for ipyparallel.
        """

    def wait(self, jobs: SomeRequests = None, timeout: float | None = -1) -> bool:
        """Waits until requests are answered.

        Parameters
        ----------
        jobs : AsyncResult, str, int or list of them, optional
            AsyncResults, ids of requests, or indices into the history. Default: all requests of this view.
        timeout : float, optional
            Seconds to wait. None or a negative number means no limit.

        Returns
        -------
        bool
            True if all requests are answered.

        Examples
        --------
        >>> pending = view.apply_async(pow, 2, 3)
        >>> view.wait(pending, timeout=10)
        True
        """
        return self.client.wait(self.history if jobs is None else jobs, timeout)

    def abort(
        self, jobs: SomeRequests = None, targets: Targets = None, block: bool | None = None
    ) -> AsyncResult[Any] | None:
        """Cancels requests that have not started. The cancelled requests fail with TaskAborted.

        Parameters
        ----------
        jobs : AsyncResult, str or list of them, optional
            AsyncResults or ids of requests. Default: all requests of this view that have no answer yet.
        targets : int, slice, list of int or "all", optional
            The engines on which the requests are cancelled. Default: all engines of the view.
        block : bool, optional
            Whether to wait until the engines have received the message that cancels the requests.
            Default: the view's flag.

        Returns
        -------
        AsyncResult or None
            None if the call waits, else an AsyncResult.
        """
        jobs = list(self.outstanding) if jobs is None else jobs
        return self.client.abort(
            jobs, targets=self._flag("targets", targets), block=self._flag("block", block)
        )

    def queue_status(self, targets: Targets = None, verbose: bool = False) -> dict[Any, Any]:
        """Returns how many requests wait at the engines.

        Parameters
        ----------
        targets : int, slice, list of int or "all", optional
            The engines. Default: all engines of the view.
        verbose : bool
            Whether the ids of the requests are returned instead of their number.

        Returns
        -------
        dict
            A dict for each engine, by its id: ``{0: {"queue": 2, "completed": 5, "tasks": 0}, ...}``.
        """
        return self.client.queue_status(self._flag("targets", targets), verbose=verbose)

    def purge_results(self, jobs: Any = (), targets: Any = ()) -> None:
        """Deletes results in the client and in the controller.

        Parameters
        ----------
        jobs : AsyncResult, str, int, list of them or "all"
            AsyncResults, ids of requests, or indices into the history.
        targets : int, list of int or "all"
            Engines, all of whose results the controller deletes.

        Raises
        ------
        RuntimeError
            One of the requests has no answer yet.
        ValueError
            Neither `jobs` nor `targets` is given.
        """
        if targets is None or targets == "all":
            targets = self.targets
        return self.client.purge_results(jobs=jobs, targets=targets)

    def shutdown(
        self, targets: Targets = None, restart: bool = False, hub: bool = False, block: bool | None = None
    ) -> None:
        """Ends the engines.

        Parameters
        ----------
        targets : int, slice, list of int or "all", optional
            The engines. Default: all engines of the view.
        restart : bool
            Not supported: use Client.restart_engines() instead.
        hub : bool
            Whether the controller ends, too. If the controller ends, all engines end, and the client is closed.
        block : bool, optional
            Whether to wait until the engines have ended. Default: the view's flag.
        """
        if targets is None or targets == "all":
            targets = self.targets
        return self.client.shutdown(
            targets, restart=restart, hub=hub, block=self._flag("block", block)
        )

    def get_result(
        self, indices_or_msg_ids: SomeRequests = None, block: bool | None = None, owner: bool = False
    ) -> AsyncResult[Any]:
        """Returns the results of requests.

        Parameters
        ----------
        indices_or_msg_ids : str, int, AsyncResult or list of them, optional
            Ids of requests, or indices into this view's history. Default: the last request of this view; if the view
            has several engines, this is the request to the last engine.
        block : bool, optional
            Whether to wait for the results. Default: the client's `block`.
        owner : bool
            If True, results that come from the controller's records are not stored in the client's `results`.

        Returns
        -------
        AsyncResult
            The results.

        Raises
        ------
        IndexError
            The history has no item with this index.

        Examples
        --------
        >>> pending = view.apply_async(pow, 2, 3)
        >>> view.get_result(pending.msg_ids).get()
        [8, 8, 8, 8]
        """
        jobs = -1 if indices_or_msg_ids is None else indices_or_msg_ids
        if isinstance(jobs, int):
            jobs = self.history[jobs]
        elif isinstance(jobs, (list, tuple, set)):
            jobs = [self.history[job] if isinstance(job, int) else job for job in jobs]
        return self.client.get_result(jobs, block=block, owner=owner)


def label_text(label: Any):
    """Returns the label as JSON text. Raises a TypeError if JSON cannot represent the label."""
    if label is None:
        return "null"
    try:
        return requests.dump(label)
    except (TypeError, ValueError):
        raise TypeError(f"a label must be text, numbers or lists of them, not {label!r}") from None


__all__ += ["getname", "label_text"]
