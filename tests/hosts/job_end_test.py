"""Engines in jobs of a real Slurm that end before the work does: it goes on in new jobs.

With PX_JOB_CROSSINGS=10 the second test starts so many jobs of two minutes, one after the other (18 minutes).
"""

import os
import shutil
import sys
from pathlib import Path

import bed as beds
import deadlines
import pytest
from host_cluster import HostCluster
from slurm_bed import start_slurm

pytestmark = pytest.mark.skipif(
    not all(shutil.which(name, path="/usr/sbin:/usr/bin") for name in ("slurmctld", "munged")),
    reason="no Slurm here: slurmctld and munged (Debian: slurm-wlm, munge) are not installed",
)

CLIENT = Path(__file__).parent / "outliving_client.py"


@pytest.fixture(scope="module")
def bed(make_bed):
    return make_bed(2)


@pytest.fixture(scope="module")
def slurm(bed):
    return start_slurm(bed)


@pytest.fixture
def cluster(bed, slurm, request):
    cluster = HostCluster(bed, bed.folder / request.node.name[:20], **slurm)
    yield cluster
    cluster.run("stop", check=False)


def start_client(cluster, *arguments):
    """The process, and the file with what it prints."""
    said = cluster.bed.folder / f"{cluster.folder}-client.txt"
    folder = cluster.bed.folder / f"{cluster.folder}-work"
    folder.mkdir()
    crossings, save_before, seconds = arguments
    command = (sys.executable, "-u", CLIENT, crossings, save_before, folder, seconds)
    return cluster.bed.start_on("host1", *command, log=said, **cluster.environment), said


def job_of(cluster):
    return cluster.bed.exec_on("host1", "squeue", "-h", "-o", "%i", **cluster.environment).stdout.strip()


def test_variables_and_tasks_outlive_the_job_of_their_engines(cluster):
    cluster.start("--engines=slurm", "-n", "3", "--time=10")
    job = job_of(cluster)
    is_told = f"slurm job {job} ends at "
    deadlines.wait_until(lambda: is_told in cluster.run("status").stdout, "pxcluster status tells the end", 30, 0.2)
    end = ("scontrol", "update", f"JobId={job}", "EndTime=now+50")
    cluster.bed.exec_on("host1", *end, **cluster.environment)
    process, said = start_client(cluster, 1, "60s", 0.2)
    deadlines.wait_until(lambda: process.poll() is not None, "the end of the client", 60)
    text = said.read_text()
    assert process.returncode == 0, text
    assert f"engines 0-2: Slurm job {job} ends at " in text
    assert f"Slurm job {job} of engines 0-2 ends in " in text
    assert "step, x are saved" in text and "engines 0-2 run in a new job; restored: step, x" in text
    assert "ok: " in text and " in 2 jobs" in text


def test_pxcluster_itself_continues_in_a_new_job(cluster):
    """Nothing but pxcluster runs when the first job ends."""
    options = ("--on-walltime=checkpoint", "--checkpoint-names=step", "--save-before=105s")
    said = cluster.start("--engines=slurm", "-n", "2", "--time=2", *options)
    assert "their variables are saved and a new job is started; log: " in said
    first = job_of(cluster)
    cluster.px("step = 7")
    is_told = "engines 0,1 run in a new job; restored: step"
    deadlines.wait_until(lambda: is_told in cluster.log("walltime.log"), "the new job", 120, 0.2)
    assert job_of(cluster) != first
    assert cluster.px("print(step)") == ["7", "7"]


@pytest.mark.skipif(not os.environ.get("PX_JOB_CROSSINGS"), reason="takes 18 minutes: PX_JOB_CROSSINGS=10 runs it")
def test_many_jobs_of_two_minutes_lose_nothing(cluster):
    crossings = int(os.environ["PX_JOB_CROSSINGS"])
    cluster.start("--engines=slurm", "-n", "3", "--time=2")
    with deadlines.time_limit(180 * crossings + 120):
        process, said = start_client(cluster, crossings, "30s", 1)
        deadlines.wait_until(lambda: process.poll() is not None, "the end of the client", 180 * crossings, 1.0)
        assert process.returncode == 0, said.read_text()
        assert "ok: " in said.read_text(), said.read_text()
