"""Decides which steps to take before batch jobs end. This module uses no clock, thread or process:
the time is an argument of its functions."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Ask", "GiveUp", "JobPlan", "Save", "Warn"]

_WARN_BEFORE = (600.0, 120.0)
_ASK_EVERY = 1800.0  # administrators and users can change the end of a running job
_FRESH = 20.0  # seconds for which an answer of the batch system stays valid
_MOVED = 60.0  # seconds; if the end moves by more than this, warnings are given again


class Ask(NamedTuple):
    """A step: ask the batch system for the end of a job, and pass the answer to JobPlan.told()."""

    job: str


class Warn(NamedTuple):
    """A step: tell the user that the job ends in this number of seconds."""

    job: str
    seconds: float


class Save(NamedTuple):
    """A step: save the variables, start the engines in a new job, and then call JobPlan.crossed()."""

    job: str
    ends: float


class GiveUp(NamedTuple):
    """A step: start no further jobs. The new job is at most as long as the time that was passed to
    JobPlan.save_before(). So this job and all later jobs would only save the variables and end."""

    job: str
    seconds: float


class _Watched:
    def __init__(self):
        self.ends = None
        self.asked = None  # the time of the last answer
        self.first_left = None  # the remaining seconds when the end became known
        self.warned = set()
        self.is_over = False


class JobPlan:
    """Decides when to ask the batch system for the end of jobs, when to warn the user, and when to save variables.

    The owner of a JobPlan reports the jobs and their ends, takes the steps that due() returns, and
    calls due() again at next_deadline(). All times are seconds since the epoch. Each warning is
    given once for each job. If several warnings for a job are overdue, due() returns only one step
    for all of them. Before each warning and each save, the batch system is asked again, because the
    end of the job may have changed.
    """

    def __init__(self):
        self._jobs: dict[str, _Watched] = {}
        self._save_before: float | None = None
        self._is_saved = False
        self._has_crossed = False

    def save_before(self, seconds: float | None) -> None:
        """Sets the time at which the variables are saved: this number of seconds before the first
        of the jobs ends. If `seconds` is None, no variables are saved."""
        self._save_before = seconds
        self._is_saved = self._has_crossed = False

    def ask_again(self) -> None:
        """Makes due() return an Ask step for each job."""
        for watched in self._jobs.values():
            watched.asked = None

    def set_jobs(self, jobs) -> None:
        """Sets the jobs in which the engines run now."""
        self._jobs = {job: self._jobs.get(job) or _Watched() for job in jobs}

    def told(self, job: str, ends: float | None, now: float) -> None:
        """Reports the answer to an Ask step: the end of the job, or None if the end is not known or
        the job has no end."""
        watched = self._jobs.get(job)
        if watched is None:
            return
        if ends is not None and watched.ends is not None and ends > watched.ends + _MOVED:
            watched.warned = {each for each in watched.warned if now >= ends - each}
        if ends is not None and watched.first_left is None:
            watched.first_left = ends - now
        watched.ends, watched.asked = ends, now
        watched.is_over = ends is not None and now >= ends

    def crossed(self) -> None:
        """Reports that the engines run in new jobs."""
        self._jobs.clear()
        self._is_saved, self._has_crossed = False, True

    def ends(self) -> dict[str, float | None]:
        """Returns {job: its end}; the end is None if it is not known."""
        return {job: watched.ends for job, watched in self._jobs.items()}

    def due(self, now: float) -> list[Ask | Warn | Save | GiveUp]:
        """Returns the steps that the owner of this object must take now."""
        orders: list[Ask | Warn | Save | GiveUp] = []
        for job, watched in self._jobs.items():
            watched.is_over = watched.ends is not None and now >= watched.ends
            slots = self._slots(watched, now)
            must_save = self._must_save(watched, now)
            if watched.asked is None or now >= watched.asked + _ASK_EVERY:
                orders.append(Ask(job))
            elif (slots or must_save) and now > watched.asked + _FRESH:
                orders.append(Ask(job))
            else:
                if slots:
                    watched.warned |= slots
                    orders.append(Warn(job, watched.ends - now))
                if must_save:
                    self._is_saved = True
                    orders.append(self._save(job, watched))
        return orders

    def _slots(self, watched, now):
        """Returns the warnings about the end of the job that are due now, each as a number of
        seconds before the end."""
        if watched.ends is None or watched.is_over:
            return set()
        return {each for each in _WARN_BEFORE if each not in watched.warned and now >= watched.ends - each}

    def _must_save(self, watched, now):
        if self._save_before is None or self._is_saved or watched.ends is None or watched.is_over:
            return False
        return now >= watched.ends - self._save_before

    def _save(self, job, watched):
        if self._has_crossed and watched.first_left <= self._save_before:
            return GiveUp(job, watched.first_left)
        return Save(job, watched.ends)

    def next_deadline(self) -> float | None:
        """Returns the next time at which due() will return a step; None if there are no jobs."""
        times = []
        for watched in self._jobs.values():
            if watched.asked is None:
                return 0.0
            times.append(watched.asked + _ASK_EVERY)
            if watched.ends is not None and not watched.is_over:
                times += [watched.ends - each for each in _WARN_BEFORE if each not in watched.warned]
                if self._save_before is not None and not self._is_saved:
                    times.append(watched.ends - self._save_before)
        return min(times, default=None)
