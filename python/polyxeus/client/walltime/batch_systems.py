"""The commands with which batch systems report when a job ends, and functions that read the output of these commands.
This module runs no command."""

from __future__ import annotations

import re
import time

__all__ = ["COMMANDS", "ENVIRONMENT", "SYSTEMS", "name_of", "read_end"]

_NAMES = {"slurm": "Slurm", "pbs": "PBS", "lsf": "LSF", "sge": "Grid Engine"}
# : The command of each batch system; {id} stands for the id of the job.
COMMANDS = {
    "slurm": ["squeue", "--noheader", "--jobs={id}", "--format=%e"],
    "pbs": ["qstat", "-f", "{id}"],
    "lsf": ["bjobs", "-noheader", "-o", "time_left", "{id}"],
    "sge": ["qstat", "-j", "{id}"],
}
# : Environment variables for these commands: without them, the user's settings could change the format of times.
ENVIRONMENT = {"SLURM_TIME_FORMAT": "standard", "LC_ALL": "C"}
#: pxcluster's names of the launchers of these systems.
SYSTEMS = ("slurm", "pbs", "torque", "lsf", "sge")


def name_of(system):
    """Returns the name under which users know the batch system."""
    return _NAMES.get(system, system)


def read_end(job, text, now):
    """Returns the time at which a job ends, in seconds since the epoch; None if this time is not
    known or the job has no end.

    job   an engine's answer about its job (engine_calls.batch_job.tell())
    text  the output of the command of the job's batch system; "" if the command failed, so that only the engine's
          answer is used
    now   the current time, in seconds since the epoch
    """
    read = {"slurm": _of_slurm, "pbs": _of_pbs, "lsf": _of_lsf, "sge": _of_sge}.get(job["system"])
    end = read(job, text, now) if read and text.strip() else None
    if end is None and not text.strip():
        end = job.get("ends")
        if end is None and "limit" in job and "started" in job:
            end = job["started"] + job["limit"]
    return end


def _seconds(text):
    """Returns the number of seconds for a string of the form "90", "1:30", "2:00:00" or
    "1-00:00:00"; None for other strings."""
    found = re.fullmatch(r"(?:(\d+)-)?(\d+(?::\d+){0,2})(?:\.\d+)?", text.strip())
    if not found:
        return None
    seconds = 0
    for part in found[2].split(":"):
        seconds = 60 * seconds + int(part)
    return seconds + 86400 * int(found[1] or 0)


def _after(start, seconds):
    return None if start is None or seconds is None else start + seconds


def _of_slurm(_job, text, _now):
    try:
        return time.mktime(time.strptime(text.split()[0], "%Y-%m-%dT%H:%M:%S"))
    except ValueError:  # N/A
        return None


def _of_pbs(job, text, now):
    left = re.search(r"Walltime\.Remaining = (\d+)", text)
    if left:
        return now + int(left[1])
    limit = re.search(r"Resource_List\.walltime = ([\d:]+)", text)
    begun = re.search(r"(?:stime|start_time) = (\w+ \w+ +\d+ [\d:]+ \d+)", text)
    start = time.mktime(time.strptime(begun[1], "%a %b %d %H:%M:%S %Y")) if begun else job.get("started")
    return _after(start, _seconds(limit[1]) if limit else None)


def _of_lsf(_job, text, now):
    found = re.match(r"\s*(\d+):(\d+)", text)  # the form is hours:minutes
    return now + 3600 * int(found[1]) + 60 * int(found[2]) if found else None


def _of_sge(job, text, _now):
    limit = re.search(r"\bh_rt=([\d:]+)", text)
    return _after(job.get("started"), _seconds(limit[1]) if limit else None)
