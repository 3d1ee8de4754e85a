"""The connection to a cluster."""

from __future__ import annotations

import json
import os
import time
import warnings
import weakref
from collections import defaultdict
from collections.abc import Iterable
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Literal, NoReturn, overload

from polyxeus import _client, activation, error
from polyxeus.client.argument_checks import check_kinds, unknown_option
from polyxeus.client.debugging import Debugging
from polyxeus.client.methods.cluster_commands import ClusterCommands
from polyxeus.client.methods.engine_control import EngineControl
from polyxeus.client.methods.hub_queries import HubQueries
from polyxeus.client.methods.published import PublishedResults
from polyxeus.client.methods.sight import Sight
from polyxeus.client.wait_for_engines import wait_for_engines
from polyxeus.client.walltime.client_jobs import ClientJobs
from polyxeus.counted import counted
from polyxeus.results.async_result import AsyncResult
from polyxeus.results.callers_traceback import ends_at_caller
from polyxeus.results.comms import relay_comms
from polyxeus.results.completion import close_at_exit
from polyxeus.results.failed_cells import show_failures_of_cells
from polyxeus.results.history import History
from polyxeus.results.kept_results import KeptResults
from polyxeus.results.metadata import MetadataByRequest
from polyxeus.results.slices import left, slices
from polyxeus.results.transfer_line import TransferLine
from polyxeus.serialize.values import FORMS, NO_PICKLE
from polyxeus.trace import recording
from polyxeus.views.actor_home import free_objects_of
from polyxeus.views.balanced_view import LoadBalancedView
from polyxeus.views.direct_view import BroadcastView, DirectView
from polyxeus.views.executor import ViewExecutor
from polyxeus.views.gang_view import GangView

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing_extensions import Self, Unpack
    from polyxeus.cluster.cluster import Cluster
    from polyxeus.hints import BalancedViewFlags, SomeRequests, Targets, ViewFlags
    from polyxeus.views.ranks import Ranks

__all__ = ["Client"]

_ANSWER_TIMEOUT = 10.0  # seconds; the default
_LOOK_INTERVAL = 1.0  # seconds between checks for engines that do not answer


class Client(HubQueries, EngineControl, ClusterCommands, Sight, PublishedResults, ClientJobs, Debugging):
    """A connection to one cluster. The client makes views, and views run code on the engines.

    ``client[0]``, ``client[:]``, ``client[::2]`` and ``client[[0, 3]]`` are DirectViews. ``len(client)`` is the number
    of engines. As a context manager, a client closes itself at the end of the `with` block.

    Parameters
    ----------
    connection_info : str, path or dict, optional
        The path of a connection file, or its content as a dict. Default: the connection file of the
        profile.
    url_file : str, optional
        The same as `connection_info`. ipyparallel uses this name.
    profile : str, optional
        The profile whose connection file is used. Default: the profile that the environment
        variables IPP_PROFILE_DIR, IPP_CLUSTER_ID and IPYTHONDIR name, or else "default".
    profile_dir : str or path, optional
        The folder of the profile, instead of its name.
    ipython_dir : str or path, optional
        The folder of the profiles.
    context : zmq.Context, optional
        Accepted with a warning, but not used: the C++ library makes the sockets.
    debug : bool
        Accepted with a warning, but not used: start ``pxcontroller --debug`` to log the messages.
    sshserver : str, optional
        "[user@]host[:port]": a host to tunnel through. Default: the host in the connection file, if the controller
        cannot be reached without a tunnel.
    sshkey : str or path, optional
        A file with the private key for ssh. Default: the keys that ssh finds.
    password : str, optional
        Not supported: log in with a key.
    paramiko : bool, optional
        Accepted with a warning, but not used: OpenSSH makes the tunnels.
    timeout : float, optional
        Seconds to wait for the connection file, and then for the controller's answer. Default: 10
        seconds for the answer. By default, the client waits for the connection file only while
        ``pxcluster start`` is running.
    cluster_id : str, optional
        The id of the cluster, if the profile has several clusters.
    cluster : Cluster, optional
        The Cluster that this client belongs to.
    **extra_args : Any
        ``url_or_file`` is the same as `connection_info`. Any other name causes a TypeError.

    Attributes
    ----------
    block : bool
        Whether the methods of views wait for results. A new value of `block` applies only to views
        that this client makes afterwards.
    cluster : Cluster or None
        The object that was passed as `cluster`.
    history : list of str
        The ids of all requests of this client, oldest first.
    metadata : dict
        Maps the id of each request to its Metadata.
    results : dict
        Maps the ids of requests to the results that this client stores.

    Raises
    ------
    OSError
        No cluster runs, or the connection file does not exist.
    ConnectionError
        The controller does not answer, or does not accept the connection.
    ValueError
        The connection file cannot be read.
    TypeError
        An option is unknown or of a wrong type.

    Examples
    --------
    >>> rc = px.Client(rc.cluster.connection_file)    # px.Client(): that of the default profile
    >>> rc.ids
    [0, 1, 2, 3]
    >>> rc[:].apply_sync(pow, 2, 3)
    [8, 8, 8, 8]
    >>> rc.load_balanced_view().map_sync(abs, [-1, 2])
    [1, 2]
    >>> rc.close()
    """

    def __init__(
        self,
        connection_info: str | os.PathLike[str] | dict[str, Any] | None = None,
        *,
        url_file: str | None = None,
        profile: str | None = None,
        profile_dir: str | None = None,
        ipython_dir: str | None = None,
        context: Any = None,
        debug: bool = False,
        sshserver: str | None = None,
        sshkey: str | None = None,
        password: str | None = None,
        paramiko: bool | None = None,
        timeout: float | None = None,
        cluster_id: str | None = None,
        cluster: Cluster | None = None,
        **extra_args: NoReturn,
    ) -> None:
        self._connection = self._comms = self._kept = None
        for name in ("url_or_file", "url_file"):
            given = url_file if name == "url_file" else extra_args.pop(name, None)
            if given is not None:
                connection_info = given
        file_patience = extra_args.pop("file_patience", timeout)
        if extra_args:
            raise unknown_option(min(extra_args), Client.__init__, "Client")
        if password:
            raise NotImplementedError(
                "passwords for ssh tunnels are not supported: log in with a key (ssh-copy-id, "
                "ssh-add, or sshkey=)"
            )
        check_kinds(
            "Client",
            text=dict(profile=profile, cluster_id=cluster_id, sshserver=sshserver, password=password),
            path=dict(profile_dir=profile_dir, ipython_dir=ipython_dir, sshkey=sshkey),
            flag=dict(debug=debug, paramiko=paramiko),
        )
        if context is not None and not hasattr(context, "socket"):
            raise TypeError(f"context of Client must be a zmq.Context, not {context!r:.80}")
        _warn_of_ignored(context=context is not None, debug=debug, paramiko=paramiko)
        if timeout is None:
            timeout = _ANSWER_TIMEOUT
        if isinstance(timeout, bool) or not isinstance(timeout, (int, float)):
            raise TypeError(f"timeout must be a number of seconds, not {timeout!r:.80}")
        key = _path_of_key(sshkey)
        self.block = False
        self.debug = debug
        self.cluster = cluster
        self.profile = profile or "default"
        self.results: dict[str, Any] = {}
        self._maps = weakref.WeakValueDictionary()  # {msg_id of its first request: map}
        self._known_version, self._known_targets = -1, {}  # see _addressed()
        choice = dict(
            profile=profile or "",
            profile_dir=profile_dir or "",
            ipython_dir=ipython_dir or "",
            cluster_id=cluster_id,
        )
        text, where = _connection_text(connection_info, choice, file_patience)
        self._where, self._connection_text = where, text
        self._connection = _client.Connection(
            text, where, float(timeout), str(sshserver or ""), key
        )
        self.metadata = MetadataByRequest(self._connection.find)
        self.history = History(_unanswered_of(self._connection))
        self._comms = relay_comms(self._connection)
        show_failures_of_cells()
        self._warn()
        self._watch_jobs(must=False)
        close_at_exit(self)
        _activate_first(self)

    def _warn(self):
        """Warns once about each engine whose versions do not match those of other engines or of this Python."""
        for sentence in self._connection.take_warnings():
            warnings.warn(sentence, RuntimeWarning, stacklevel=3)

    # ------------------------------------------------------------ opening and closing

    def close(self, linger: float | None = None) -> None:
        """Closes the connection. Requests without an answer fail; the cluster keeps running.

        Parameters
        ----------
        linger : float, optional
            Accepted, but without effect.

        Examples
        --------
        >>> client = px.Client(rc.cluster.connection_file)
        >>> client.close()
        >>> client
        <Client: the client was closed>
        """
        if self._job_watch is not None:
            self._job_watch.close()
        if self._comms is not None:
            self._comms.close(tells_front_end=True)
        if self._connection is not None and not self._closed:
            free_objects_of(self)
            if self._kept is not None:
                self._kept.close()
        if self._connection is not None:
            self._connection.close()

    @property
    def _kept_results(self):
        """The results that engines keep for this client."""
        if self._kept is None:
            self._kept = KeptResults(self, json.loads(self._connection_text))
        return self._kept

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_problem: object) -> None:
        self.close()

    @property
    def _closed(self):
        return self._connection is None or self._connection.why_closed() is not None

    @property
    def controller_address(self) -> str:
        """The address at which this client reached the controller, like "tcp://10.0.0.1"."""
        return self._connection.interface()

    @property
    def curve_serverkey(self) -> bytes | None:
        """The public key of the controller, with which connections are encrypted.

        The value is None if connections are not encrypted.
        """
        key = json.loads(self._connection_text).get("curve_serverkey")
        return key.encode() if key else None

    curve_publickey = curve_secretkey = None  #: Only the C++ library has the client's own keys.

    def __repr__(self):
        why = self._connection.why_closed()
        return f"<Client: {why}>" if why else f"<Client: {counted(len(self), 'engine')}>"

    def spin(self) -> None:
        """Does nothing, because results arrive without this call.

        This method exists for programs that were written for ipyparallel.
        """

    def spin_thread(self, interval: float = 1) -> None:
        """Does nothing, because results arrive without this call.

        This method exists for programs that were written for ipyparallel.

        Parameters
        ----------
        interval : float
            Accepted, but without effect.
        """

    stop_spin_thread = spin

    # ------------------------------------------------------------ engines and views

    @property
    def _engines(self):
        """The uuids of the registered engines, by their ids: {id: uuid}."""
        return self._connection.engines()

    @property
    def languages(self) -> dict[int, str]:
        """The language of each engine, by its id: "python" or "cpp", or "" for an ipyparallel engine.

        Engines whose language the controller does not know are left out.

        Examples
        --------
        >>> rc.languages
        {0: 'python', 1: 'python', 2: 'python', 3: 'python'}
        """
        return self._connection.languages()

    def _forms(self, ids):
        """Returns the forms of values (serialize/values.py) that all engines in `ids` can read."""
        return NO_PICKLE if any(self._connection.other_languages(ids)) else FORMS

    @property
    def ids(self) -> list[int]:
        """The ids of the engines that are registered, in ascending order.

        Examples
        --------
        >>> rc.ids
        [0, 1, 2, 3]
        """
        return list(self._connection.engines()) if not self._closed else []

    _ids = ids

    def __len__(self) -> int:
        return self._connection.engine_count() if not self._closed else 0

    def __bool__(self) -> Literal[True]:
        return True

    def __iter__(self) -> Iterator[DirectView]:
        for engine_id in self.ids:
            yield self.direct_view(engine_id)

    def __getitem__(self, key: int | slice | tuple[int, ...] | list[int] | range) -> DirectView:
        if isinstance(key, bool) or not isinstance(key, (int, slice, tuple, list, range)):
            raise TypeError(
                f"index a Client with an int, a slice or a list of ints, not with {key!r}"
            )
        return self.direct_view(key)

    def _check_engines(self):
        if not self._connection.engine_count():
            self._connection.check_up()
            if self._wait_for_new_job() and self._connection.engine_count():
                return
            raise error.NoEnginesRegistered("no engine is registered: start some with `pxcluster engines -n 4`")

    def _build_targets(self, targets):
        """Returns (uuids, ids) of the engines that `targets` names."""
        self._check_engines()
        if isinstance(targets, int) and not isinstance(targets, bool):
            chosen = [targets if targets >= 0 else self._nth(targets, self.ids)]
        elif isinstance(targets, (tuple, list, range)):
            chosen = list(targets)
        else:
            return self._all_targets(targets)
        try:
            uuids = self._connection.uuids_of(chosen)
        except TypeError:  # an item is not an int
            uuids = [None]
        if None in uuids:
            ids = self.ids
            missing = next((each for each in chosen if each not in ids), chosen[0])
            raise IndexError(f"there is no engine {missing!r}; {_who_is_there(ids)}")
        return uuids, chosen

    def _addressed(self, targets):
        """Returns (uuids, ids, forms): the result of _build_targets(), and the forms of values that all of these
        engines can read. The client keeps the result until engines join or leave, so callers must not change it."""
        version = self._connection.engines_version()
        if version != self._known_version:
            self._known_version, self._known_targets = version, {}
            if self._job_watch is not None:
                self._job_watch.look()
        if type(targets) is not int and targets is not None:
            return self._address(targets)
        known = self._known_targets.get(targets)
        if known is None:
            known = self._known_targets[targets] = self._address(targets)
        return known

    def _address(self, targets):
        uuids, ids = self._build_targets(targets)
        return uuids, ids, self._forms(ids)

    def _all_targets(self, targets):
        """Returns (uuids, ids) for targets that depend on all engines: "all", None or a slice."""
        engines = self._connection.engines()
        if targets is None or (isinstance(targets, str) and targets.lower() == "all"):
            return list(engines.values()), list(engines)
        if isinstance(targets, slice):
            return list(engines.values())[targets], list(engines)[targets]
        raise TypeError(
            f"targets must be 'all', an int, a slice or a list of ints, not {targets!r}"
        )

    @staticmethod
    def _nth(number, ids):
        """Returns the id that `number` stands for: a negative number counts from the end of `ids`."""
        if number >= 0:
            return number
        if -number > len(ids):
            raise IndexError(f"there is no engine {number}; {_who_is_there(ids)}")
        return ids[number]

    def direct_view(self, targets: Targets = "all", **kwargs: Unpack[ViewFlags]) -> DirectView:
        """Makes a view that runs code on the engines that you name.

        Parameters
        ----------
        targets : int, slice, list of int or "all"
            The engines. "all" means all engines that are registered at the time of each call of the view; ``client[:]``
            means the engines that are registered now.
        **kwargs : Any
            Flags of the view: `block`, `track`, `label`.

        Returns
        -------
        DirectView
            The view.

        Raises
        ------
        IndexError
            One of the engines is not registered.
        NoEnginesRegistered
            There are no engines.
        KeyError
            A flag is unknown.

        Examples
        --------
        >>> rc.direct_view([0, 1]).apply_sync(pow, 2, 3)
        [8, 8]
        """
        single = isinstance(targets, int)
        if not (isinstance(targets, str) and targets == "all"):
            targets = self._build_targets(targets)[1]
        return DirectView(self, targets[0] if single else targets, **kwargs)

    def load_balanced_view(
        self, targets: Targets = None, **kwargs: Unpack[BalancedViewFlags]
    ) -> LoadBalancedView:
        """Makes a view that gives each task to a free engine.

        Parameters
        ----------
        targets : int, slice, list of int or "all", optional
            The engines that may get tasks. Default: all.
        **kwargs : Any
            Flags of the view: `block`, `track`, `label`, `after`, `follow`, `timeout`, `retries`, `ranks`.

        Returns
        -------
        LoadBalancedView
            The view.

        Raises
        ------
        IndexError
            One of the engines is not registered.

        Examples
        --------
        >>> rc.load_balanced_view(retries=2).apply_sync(pow, 2, 3)
        8
        """
        if isinstance(targets, str) and targets == "all":
            targets = None
        if targets is not None:
            targets = self._build_targets(targets)[1]
        return LoadBalancedView(self, targets, **kwargs)

    def broadcast_view(
        self, targets: Targets = "all", is_coalescing: bool = False, **kwargs: Unpack[ViewFlags]
    ) -> BroadcastView:
        """Makes a view that sends one message for each call; the controller copies the message to the view's engines.

        Parameters
        ----------
        targets : int, slice, list of int or "all"
            The engines.
        is_coalescing : bool
            Accepted, but without effect: there is one answer for each engine.
        **kwargs : Any
            Flags of the view: `block`, `track`, `label`.

        Returns
        -------
        BroadcastView
            The view.

        Raises
        ------
        IndexError
            One of the engines is not registered.

        Examples
        --------
        >>> rc.broadcast_view([0, 1]).apply_sync(pow, 2, 3)
        [8, 8]
        """
        view = BroadcastView(self, self._build_targets(targets)[1], **kwargs)
        view.is_coalescing = is_coalescing
        return view

    def gang(self, engines: Iterable[int], name: str = "comm", **kwargs: Unpack[ViewFlags]) -> GangView:
        """Makes a view of some ranks of an MPI world, with a communicator that contains only these ranks.

        The other ranks of the world do not take part. This call waits until the engines of the gang are idle. Several
        gangs may run at the same time.

        Parameters
        ----------
        engines : list of int
            The engines, in the order of the ranks of the new communicator.
        name : str
            The name of the communicator on the engines.
        **kwargs : Any
            Flags of the view: `block`, `track`, `label`.

        Returns
        -------
        GangView
            The view.

        Raises
        ------
        ValueError
            An engine is named twice, `engines` is empty, or `name` cannot be the name of a variable.
        IndexError
            One of the engines is not registered.
        RuntimeError
            The engines are not ranks of one MPI world.

        Examples
        --------
        >>> gang = rc.gang([0, 1, 4])    # doctest: +SKIP
        >>> gang.apply_sync(lambda: comm.allreduce(comm.rank))    # doctest: +SKIP
        [3, 3, 3]
        """
        return GangView(self, engines, name, **kwargs)

    def executor(
        self,
        targets: Targets = None,
        *,
        initializer: Callable[..., Any] | None = None,
        initargs: tuple[Any, ...] = (),
        ranks: int | tuple[int, int] | Ranks | None = None,
    ) -> ViewExecutor:
        """Makes a concurrent.futures executor on a load-balanced view.

        Parameters
        ----------
        targets : int, slice, list of int or "all", optional
            The engines that may get tasks. Default: all.
        initializer : callable, optional
            A function that is called once on each engine, before the first task runs there.
        initargs : tuple
            The arguments of `initializer`.
        ranks : int, (int, int) or Ranks, optional
            The number of engines of one MPI world that run each call together; a pair is the smallest and the largest
            number. Default: 1. A px.Ranks among the arguments of a call overrides this number.

        Returns
        -------
        ViewExecutor
            The executor.

        Examples
        --------
        >>> with rc.executor() as executor:
        ...     executor.submit(pow, 2, 3).result()
        8
        """
        return ViewExecutor(self.load_balanced_view(targets, ranks=ranks), initializer, initargs)

    def activate(self, targets: Targets = "all", suffix: str = "") -> DirectView:
        """Defines the magics %px, %%px, %autopx and polyxeus's other magics in IPython.

        Parameters
        ----------
        targets : int, slice, list of int or "all"
            The engines on which the magics work.
        suffix : str
            A suffix for the names of the magics: ``activate([0], "0")`` defines %px0.

        Returns
        -------
        DirectView
            The view that the magics use.
        """
        view = self.direct_view(targets)
        view.block = True
        view.activate(suffix)
        return view

    @overload
    def wait_for_engines(
        self, n: int | None = None, *, timeout: float | None = -1, block: Literal[True] = True,
        interactive: bool | None = None, widget: bool | None = None,
    ) -> None: ...  # fmt: skip

    @overload
    def wait_for_engines(
        self, n: int | None = None, *, timeout: float | None = -1, block: Literal[False],
        interactive: bool | None = None, widget: bool | None = None,
    ) -> Future[None]: ...  # fmt: skip

    def wait_for_engines(
        self,
        n: int | None = None,
        *,
        timeout: float | None = -1,
        block: Any = True,
        interactive: bool | None = None,
        widget: bool | None = None,
    ) -> Any:
        """Waits until n engines are registered.

        Parameters
        ----------
        n : int, optional
            The number of engines. Default: the number with which the cluster was started.
        timeout : float, optional
            Seconds to wait. None or a negative number means no limit.
        block : bool
            Whether to wait. If False, the call returns a Future at once.
        interactive : bool, optional
            Whether a progress bar is shown. Default: True in IPython, else False.
        widget : bool, optional
            Whether the bar is a notebook widget. Default: True in notebooks with ipywidgets, else False.

        Returns
        -------
        None or Future
            A Future, if `block` is False.

        Raises
        ------
        TimeoutError
            The engines are not registered in time.
        EngineError
            An engine was unregistered during the wait, or the engines of the cluster have exited.
        ConnectionError
            The connection is closed.
        TypeError
            `n` is not given, and the size of the cluster is not known.

        Examples
        --------
        >>> rc.wait_for_engines(4, timeout=30)
        """
        return wait_for_engines(self, n, timeout, block, interactive, widget)

    # ------------------------------------------------------------ waiting

    @property
    def outstanding(self) -> set[str]:
        """The ids of the requests of this client that have no answer yet.

        Examples
        --------
        >>> rc.wait()
        True
        >>> rc.outstanding
        set()
        """
        return set() if self._closed else set(self._connection.outstanding().msg_ids())

    @property
    def _outstanding_dict(self):
        """The ids of unanswered requests, by the uuid of the engine."""
        found = defaultdict(set)
        tasks = self._connection.outstanding()
        for index in range(len(tasks)):
            known = tasks.metadata(index)
            found[known["engine_uuid"]].add(known["msg_id"])
        return found

    def wait(self, jobs: Any = None, timeout: float | None = -1) -> bool:
        """Waits until requests are answered.

        Parameters
        ----------
        jobs : AsyncResult, str, int, Future or list of them, optional
            AsyncResults, ids of requests, indices into the history, or Futures. Default: all requests of this client.
        timeout : float, optional
            Seconds to wait. None or a negative number means no limit.

        Returns
        -------
        bool
            True if all requests are answered.

        Raises
        ------
        TypeError
            `jobs` does not name requests.

        Examples
        --------
        >>> pending = rc[:].apply_async(pow, 2, 3)
        >>> rc.wait(pending, timeout=10)
        True
        """
        end = None if timeout is None or timeout < 0 else time.monotonic() + timeout
        if jobs is None:
            return self._wait_for(self._connection.outstanding(), left(end))
        if isinstance(jobs, (str, int, AsyncResult)) or not isinstance(jobs, Iterable):
            jobs = [jobs]
        for job in list(jobs):
            if isinstance(job, Future):
                if not _wait_for_future(job, left(end)):
                    return False
                continue
            msg_id, = self._msg_ids_from_jobs(job)
            tasks = self._connection.find(msg_id)
            if tasks is not None and not self._wait_for(tasks, left(end)):
                return False
        return True

    def _wait_for(self, tasks, seconds):
        """Waits until the requests `tasks` are answered, and shows the warnings of the connection.
        Also warns once about each engine that does not answer, if some of the requests may run on
        this engine.
        """
        began = recording.begin() if recording.recorders else None
        end = None if seconds is None else time.monotonic() + seconds
        with TransferLine.of_this_process() as transfers:
            while True:
                remaining = left(end)
                is_last = remaining is not None and remaining <= _LOOK_INTERVAL
                with ends_at_caller:
                    is_done = tasks.wait(remaining if is_last else _LOOK_INTERVAL)
                news = [] if is_done else self._connection.news_of_silence(tasks)
                prompts = self._comms.prompts
                for sentence in [*self._connection.take_warnings(), *prompts.take_warnings(), *news]:
                    warnings.warn(sentence, RuntimeWarning, stacklevel=4)
                if prompts.has_news:
                    asked_at = time.monotonic()
                    prompts.serve()
                    if end is not None:  # the timeout does not include the time at the prompt
                        end += time.monotonic() - asked_at
                    continue
                if is_done or is_last:
                    if began is not None:
                        recording.end("wait", "wait", began, {"requests": len(tasks)})
                    return is_done
                transfers.show(*self._connection.transfer_progress(), time.monotonic())

    def wait_interactive(
        self, jobs: SomeRequests = None, interval: float = 1.0, timeout: float | None = -1.0
    ) -> None:
        """Waits until requests are answered, with a progress bar.

        Parameters
        ----------
        jobs : AsyncResult, str, int or list of them, optional
            AsyncResults, ids of requests, or indices into the history. Default: all unanswered
            requests of this client.
        interval : float
            Seconds between two updates of the bar.
        timeout : float, optional
            Seconds to wait. None or a negative number means no limit.
        """
        if jobs is not None:
            result = self._asyncresult_from_jobs(jobs)
        else:
            tasks = self._connection.outstanding()
            if not len(tasks):
                return None
            result = AsyncResult(self, tasks, fname="tasks")
        return result.wait_interactive(interval=interval, timeout=timeout)


# ---------------------------------------------------------------- helpers


def _warn_of_ignored(**given):
    """Warns about arguments that ipyparallel's Client uses and this class ignores."""
    reasons = {
        "context": "the C++ library makes its own sockets",
        "debug": "`pxcontroller --debug` logs the messages",
        "paramiko": "OpenSSH makes the tunnels",
    }
    for name, is_given in given.items():
        if is_given:
            warnings.warn(f"{name}= of Client has no effect: {reasons[name]}", stacklevel=3)


def _unanswered_of(connection):
    return lambda: set() if connection.why_closed() else set(connection.outstanding().msg_ids())


def _wait_for_future(future, seconds):
    if isinstance(future, AsyncResult):
        return future.wait(-1 if seconds is None else seconds)
    from concurrent.futures import wait

    return any(not wait([future], each).not_done for each in slices(seconds))


def _who_is_there(ids):
    if len(ids) == 1:
        return f"there is only {ids[0]}"
    if len(ids) > 20:
        return f"there are {len(ids)} from {ids[0]} to {ids[-1]}"
    return "there are " + ", ".join(map(str, ids))


def _path_of_key(sshkey):
    """Returns the path of the private key for ssh; "" if no key is given. Raises OSError if the file does not exist."""
    path = os.path.expanduser(os.fspath(sshkey)) if sshkey else ""
    if path and not os.path.exists(path):
        raise OSError(f"the private key {path} for ssh does not exist")
    return path


def _connection_text(info, choice, patience):
    """Returns (the text of the connection file, the source of this text). Raises OSError if there is no such file."""
    if isinstance(info, dict):
        return json.dumps(info), "the given connection info"
    if info is not None:
        path = os.path.expanduser(os.fspath(info))
        if "://" in path:
            raise ValueError(f"{path!r} is an address: give the path of a connection file")
        if not os.path.exists(path):
            raise OSError(f"the connection file {path} does not exist: check with `pxcluster list` that the cluster is running")
    else:
        path = _client.client_file(**choice)
        if patience is None:
            patience = _ANSWER_TIMEOUT if _is_starting(path) else 0
        _wait_for_file(path, patience)
    return _client.read_private_file(path), path


def _is_starting(path):
    """Returns whether `pxcluster start` is starting the cluster with this connection file."""
    cluster_id = os.path.basename(path)[len("ipcontroller") : -len("client.json")].strip("-")
    profile = os.path.dirname(os.path.dirname(path))
    return os.path.exists(os.path.join(profile, "pid", f"pxcluster-{cluster_id}.lock"))


def _wait_for_file(path, patience):
    end = time.monotonic() + patience
    said = False
    while not os.path.exists(path):
        if time.monotonic() >= end:
            raise OSError(
                f"no cluster is running: no connection file {path}; start one with `pxcluster start -n 4`, "
                "or name its connection file"
            )
        if not said:
            print(f"Waiting for connection file: {path}")
            said = True
        time.sleep(0.05)


def _activate_first(client):
    """Makes the magics use this client, if this client is the first client in IPython."""
    try:
        activation.activate_first(client)
    except Exception as problem:
        warnings.warn(f"cannot load the parallel magics: {problem}", stacklevel=3)
