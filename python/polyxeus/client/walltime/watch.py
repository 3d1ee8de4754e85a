"""A thread of a client that warns the user and saves variables before the batch jobs of the engines end."""

from __future__ import annotations

import os
import subprocess
import threading
import time
import warnings
import weakref
from typing import TYPE_CHECKING, Any

from polyxeus._client import Notices
from polyxeus.client.walltime.batch_systems import COMMANDS, ENVIRONMENT, name_of, read_end
from polyxeus.client.walltime.job_ends import JobEnds, duration, job_text
from polyxeus.client.walltime.plan import Ask, GiveUp, JobPlan, Save, Warn
from polyxeus.counted import engine_names
from polyxeus.engine_calls import batch_job
from polyxeus.error import NoEnginesRegistered
from polyxeus.results.async_result import AsyncResult
from polyxeus.results.comms import front_end
from polyxeus.serialize import requests

if TYPE_CHECKING:
    from polyxeus.client.client import Client
    from polyxeus.client.walltime.keeper import JobKeeper

__all__ = ["JobWatch", "send_quietly", "tell_user"]

_COMMAND_TIMEOUT = 30.0  # seconds
_LONGEST_SLEEP = 86400.0  # seconds
_PAUSE = 60.0  # seconds
_ANSWER_PATIENCE = 2.0  # seconds; after that, a warning names only the engines that have reported their job
_NO_LINE = 1000  # no line of code is the cause of these warnings
_LOOK, _ANSWERED = 1, 2  # the messages that are sent to the thread


def tell_user(text):
    """Shows a sentence: in a notebook, below the running cell; elsewhere, as a Python warning. Any
    thread may call this function."""
    front = front_end()
    if front is None:
        warnings.warn(text, RuntimeWarning, stacklevel=_NO_LINE)
        return
    front.publish(front.request(), "stream", {"name": "stderr", "text": f"{text}\n"}, {}, [])


def ask_batch_system(job):
    """Returns the time at which a job ends, in seconds since the epoch; None if this time is not known.

    job  an engine's answer about the job
    """
    command = [word.format(id=job["id"]) for word in COMMANDS.get(job["system"], [])]
    text = ""
    if command:
        try:
            done = subprocess.run(
                command, env={**os.environ, **ENVIRONMENT}, stdin=subprocess.DEVNULL, capture_output=True,
                text=True, errors="replace", timeout=_COMMAND_TIMEOUT,
            )  # fmt: skip
            text = "" if done.returncode else done.stdout
        except (OSError, subprocess.TimeoutExpired):
            pass  # this host may lack the command; the engine's environment may contain the end
    return read_end(job, text, time.time())


def send_quietly(client, engine, work):
    """Sends a request (serialize/requests.py) to one engine. The request is not in the user's history."""
    view = client.direct_view(engine)
    tasks = view._submit([engine], [work], None)
    return AsyncResult(client, tasks, requests.read, fname="batch job", targets=[engine], single=True)


class JobWatch:
    """Warns before the batch jobs of the engines end, and lets a JobKeeper save variables before the end.

    A thread waits for the next deadline, for the engines' answers and for calls of look(). The thread ends when the
    client is closed or no longer used.
    """

    def __init__(self, client: Client) -> None:
        self._client = weakref.ref(client)
        self._notices = Notices()
        weakref.finalize(client, self._notices.close)
        self._lock = threading.Lock()  # protects the attributes below, because any thread may call job_ends()
        self._plan = JobPlan()
        self._asked: dict[str, Any] = {}  # uuid of an engine -> the result of batch_job.tell()
        self._told: dict[str, Any] = {}  # uuid -> the job that the engine has reported; None: no job
        self._engines: dict[str, list[int]] = {}  # "slurm 17" -> ids
        self._endless: set[str] = set()  # jobs without an end, about which users were informed
        self._patient_until = 0.0  # until then, the thread waits for engines that it has just asked
        self._pause_until = 0.0  # set after an error
        self._keeper: JobKeeper | None = None
        self._thread = threading.Thread(target=self._run, args=(), name="polyxeus-job-ends", daemon=True)
        self._notices.put(_LOOK)
        self._thread.start()

    def look(self) -> None:
        """Tells the thread that engines have joined or left, so that it looks for their jobs."""
        self._notices.put(_LOOK)

    def close(self) -> None:
        """Ends the thread. Afterwards, this client starts no further jobs."""
        if self._keeper is not None:
            self._keeper.stop()
        self._notices.close()

    @property
    def keeper(self) -> JobKeeper | None:
        """The object that saves variables and starts new jobs."""
        return self._keeper

    def set_keeper(self, keeper: JobKeeper | None, save_before: float | None = None) -> None:
        """Sets the JobKeeper. The thread calls the JobKeeper's method `_go_on()` `save_before`
        seconds before the first job ends. If `save_before` is None, the thread does not call this
        method."""
        with self._lock:
            self._keeper = keeper
            self._plan.save_before(save_before)
            self._plan.ask_again()
        self.look()

    # ------------------------------------------------------------ for users

    def job_ends(self, timeout: float) -> JobEnds:
        """Returns the jobs of all engines that answer within `timeout` seconds or have reported their job earlier."""
        end = time.monotonic() + timeout
        for pending in self._question():
            pending.wait(max(0.0, end - time.monotonic()))
        self._learn()
        with self._lock:
            jobs = {key: self._description(key) for key in self._engines}
        ends = {key: ask_batch_system(job) for key, job in jobs.items()}
        now = time.time()
        with self._lock:
            for key, each in ends.items():
                self._plan.told(key, each, now)
        self.look()
        return self.known(now)

    def known(self, now: float) -> JobEnds:
        """Returns the jobs that are known already, without asking the batch system."""
        with self._lock:
            ends = self._plan.ends()
            rows = [{**self._row(key), "ends": ends.get(key)} for key in sorted(self._engines)]
        return JobEnds(rows, now)

    def _row(self, key):
        job = self._description(key)
        return {"system": job["system"], "job": _id(job), "engines": self._engines[key]}

    def _description(self, key):
        """Returns what an engine has reported about the job or job array with this key (such as
        "slurm 17"). If several engines have reported, this is the report of the engine that was
        started first."""
        told = [each for each in self._told.values() if each and _key(each) == key]
        return min(told, key=lambda each: each.get("started", 0.0))

    # ------------------------------------------------------------ the thread

    def _run(self):
        while not self._notices.is_closed:
            self._notices.take(self._seconds())
            client = self._client()
            if client is None or client._closed or self._notices.is_closed:
                return
            try:
                self._turn(client)
            except Exception as problem:
                if client._closed:
                    return
                tell_user(f"cannot find out when the batch jobs of the engines end: {problem}")
                self._pause_until = time.monotonic() + _PAUSE
            del client

    def _patience(self):
        """Returns the number of seconds to wait for further answers from engines."""
        return max(0.0, self._patient_until - time.monotonic()) if self._asked else 0.0

    def _seconds(self):
        return max(self._pause_until - time.monotonic(), self._seconds_to_deadline())

    def _seconds_to_deadline(self):
        with self._lock:
            if self._patience():
                return self._patience()
            deadline = self._plan.next_deadline()
        return _LONGEST_SLEEP if deadline is None else min(_LONGEST_SLEEP, max(0.0, deadline - time.time()))

    def _turn(self, client):
        self._question()
        self._learn()
        while True:
            with self._lock:
                if self._patience():
                    return
                orders = self._plan.due(time.time())
            for order in orders:
                self._perform(order, client)
            if not orders:
                return

    def _perform(self, order, client):
        if isinstance(order, Ask):
            with self._lock:
                job = self._description(order.job) if order.job in self._engines else None
            if job is None:
                return  # the engines of the job have left in the meantime
            ends = ask_batch_system(job)
            with self._lock:
                self._plan.told(order.job, ends, time.time())
                is_news = ends is None and self._keeper is not None and order.job not in self._endless
                if is_news:
                    self._endless.add(order.job)
            if is_news:
                tell_user(
                    f"{name_of(job['system'])} does not say when job {_id(job)} ends, so rc.outlive_job() "
                    "cannot save variables before its end"
                )
            return
        with self._lock:
            row = self._row(order.job) if order.job in self._engines else None
            keeper = self._keeper
        if row is None:
            return
        if isinstance(order, Warn):
            tell_user(_warning(row, order.seconds, keeper))
        elif keeper is not None and isinstance(order, Save):
            if keeper._go_on(client, row, order.ends):
                with self._lock:
                    self._plan.crossed()
                    self._engines.clear()
                self._question()
        elif keeper is not None and isinstance(order, GiveUp):
            keeper._give_up(row, order.seconds)

    def _question(self):
        """Asks each engine that has not been asked yet for its batch job. Returns the AsyncResults
        of all such requests that have no answer yet."""
        client = self._client()
        if client is None:
            return []
        uuids = {uuid: engine for engine, uuid in client._engines.items()}
        languages = client.languages
        with self._lock:
            for kept in (self._asked, self._told):
                for gone in [uuid for uuid in kept if uuid not in uuids]:
                    del kept[gone]
            self._arrange(uuids)
            new = [
                uuid for uuid in uuids
                if uuid not in self._asked and uuid not in self._told and languages.get(uuids[uuid]) == "python"
            ]  # fmt: skip
            for uuid in new:
                try:
                    pending = send_quietly(client, uuids[uuid], requests.call(batch_job.tell))
                except (IndexError, NoEnginesRegistered):
                    continue  # the engine has left in the meantime
                self._asked[uuid] = pending
                self._patient_until = time.monotonic() + _ANSWER_PATIENCE
                pending._tasks.notify(self._notices, _ANSWERED)
            return list(self._asked.values())

    def _learn(self):
        """Reads the answers of engines that have arrived, and groups the engines by their jobs."""
        client = self._client()
        if client is None:
            return
        ids = {uuid: engine for engine, uuid in client._engines.items()}
        with self._lock:
            for uuid in [uuid for uuid, pending in self._asked.items() if pending.ready()]:
                pending = self._asked.pop(uuid)
                self._told[uuid] = pending.get() if pending.successful() else None
            self._arrange(ids)

    def _arrange(self, ids):
        """Groups the engines by their jobs. `ids` is {uuid: id} of the registered engines."""
        self._engines = {}
        for uuid, job in self._told.items():
            if job and uuid in ids:
                self._engines.setdefault(_key(job), []).append(ids[uuid])
        for engines in self._engines.values():
            engines.sort()
        self._plan.set_jobs(self._engines)


def _id(job):
    """Returns the id of the job, or the id of the job array to which the job belongs. An array
    counts as one job, which ends when the first job of the array ends."""
    return job.get("array", job["id"])


def _key(job):
    return f"{job['system']} {_id(job)}"


def _warning(row, seconds, keeper):
    text = f"{job_text(row)} of {engine_names(row['engines'])} ends in {duration(seconds)}"
    if keeper is None:
        return f"{text}: save what you need (view.checkpoint()), or let rc.outlive_job() do it"
    return f"{text}: {keeper._promise}"
