"""The kernel kills an engine that wants more memory than its control group may have."""

import os
import signal
from pathlib import Path

import polyxeus
import programs
import pytest
from programs import PATIENCE, wait_until
from running_cluster import connect

LIMIT = 400 << 20  # bytes, for three engines and what starts them
EATS_ALL = "b'x' * (1 << 31)"
KILLED = "was killed by the kernel, which was out of memory (SIGKILL): give the engines more memory"


@pytest.fixture
def limited(request):
    """A command line that runs what follows it in a control group with its parameter, or LIMIT; needs root."""
    root = Path("/sys/fs/cgroup")
    first_version = (root / "memory").is_dir()
    group = (root / "memory" if first_version else root) / f"px-test-{os.getpid()}"
    try:
        group.mkdir()
        limit = group / ("memory.limit_in_bytes" if first_version else "memory.max")
        limit.write_text(str(getattr(request, "param", LIMIT)))
    except OSError as problem:
        pytest.fail(f"this test makes a control group with a limit of memory, as root: {problem}")
    yield ["sh", "-c", 'echo $$ > "$0" && exec "$@"', group / "cgroup.procs"]
    wait_until(lambda: not (group / "cgroup.procs").read_text(), "the group is empty")
    group.rmdir()


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


SMALL = 256 << 20


@pytest.fixture
def little_cluster(limited, own_cluster, monkeypatch):
    """Its controller is in the control group; one engine."""
    monkeypatch.setenv("POLYXEUS_SHARED_MEMORY", "0")  # all bytes pass the controller
    cluster = own_cluster()
    argv = [*limited, *programs.CONTROLLER, *cluster.options()]
    cluster.controller = cluster.stage.start(argv, "controller", **cluster.environment)
    wait_until(cluster.is_listening, "the controller writes its connection files")
    cluster.start_engines(1)
    yield cluster
    assert cluster.controller.is_running()
    cluster.stop()  # before the group is removed


def is_done(call):
    """Whether the engine has made this call of 1 MiB; else it was refused."""
    try:
        assert call.get(PATIENCE) == 1 << 20
    except polyxeus.RemoteError as refusal:
        assert refusal.ename == "Overloaded"
        assert "MiB of requests wait in the controller for engine" in refusal.evalue
        return False
    return True


@pytest.mark.parametrize("limited", [SMALL], indirect=True)
def test_a_controller_with_little_memory_refuses_tasks_and_is_not_killed(little_cluster, tmp_path):
    gate = tmp_path / "gate"
    with connect(little_cluster.connection_file("client"), 1, timeout=PATIENCE) as rc:
        wait = f"import os, time\nwhile not os.path.exists({str(gate)!r}): time.sleep(0.05)"
        busy = rc[:].execute(wait, block=False)
        tasks = [rc.load_balanced_view().apply_async(len, bytes(1 << 20)) for _ in range(300)]
        assert "Overloaded: too many unfinished tasks" in error_of(tasks[-1])
        calls = [rc[0].apply_async(len, bytes(1 << 20)) for _ in range(300)]
        gate.touch()
        busy.get(PATIENCE)
        done = [is_done(call) for call in calls]
        assert done[0]
        assert tasks[0].get(PATIENCE) == 1 << 20


@pytest.mark.parametrize("limited", [SMALL], indirect=True)
def test_calls_for_an_engine_that_does_not_read_are_refused(little_cluster):
    (engine,) = little_cluster.engines
    with connect(little_cluster.connection_file("client"), 1, timeout=PATIENCE) as rc:
        engine.signal(signal.SIGSTOP)
        calls = [rc[0].apply_async(len, bytes(1 << 20)) for _ in range(300)]
        wait_until(calls[-1].ready, "the last one is refused")
        engine.signal(signal.SIGCONT)
        done = [is_done(call) for call in calls]
        refused = done.index(False)
        assert 40 <= refused <= 160 and not any(done[refused:])
        assert rc[0].apply_sync(len, bytes(1 << 20)) == 1 << 20
        assert rc.get_result(calls[-1].msg_ids, block=True).status == ["error"]
