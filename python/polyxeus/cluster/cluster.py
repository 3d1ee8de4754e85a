"""Starts and stops clusters from Python, with the program pxcluster."""

from __future__ import annotations

import asyncio
import atexit
import functools
import json
import logging
import os
import random
import shlex
import string
import time
import weakref
from typing import TYPE_CHECKING, Any

from polyxeus import _client
from polyxeus.client import kept_variables, scaling
from polyxeus.client.argument_checks import check_kinds, check_words
from polyxeus.client.client import Client
from polyxeus.client.kept_variables import KeptVariables
from polyxeus.cluster import start_settings
from polyxeus.cluster.programs import Program, signal_number
from polyxeus.cluster.recorded import RecordedPart, signal_processes

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable
    from typing_extensions import Self, Unpack
    from polyxeus.hints import P, T, ProfileKeys, Targets

__all__ = ["Cluster"]


def _check_count(n):
    if n is not None and (isinstance(n, bool) or not isinstance(n, int) or n < 0):
        raise TypeError(f"n must be the number of engines, not {n!r}")


def _refuse_both(name, value, other, other_value):
    """Raises a TypeError if an argument of Cluster is given under both of its names, with different
    values."""
    if value is not None and other_value is not None and value != other_value:
        raise TypeError(f"Cluster takes {name}= or {other}=, which mean the same, not both")


def _new_id():
    letters = string.ascii_lowercase + string.digits
    return f"{int(time.time())}-{''.join(random.choices(letters, k=4))}"


_OF_CONFIGURATION = {  # {trait of Cluster in a configuration: argument of Cluster}
    "engine_launcher_class": "engines",
    "controller_launcher_class": "controller",
}


def _coroutine(sync: Callable[P, T]) -> Callable[P, Coroutine[Any, Any, T]]:
    """Returns a coroutine method that does the same as `sync`, a method whose name ends in _sync."""
    name = sync.__name__[: -len("_sync")]

    @functools.wraps(sync)
    async def method(self, *args, **kwargs):
        function = getattr(self, sync.__name__)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(None, lambda: function(*args, **kwargs))

    method.__name__ = name
    method.__qualname__ = f"Cluster.{name}"
    method.__doc__ = f"Coroutine: {sync.__doc__ or ''}"
    return method


class Cluster:
    """One controller and its engines, started and stopped with the program pxcluster.

    Each method that starts or stops something is a coroutine. Each of these methods has a counterpart that is not a
    coroutine and whose name ends in _sync. A Cluster is a context manager: the `with` statement starts the cluster and
    returns a client, and the end of the block stops the cluster.

    Parameters
    ----------
    n : int, optional
        The number of engines. Default: one for each slot of the hosts, or if no hosts are given, one for each core.
    engines : str or type, optional
        How engines are started: "local", "mpi", "ssh", "slurm", "pbs", "sge", "lsf" or "htcondor", or ipyparallel's
        classes of these launchers. A class of your own may be derived from one of these classes, but may only set
        traits. Default: the launcher in the profile, else "local".
    controller : str or type, optional
        How the controller is started, with the same values as for `engines`.
    language : str, optional
        The language of the engines: "python", "cpp", or both, as in "python:2,cpp:2".
    profile : str, optional
        The profile. Its folder contains the files of the cluster. Default: "default".
    profile_dir : str or path, optional
        The folder of the profile, instead of its name.
    ipython_dir : str or path, optional
        The folder of the profiles.
    cluster_id : str, optional
        The id of the cluster. Default: a new one.
    cluster_file : str or path, optional
        The path of an additional file to write. The file describes the running cluster, and from_file() can read it.
    controller_ip : str, optional
        The address at which the controller listens. Default: an address that only programs on this host can reach.
    controller_location : str, optional
        The name or address by which other hosts reach the controller's host.
    controller_args : list of str, optional
        Further arguments of the controller.
    engine_args : list of str, optional
        Further arguments of the engines.
    engine_timeout : float, optional
        Seconds after which engines that have not registered are reported. Default: 60, plus 1 for each engine.
    delay : float, optional
        Seconds between the start of the controller and the start of the engines.
    shutdown_atexit : bool, optional
        Whether the cluster ends when this Python process ends, even if the process is killed. Default: True.
    log_level : int or str
        The log level of the programs.
    log : logging.Logger, optional
        A logger that gets a message at each start and stop.
    config : traitlets.Config or dict, optional
        The traits of Cluster and of the launchers.
    load_profile : bool
        Whether to read the configuration files of the profile.
    parent : Any, optional
        An object whose `config` is used if `config` is not given.
    send_engines_connection_env : bool
        Must be True: engines are always started after the controller is ready. In ipyparallel, False starts the engines
        at once, without waiting for the controller.
    engine_launcher_class : str or type, optional
        The same as `engines`; ipyparallel uses this name.
    controller_launcher_class : str or type, optional
        The same as `controller`; ipyparallel uses this name.
    **others : Any
        The keys of a profile's pxcluster.json: gpus, threads_per_engine, respawn, respawn_limit, hosts, hostfile,
        ssh_cmd, ssh_args, remote_python, tunnel, mpi_cmd, mpi_args, queue, account, timelimit, batch_options,
        batch_template_file, engine_env, environment and others. `gpus` is the number of GPUs that each engine sees,
        "auto", or "none" (all engines see all GPUs). Default: "auto": if a host has a GPU for each of its engines, each
        engine sees one GPU, else all GPUs. `threads_per_engine` is the number of threads that OpenMP, BLAS, MKL and
        Numba use in each engine, "auto", or "unchanged" (nothing is set). Default: "auto": the number of the host's
        cores, divided by the number of engines on this host, unless OMP_NUM_THREADS is set. With `respawn=True`,
        engines that die are started again: at most `respawn_limit` engines (default: 10) per
        minute.

    Attributes
    ----------
    cluster_id : str
        The id of the cluster.
    connection_file : str
        The file with which clients connect.
    engines : dict
        Maps the id of each started set of engines to this set.
    controller : Any
        The controller's process; None if it does not run.
    config, log, profile : Any
        The arguments of the same names.

    Raises
    ------
    TypeError
        An option is unknown or of a wrong type.
    ValueError
        An option has a value that is not supported.

    Examples
    --------
    >>> with px.Cluster(n=2) as client:
    ...     client[:].apply_sync(pow, 2, 3)
    [8, 8]
    """

    def __init__(
        self,
        *,
        n: int | None = None,
        engines: str | type | None = None,
        controller: str | type | None = None,
        language: str | None = None,
        profile: str | None = None,
        profile_dir: str | None = None,
        ipython_dir: str | None = None,
        cluster_id: str | None = None,
        cluster_file: str | None = None,
        controller_ip: str | None = None,
        controller_location: str | None = None,
        controller_args: list[str] | None = None,
        engine_args: list[str] | None = None,
        engine_timeout: float | None = None,
        delay: float | None = None,
        shutdown_atexit: bool | None = None,
        log_level: int = logging.INFO,
        log: Any = None,
        config: Any = None,
        load_profile: bool = True,
        parent: Any = None,
        send_engines_connection_env: bool = True,
        engine_launcher_class: str | type | None = None,
        controller_launcher_class: str | type | None = None,
        **others: Unpack[ProfileKeys],
    ) -> None:
        check_kinds(
            "Cluster",
            text=dict(
                profile=profile, cluster_id=cluster_id, controller_ip=controller_ip,
                controller_location=controller_location,
            ),
            path=dict(profile_dir=profile_dir, ipython_dir=ipython_dir, cluster_file=cluster_file),
            flag=dict(
                shutdown_atexit=shutdown_atexit, load_profile=load_profile,
                send_engines_connection_env=send_engines_connection_env,
            ),
            number=dict(engine_timeout=engine_timeout, delay=delay),
        )  # fmt: skip
        check_words("Cluster", controller_args=controller_args, engine_args=engine_args)
        if log is not None and not hasattr(log, "info"):
            raise TypeError(f"log of Cluster must be a logger, not {log!r:.80}")
        if not isinstance(log_level, (int, str)) or isinstance(log_level, bool):
            raise TypeError(f"log_level of Cluster must be a number or a name like 'DEBUG', not {log_level!r:.80}")
        _refuse_both("engines", engines, "engine_launcher_class", engine_launcher_class)
        _refuse_both("controller", controller, "controller_launcher_class", controller_launcher_class)
        self.config: Any = getattr(parent, "config", None) if config is None else config
        if self.config is not None and not hasattr(self.config, "items"):
            raise TypeError(f"config of Cluster must be a traitlets Config or a dict, not {self.config!r:.80}")
        traits = {
            _OF_CONFIGURATION.get(name, name): value
            for name, value in start_settings.cluster_traits(self.config).items()
        }

        def of_configuration(name, given, default=None):
            said = traits.pop(name, default)
            return said if given is None else given

        engines = of_configuration("engines", engine_launcher_class if engines is None else engines)
        controller = of_configuration(
            "controller", controller_launcher_class if controller is None else controller
        )
        n = of_configuration("n", n)
        _check_count(n)
        self.n: int | None = n
        self._engine_launcher = start_settings.launcher(engines, "engines")
        self._controller_launcher = start_settings.launcher(controller, "controllers")
        if language is not None and not isinstance(language, str):
            raise TypeError(f"language must be text like 'cpp' or 'python:2,cpp:2', not {language!r}")
        self.language = language
        self.cluster_id: str = _new_id() if cluster_id is None else cluster_id
        self.profile = profile
        choice = dict(
            profile=profile or "", profile_dir=profile_dir or "", ipython_dir=ipython_dir or ""
        )
        self.connection_file: str = _client.client_file(cluster_id=self.cluster_id, **choice)
        security = os.path.dirname(self.connection_file)
        self.profile_dir = os.path.dirname(security)
        self._own_file = os.path.join(security, f"cluster-{self.cluster_id}.json")
        self.cluster_file: str = self._own_file if cluster_file is None else cluster_file
        self.controller_ip: str | None = of_configuration("controller_ip", controller_ip)
        self.controller_location: str | None = of_configuration("controller_location", controller_location)
        self.controller_args: list[str] = list(of_configuration("controller_args", controller_args) or [])
        self.engine_args = list(engine_args or [])
        self._engine_timeout = of_configuration("engine_timeout", engine_timeout)
        self.delay: float = of_configuration("delay", delay, 0)
        self._shutdown_atexit = of_configuration("shutdown_atexit", shutdown_atexit, True)
        self.log_level = log_level
        self.load_profile: bool = of_configuration("load_profile", None if load_profile else False, True)
        if not of_configuration(
            "send_engines_connection_env", None if send_engines_connection_env else False, True
        ):
            raise ValueError(
                "send_engines_connection_env=False has no counterpart: engines are always started "
                "when the controller is ready"
            )
        if traits:
            name = min(traits)
            raise TypeError(f"Cluster.{name} in the configuration is unknown: see help(polyxeus.Cluster)")
        self._settings = start_settings.given_settings(others, Cluster.__init__)
        launchers, strange = start_settings.other_traits(self.config)
        self._settings.update(launchers)
        for launcher in (controller, engines):
            self._settings.update(start_settings.launcher_traits(launcher))
        self.log: Any = log or logging.getLogger(f"polyxeus.cluster.{self.cluster_id}")
        if strange and config is not None:
            self.log.warning("%s in the configuration of Cluster: ignored", ", ".join(strange))
        self.controller: Any = None
        self.engines: dict[str, Any] = {}
        self._client = None
        self._clients = weakref.WeakSet()
        self._pid = os.getpid()
        _clusters.add(self)

    def __repr__(self):
        parts = [f"cluster_id={self.cluster_id!r}", f"profile_dir={self.profile_dir!r}"]
        if self.controller is not None:
            parts.append("controller=<running>")
        if self.engines:
            parts.append(f"engine_sets={list(self.engines)}")
        return f"<Cluster({', '.join(parts)})>"

    @property
    def shutdown_atexit(self) -> bool:
        """Whether the cluster ends when this Python process ends, even if the process is killed."""
        return self._shutdown_atexit

    @shutdown_atexit.setter
    def shutdown_atexit(self, value: bool) -> None:
        self._shutdown_atexit = value
        if not value and self._pid == os.getpid():
            for each in [self.controller, *self.engines.values()]:
                if isinstance(each, Program):
                    each.release()

    def _owner(self):
        """Returns the options that make pxcluster end when this Python process ends."""
        return [f"--owner={os.getpid()}"] if self.shutdown_atexit else []

    @property
    def engine_timeout(self) -> float:
        """Seconds after which engines that have not registered are reported."""
        return 60 + (self.n or 0) if self._engine_timeout is None else self._engine_timeout

    @property
    def engine_launcher(self) -> str:
        """The launcher of the engines, like "local" or "mpi".

        This is the launcher that was given to Cluster or in its `config`, or else the launcher with which pxcluster
        started the cluster, or else "local".
        """
        recorded = self._record().get("engines", {}).get("class")
        return self._engine_launcher or start_settings.launcher(recorded, "engines") or "local"

    @property
    def controller_launcher(self) -> str:
        """The launcher of the controller, like "local" or "slurm".

        This is the launcher that was given to Cluster or in its `config`, or else the launcher with which pxcluster
        started the cluster, or else "local".
        """
        recorded = self._record().get("controller", {}).get("class")
        return self._controller_launcher or start_settings.launcher(recorded, "controllers") or "local"

    send_engines_connection_env = True  # always: see __init__
    engine_launcher_class = engine_launcher
    controller_launcher_class = controller_launcher

    @property
    def engine_set(self) -> Any:
        """The first set of engines; None if there is none."""
        return next(iter(self.engines.values()), None)

    # ------------------------------------------------------------ commands

    def _command(self, name, *options):
        return [
            name,
            f"--profile-dir={self.profile_dir}",
            f"--cluster-id={self.cluster_id}",
            f"--log-level={self.log_level}",
            *options,
        ]

    def _start_command(self, name, *options):
        """Returns the words of a pxcluster command that starts processes: those of _command(), and
        the options that only such commands have."""
        more = [] if self.load_profile else ["--no-load-profile"]
        if self._settings:
            more.append("--settings=-")
        return self._command(name, *more, *self._owner(), *options)

    def start_controller_sync(self, *, controller_args: list[str] | None = None) -> None:
        """Starts the controller, and waits until it is ready.

        Parameters
        ----------
        controller_args : list of str, optional
            Further arguments, which are appended to those that were given to Cluster.

        Raises
        ------
        RuntimeError
            The controller is already running, or cannot be started; the error text gives the reason.
        """
        check_words("start_controller()", controller_args=controller_args)
        if self.controller is not None and self.controller.is_running():
            raise RuntimeError(f"the controller of this cluster is already running: {self!r}")
        self.log.info("starting the controller of cluster %r", self.cluster_id)
        options = ["-n", "0"]
        if self._controller_launcher:
            options.append(f"--controller={self._controller_launcher}")
        if self._engine_launcher:  # settings such as `hosts` are valid only for some launchers
            options.append(f"--engines={self._engine_launcher}")
        if self.controller_ip:
            options.append(f"--ip={self.controller_ip}")
        if self.controller_location:
            options.append(f"--location={self.controller_location}")
        arguments = [*self.controller_args, *(controller_args or ())]
        if arguments:
            options += ["--", *arguments]
        program = self._start(self._start_command("start", *options), "controller")
        program.wait_until(self._is_controller_ready, "the controller is ready")
        self.controller = program
        self.update_cluster_file()

    def _is_controller_ready(self):
        return os.path.exists(self.connection_file) and os.path.exists(self._own_file)

    def _start(self, command, name):
        return Program(command, self._log_file(name), json.dumps(self._settings) if self._settings else "")

    def _log_file(self, name):
        folder = os.path.join(self.profile_dir, "log")
        os.makedirs(folder, 0o700, exist_ok=True)
        return os.path.join(folder, f"cluster-{self.cluster_id}-{name}.log")

    def start_engines_sync(self, n: int | None = None, engine_set_id: str | None = None) -> str:
        """Starts n further engines. The engines register when they are ready.

        Parameters
        ----------
        n : int, optional
            The number of engines. Default: the `n` of Cluster.
        engine_set_id : str, optional
            The id of the set of these engines. Default: a new id.

        Returns
        -------
        str
            The id of the set of these engines.

        Raises
        ------
        RuntimeError
            There is no controller, or the engines cannot be started; the error text gives the reason.
        ValueError
            A set with this id already exists.
        """
        _check_count(n)
        check_kinds("start_engines()", text=dict(engine_set_id=engine_set_id))
        if self.controller is None and not os.path.exists(self.connection_file):
            raise RuntimeError("no controller is running: call start_controller() first")
        n = self.n if n is None else n
        name = engine_set_id or _new_id()
        if name in self.engines:
            raise ValueError(f"an engine set with the id {name!r} already exists")
        self.log.info("starting engines of cluster %r", self.cluster_id)
        options = [] if n is None else ["-n", str(n)]
        if self._engine_launcher:
            options.append(f"--engines={self._engine_launcher}")
        if self._engine_timeout is not None:
            options.append(f"--engine-timeout={self._engine_timeout}")
        if self.language:
            options.append(f"--language={self.language}")
        if self.engine_args:
            options.append(f"--engine-args={shlex.join(self.engine_args)}")
        before = self._recorded_sets()
        program = self._start(self._start_command("engines", *options), f"engines-{name}")
        program.wait_until(
            lambda: set(self._recorded_sets()) - set(before), "the engines are started"
        )
        program.set_id = next(iter(set(self._recorded_sets()) - set(before)))
        program.n = self._recorded_sets()[program.set_id].get("n", n)
        engine_set_id = engine_set_id or program.set_id
        self.engines[engine_set_id] = program
        self.update_cluster_file()
        return engine_set_id

    def start_cluster_sync(self, n: int | None = None) -> Self:
        """Starts the controller and the engines.

        Parameters
        ----------
        n : int, optional
            The number of engines. Default: the `n` of Cluster.

        Returns
        -------
        Cluster
            This cluster.

        Raises
        ------
        RuntimeError
            The controller or the engines cannot be started; the error text gives the reason.
        """
        _check_count(n)
        if n is not None:
            self.n = n
        self.start_controller_sync()
        try:
            if self.n != 0:
                time.sleep(self.delay)
                self.start_engines_sync(self.n)
        except BaseException:
            self.stop_controller_sync()
            raise
        return self

    def connect_client_sync(self, **client_kwargs: Any) -> Client:
        """Connects a client to this cluster.

        Parameters
        ----------
        **client_kwargs : Any
            Options of Client.

        Returns
        -------
        Client
            The client.

        Examples
        --------
        >>> with rc.cluster.connect_client_sync() as client:
        ...     len(client.ids)
        4
        """
        client = Client(self.connection_file, cluster=self, **client_kwargs)
        self._clients.add(client)
        return client

    def start_and_connect_sync(self, n: int | None = None, activate: bool = False) -> Client:
        """Starts the cluster if it is not running, waits for its engines, and connects a client.

        Parameters
        ----------
        n : int, optional
            The number of engines. Default: the `n` of Cluster.
        activate : bool
            Whether %px, %%px and the other magics use this client.

        Returns
        -------
        Client
            The client.

        Raises
        ------
        RuntimeError
            A process cannot be started; the error text gives the reason.
        TimeoutError
            The engines do not register in time.

        Examples
        --------
        >>> cluster = px.Cluster(n=2)
        >>> client = cluster.start_and_connect_sync()
        >>> client.ids
        [0, 1]
        >>> client.close()
        >>> cluster.stop_cluster_sync()
        """
        is_new = self.controller is None
        if is_new:
            self.start_cluster_sync(n)
        client = self.connect_client_sync()
        wanted = self.expected_engines()
        try:
            if wanted:
                client.wait_for_engines(wanted, timeout=self.engine_timeout)
        except BaseException:
            if is_new and self.stopped_engine_set():  # engines have ended: stops the new cluster
                client.close()
                self.stop_cluster_sync()
            raise
        if activate:
            client.activate()
        return client

    def stop_engines_sync(self, engine_set_id: str | None = None) -> None:
        """Stops a set of engines.

        Parameters
        ----------
        engine_set_id : str, optional
            The id of the set. Default: all sets.

        Raises
        ------
        KeyError
            There is no such set.
        """
        if engine_set_id is None:
            for each in list(self.engines):
                self.stop_engines_sync(each)
            return
        self.log.info("stopping the engines %s", engine_set_id)
        self._set(engine_set_id).stop()
        self.engines.pop(engine_set_id, None)
        self.update_cluster_file()

    def _set(self, engine_set_id):
        try:
            return self.engines[engine_set_id]
        except KeyError:
            known = ", ".join(self.engines) or "none"
            raise KeyError(f"unknown engine set {engine_set_id!r}; known: {known}") from None

    def restart_engines_sync(
        self,
        engine_set_id: str | None = None,
        keep: str | Iterable[str] | bool | None = None,
        *,
        targets: Targets = None,
    ) -> KeptVariables | None:
        """Ends engines, including those that hang, and starts them again with the same ids and options.

        The call returns when the new engines are registered.

        Parameters
        ----------
        engine_set_id : str, optional
            The id of the set of engines. Default: all sets.
        keep : str, list of str or bool, optional
            The variables that the new engines get from the old engines, as in Client.restart_engines().
        targets : int, slice, list of int or "all", optional
            Only these engines are restarted, instead of a set.

        Returns
        -------
        KeptVariables or None
            If `keep` is given: the variables that each engine has kept, and those that were lost. If it is not given:
            None.

        Raises
        ------
        KeyError
            There is no such set.
        TypeError
            Both `engine_set_id` and `targets` are given.
        RuntimeError
            The engines did not start; the error text gives the reason.
        """
        kept = None
        options = kept_variables.options_for(targets)
        if options:
            if engine_set_id is not None:
                raise TypeError("restart_engines() takes engine_set_id= or targets=, not both")
            kept = kept_variables.restart(self._command("restart", *options), keep)
            self._catch_up_clients()
            return kept
        for name in [engine_set_id] if engine_set_id else list(self.engines):
            each = self._set(name)
            if each.is_running() and each.set_id in self._recorded_sets():  # otherwise the engines are about to end
                command = self._command("restart", f"--engine-set={each.set_id}")
                more = kept_variables.restart(command, keep)
                kept = kept.joined(more) if kept is not None and more is not None else more
            else:
                self.engines.pop(name)
                self.start_engines_sync(each.n, name)
        self._catch_up_clients()
        return kept

    def _catch_up_clients(self):
        for client in list(self._clients):
            client._catch_up()

    def scale_sync(
        self, minimum: int | None = None, maximum: int | None = None, *, idle: float | None = None
    ) -> dict[str, Any]:
        """Adapts the number of engines to the number of balanced tasks, between a minimum and a maximum.

        Balanced tasks are the calls of balanced views, executors and maps. If tasks wait and no engine is free, engines
        are added. An engine that has had no work (neither tasks nor direct calls) for the idle time is ended. If there
        are several such engines, the engine with the highest id is ended first. A busy engine is never ended. The call
        works only on the host on which `pxcluster` or Cluster has started the engines, and with the launchers local,
        ssh and slurm. The call fails for MPI engines, because the ranks of an MPI world start and end together.

        Parameters
        ----------
        minimum : int, optional
            The smallest number of engines. If neither `minimum` nor `maximum` is given, the call only returns the
            state.
        maximum : int, optional
            The largest number of engines.
        idle : float, optional
            The idle time in seconds. Default: 30.

        Returns
        -------
        dict
            The state of scaling: `minimum`, `maximum` and `idle_seconds` (None if the number of engines is fixed) and
            `engines` (the number of engines now). For clusters that were started by `pxcluster start --respawn`, the
            dict also has the keys `respawn_limit`, `respawned` and `waiting`.

        Raises
        ------
        TypeError
            An argument is not a number.
        ValueError
            The minimum is larger than the maximum.
        RuntimeError
            The engines cannot be scaled; the error text gives the reason.

        Examples
        --------
        >>> rc.cluster.scale_sync(0, 8)    # doctest: +SKIP
        {'minimum': 0, 'maximum': 8, 'idle_seconds': 30.0, 'engines': 4, ...}
        """
        return scaling.scale(self._command("scale"), minimum, maximum, idle)

    def signal_engines_sync(self, signum: int | str, engine_set_id: str | None = None) -> None:
        """Sends a signal to the engines of a set.

        Parameters
        ----------
        signum : int or str
            The number of the signal, or its name, like "SIGINT".
        engine_set_id : str, optional
            The id of the set. Default: all sets.

        Raises
        ------
        KeyError
            There is no such set.
        """
        number = signal_number(signum)
        sets = [self._set(engine_set_id)] if engine_set_id else list(self.engines.values())
        recorded = self._recorded_sets()
        if self.engine_launcher == "local":
            for each in sets:
                signal_processes(recorded.get(each.set_id, {}), number)
            return
        with self.connect_client_sync() as client:  # a signal to mpiexec would end it
            client.send_signal(number, block=True)

    def signal_engine_sync(self, signum: int | str, engine_id: int) -> None:
        """Sends a signal to one engine.

        Parameters
        ----------
        signum : int or str
            The number of the signal, or its name, like "SIGINT".
        engine_id : int
            The engine.
        """
        with self.connect_client_sync() as client:
            client.send_signal(signal_number(signum), targets=engine_id, block=True)

    def stop_engine_sync(self, engine_id: int) -> None:
        """Ends one engine. The other engines of its set keep running, unless they are ranks of one MPI world.

        Parameters
        ----------
        engine_id : int
            The engine.
        """
        with self.connect_client_sync() as client:
            client.shutdown(targets=engine_id, block=True)

    def restart_engine_sync(self, engine_id: int) -> None:
        """Ends one engine, unless it has died already, and starts it again with the same id.

        Parameters
        ----------
        engine_id : int
            The engine.
        """
        self.restart_engines_sync(targets=engine_id)

    def stop_controller_sync(self) -> None:
        """Stops the controller."""
        if self.controller is not None:
            self.log.info("stopping the controller of cluster %r", self.cluster_id)
            self.controller.stop()
            self.controller = None
            self.update_cluster_file()

    def stop_cluster_sync(self) -> None:
        """Stops the engines and the controller, if they run."""
        if self._client is not None:
            self._client.close()
            self._client = None
        self.stop_engines_sync()
        self.stop_controller_sync()

    # ------------------------------------------------------------ the running cluster

    def _record(self):
        try:
            with open(self._own_file) as file:
                return json.load(file)
        except (OSError, ValueError):
            return {}

    def write_cluster_file(self) -> None:
        """Writes the result of to_dict() to `cluster_file`, unless this is the file that pxcluster writes itself."""
        if self.cluster_file not in ("", self._own_file):
            os.makedirs(os.path.dirname(os.path.abspath(self.cluster_file)), exist_ok=True)
            with open(self.cluster_file, "w") as file:
                json.dump(self.to_dict(), file)

    def remove_cluster_file(self) -> None:
        """Removes `cluster_file` if it exists, unless this is the file that pxcluster writes itself."""
        if self.cluster_file not in ("", self._own_file):
            try:
                os.remove(self.cluster_file)
            except FileNotFoundError:
                pass

    def update_cluster_file(self) -> None:
        """Writes `cluster_file`, or removes it if the cluster no longer runs."""
        parts = [self.controller, *self.engines.values()]
        if any(each is not None and each.is_running() for each in parts):
            self.write_cluster_file()
        else:
            self.remove_cluster_file()

    def _recorded_sets(self):
        return self._record().get("engines", {}).get("sets", {})

    def expected_engines(self) -> int:
        """Returns how many engines were started.

        Returns
        -------
        int
            The number of engines.

        Examples
        --------
        >>> rc.cluster.expected_engines()
        4
        """
        return sum(each.n for each in self.engines.values())

    def stopped_engine_set(self) -> str | None:
        """Returns why engines of this cluster have ended unexpectedly.

        Returns
        -------
        str or None
            The reason; None if all engines run.
        """
        for name, each in self.engines.items():
            if not each.is_running():
                return f"{name}: {each.last_words()}"
        return None

    def to_dict(self) -> dict[str, Any]:
        """Returns a description of this cluster. from_dict() finds the cluster again with this description.

        Returns
        -------
        dict
            The description.
        """
        return self._record() or {
            "cluster": {"cluster_id": self.cluster_id, "profile_dir": self.profile_dir, "n": self.n}
        }

    @classmethod
    def from_dict(cls, d: dict[str, Any], **kwargs: Any) -> Self:
        """Finds a running cluster by a description from to_dict() or from a cluster file.

        Parameters
        ----------
        d : dict
            The description.
        **kwargs : Any
            Options of Cluster.

        Returns
        -------
        Cluster
            The cluster. The cluster keeps running when this Python process ends, unless
            `shutdown_atexit` is given.

        Raises
        ------
        ValueError
            The description lacks the id or the folder.

        Examples
        --------
        >>> px.Cluster.from_dict(rc.cluster.to_dict()).cluster_id == rc.cluster.cluster_id
        True
        """
        try:
            known = d["cluster"]
            cluster_id, profile_dir = known["cluster_id"], known["profile_dir"]
        except (KeyError, TypeError):
            raise ValueError("not a description of a cluster: the id or the folder is missing") from None
        kwargs.setdefault("shutdown_atexit", False)
        engines = d.get("engines", {})
        kwargs.setdefault("engines", engines.get("class"))
        cluster = cls(cluster_id=cluster_id, profile_dir=profile_dir, n=known.get("n"), **kwargs)
        stop = cluster._command("stop")
        if "controller" in d:
            cluster.controller = RecordedPart(stop, d["controller"].get("state", {}))
        for name, state in engines.get("sets", {}).items():
            cluster.engines[name] = RecordedPart(stop, state, name)
        return cluster

    @classmethod
    def from_file(
        cls,
        cluster_file: str | None = None,
        *,
        profile: str | None = None,
        profile_dir: str | None = None,
        cluster_id: str | None = "",
        **kwargs: Any,
    ) -> Self:
        """Finds a running cluster by its profile and cluster id.

        Parameters
        ----------
        cluster_file : str, optional
            The file that describes the cluster. Default: the file of the profile and id.
        profile : str, optional
            The profile. Default: "default".
        profile_dir : str, optional
            The folder of the profile, instead of its name.
        cluster_id : str, optional
            The id of the cluster.
        **kwargs : Any
            Options of Cluster.

        Returns
        -------
        Cluster
            The cluster.

        Raises
        ------
        FileNotFoundError
            No such cluster runs.

        Examples
        --------
        >>> px.Cluster.from_file(rc.cluster.cluster_file).cluster_id == rc.cluster.cluster_id
        True
        """
        if cluster_file is None:
            named = cls(profile=profile, profile_dir=profile_dir, cluster_id=cluster_id)
            named.shutdown_atexit = False
            cluster_file = named.cluster_file
        if not os.path.exists(cluster_file):
            raise FileNotFoundError(
                f"no cluster is running: no file {cluster_file}; start one with `pxcluster start`"
            )
        with open(cluster_file) as file:
            return cls.from_dict(json.load(file), **kwargs)

    # ------------------------------------------------------------ coroutines

    start_controller = _coroutine(start_controller_sync)
    start_engines = _coroutine(start_engines_sync)
    start_cluster = _coroutine(start_cluster_sync)
    connect_client = _coroutine(connect_client_sync)
    start_and_connect = _coroutine(start_and_connect_sync)
    stop_engines = _coroutine(stop_engines_sync)
    restart_engines = _coroutine(restart_engines_sync)
    scale = _coroutine(scale_sync)
    signal_engines = _coroutine(signal_engines_sync)
    signal_engine = _coroutine(signal_engine_sync)
    stop_engine = _coroutine(stop_engine_sync)
    restart_engine = _coroutine(restart_engine_sync)
    stop_controller = _coroutine(stop_controller_sync)
    stop_cluster = _coroutine(stop_cluster_sync)

    # ------------------------------------------------------------ context managers

    def __enter__(self) -> Client:
        try:
            self._client = self.start_and_connect_sync()
        except BaseException:
            self.stop_cluster_sync()
            raise
        return self._client

    def __exit__(self, *_problem: object) -> None:
        self.stop_cluster_sync()

    async def __aenter__(self) -> Client:
        try:
            self._client = await self.start_and_connect()
        except BaseException:
            await self.stop_cluster()
            raise
        return self._client

    async def __aexit__(self, *_problem: object) -> None:
        await self.stop_cluster()


_clusters = weakref.WeakSet()


def _stop_at_exit():
    for cluster in list(_clusters):
        is_ours = cluster._pid == os.getpid()  # False if this process is a fork of the owner
        if cluster.shutdown_atexit and is_ours and cluster.controller is not None:
            cluster.stop_cluster_sync()


atexit.register(_stop_at_exit)
