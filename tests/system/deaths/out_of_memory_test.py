"""The kernel kills an engine that wants more memory than its control group may have."""

import polyxeus
import programs
import pytest
from programs import PATIENCE, wait_until

EATS_ALL = "b'x' * (1 << 31)"
KILLED = "was killed by the kernel, which was out of memory (SIGKILL): give the engines more memory"


def error_of(answer):
    with pytest.raises(polyxeus.RemoteError) as raised:
        answer.get(PATIENCE)
    return str(raised.value)


@pytest.fixture
def ranks(limited, own_cluster, mpiexec):
    """A client of three MPI ranks in the control group."""
    cluster = own_cluster()
    cluster.start_controller()
    argv = [*limited, mpiexec, "-n", "3", *programs.ENGINE, "--mpi", *cluster.options()]
    cluster.engines.append(cluster.stage.start(argv, "engines", **cluster.environment))
    client = polyxeus.Client(str(cluster.connection_file("client")), timeout=PATIENCE)
    client.wait_for_engines(3, timeout=PATIENCE)
    yield client
    cluster.stop()  # before the group is removed


def test_a_rank_without_memory_is_told_and_the_others_live_on(ranks):
    ranks[:].push({"kept": 42}, block=True)
    assert f"its process, MPI rank 1, {KILLED}" in error_of(ranks[1].execute(EATS_ALL))
    wait_until(lambda: ranks.ids == [0, 2], "rank 1 is unregistered")
    assert ranks[:].pull("kept").get(PATIENCE) == [42, 42]
    broken = "MPI world broken: rank 1 died (SIGKILL, out of memory); "
    assert ranks.status()[0]["world_broken"].startswith(broken)


def test_an_engine_of_pxcluster_without_memory_is_told(limited, stage, cluster_cmd):
    def run(verb, *options):
        return stage.run([*limited, *cluster_cmd, verb, "--profile=memory", *options])

    done = run("start", "-n", "2", "--daemonize")
    assert done.returncode == 0, done.stdout + done.stderr
    file = stage.ipython_dir / "profile_memory" / "security" / "ipcontroller-client.json"
    rc = polyxeus.Client(str(file), timeout=PATIENCE)
    rc.wait_for_engines(2, timeout=PATIENCE)
    assert f": its process {KILLED}" in error_of(rc[1].execute(EATS_ALL))
    assert rc.ids == [0]
    run("stop")
