"""Engines in jobs of a real Slurm on three hosts: by sbatch, by srun, and how their end is told."""

import shutil
from pathlib import Path

import bed as beds
import pytest
from host_cluster import HostCluster
from slurm_bed import start_slurm

pytestmark = pytest.mark.skipif(
    not all(shutil.which(name, path="/usr/sbin:/usr/bin") for name in ("slurmctld", "munged")),
    reason="no Slurm here: slurmctld and munged (Debian: slurm-wlm, munge) are not installed",
)

RANKS = "import socket; print(mpi_rank, mpi_size, socket.gethostname())"


@pytest.fixture(scope="module")
def bed(make_bed):
    """The fourth host is for the job that runs into its time limit."""
    return make_bed(4)


@pytest.fixture(scope="module")
def slurm(bed):
    return start_slurm(bed)


@pytest.fixture(scope="module", autouse=True)
def late(bed, slurm):
    """What is said of a job that has a minute, and of a cell in it; Slurm looks but twice a minute."""
    cluster = HostCluster(bed, bed.folder / "ipython-late", **slurm)
    options = ("--batch-option=--nodelist=host4", "--batch-option=--comment=late")
    said = in_front(cluster, "-n", "2", "--time=1", *options)
    cell = long_cell(cluster)
    job = bed.exec_on("host1", "squeue", "-h", "-o", "%i", **slurm).stdout.strip()
    end = ("scontrol", "update", f"JobId={job}", "EndTime=now+1")
    bed.exec_on("host1", *end, **slurm)
    return said, cell


@pytest.fixture
def cluster(bed, slurm, request):
    """A cluster in a folder that all hosts see, as the homes of a real one."""
    cluster = HostCluster(bed, bed.folder / f"ipython-{request.node.name[:30]}", **slurm)
    yield cluster
    cluster.run("stop", check=False)


def queue(cluster):
    """The jobs of this user, but for that of `late`."""
    told = cluster.bed.exec_on("host1", "squeue", "-h", "-o", "%i %T %k", **cluster.environment)
    return "".join(line + "\n" for line in told.stdout.splitlines() if "late" not in line)


def in_front(cluster, *arguments):
    said = cluster.bed.folder / f"{len(list(cluster.bed.folder.iterdir()))}.txt"
    cluster.start_in_front("--engines=slurm", *arguments, said=said)
    beds.wait_for_text(said, "ready", 30)
    return said


def long_cell(cluster):
    """Runs on all engines; the file with what it fails with."""
    said = cluster.bed.folder / f"{len(list(cluster.bed.folder.iterdir()))}.txt"
    code = "import time; time.sleep(600)"
    cluster.bed.start_on("host1", cluster.program, "px", code, log=said, **cluster.environment)
    beds.wait_until(lambda: "idle" not in cluster.run("status").stdout, "busy engines", 30)
    return said


def test_engines_are_the_ranks_of_a_job_that_a_stop_cancels(cluster):
    said = cluster.start("--engines=slurm", "-n", "4")
    assert "the engines are slurm job" in said and "runs on host[1-2]" in said
    assert cluster.px(RANKS) == ["0 4 host1", "1 4 host1", "2 4 host2", "3 4 host2"]
    assert cluster.px("from mpi4py import MPI; print(MPI.COMM_WORLD.Get_size())") == ["4"] * 4
    cluster.stop()
    assert queue(cluster) == ""
    assert [line for line in cluster.left_over() if "engine" in line and "host4" not in line] == []


def test_tasks_share_the_cores_that_slurm_gives_them_on_a_host(cluster):
    cluster.start("--engines=slurm", "-n", "4", "--srun-args=--cpu-bind=none")
    code = "import os; print(os.environ['SLURM_CPUS_ON_NODE'], os.environ['OMP_NUM_THREADS'])"
    assert cluster.px(code) == ["2 1"] * 4


def test_a_rank_that_dies_leaves_the_others_of_its_srun(cluster):
    cluster.start("--engines=slurm", "-n", "4")
    cluster.px("kept = 42")
    cluster.kill_engine(2)
    longer = "import time; time.sleep(3)"  # than the second after which Slurm ends a step
    assert cluster.px(f"{longer}; print(mpi_rank, kept)") == ["0 42", "1 42", "3 42"]


def test_options_reach_the_job(cluster):
    cluster.start(
        "--engines=slurm", "-n", "1", "--partition=main", "--time=5", "--batch-option=--comment=hi",
        "--engine-env=export GREETING=hello",
    )  # fmt: skip
    job = queue(cluster).split()[0]
    shown = cluster.bed.exec_on("host1", "scontrol", "show", "job", job, **cluster.environment)
    assert "TimeLimit=00:05:00" in shown.stdout and "Comment=hi" in shown.stdout
    assert cluster.px("import os; print(os.environ['GREETING'])") == ["hello"]


def test_a_job_that_somebody_cancels_is_told(cluster):
    said = in_front(cluster, "-n", "2")
    cell = long_cell(cluster)
    cluster.bed.exec_on("host1", "scancel", queue(cluster).split()[0], **cluster.environment)
    beds.wait_for_text(said, "has ended: CANCELLED: somebody")
    beds.wait_for_text(cell, "was cancelled (scancel)")
    assert "EngineError" in cell.read_text() and "KeyboardInterrupt" not in cell.read_text()


def test_a_job_that_loses_its_host_is_told_with_the_reason(cluster):
    """scontrol lets a host fail, as a slurmctld does that hears nothing of it."""
    options = ("--batch-option=--nodelist=host3", "--batch-option=--no-requeue")
    said = in_front(cluster, "-n", "1", *options)
    fail = ("scontrol", "update", "NodeName=host3", "State=DOWN", "Reason=test")
    cluster.bed.exec_on("host1", *fail, **cluster.environment)
    beds.wait_for_text(said, "NODE_FAIL: one of its hosts failed")
    heal = ("scontrol", "update", "NodeName=host3", "State=RESUME")
    cluster.bed.exec_on("host1", *heal, check=False, **cluster.environment)  # or it is back


def test_a_job_that_slurm_does_not_take_is_told_with_what_it_says(cluster):
    done = cluster.run("start", "--engines=slurm", "-n", "1", "--partition=nosuch", check=False)
    assert done.returncode == 1
    assert "sbatch refused the job of the engines" in done.stderr
    assert "invalid partition specified: nosuch" in done.stderr


def test_inside_of_an_allocation_engines_are_an_srun(cluster):
    program = cluster.program
    script = (
        f"{program} start --daemonize --engines=slurm -n 3 && {program} px '{RANKS}' && "
        f"squeue -h -s -o %j && {program} stop && squeue -h -s"
    )
    done = cluster.bed.exec_on(
        "host1", "salloc", "-n", "3", "sh", "-c", script, **cluster.environment
    )
    assert "in which this shell runs" in done.stderr
    for line in ("0 3 host1", "1 3 host1", "2 3 host2"):
        assert line in done.stdout
    beds.wait_until(lambda: queue(cluster) == "", "the allocation is gone")


def test_the_controller_may_be_a_job_as_well(cluster):
    said = cluster.start("--engines=slurm", "--controller=slurm", "-n", "2")
    assert "the controller is slurm job" in said
    assert sorted(line.split()[0] for line in cluster.px(RANKS)) == ["0", "1"]
    assert len(queue(cluster).splitlines()) == 2
    cluster.stop()
    assert queue(cluster) == ""


def test_a_pxcluster_that_is_killed_takes_its_job_with_it(cluster):
    cluster.start("--engines=slurm", "-n", "1")
    for pid, _line in cluster.bed.processes("host1", "pxcluster start", "--daemonize"):
        cluster.bed.kill("host1", pid)
    beds.wait_until(lambda: queue(cluster) == "", "the job is gone")


def test_the_job_script_of_the_documentation_is_a_whole_cluster(cluster):
    script = Path(__file__).parents[2] / "docs" / "examples" / "site" / "slurm_job.sh"
    output = cluster.bed.folder / "job.txt"
    submit = ("sbatch", "--wait", "-n", "3", f"--output={output}", script)
    cluster.bed.exec_on("host1", *submit, timeout=60, **cluster.environment)
    text = output.read_text()
    for line in ("0 of 3 on host1", "1 of 3 on host1", "2 of 3 on host2"):
        assert line in text, text


def test_a_job_that_runs_into_its_time_limit_is_told(late):
    said, cell = late
    beds.wait_for_text(said, "TIMEOUT: it ran into its time limit", 75)
    beds.wait_for_text(cell, "ran into its time limit (--time)")
    assert "EngineError" in cell.read_text() and "KeyboardInterrupt" not in cell.read_text()
