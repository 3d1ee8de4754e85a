"""The result of Client.job_ends(): when the batch jobs of the engines end."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from polyxeus.client.engine_rows import EngineSentences
from polyxeus.client.walltime.batch_systems import name_of
from polyxeus.counted import engine_names

__all__ = ["JobEnds", "duration", "job_text"]


class JobEnds(EngineSentences):
    """A sequence of dicts, one for each batch job in which engines run. Each dict is printed as one sentence.

    Client.job_ends() returns it. Each dict has the keys system ("slurm", "pbs", "lsf", "sge"), job
    (the id of the job), engines (the ids of its engines), ends (the end of the job, in seconds
    since the epoch) and seconds (the number of seconds until this end). The values of `ends` and
    `seconds` are None if the job has no end, or if the batch system does not report the end.

    Parameters
    ----------
    rows : list of dict
        The jobs, without `seconds`.
    now : float
        The time, in seconds since the epoch.
    """

    def __init__(self, rows: list[dict[str, Any]], now: float) -> None:
        for row in rows:
            row["seconds"] = None if row["ends"] is None else max(0.0, row["ends"] - now)
        texts = [_sentence(row) for row in rows]
        super().__init__(json.dumps(rows), texts or ["no engine is known to run in a batch job"])


def _sentence(row):
    where = f"{engine_names(row['engines'])}: {job_text(row)}"
    if row["ends"] is None:
        return f"{where} has no end that is known"
    return f"{where} ends at {datetime.fromtimestamp(row['ends']):%Y-%m-%d %H:%M:%S}, in {duration(row['seconds'])}"


def job_text(row):
    """Returns the name of a job as text, like "Slurm job 17"."""
    return f"{name_of(row['system'])} job {row['job']}"


def duration(seconds):
    """Returns a duration as text, such as "45 s", "10 min" or "2 h 5 min"."""
    seconds = round(seconds)
    if seconds < 100:
        return f"{seconds} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h" + (f" {minutes} min" if minutes else "")
