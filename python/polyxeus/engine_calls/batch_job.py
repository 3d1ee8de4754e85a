"""Finds the batch job in which a process runs, from the environment of the process."""

import os
import re

__all__ = ["find_job", "tell"]


def find_job(environment):
    """Returns the batch job that this environment describes, like {"system": "slurm", "id": "17"}; None if the
    environment names no job.

    Further keys, if the batch system provides them: "ends" (seconds since the epoch), "limit" (the time limit of the
    job in seconds), "array" (the id of the job array to which the job belongs).
    """
    get = environment.get
    if get("SLURM_JOB_ID"):
        return _with_number({"system": "slurm", "id": get("SLURM_JOB_ID")}, "ends", get("SLURM_JOB_END_TIME"))
    if get("PBS_JOBID"):  # Torque sets the same variable
        return _with_number(_in_array("pbs", get("PBS_JOBID")), "limit", get("PBS_WALLTIME"))
    if get("LSB_JOBID"):
        index = get("LSB_JOBINDEX", "0")
        return _in_array("lsf", get("LSB_JOBID") + (f"[{index}]" if index != "0" else ""))
    if get("JOB_ID") and "SGE_TASK_ID" in environment:
        return {"system": "sge", "id": get("JOB_ID")}
    return None


def _in_array(system, job_id):
    """Returns the description of a job, with the key "array" if the job belongs to a job array:
    "12[3].server" is a job of the array "12[].server"."""
    array = re.sub(r"\[\d+\]", "[]", job_id)
    return {"system": system, "id": job_id, **({"array": array} if array != job_id else {})}


def _with_number(job, key, text):
    return {**job, key: float(text)} if text and text.isdigit() else job


def _started():
    """Returns the time at which this process was started, in seconds since the epoch."""
    with open("/proc/self/stat") as file:
        ticks = int(file.read().rpartition(")")[2].split()[19])
    with open("/proc/stat") as file:
        boot = next(int(line.split()[1]) for line in file if line.startswith("btime "))
    return boot + ticks / os.sysconf("SC_CLK_TCK")


def tell():
    """Returns the batch job of this engine as find_job() does, with the additional key "started" (when this process was
    started)."""
    job = find_job(os.environ)
    return job and {**job, "started": _started()}
