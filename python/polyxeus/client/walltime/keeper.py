"""Saves variables before batch jobs end, starts the engines in new jobs, and restores the variables."""

from __future__ import annotations

import fcntl
import json
import os
import threading
import time
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any

from polyxeus.client.walltime.batch_systems import SYSTEMS
from polyxeus.client.walltime.job_ends import duration, job_text
from polyxeus.client.walltime.record import cluster_of, launchers_of
from polyxeus.client.walltime.watch import send_quietly, tell_user
from polyxeus.counted import engine_names
from polyxeus.engine_calls import batch_job
from polyxeus.serialize import requests

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing_extensions import Self
    from polyxeus.client.client import Client
    from polyxeus.client.walltime.gate import Gate
    from polyxeus.views.checkpoints import Checkpoint

__all__ = ["JobKeeper", "check_orders", "own_folder", "resume_after_crash", "take_lock", "why_impossible"]

_ORDER_TIMEOUT = 10.0  # seconds to wait for the answer to a command for the controller
_LABEL = "before the end of the job"
_KEPT = 2  # the number of checkpoints to keep
_MARK = ".drained"  # a file next to the lock; it exists while the engines get no tasks
# Fractions of the remaining time: after the first, running calls are interrupted; after the second, the attempt ends.
_TO_FINISH, _TO_BE_INTERRUPTED = 1 / 2, 3 / 4


def why_impossible(
    record: dict[str, Any], connection: dict[str, Any], environment: Any, languages: Iterable[str]
) -> str | None:
    """Returns the reason why the engines of a cluster cannot continue in new jobs; None if they can.

    record      the content of the file that pxcluster has written about the cluster
    connection  the content of the connection file
    languages   the languages of the engines
    """
    own = batch_job.find_job(environment)
    if own:
        return (
            f"this program runs in a batch job itself ({own['system']} {own['id']}) and ends with it: run it and "
            "`pxcluster start` on a login node"
        )
    if not launchers_of(record).intersection(SYSTEMS):
        return (
            "`pxcluster` has not started the engines of this cluster in a job of Slurm, PBS, LSF or Grid Engine from this "
            "host: start them here, e.g. with `pxcluster start --engines=slurm`"
        )
    found = set(languages)
    if found and "python" not in found:
        return "C++ engines do not report the batch job in which they run: start at least one Python engine in the job"
    if not connection.get("dashboard"):
        return (
            "the controller has no dashboard, through which rc.outlive_job() tells it to pause tasks: start it without "
            "--dashboard=off"
        )
    return None


def own_folder(connection_file: str) -> str:
    """Returns the folder in the profile that belongs to the cluster of this connection file. The folder contains the
    lock of take_lock(), and also the checkpoints if the user names no other folder for them."""
    profile_dir, cluster_id = cluster_of(connection_file) or (os.getcwd(), "")
    return os.path.join(profile_dir, "outlived_jobs", cluster_id or "default")


def take_lock(folder: str) -> int:
    """Takes the lock in the folder of a cluster, so that only one program starts new jobs for this cluster. Raises
    RuntimeError if another program has the lock."""
    os.makedirs(folder, 0o700, exist_ok=True)
    path = os.path.join(folder, ".lock")
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise RuntimeError(
            f"another client of this cluster already saves variables and starts new jobs (it has locked {path}): stop "
            "that one first"
        ) from None
    return descriptor


class JobKeeper:
    """Saves variables before the batch job of the engines ends, and restores them in a new job.

    Client.outlive_job() returns a JobKeeper. The JobKeeper works in a thread until you call stop() or close the client.
    As a context manager, it stops at the end of the `with` block.

    Parameters
    ----------
    variables : list of str or None
        The names of the variables; None means all variables that can be written.
    folder : str
        The checkpoint folder.
    save_before : float
        The number of seconds between the start of the saving and the end of the job.
    lock : int
        The file descriptor of the cluster's lock.
    lock_folder : str
        The folder of the lock.
    gate : Gate
        The Gate that makes the calls of the client wait.
    on_stop : callable
        A function that is called when the JobKeeper is stopped.

    Attributes
    ----------
    folder : str
        The checkpoint folder.
    crossings : int
        The number of new jobs that were started.
    last : Checkpoint or None
        The latest checkpoint.
    error : Exception or None
        The error of the latest attempt to save the variables and continue in a new job; None if the attempt succeeded,
        or if there was none yet. A RuntimeError if a job is too short for a further attempt.
    """

    def __init__(
        self, variables: list[str] | None, folder: str, save_before: float, lock: int, lock_folder: str, gate: Gate,
        on_stop: Callable[[], None],
    ) -> None:  # fmt: skip
        self.crossings = 0
        self.last: Checkpoint | None = None
        self.error: Exception | None = None
        self.folder = folder
        self._variables = variables
        self._save_before = save_before
        self._lock: int | None = lock
        self._lock_folder = lock_folder
        self._gate = gate
        self._on_stop = on_stop
        self._changed = threading.Condition()

    def __repr__(self):
        state = "stopped" if self._lock is None else f"saves {duration(self._save_before)} before the end of a job"
        return f"<JobKeeper {state}, {self.crossings} new jobs>"

    @property
    def _promise(self) -> str:
        """Returns the last words of a warning: that the JobKeeper will save variables and start a
        new job."""
        return f"{self._what} saved {duration(self._save_before)} before that, and the engines go on in a new job"

    @property
    def _what(self):
        if self._variables is None:
            return "all variables are"
        names = ", ".join(self._variables) or "no variables"
        return f"{names} {'is' if len(self._variables) == 1 else 'are'}"

    def wait(self, crossings: int = 1, timeout: float | None = None) -> bool:
        """Waits until `crossings` new jobs have started since the JobKeeper was made.

        The function also returns if an attempt to start a new job has failed, or if stop() is
        called.

        Parameters
        ----------
        crossings : int
            The number of new jobs to wait for, counted since the JobKeeper was made.
        timeout : float, optional
            Seconds to wait. Default: no limit.

        Returns
        -------
        bool
            Whether `crossings` new jobs have started.
        """
        with self._changed:
            self._changed.wait_for(lambda: self.crossings >= crossings or self.error or self._lock is None, timeout)
            return self.crossings >= crossings

    def stop(self) -> None:
        """Stops the JobKeeper: it starts no further jobs, so the engines end with their job.

        If the JobKeeper is already starting a new job when you call stop(), it still completes the
        start of this job.
        """
        with self._changed:
            lock, self._lock = self._lock, None
            self._changed.notify_all()
        if lock is not None:
            os.close(lock)
            self._on_stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self.stop()

    # ------------------------------------------------------------ in the thread of JobWatch

    def _give_up(self, row: dict[str, Any], seconds: float) -> None:
        """Tells the user that the JobKeeper starts no further job, because the current job is too
        short."""
        problem = RuntimeError(
            f"{job_text(row)} of {engine_names(row['engines'])} may run for only {duration(seconds)}, but variables must "
            f"be saved {duration(self._save_before)} before its end: no further job is started; give rc.outlive_job() a "
            "smaller save_before, or the jobs more time (--time)"
        )
        self._failed(problem)

    def _go_on(self, client: Client, row: dict[str, Any], ends: float) -> bool:
        """Saves the variables, starts the engines in a new job and restores the variables. Returns
        whether all of this succeeded. If a step failed, the method tells the user the reason."""
        if self._lock is None:
            return False
        left = max(0.0, ends - time.time())
        tell_user(
            f"{job_text(row)} of {engine_names(row['engines'])} ends in {duration(left)}: {self._what} saved now, and the "
            "engines go on in a new job; calls wait until then"
        )
        try:
            with self._gate.closed():
                self._cross(client, ends)
        except Exception as problem:
            self._failed(problem)
            return False
        with self._changed:
            self.crossings += 1
            self.error = None
            self._changed.notify_all()
        tell_user(f"{engine_names(client.ids)} run in a new job; restored: {self._restored}")
        return True

    @property
    def _restored(self):
        names = sorted({name for each in self.last["ranks"] for entry in each["variables"] for name in entry["names"]})
        return ", ".join(names) or "no variables"

    def _failed(self, problem):
        saved = f"; the variables are in {self.last['path']}" if self.last else ""
        tell_user(f"the engines do not go on in a new job: {problem}{saved}")
        with self._changed:
            self.error = problem
            self._changed.notify_all()

    def _cross(self, client, ends):
        ids = client.ids
        with open(os.path.join(self._lock_folder, _MARK), "w"):
            pass
        order(client, "drain", ids)
        try:
            self._wait_until_idle(client, ids, ends)
            view = client.direct_view(ids)
            self.last = view.checkpoint(self.folder, names=self._variables, label=_LABEL, keep_last=_KEPT)
        except BaseException:
            _resume(client, ids, self._lock_folder)
            raise
        client.restart_engines()  # the new engines get tasks
        _unmark(self._lock_folder)
        client.direct_view(ids).restore(self.last["path"])

    def _wait_until_idle(self, client, ids, ends):
        """Waits until no engine runs a call or a task. After half of the time until the end of the
        job, interrupts the engines that still run a call or a task."""
        left = max(0.0, ends - time.time())
        patience = [time.monotonic() + left * share for share in (_TO_FINISH, _TO_BE_INTERRUPTED)]
        while True:
            pending = [(each, send_quietly(client, each, requests.execute("", True))) for each in ids]
            busy = _unanswered(pending, patience[0])
            if busy:
                tell_user(f"{engine_names(busy)} did not finish in time: the running code is interrupted")
                client.interrupt(busy, block=False)
                busy = _unanswered(pending, patience[1])
            if busy:
                raise TimeoutError(f"{engine_names(busy)} cannot be interrupted")
            status = client.queue_status(ids)
            busy = [key for key, each in status.items() if isinstance(key, int) and each["tasks"]]
            if not busy:
                return
            if time.monotonic() > patience[1]:
                raise TimeoutError(f"{engine_names(busy)} did not finish all tasks in time")


def check_orders(client: Client) -> None:
    """Raises OSError if the controller cannot carry out the commands "drain" and "resume" of
    order(). The check changes nothing."""
    free = [each["id"] for each in client.measures()["engines"] if not each.get("is_drained")]
    if free:
        order(client, "resume", free[:1])


def order(client: Client, name: str, ids: list[int]) -> None:
    """Tells the controller to give engines no further tasks ("drain"), or to give them tasks again ("resume"). Raises
    OSError if the controller does not run on this host or has no queue of tasks."""
    dashboard = json.loads(client._connection_text)["dashboard"]
    request = urllib.request.Request(
        f"http://127.0.0.1:{dashboard['port']}/do/{name}",
        json.dumps({"engines": ids}).encode(),
        {"X-Polyxeus-Token": dashboard["token"], "Content-Type": "application/json"},
    )
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=_ORDER_TIMEOUT):
            pass
    except urllib.error.HTTPError as problem:
        why = problem.read().decode(errors="replace")
        raise OSError(f"the controller refuses the order {name!r}: {why}") from None
    except OSError as problem:
        raise OSError(f"the controller does not answer at its dashboard on this host ({problem})") from None


def resume_after_crash(client: Client, folder: str) -> None:
    """Lets the engines get tasks again if an earlier program has sent the command "drain" and was
    then killed before it started the engines in a new job."""
    if os.path.exists(os.path.join(folder, _MARK)):
        _resume(client, client.ids, folder)


def _unmark(folder):
    try:
        os.remove(os.path.join(folder, _MARK))
    except FileNotFoundError:
        pass


def _resume(client, ids, folder):
    """Lets the engines get tasks again, unless they have left or the controller cannot be reached."""
    left = [each for each in ids if each in client.ids]
    try:
        if left:
            order(client, "resume", left)
        _unmark(folder)
    except OSError as problem:
        tell_user(f"{engine_names(left)} get no tasks: {problem}; press `Resume tasks` on the dashboard")


def _unanswered(pending, until):
    """Waits for the answers to these calls, at most until the time `until`. Returns the engines
    whose calls are then still unanswered."""
    for _engine, result in pending:
        result.wait(max(0.0, until - time.monotonic()))
    return [engine for engine, result in pending if not result.ready()]
