"""The methods of a Client that concern the batch jobs of its engines."""

from __future__ import annotations

import json
import os
import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from polyxeus.client.walltime.record import may_have_jobs, read_record

if TYPE_CHECKING:
    from collections.abc import Iterable
    from polyxeus.client.walltime.gate import Gate
    from polyxeus.client.walltime.job_ends import JobEnds
    from polyxeus.client.walltime.keeper import JobKeeper
    from polyxeus.client.walltime.watch import JobWatch

__all__ = ["ClientJobs"]


class ClientJobs:
    """The methods of a Client that concern the batch jobs of its engines."""

    _gate: Gate | None = None  # set by outlive_job()
    _job_watch: JobWatch | None = None

    def _watch_jobs(self, must: bool = True) -> JobWatch | None:
        """Returns the JobWatch of this client, and makes it if the client has none yet. If `must`
        is False and the engines cannot run in batch jobs, the method makes no JobWatch and returns
        None."""
        if self._job_watch is None and (must or may_have_jobs(self._where)):
            from polyxeus.client.walltime.watch import JobWatch

            self._job_watch = JobWatch(self)
        return self._job_watch

    def _wait_for_new_job(self):
        """Waits until the engines have been started in a new job. Returns False, without waiting,
        if outlive_job() has not been called."""
        if self._gate is None:
            return False
        self._gate.wait()
        return True

    def job_ends(self, timeout: float = 3.0) -> JobEnds:
        """Returns when the batch jobs of the engines end.

        Slurm, PBS, LSF and Grid Engine are supported. Each engine reports the job in which it runs. The client then
        runs the command of the batch system (squeue, qstat or bjobs) on the client's host. The output of this command
        contains the time at which the job ends.

        Parameters
        ----------
        timeout : float
            Seconds to wait for the engines. Busy engines that have never reported their job are left out.

        Returns
        -------
        JobEnds
            A sequence of dicts, one for each job. The sequence is printed as sentences.

        Examples
        --------
        >>> rc.job_ends()    # doctest: +SKIP
        engines 0-3: Slurm job 17 ends at 2026-11-28 18:30:00, in 12 min
        >>> list(rc.job_ends())    # no engine runs in a batch job
        []
        """
        return self._watch_jobs().job_ends(float(timeout))

    def outlive_job(
        self,
        variables: str | Iterable[str] | None = None,
        path: str | os.PathLike[str] | None = None,
        *,
        save_before: str | timedelta = "5m",
    ) -> JobKeeper:
        """Saves variables before the batch job of the engines ends, and restores them in a new job.

        A thread of this client takes the following steps before the end of each job. First, the
        engines get no further tasks, and finish the calls and tasks that they run. Then the engines
        write a checkpoint. `pxcluster` ends the job and submits another job with the same options.
        The new engines have the ids of the old engines, and get the variables of the old engines.
        Waiting tasks stay in the queue of the controller and run in the new job. Calls of this
        client wait until the variables are restored.

        Parameters
        ----------
        variables : str or list of str, optional
            The names of the variables. Default: all variables that can be written.
        path : str or path, optional
            The checkpoint folder, on a file system that all engines share. Default: a folder of the profile.
        save_before : str or timedelta
            The time between the start of the saving and the end of the job. This time should be longer than your
            longest task, and longer than the time needed to write the variables. Calls and tasks that run longer than
            half of `save_before` are interrupted.

        Returns
        -------
        JobKeeper
            An object with the method ``stop()``. The attributes ``crossings``, ``last`` and
            ``error`` of the JobKeeper are the number of new jobs, the last checkpoint and the last
            error.

        Raises
        ------
        RuntimeError
            The engines do not run in a batch job that `pxcluster` has submitted from this host, or none of them is a
            Python engine. The controller does not run on this host, or has no dashboard. This program itself runs in a
            batch job, or the cluster already has a JobKeeper.
        ValueError
            A name or `save_before` is malformed.

        Examples
        --------
        >>> keeper = rc.outlive_job(["model", "step"], "/scratch/run")    # doctest: +SKIP
        >>> results = rc.load_balanced_view().map_async(simulate, range(10000))    # doctest: +SKIP
        """
        from polyxeus.client.walltime import keeper as keepers
        from polyxeus.client.walltime.gate import Gate
        from polyxeus.views.checkpoints import duration_seconds, variable_names

        names = variable_names("variables", variables)
        seconds = duration_seconds(save_before)
        if not seconds > 0:
            raise ValueError(f'save_before must be a duration above 0 such as "90s", "10m" or "2h", not {save_before!r}')
        why = keepers.why_impossible(
            read_record(self._where), json.loads(self._connection_text), os.environ, self.languages.values()
        )
        if not why:
            try:
                keepers.check_orders(self)
            except OSError as problem:
                why = str(problem)
        if why:
            raise RuntimeError(f"the engines cannot go on in a new batch job: {why}")
        watch = self._watch_jobs()
        if watch.keeper is not None:
            raise RuntimeError("this client already saves variables and starts new jobs: stop() that one first")
        own = keepers.own_folder(self._where)
        folder = own if path is None else os.path.abspath(os.path.expanduser(os.fspath(path)))
        if self._gate is None:
            self._gate = Gate()
        lock = keepers.take_lock(own)
        keepers.resume_after_crash(self, own)
        keeper = keepers.JobKeeper(names, folder, seconds, lock, own, self._gate, lambda: watch.set_keeper(None))
        watch.set_keeper(keeper, seconds)
        return keeper

    def _with_job_ends(self, rows: str, table: str) -> tuple[str, str]:
        """Adds the batch job of each engine and the end of this job, as far as they are known, to
        the result of Connection.status()."""
        if self._job_watch is None:
            return rows, table
        known = self._job_watch.known(time.time())
        ends: dict[int, Any] = {engine: row for row in known for engine in row["engines"]}
        engines = json.loads(rows)
        for each in engines:
            job = ends.get(each["engine"])
            each["job"] = job and job["job"]
            each["job_ends"] = job and job["ends"]
        if not len(known):
            return json.dumps(engines), table
        separator = "" if "\n\n" in table else "\n"
        return json.dumps(engines), f"{table}{separator}{known}\n"
