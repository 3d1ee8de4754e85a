"""How many threads libraries use in engines: engines of one host share its cores, if nobody says otherwise."""

import os
import shutil
import sys

import pytest

import polyxeus as px

CORES = len(os.sched_getaffinity(0))
LIMITS = ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS",
          "NUMEXPR_NUM_THREADS", "POLYXEUS_THREADS_PER_ENGINE")  # fmt: skip

# Stands in for ssh: runs what it is given, for the host, on this one.
SSH = """#!/bin/sh
while case "$1" in -*) true;; *) false;; esac; do case "$1" in -o|-i|-p) shift;; esac; shift; done
shift
exec sh -c "$*"
"""


@pytest.fixture
def start(tmp_path, monkeypatch):
    """Starts a cluster; returns its client."""
    for name in LIMITS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("PATH", f"{os.path.dirname(sys.executable)}{os.pathsep}{os.environ['PATH']}")
    clusters, clients = [], []

    def start(n=4, **options):
        clusters.append(px.Cluster(n=n, profile=f"threads{len(clusters)}", **options))
        clients.append(clusters[-1].start_and_connect_sync())
        return clients[-1]

    start.clusters = clusters
    yield start
    for client in clients:
        client.close()
    for cluster in clusters:
        cluster.stop_cluster_sync()


def threads(client):
    """{variable: value} of each engine, in the order of the ids."""
    return client[:].apply_sync(lambda names: {name: os.environ[name] for name in names if name in os.environ}, LIMITS[:-1])


def share(engines):
    number = str(max(1, CORES // engines))
    return {"OMP_NUM_THREADS": number, "NUMBA_NUM_THREADS": number}


@pytest.fixture
def launchers(tmp_path):
    """Options of Cluster by the name of the launcher: four engines of this host."""
    ssh = tmp_path / "ssh-stand-in"
    ssh.write_text(SSH)
    ssh.chmod(0o755)
    return {
        "local": {"engines": "local"},
        "Open MPI": {"engines": "mpi", "mpi_cmd": shutil.which("mpiexec.openmpi") or "mpiexec"},
        "MPICH": {"engines": "mpi", "mpi_cmd": shutil.which("mpiexec.mpich") or pytest.fail("no mpiexec.mpich on PATH")},
        "ssh": {"engines": "ssh", "hosts": "localhost:4", "ssh_cmd": [str(ssh)]},
    }


NAMES = ["local", pytest.param("Open MPI", marks=pytest.mark.mpi), pytest.param("MPICH", marks=pytest.mark.mpi), "ssh"]


@pytest.mark.parametrize("launcher", NAMES)
def test_engines_of_one_host_share_its_cores(start, launchers, launcher):
    client = start(**launchers[launcher])
    assert threads(client) == [share(4)] * 4
    topology = client.topology()
    assert [each["threads"] for each in topology] == [share(4)] * 4
    assert [each["cores"] for each in topology] == client[:].apply_sync(lambda: sorted(os.sched_getaffinity(0)))
    assert topology.hosts == {client.status()[0]["host"]: [0, 1, 2, 3]}


@pytest.mark.parametrize("launcher", NAMES)
def test_nothing_is_set_if_the_user_wants_that(start, launchers, launcher):
    client = start(**launchers[launcher], threads_per_engine="unchanged")
    assert threads(client) == [{}] * 4
    assert [each["threads"] for each in client.topology()] == [{}] * 4


@pytest.mark.parametrize("launcher", NAMES)
def test_a_number_holds_for_all_libraries(start, launchers, launcher):
    client = start(**launchers[launcher], threads_per_engine=3, environment={"OMP_NUM_THREADS": "7", "MKL_NUM_THREADS": "7"})
    assert threads(client) == [{"OMP_NUM_THREADS": "3", "NUMBA_NUM_THREADS": "3", "MKL_NUM_THREADS": "3"}] * 4


@pytest.mark.parametrize("launcher", NAMES)
def test_what_the_user_has_set_stays(start, launchers, launcher):
    client = start(**launchers[launcher], environment={"OMP_NUM_THREADS": "7"})
    assert threads(client) == [{"OMP_NUM_THREADS": "7"}] * 4


@pytest.mark.mpi
def test_ranks_that_mpiexec_binds_to_a_core_have_one_thread(start, launchers, tmp_path):
    client = start(n=2, **launchers["Open MPI"], mpi_args="--bind-to core")
    bound = client[:].apply_sync(lambda: len(os.sched_getaffinity(0)))
    assert [each["threads"]["OMP_NUM_THREADS"] for each in client.topology()] == [str(min(each, CORES // 2)) for each in bound]
    assert [len(each["cores"]) for each in client.topology()] == bound
    log = next((tmp_path / "ipython" / "profile_threads0" / "log").glob("ipengine-*.log")).read_text()
    assert log.count(f"2 engines share {CORES} cores of this host") == 1


def test_an_engine_that_is_alone_uses_all_cores(start):
    assert threads(start(n=1)) == [{}]


# Each prints how many threads a library uses.
NUMPY = """
import os
import numpy
matrix = numpy.ones((600, 600))
matrix @ matrix
print(len(os.listdir("/proc/self/task")))
"""
NUMBA = "import numba; print(numba.get_num_threads())"


@pytest.mark.parametrize("wish, code", [(1, NUMPY), (1, NUMBA), (CORES + 1, NUMBA)],
                         ids=["numpy", "numba", "numba-more"])  # numpy's OpenBLAS takes no more than there are cores
def test_libraries_use_so_many_threads(start, wish, code):
    def count(code):
        import subprocess
        import sys

        return int(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout)

    assert start(n=1, threads_per_engine=wish)[0].apply_sync(count, code) == wish


def test_pxcluster_says_it_once(start, tmp_path):
    start(n=4)
    log = next((tmp_path / "ipython" / "profile_threads0" / "log").glob("cluster-*-engines-*.log")).read_text()
    assert log.count("--threads-per-engine") == 1
    assert f"4 engines share {CORES} cores of this host: OMP_NUM_THREADS={max(1, CORES // 4)} and " in log
