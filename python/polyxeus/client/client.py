"""The connection to a cluster."""

from __future__ import annotations

import json
import os
import re
import time
import warnings
import weakref
from collections import defaultdict
from collections.abc import Iterable
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Literal, NoReturn, overload

from polyxeus import _client, activation, error
from polyxeus.client import kept_variables
from polyxeus.client.argument_checks import check_kinds
from polyxeus.client.engine_control import EngineControl
from polyxeus.client.engine_table import engines_html, look_at_engines
from polyxeus.client.hub_queries import HubQueries
from polyxeus.client.kept_variables import KeptVariables
from polyxeus.client.places import EnginePlaces
from polyxeus.client.stacks import EngineStacks
from polyxeus.client.status import ClusterMemory, ClusterStatus
from polyxeus.client.tracing import Trace
from polyxeus.client.unknown_option import unknown_option
from polyxeus.client.wait_for_engines import wait_for_engines
from polyxeus.results.async_result import AsyncResult
from polyxeus.results.callers_traceback import ends_at_caller
from polyxeus.results.comms import relay_comms
from polyxeus.results.completion import close_at_exit
from polyxeus.results.failed_cells import show_failures_of_cells
from polyxeus.results.history import History
from polyxeus.results.html_parts import paragraph
from polyxeus.results.metadata import MetadataByRequest
from polyxeus.results.slices import slices
from polyxeus.results.transfer_line import TransferLine
from polyxeus.serialize.values import FORMS, NO_PICKLE
from polyxeus.trace import recording
from polyxeus.views.balanced_view import LoadBalancedView
from polyxeus.views.direct_view import BroadcastView, DirectView
from polyxeus.views.executor import ViewExecutor

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing_extensions import Self, Unpack
    from polyxeus.cluster.cluster import Cluster
    from polyxeus.hints import BalancedViewFlags, SomeRequests, Targets, ViewFlags

__all__ = ["Client"]

_ANSWER_TIMEOUT = 10.0  # seconds; where the user names none
_CATCH_UP_PATIENCE = 10.0  # seconds
_LOOK_INTERVAL = 1.0  # seconds; who waits longer looks so often for engines that are not heard


class Client(HubQueries, EngineControl):
    """A connection to one cluster; it makes views, which do the work.

    connection_info  the path of a connection file, or its content as a dict; None: that of the
                     profile
    profile, profile_dir, ipython_dir, cluster_id
                     whose connection file is used; None: what the environment says
                     (IPP_PROFILE_DIR, IPP_CLUSTER_ID, IPYTHONDIR), then the default profile
    sshserver        "[user@]host[:port]": a host to tunnel through, where ssh is the only way to
                     the controller; None: what the connection file says, where it is needed
    sshkey           a file with the private key; None: those that ssh finds by itself
    timeout          seconds for the connection file to appear, and for the controller to answer;
                     None: 10 seconds for the answer, and for the file only while `pxcluster start`
                     is at work
    cluster          the Cluster that this client is of

    client[0], client[:], client[::2], client[[0, 3]] are DirectViews; a client is a context
    manager that closes itself.  Raises OSError where no cluster runs.

        rc = ipp.Client(rc.cluster.connection_file)           # ipp.Client(): that of the default profile
        rc.ids                                                # -> [0, 1, 2, 3]
        rc[:].apply_sync(pow, 2, 3)                           # -> [8, 8, 8, 8]
        rc.load_balanced_view().map_sync(abs, [-1, 2])        # -> [1, 2]
        rc.close()
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
        self._connection = self._comms = None
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
        self._maps = weakref.WeakValueDictionary()  # by the msg_id of their first request
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
        close_at_exit(self)
        _activate_first(self)

    def _warn(self):
        """Says what is new about engines that do not fit together, or not to this Python."""
        for sentence in self._connection.take_warnings():
            warnings.warn(sentence, RuntimeWarning, stacklevel=3)

    # ------------------------------------------------------------ life

    def close(self, linger: float | None = None) -> None:
        """Closes the connection; what is not answered fails. The cluster goes on."""
        if self._comms is not None:
            self._comms.close(tells_front_end=True)
        if self._connection is not None:
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_problem: object) -> None:
        self.close()

    @property
    def _closed(self):
        return self._connection is None or self._connection.why_closed() is not None

    @property
    def controller_address(self) -> str:
        """Where the controller was reached, of all addresses that it has: "tcp://10.0.0.1"."""
        return self._connection.interface()

    @property
    def curve_serverkey(self) -> bytes | None:
        """The public key of the controller, by which connections are encrypted; None: they are not."""
        key = json.loads(self._connection_text).get("curve_serverkey")
        return key.encode() if key else None

    curve_publickey = curve_secretkey = None  #: The client's own keys, which the C++ library makes and does not tell.

    def __repr__(self):
        why = self._connection.why_closed()
        return f"<Client: {why}>" if why else f"<Client: {len(self)} engines>"

    def spin(self) -> None:
        """Nothing: answers come by themselves."""

    def spin_thread(self, interval: float = 1) -> None:
        """Nothing: answers come by themselves."""

    stop_spin_thread = spin

    # ------------------------------------------------------------ engines and views

    @property
    def _engines(self):
        """{id: uuid} of the engines that are there."""
        return self._connection.engines()

    @property
    def languages(self) -> dict[int, str]:
        """What each engine speaks, by its id: "python" or "cpp"; "" for an engine of ipyparallel.
        Engines of which the controller does not say it are not in it."""
        return self._connection.languages()

    def _forms(self, ids=None):
        """The forms of values (serialize/values.py) that all of these engines read; None: all."""
        return NO_PICKLE if any(self._connection.other_languages(ids)) else FORMS

    @property
    def ids(self) -> list[int]:
        """The ids of the engines that are there, ascending."""
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
            raise error.NoEnginesRegistered("no engine is registered: start some with `pxcluster engines -n 4`")

    def _build_targets(self, targets):
        """(uuids, ids) of the engines that are meant."""
        self._check_engines()
        if isinstance(targets, int) and not isinstance(targets, bool):
            chosen = [targets if targets >= 0 else self._nth(targets, self.ids)]
        elif isinstance(targets, (tuple, list, range)):
            chosen = list(targets)
        else:
            return self._all_targets(targets)
        try:
            uuids = self._connection.uuids_of(chosen)
        except TypeError:  # one is no int
            uuids = [None]
        if None in uuids:
            ids = self.ids
            missing = next((each for each in chosen if each not in ids), chosen[0])
            raise IndexError(f"there is no engine {missing!r}; {_who_is_there(ids)}")
        return uuids, chosen

    def _addressed(self, targets):
        """_build_targets(), and the forms that all of these engines read: (uuids, ids, forms). Kept
        while the engines stay the same; nobody may change it."""
        version = self._connection.engines_version()
        if version != self._known_version:
            self._known_version, self._known_targets = version, {}
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
        """The same for targets that are chosen out of all engines."""
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
        """Negative numbers count from the last engine on."""
        if number >= 0:
            return number
        if -number > len(ids):
            raise IndexError(f"there is no engine {number}; {_who_is_there(ids)}")
        return ids[number]

    def direct_view(self, targets: Targets = "all", **kwargs: Unpack[ViewFlags]) -> DirectView:
        """A view that runs things on these engines.

        "all" are those that are there whenever it is used; client[:] those that are there now.
        """
        single = isinstance(targets, int)
        if not (isinstance(targets, str) and targets == "all"):
            targets = self._build_targets(targets)[1]
        return DirectView(self, targets[0] if single else targets, **kwargs)

    def load_balanced_view(
        self, targets: Targets = None, **kwargs: Unpack[BalancedViewFlags]
    ) -> LoadBalancedView:
        """A view that gives each task to whichever of these engines is free; None: of all."""
        if isinstance(targets, str) and targets == "all":
            targets = None
        if targets is not None:
            targets = self._build_targets(targets)[1]
        return LoadBalancedView(self, targets, **kwargs)

    def broadcast_view(
        self, targets: Targets = "all", is_coalescing: bool = False, **kwargs: Unpack[ViewFlags]
    ) -> BroadcastView:
        """A view that sends the same work for many engines once.

        targets        "all", an int, a slice or a list of ids
        is_coalescing  accepted: the controller answers for each engine in any case
        """
        view = BroadcastView(self, self._build_targets(targets)[1], **kwargs)
        view.is_coalescing = is_coalescing
        return view

    def executor(self, targets: Targets = None) -> ViewExecutor:
        """An executor of concurrent.futures on a balanced view."""
        return self.load_balanced_view(targets).executor

    def activate(self, targets: Targets = "all", suffix: str = "") -> DirectView:
        """Defines the magics %px, %%px, %autopx ... in IPython; gives their view.

        targets  on which engines they work
        suffix   of their names: activate([0], "0") defines %px0
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
        """Waits until n engines are there.

        n            None: as many as the cluster was started with.
        timeout      seconds; raises TimeoutError when there are not enough by then.
        block        False: gives a Future at once.
        interactive  with a progress bar; None: in IPython.

        Raises EngineError when an engine leaves meanwhile.
        """
        return wait_for_engines(self, n, timeout, block, interactive, widget)

    def status(self, timeout: float = 1.0) -> ClusterStatus:
        """What each engine is and does now: a table to print, and a dict for each engine.

        Engines answer while they run something; those that do not answer within `timeout` seconds
        are shown without what only they know.
        """
        return self._status(float(timeout))

    def _status(self, timeout, for_controller=None):
        """The same; TimeoutError where the controller does not answer within `for_controller` seconds.

        With `for_controller` it is for displays: of more than 64 engines what the controller measures is taken.
        """
        return ClusterStatus(*self._connection.status(timeout, for_controller))

    def memory(self, timeout: float = 1.0) -> ClusterMemory:
        """How much of each host's shared memory large arrays take, and which engines have them: a text to
        print, and a dict for each host.

        Engines that do not answer within `timeout` seconds are left out.
        """
        return ClusterMemory(*self._connection.memory(float(timeout)))

    def where(self, targets: Targets = "all", timeout: float = 1.0) -> EnginePlaces:
        """In which MPI call or line of its code each engine is, and for how long: a text to print, and a
        dict for each engine.

        Engines answer while they run something, also inside an MPI call or other C code; those that
        do not answer within `timeout` seconds are named as such.
        """
        ids = self._build_targets(targets)[1]
        return EnginePlaces(*self._connection.where(list(ids), float(timeout)))

    def trace(self, path: str | os.PathLike[str], targets: Targets = "all") -> Trace:
        """Records what the engines and this client do during a `with` statement, and writes it to a file.

        path     a page with a summary if it ends with .html; Chrome's JSON if with .json; else Perfetto's format: open it
                 at https://ui.perfetto.dev
        targets  the engines whose work is recorded
        result   the Trace; printed after the `with`, it says what was found: also which rank was late
        errors   FileNotFoundError: there is no such folder

        The file has a track for each thread of the client and the engines, with requests, MPI calls, calls of
        torch.distributed and the spans of your code (see span()). Engines that run something need not have ended it.

            with rc.trace("/tmp/run.json") as trace:
                rc[:].apply_sync(pow, 2, 3)
            trace.engines                                     # -> 4
        """
        return Trace(self, path, targets)

    def report(self, path: str | os.PathLike[str], targets: Targets = "all") -> Trace:
        """Records what happens during a `with` statement, as trace() does, and writes a page that sums it up.

        Parameters
        ----------
        path : str or path
            The file, which any browser shows: it needs nothing else and loads nothing.
        targets : int, slice, list of int or "all"
            The engines whose work is recorded.

        Returns
        -------
        Trace
            Printed after the `with`, it says what was found. Its ``report(path)`` writes the page about a trace that
            has ended already.

        Raises
        ------
        FileNotFoundError
            There is no such folder.

        Notes
        -----
        The page has what each engine did when, how much of the time it computed or was in MPI or torch.distributed,
        how evenly, for which ranks the others waited in collective calls, the longest runs, and what was sent.

        Examples
        --------
            with rc.report("/tmp/run.html") as report:
                rc[:].apply_sync(pow, 2, 3)
            report.engines                                    # -> 4
        """
        return Trace(self, path, targets, is_page=True)

    def stacks(
        self, targets: Targets = "all", timeout: float = 3.0, *, libraries: bool = False
    ) -> EngineStacks:
        """The calls in which each engine is, of Python, of native code and of cells in C++.

        Each thread of an engine tells its own calls in a signal handler, also while it hangs in C code that
        holds Python's lock. What waits in C's ``sleep()``, ``select()`` and the like returns early by that.

        Parameters
        ----------
        targets : int, slice, list of int or "all"
            The engines.
        timeout : float
            Seconds to wait for engines that do not answer; they are named as such.
        libraries : bool
            Whether the text has also threads that run no Python and no code of cells. The dicts always do.

        Returns
        -------
        EngineStacks
            A text to print, in which equal stacks stand once, those of the fewest engines first; and a dict for
            each engine.

        Examples
        --------
        >>> print(rc.stacks())
        3 in C code that holds Python's lock for 42 s (solve(A))
            spin                              libsolve.so
            solve                             cell line 3
            <module>                          cell line 9
        0-2 in MPI_Barrier for 41 s (cell line 10: comm.Barrier())
            ...
        """
        ids = self._build_targets(targets)[1]
        return EngineStacks(*self._connection.stacks(list(ids), float(timeout), bool(libraries)))

    def _repr_html_(self):
        return paragraph(repr(self)) + engines_html(look_at_engines(self))

    def _engines_html(self, ids):
        """The table of these engines; None: of all."""
        return engines_html(look_at_engines(self), ids)

    def _engines_now(self):
        """What each engine does, found within about a second; never raises."""
        return look_at_engines(self)

    def restart_engines(
        self, targets: Targets = None, *, keep: str | Iterable[str] | bool | None = None
    ) -> KeptVariables | None:
        """Ends engines, also those that hang, and starts them again with the same ids, commands and
        options. Returns when they are registered.

        targets  None: all engines; or only these, also ones that have died, while the others go on
                 with all that they hold. Ranks of an MPI world are restarted together.
        keep     names of variables that the new engines get from the old ones of the same ids, or
                 True: all that can be carried over. Cells that run on them are interrupted first.
                 Where only some engines are restarted, one that has died gets each named variable
                 from the lowest living engine that has it.
        result   with `keep`: what each engine has kept, from where, and lost, and why; a text to
                 print.

        What ran or waited on the engines fails with an EngineError, or runs again where it has
        retries. Works on the host where `pxcluster` or Cluster has started the engines.
        """
        if self.cluster is not None:
            kept = self.cluster.restart_engines_sync(targets=targets, keep=keep)
        else:
            options = [*self._cluster_options(), *kept_variables.options_for(targets)]
            kept = kept_variables.restart(["restart", *options], keep)
        self._catch_up()
        return kept

    def _cluster_options(self):
        """The options of pxcluster that name this cluster."""
        folder, name = os.path.split(os.path.abspath(self._where))
        found = re.fullmatch(r"ipcontroller(?:-(.*))?-client\.json", name)
        if not found or os.path.basename(folder) != "security" or not os.path.exists(self._where):
            raise RuntimeError(
                f"it is not known which cluster {self._where} belongs to: use `pxcluster` with "
                "--profile and --cluster-id on the host where the cluster was started"
            )
        return [
            f"--profile-dir={os.path.dirname(folder)}",
            f"--cluster-id={found[1] or ''}",
        ]

    def _catch_up(self):
        """Waits until this client knows the engines that the controller knows now."""
        end = time.monotonic() + _CATCH_UP_PATIENCE
        while not self._closed and time.monotonic() < end:
            tasks = self._connection.send_hub("connection_request", "{}")
            if not tasks.wait(_left(end)) or tasks.outcome(0)[0] != "ok":
                return
            told = json.loads(tasks.outcome(0)[1])["engines"]
            present = {int(key): uuid for key, uuid in told.items()}
            ask_again = time.monotonic() + 0.25
            while self._engines != present and time.monotonic() < ask_again:
                time.sleep(0.005)
            if self._engines == present:
                return

    # ------------------------------------------------------------ waiting

    @property
    def outstanding(self) -> set[str]:
        """The ids of the requests that are not answered."""
        return set() if self._closed else set(self._connection.outstanding().msg_ids())

    @property
    def _outstanding_dict(self):
        """The same by the uuid of the engine."""
        found = defaultdict(set)
        tasks = self._connection.outstanding()
        for index in range(len(tasks)):
            known = tasks.metadata(index)
            found[known["engine_uuid"]].add(known["msg_id"])
        return found

    def wait(self, jobs: Any = None, timeout: float | None = -1) -> bool:
        """Waits for requests, at most `timeout` seconds; True when all are answered.

        jobs  AsyncResults, msg_ids, indices into the history, Futures; None: all of this client
        """
        end = None if timeout is None or timeout < 0 else time.monotonic() + timeout
        if jobs is None:
            return self._wait_for(self._connection.outstanding(), _left(end))
        if isinstance(jobs, (str, int, AsyncResult)) or not isinstance(jobs, Iterable):
            jobs = [jobs]
        for job in list(jobs):
            if isinstance(job, Future):
                if not _wait_for_future(job, _left(end)):
                    return False
                continue
            msg_id, = self._msg_ids_from_jobs(job)
            tasks = self._connection.find(msg_id)
            if tasks is not None and not self._wait_for(tasks, _left(end)):
                return False
        return True

    def _wait_for(self, tasks, seconds):
        """Waits as the tasks do. Gives the warnings of the connection; says of each engine once that
        nobody hears it, when that may be what they wait for."""
        began = recording.begin() if recording.recorders else None
        end = None if seconds is None else time.monotonic() + seconds
        with TransferLine.of_this_process() as transfers:
            while True:
                left = _left(end)
                is_last = left is not None and left <= _LOOK_INTERVAL
                with ends_at_caller:
                    is_done = tasks.wait(left if is_last else _LOOK_INTERVAL)
                news = [] if is_done else self._connection.news_of_silence(tasks)
                for sentence in [*self._connection.take_warnings(), *news]:
                    warnings.warn(sentence, RuntimeWarning, stacklevel=4)
                if is_done or is_last:
                    if began is not None:
                        recording.end("wait", "wait", began, {"requests": len(tasks)})
                    return is_done
                transfers.show(*self._connection.transfer_progress(), time.monotonic())

    def wait_interactive(
        self, jobs: SomeRequests = None, interval: float = 1.0, timeout: float | None = -1.0
    ) -> None:
        """wait() with a progress bar.

        interval  seconds between two looks
        timeout   seconds; below 0: for ever. TimeoutError when it is over
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
    """Names what ipyparallel's Client takes and this one has no use for."""
    reasons = {
        "context": "the sockets are inside of the C++ library",
        "debug": "`pxcontroller --debug` logs the messages",
        "paramiko": "OpenSSH makes the tunnels",
    }
    for name, is_given in given.items():
        if is_given:
            warnings.warn(f"{name}= of Client has no effect: {reasons[name]}", stacklevel=3)


def _unanswered_of(connection):
    return lambda: set() if connection.why_closed() else set(connection.outstanding().msg_ids())


def _left(end):
    return None if end is None else max(0.0, end - time.monotonic())


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
    """The path of ssh's private key; "" for none.  OSError where it is not there."""
    path = os.path.expanduser(os.fspath(sshkey)) if sshkey else ""
    if path and not os.path.exists(path):
        raise OSError(f"the private key {path} for ssh does not exist")
    return path


def _connection_text(info, choice, patience):
    """(text of the connection file, where it is from).  OSError where there is none."""
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
    """Whether `pxcluster start` is at work for the cluster with this connection file."""
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
    """In IPython the first client gives the magics their view."""
    try:
        activation.activate_first(client)
    except Exception as problem:
        warnings.warn(f"cannot load the parallel magics: {problem}", stacklevel=3)
