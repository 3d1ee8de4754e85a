"""Engines on several hosts by mpiexec: Open MPI's and MPICH's."""

import os
import shutil

import bed as beds
import pytest
from host_cluster import HostCluster

RANKS = "import socket; print(mpi_rank, mpi_size, socket.gethostname())"
TWO_EACH = ["0 4 host1", "1 4 host1", "2 4 host2", "3 4 host2"]


@pytest.fixture
def cluster(bed):
    cluster = HostCluster(bed)
    yield cluster
    cluster.run("stop", check=False)


@pytest.mark.parametrize("form", ["{host} slots=2", "{host}:2"])
def test_a_host_file_of_either_mpi_places_the_ranks(bed, cluster, form):
    hosts = bed.folder / "hostfile"
    hosts.write_text("".join(form.format(host=host) + "\n" for host in ("host1", "host2")))
    cluster.start("--engines=mpi", f"--hostfile={hosts}")
    assert cluster.px(RANKS) == TWO_EACH
    cluster.stop()
    cluster.wait_until_gone()


def test_the_ranks_of_each_host_share_its_cores(cluster):
    cluster.start("--engines=mpi", "--hosts=host1:2,host2:1", "--mpi-args=--bind-to none")
    half = str(max(1, len(os.sched_getaffinity(0)) // 2))
    assert cluster.px("import os; print(os.environ.get('OMP_NUM_THREADS'))") == [half, half, "None"]


def test_a_message_goes_from_host_to_host(cluster):
    cluster.start("--engines=mpi", "--hosts=host2:1,host3:1")
    code = "from mpi4py import MPI; print(MPI.COMM_WORLD.allreduce(mpi_rank + 1))"
    assert cluster.px(code) == ["3", "3"]


def test_calls_of_ranks_of_several_hosts_that_do_not_match_are_told(cluster):
    cluster.start("--engines=mpi", "--hosts=host1:2,host2:2")
    cluster.px("from mpi4py import MPI; import numpy as np; world = MPI.COMM_WORLD")
    done = cluster.run("px", "world.Bcast(np.ones(4), root=mpi_rank % 2)", check=False)
    assert "the ranks made calls that do not match: ranks 0, 2 called MPI_Bcast of 32 bytes with root 0; ranks 1, 3" in (
        done.stdout + done.stderr
    )
    assert cluster.px("print(world.allreduce(mpi_rank))") == ["6"] * 4


def test_mpich_is_known_by_its_version(cluster):
    program = shutil.which("mpiexec.mpich") or pytest.fail("no mpiexec.mpich on PATH")
    cluster.start("--engines=mpi", f"--mpi-cmd={program}", "--hosts=host1:2,host2:2")
    assert cluster.px(RANKS) == TWO_EACH


def test_more_ranks_than_slots_are_spread_over_the_hosts(cluster):
    cluster.start("--engines=mpi", "--hosts=host1:1,host2:1", "-n", "4")
    assert cluster.px(RANKS) == TWO_EACH


def test_lines_of_shell_run_before_the_ranks(cluster):
    cluster.start("--engines=mpi", "--hosts=host2:1", "--engine-env=export GREETING=hello")
    assert cluster.px("import os; print(os.environ['GREETING'])") == ["hello"]


def test_a_host_that_does_not_exist_is_told(cluster):
    done = cluster.run("start", "--engines=mpi", "--hosts=nowhere:1", check=False)
    assert done.returncode == 1
    assert "nowhere" in done.stderr


def test_a_rank_that_dies_leaves_the_others_on_all_hosts(cluster):
    cluster.start("--engines=mpi", "--hosts=host1:2,host2:2")
    cluster.px("kept = 42")
    cluster.kill_engine(2)
    assert cluster.px("print(mpi_rank, kept)") == ["0 42", "1 42", "3 42"]
    assert "MPI world broken: rank 2 died (SIGKILL)" in cluster.run("status").stdout
    cluster.run("restart")
    assert cluster.px(RANKS) == TWO_EACH


def test_a_host_that_is_powered_off_ends_the_world_instead_of_a_wait_for_ever(own_bed):
    cluster = HostCluster(own_bed)
    said = own_bed.folder / "said.txt"
    cluster.start_in_front("--engines=mpi", "--hosts=host1:1,host3:1", said=said)
    beds.wait_for_text(said, "2 engines are ready")
    own_bed.crash("host3")
    beds.wait_for_text(said, "the process of the engines", 90, 0.2)
