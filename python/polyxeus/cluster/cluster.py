"""Starts and stops clusters: what the command pxcluster does, from Python."""

from __future__ import annotations

import asyncio
import atexit
import json
import logging
import os
import random
import shlex
import string
import time
import weakref
from typing import Any

from polyxeus import _client
from polyxeus.client import kept_variables
from polyxeus.client.client import Client
from polyxeus.client.kept_variables import KeptVariables
from polyxeus.client.pxcluster import run
from polyxeus.client.unknown_option import unknown_option
from polyxeus.cluster.programs import Program, signal_number

__all__ = ["Cluster", "ClusterManager"]

_OPTIONS_WITHOUT_MEANING = frozenset(
    ["config", "load_profile", "parent", "log", "send_engines_connection_env", "delay"]
)


def _new_id():
    letters = string.ascii_lowercase + string.digits
    return f"{int(time.time())}-{''.join(random.choices(letters, k=4))}"


def _launcher(given, what):
    """ "local" or "mpi", from a name, or a class of ipyparallel that is called so."""
    if given is None:
        return "local"
    names = [given] if isinstance(given, str) else [each.__name__ for each in given.__mro__]
    for name in names:
        short = name.rpartition(".")[2].lower().replace("polyxeus-", "")
        for known in ("mpi", "local"):
            if short.startswith(known):
                return known
        if short == "polyxeus":
            return "local"
    raise ValueError(f"{what} can be 'local' or 'mpi', not {names[0]!r}")


def _planned(language):
    """How many engines a language plan like "python:2,cpp:2" is for; None: any number."""
    counts = [part.partition(":")[2] for part in (language or "").split(",")]
    return sum(map(int, counts)) if all(count.isdigit() for count in counts) else None


class Cluster:
    """One controller and its engines.

    n                    how many engines; None: one for each core
    engines, controller  how they are started: "local" or "mpi"
    language             what the engines speak: "python", "cpp", or both, as in "python:2,cpp:2"
    profile, profile_dir, ipython_dir, cluster_id
                         where the cluster's files are; cluster_id None: a new one
    controller_ip        where the controller listens; None: on this host only
    controller_location  what other hosts call the controller's host
    controller_args, engine_args
                         further arguments for the programs, as lists
    engine_timeout       seconds until missing engines are reported
    shutdown_atexit      the cluster ends with this Python, also where that is killed
    log_level            of the programs

    Each method that starts or stops something is a coroutine, and has a twin that ends in _sync.
    As a context manager a cluster starts itself, gives a client, and stops in the end.
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
        controller_ip: str | None = None,
        controller_location: str | None = None,
        controller_args: list[str] | None = None,
        engine_args: list[str] | None = None,
        engine_timeout: float = 60,
        shutdown_atexit: bool = True,
        log_level: int = logging.INFO,
        **others: Any,
    ) -> None:
        unknown = set(others) - _OPTIONS_WITHOUT_MEANING
        if unknown:
            raise unknown_option(min(unknown), Cluster.__init__, "Cluster")
        if n is not None and (isinstance(n, bool) or not isinstance(n, int) or n < 0):
            raise TypeError(f"n must be the number of engines, not {n!r}")
        self.n = n
        self.engine_launcher = _launcher(engines, "engines")
        self.controller_launcher = _launcher(controller, "controllers")
        if language is not None and not isinstance(language, str):
            raise TypeError(f"language must be text like 'cpp' or 'python:2,cpp:2', not {language!r}")
        self.language = language
        self.cluster_id = _new_id() if cluster_id is None else cluster_id
        self.profile = profile
        choice = dict(
            profile=profile or "", profile_dir=profile_dir or "", ipython_dir=ipython_dir or ""
        )
        self.connection_file = _client.client_file(cluster_id=self.cluster_id, **choice)
        security = os.path.dirname(self.connection_file)
        self.profile_dir = os.path.dirname(security)
        self.cluster_file = os.path.join(security, f"cluster-{self.cluster_id}.json")
        self.controller_ip = controller_ip
        self.controller_location = controller_location
        if controller_args is None:
            controller_args = getattr(controller, "controller_args", None)
        self.controller_args = list(controller_args or [])
        self.engine_args = list(engine_args or [])
        self.engine_timeout = engine_timeout
        self._shutdown_atexit = shutdown_atexit
        self.log_level = log_level
        self.log = others.get("log") or logging.getLogger(f"polyxeus.cluster.{self.cluster_id}")
        self.config = others.get("config")  # kept for who reads it; nothing here does
        self.controller = None
        self.engines = {}
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
        """Whether the cluster ends with this Python, however that ends."""
        return self._shutdown_atexit

    @shutdown_atexit.setter
    def shutdown_atexit(self, value: bool) -> None:
        self._shutdown_atexit = value
        if not value and self._pid == os.getpid():
            for each in [self.controller, *self.engines.values()]:
                if isinstance(each, Program):
                    each.release()

    def _owner(self):
        """The options that let pxcluster end with this Python."""
        return [f"--owner={os.getpid()}"] if self.shutdown_atexit else []

    @property
    def engine_launcher_class(self):
        """How engines are started: "local" or "mpi"."""
        return self.engine_launcher

    @property
    def engine_set(self):
        """The first set of engines, or None."""
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

    def start_controller_sync(self, **kwargs: Any) -> None:
        """Starts the controller; it is ready on return."""
        if self.controller is not None and self.controller.is_running():
            raise RuntimeError(f"the controller of this cluster is already running: {self!r}")
        options = ["-n", "0", f"--controller={self.controller_launcher}", *self._owner()]
        if self.controller_ip:
            options.append(f"--ip={self.controller_ip}")
        if self.controller_location:
            options.append(f"--location={self.controller_location}")
        arguments = [*self.controller_args, *kwargs.get("controller_args", ())]
        if arguments:
            options += ["--", *arguments]
        program = Program(self._command("start", *options), self._log_file("controller"))
        program.wait_until(self._is_controller_ready, "the controller is ready")
        self.controller = program
        return None

    def _is_controller_ready(self):
        return os.path.exists(self.connection_file) and os.path.exists(self.cluster_file)

    def _log_file(self, name):
        folder = os.path.join(self.profile_dir, "log")
        os.makedirs(folder, exist_ok=True)
        return os.path.join(folder, f"cluster-{self.cluster_id}-{name}.log")

    def start_engines_sync(
        self, n: int | None = None, engine_set_id: str | None = None, **kwargs: Any
    ) -> str:
        """Starts n more engines; gives the id of their set. They register when they are ready."""
        if self.controller is None and not os.path.exists(self.connection_file):
            raise RuntimeError("no controller is running: call start_controller() first")
        n = self.n if n is None else n
        n = _planned(self.language) if n is None else n
        n = (os.cpu_count() or 1) if n is None else n
        name = engine_set_id or _new_id()
        if name in self.engines:
            raise ValueError(f"an engine set with the id {name!r} already exists")
        options = ["-n", str(n), f"--engines={self.engine_launcher}", *self._owner()]
        options.append(f"--engine-timeout={self.engine_timeout}")
        if self.language:
            options.append(f"--language={self.language}")
        if self.engine_args:
            options.append(f"--engine-args={shlex.join(self.engine_args)}")
        log = self._log_file(f"engines-{name}")
        before = self._recorded_sets()
        program = Program(self._command("engines", *options), log)
        program.n = n
        program.wait_until(
            lambda: set(self._recorded_sets()) - set(before), "the engines are started"
        )
        program.set_id = next(iter(set(self._recorded_sets()) - set(before)))
        engine_set_id = engine_set_id or program.set_id
        self.engines[engine_set_id] = program
        return engine_set_id

    def start_cluster_sync(self, n: int | None = None):
        """Starts the controller and n engines (default: self.n)."""
        if n is not None:
            self.n = n
        self.start_controller_sync()
        try:
            if self.n != 0:
                self.start_engines_sync(self.n)
        except BaseException:
            self.stop_controller_sync()
            raise
        return self

    def connect_client_sync(self, **client_kwargs: Any) -> Client:
        """A Client of this cluster."""
        client = Client(self.connection_file, cluster=self, **client_kwargs)
        self._clients.add(client)
        return client

    def start_and_connect_sync(self, n: int | None = None, activate: bool = False) -> Client:
        """Starts the cluster, waits for its engines, gives a Client.

        activate  its magics %px, %%px ... are those of IPython.
        """
        if self.controller is None:
            self.start_cluster_sync(n)
        client = self.connect_client_sync()
        wanted = self.expected_engines()
        if wanted:
            client.wait_for_engines(wanted, timeout=self.engine_timeout)
        if activate:
            client.activate()
        return client

    def stop_engines_sync(self, engine_set_id: str | None = None) -> None:
        """Stops a set of engines, default all of them."""
        if engine_set_id is None:
            for each in list(self.engines):
                self.stop_engines_sync(each)
            return
        self._set(engine_set_id).stop()
        self.engines.pop(engine_set_id, None)

    def _set(self, engine_set_id):
        try:
            return self.engines[engine_set_id]
        except KeyError:
            known = ", ".join(self.engines) or "none"
            raise KeyError(f"unknown engine set {engine_set_id!r}; known: {known}") from None

    def restart_engines_sync(
        self, engine_set_id: str | None = None, keep: Any = None
    ) -> KeptVariables | None:
        """Ends a set of engines, default all, also those that hang, and starts it again with the
        same ids and options; returns when its engines are registered.

        keep  as in Client.restart_engines(), and the result with it.
        """
        kept = None
        for name in [engine_set_id] if engine_set_id else list(self.engines):
            each = self._set(name)
            if each.is_running():
                command = self._command("restart", f"--engine-set={each.set_id}")
                more = kept_variables.restart(command, keep)
                kept = kept.joined(more) if kept is not None and more is not None else more
            else:
                self.engines.pop(name)
                self.start_engines_sync(each.n, name)
        for client in list(self._clients):
            client._catch_up()
        return kept

    def signal_engines_sync(self, signum: int | str, engine_set_id: str | None = None) -> None:
        """Sends a signal to the engines of a set, default to all."""
        number = signal_number(signum)
        sets = [self._set(engine_set_id)] if engine_set_id else list(self.engines.values())
        recorded = self._recorded_sets()
        if self.engine_launcher == "local":
            for each in sets:
                _signal_processes(recorded.get(each.set_id, {}), number)
            return
        with self.connect_client_sync() as client:  # mpiexec would end at a signal
            client.send_signal(number, block=True)

    def stop_controller_sync(self) -> None:
        """Stops the controller."""
        if self.controller is not None:
            self.controller.stop()
            self.controller = None

    def stop_cluster_sync(self) -> None:
        """Stops engines and controller; nothing where they do not run."""
        if self._client is not None:
            self._client.close()
            self._client = None
        self.stop_engines_sync()
        self.stop_controller_sync()

    # ------------------------------------------------------------ what runs

    def _record(self):
        try:
            with open(self.cluster_file) as file:
                return json.load(file)
        except (OSError, ValueError):
            return {}

    def _recorded_sets(self):
        return self._record().get("engines", {}).get("sets", {})

    def expected_engines(self) -> int:
        """How many engines were started."""
        return sum(each.n for each in self.engines.values())

    def stopped_engine_set(self):
        """Why engines have ended that should run; None where they run."""
        for name, each in self.engines.items():
            if not each.is_running():
                return f"{name}: {each.last_words()}"
        return None

    def to_dict(self) -> dict[str, Any]:
        """What from_dict() needs to find this cluster again."""
        return self._record() or {
            "cluster": {"cluster_id": self.cluster_id, "profile_dir": self.profile_dir, "n": self.n}
        }

    @classmethod
    def from_dict(cls, d: dict[str, Any], **kwargs: Any):
        """The running cluster that to_dict() or a cluster file describes."""
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
            cluster.controller = _Recorded(stop, d["controller"].get("state", {}))
        for name, state in engines.get("sets", {}).items():
            cluster.engines[name] = _Recorded(stop, state, name)
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
    ):
        """The cluster that runs under a profile and id; FileNotFoundError where none does."""
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

    # ------------------------------------------------------------ context managers

    def __enter__(self):
        self._client = self.start_and_connect_sync()
        return self._client

    def __exit__(self, *_problem):
        self.stop_cluster_sync()

    async def __aenter__(self):
        self._client = await self.start_and_connect()
        return self._client

    async def __aexit__(self, *_problem):
        await self.stop_cluster()


class _Recorded:
    """A part of a cluster that somebody else has started."""

    def __init__(self, stop_command, state, set_id=None):
        self._stop_command = stop_command
        self._state = state
        self.set_id = set_id
        self.n = state.get("n", 0)
        self.pid = state.get("pid", 0)

    def is_running(self):
        return any(_is_alive(pid) for pid in _pids(self._state))

    def last_words(self):
        return "it was started by another program: see its log"

    def stop(self):
        """Stops the whole cluster: parts cannot be stopped from outside."""
        if self.is_running():
            run(self._stop_command)


def _pids(state):
    found = [each.get("pid", 0) for each in state.get("engines", {}).values()]
    return [pid for pid in [*found, state.get("pid", 0)] if pid > 0]


def _is_alive(pid):
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


def _signal_processes(state, number):
    for pid in _pids(state):
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


def _add_coroutines():
    """Gives each method that ends in _sync its twin, a coroutine."""

    def twin(name):
        async def method(self, *args, **kwargs):
            function = getattr(self, name + "_sync")
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(None, lambda: function(*args, **kwargs))

        method.__name__ = name
        method.__qualname__ = f"Cluster.{name}"
        method.__doc__ = f"Coroutine: the same as {name}_sync()."
        return method

    for full in [name for name in vars(Cluster) if name.endswith("_sync")]:
        name = full[: -len("_sync")]
        setattr(Cluster, name, twin(name))


_add_coroutines()


class ClusterManager:
    """The clusters that run here, of all profiles."""

    def __init__(self, log: Any = None) -> None:
        self.clusters = {}
        self.log = log or logging.getLogger("polyxeus.cluster")

    @staticmethod
    def _key(cluster):
        return f"{os.path.basename(cluster.profile_dir)}:{cluster.cluster_id}"

    _cluster_key = _key

    def load_clusters(self):
        """Looks which clusters run; {key: Cluster}."""
        kept = {key: each for key, each in self.clusters.items() if each.controller is None}
        self.clusters = kept
        for each in json.loads(run(["list", "--output=json"]) or "[]"):
            try:
                cluster = Cluster.from_dict(each)
            except (ValueError, KeyError):
                continue
            self.clusters[self._key(cluster)] = cluster
        return self.clusters

    def new_cluster(self, **kwargs: Any):
        """(key, a Cluster that is not started)."""
        cluster = Cluster(**kwargs)
        key = self._key(cluster)
        if key in self.clusters:
            raise KeyError(f"a cluster {key} already exists")
        self.clusters[key] = cluster
        return key, cluster

    def get_cluster(self, cluster_id: str | None):
        """The cluster of this key.  KeyError where there is none."""
        return self.clusters[cluster_id]

    def remove_cluster(self, cluster_id: str | None):
        """Forgets the cluster of this key; it runs on."""
        del self.clusters[cluster_id]


_clusters = weakref.WeakSet()


def _stop_at_exit():
    for cluster in list(_clusters):
        is_ours = cluster._pid == os.getpid()  # and not of a process that this is a fork of
        if cluster.shutdown_atexit and is_ours and cluster.controller is not None:
            cluster.stop_cluster_sync()


atexit.register(_stop_at_exit)
