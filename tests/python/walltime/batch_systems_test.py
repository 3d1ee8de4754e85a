"""In which batch job a process is, and when it ends, by what batch systems say."""

import time

import pytest

from polyxeus.client.walltime.batch_systems import COMMANDS, read_end
from polyxeus.client.walltime.job_ends import JobEnds, duration
from polyxeus.client.walltime.keeper import why_impossible
from polyxeus.engine_calls import batch_job

NOW = time.mktime((2026, 11, 28, 17, 0, 0, 0, 0, -1))

OPENPBS = """\
Job Id: 12[3].server
    Job_Name = ipengine
    job_state = R
    Resource_List.walltime = 02:00:00
    stime = Sat Nov 28 16:30:00 2026
"""
TORQUE = """\
Job Id: 12-3.server
    Resource_List.walltime = 02:00:00
    start_time = Sat Nov 28 16:30:00 2026
    Walltime.Remaining = 5390
"""
SGE = """\
job_number:                 17
hard resource_list:         h_rt=3600,h_vmem=4G
"""


@pytest.mark.parametrize(
    ("environment", "job"),
    [
        ({}, None),
        ({"JOB_ID": "3"}, None),  # of something else
        ({"SLURM_JOB_ID": "17"}, {"system": "slurm", "id": "17"}),
        ({"SLURM_JOB_ID": "17", "SLURM_JOB_END_TIME": "1796000000"}, {"system": "slurm", "id": "17", "ends": 1796000000}),
        ({"PBS_JOBID": "12[3].server"}, {"system": "pbs", "id": "12[3].server", "array": "12[].server"}),
        ({"PBS_JOBID": "12.server", "PBS_WALLTIME": "7200"}, {"system": "pbs", "id": "12.server", "limit": 7200}),
        ({"LSB_JOBID": "5", "LSB_JOBINDEX": "0"}, {"system": "lsf", "id": "5"}),
        ({"LSB_JOBID": "5", "LSB_JOBINDEX": "2"}, {"system": "lsf", "id": "5[2]", "array": "5[]"}),
        ({"JOB_ID": "17", "SGE_TASK_ID": "undefined"}, {"system": "sge", "id": "17"}),
    ],
)
def test_the_environment_says_in_which_job_a_process_is(environment, job):
    assert batch_job.find_job(environment) == job


def test_an_engine_in_no_job_tells_so(monkeypatch):
    for name in ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID"):
        monkeypatch.delenv(name, raising=False)
    assert batch_job.tell() is None
    monkeypatch.setenv("PBS_JOBID", "12.server")
    told = batch_job.tell()
    assert told["id"] == "12.server" and 0 <= time.time() - told["started"] < 86400


@pytest.mark.parametrize(
    ("job", "text", "end"),
    [
        ({"system": "slurm"}, "2026-11-28T17:12:30\n", 750),
        ({"system": "slurm"}, "N/A\n", None),
        ({"system": "slurm", "ends": NOW + 60}, "N/A\n", None),  # it has no end any more
        ({"system": "slurm", "ends": NOW + 60}, "", 60),  # no squeue here
        ({"system": "slurm"}, "", None),
        ({"system": "pbs"}, OPENPBS, 5400),
        ({"system": "pbs"}, TORQUE, 5390),
        ({"system": "pbs", "started": NOW - 60}, "Resource_List.walltime = 00:10:00", 540),
        ({"system": "pbs", "started": NOW - 60, "limit": 3600}, "", 3540),
        ({"system": "pbs"}, "Resource_List.walltime = 00:10:00", None),
        ({"system": "lsf"}, "1:59 L\n", 7140),
        ({"system": "lsf"}, "-\n", None),
        ({"system": "sge", "started": NOW - 600}, SGE, 3000),
        ({"system": "sge", "started": NOW - 600}, SGE.replace("3600", "1:00:00"), 3000),
        ({"system": "sge", "started": NOW - 600}, "job_number: 17", None),
    ],
)
def test_the_end_of_a_job_is_read_from_what_its_batch_system_prints(job, text, end):
    assert read_end({"id": "17", **job}, text, NOW) == (None if end is None else NOW + end)


def test_each_system_that_is_found_has_a_command():
    assert set(COMMANDS) == {"slurm", "pbs", "lsf", "sge"}
    assert all(any("{id}" in word for word in command) for command in COMMANDS.values())


def test_jobs_are_printed_as_sentences():
    rows = [
        {"system": "slurm", "job": "17", "engines": [0, 1, 2, 5], "ends": NOW + 750},
        {"system": "lsf", "job": "3", "engines": [4], "ends": None},
    ]
    jobs = JobEnds(rows, NOW)
    assert str(jobs) == (
        "engines 0-2,5: Slurm job 17 ends at 2026-11-28 17:12:30, in 12 min\n"
        "engine 4: LSF job 3 has no end that is known"
    )
    assert jobs[0]["seconds"] == 750 and jobs[1]["seconds"] is None
    assert str(JobEnds([], NOW)) == "no engine is known to run in a batch job"


def test_durations_are_short():
    assert [duration(each) for each in (0.4, 59.6, 120, 600, 3599, 7500)] == [
        "0 s", "60 s", "2 min", "10 min", "1 h", "2 h 5 min"
    ]  # fmt: skip


SLURM = {"engines": {"class": "local", "started_by": {"1": "slurm"}}}
WITH_DASHBOARD = {"dashboard": {"port": 1, "token": "x"}}


@pytest.mark.parametrize(
    ("record", "connection", "environment", "why"),
    [
        (SLURM, WITH_DASHBOARD, {}, None),
        ({"engines": {"class": "polyxeus-slurm"}}, WITH_DASHBOARD, {}, None),
        ({"engines": {"class": "local"}}, WITH_DASHBOARD, {}, "has not started the engines"),
        ({}, WITH_DASHBOARD, {}, "has not started the engines"),
        (SLURM, {}, {}, "--dashboard=off"),
        (SLURM, WITH_DASHBOARD, {"SLURM_JOB_ID": "3"}, "this program runs in a batch job itself (slurm 3)"),
    ],
)
def test_what_cannot_go_on_in_a_new_job_is_refused_with_the_reason(record, connection, environment, why):
    found = why_impossible(record, connection, environment, ["python", "cpp"])
    assert (found is None) if why is None else (why in found)


def test_cpp_engines_alone_are_refused():
    assert "C++ engines do not report" in why_impossible(SLURM, WITH_DASHBOARD, {}, ["cpp", "cpp"])
    assert why_impossible(SLURM, WITH_DASHBOARD, {}, []) is None  # they come later
