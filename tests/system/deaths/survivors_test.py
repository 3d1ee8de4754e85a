"""A rank of an MPI world dies: the others live on, are told of it, and a restart gives a new world."""

import os
import signal
import subprocess

import polyxeus
import pytest
from programs import PATIENCE, wait_until
from running_cluster import connect

DEATHS = [
    ("import os; os._exit(3)", "exited with code 3", "exit code 3"),
    ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "was killed by SIGKILL", "SIGKILL"),
    ("import ctypes; ctypes.string_at(0)", "was killed by SIGSEGV", "SIGSEGV"),
]
NAMES = ["exit", "kill", "segmentation fault"]


@pytest.fixture
def world(own_cluster):
    """Four ranks of which each has a name defined: launcher, client."""

    def start(mpiexec, *options, **environment):
        cluster = own_cluster()
        cluster.start_controller()
        launcher = cluster.start_mpi_engines(4, *options, mpiexec=mpiexec, **environment)
        rc = connect(cluster.connection_file("client"), 4)
        rc[:].push({"kept": 42}, block=True)
        return launcher, rc

    return start


def error_of(answer):
    with pytest.raises(polyxeus.RemoteError) as raised:
        answer.get(PATIENCE)
    return str(raised.value)


def kill_rank_2(rc, code=DEATHS[1][0]):
    error = error_of(rc[2].execute(code))
    wait_until(lambda: rc.ids == [0, 1, 3], "rank 2 is unregistered")
    return error


def assert_survivors_work(launcher, rc):
    assert rc[:].pull("kept").get(PATIENCE) == [42] * 3
    assert launcher.is_running() and rc.ids == [0, 1, 3]


@pytest.mark.parametrize("code, said, word", DEATHS, ids=NAMES)
def test_the_other_ranks_live_on_with_what_they_hold(world, mpiexec, code, said, word):
    launcher, rc = world(mpiexec)
    busy = rc[1].execute("import time; time.sleep(1); survived = 1")
    error = kill_rank_2(rc, code)
    assert "Engine 2 on " in error and f"its process, MPI rank 2, {said}" in error
    busy.get(PATIENCE)
    assert_survivors_work(launcher, rc)
    broken = f"MPI world broken: rank 2 died ({word}); "
    rows = rc.status()
    lost = rows[2]
    assert all(row["world_broken"].startswith(broken) for row in rows if row is not lost)
    assert f"engines 0, 1, 3: {broken}" in str(rows)
    assert (lost["engine"], lost["state"], lost["rank"]) == (2, "lost", 2)
    assert lost["why_lost"].startswith(f"its process, MPI rank 2, {said}")
    assert f"engines 2: lost: {lost['why_lost']}" in str(rows)


def test_the_other_ranks_of_mpich_live_on_with_what_they_hold(world, mpich):
    launcher, rc = world(mpich)
    kill_rank_2(rc)
    assert_survivors_work(launcher, rc)


def test_exit_on_one_rank_breaks_the_world_as_a_death_does(world, mpiexec):
    launcher, rc = world(mpiexec)
    rc[:].execute("from mpi4py import MPI").get(PATIENCE)
    rc[2].execute("exit()").wait(PATIENCE)
    wait_until(lambda: rc.ids == [0, 1, 3], "rank 2 is gone")
    waits = rc[:].execute("MPI.COMM_WORLD.Barrier()")
    assert "rank 2 died" in error_of(waits)
    assert_survivors_work(launcher, rc)


def test_the_other_cpp_ranks_live_on_with_what_they_hold(own_cluster, mpiexec):
    cluster = own_cluster()
    cluster.start_controller()
    launcher = cluster.start_mpi_engines(3, "--language=cpp", mpiexec=mpiexec)
    rc = connect(cluster.connection_file("client"), 3)
    rc[:].execute("int kept = 42;").get(PATIENCE)
    pids = {row["engine"]: row["pid"] for row in rc.status()}
    os.kill(pids[1], signal.SIGKILL)
    wait_until(lambda: rc.ids == [0, 2], "rank 1 is unregistered")
    assert rc[:].pull("kept").get(PATIENCE) == [42, 42]
    rc[:].shutdown(block=True)
    launcher.wait(PATIENCE)


def test_ranks_die_one_after_the_other_and_each_has_a_reason_of_its_own(world, mpiexec):
    launcher, rc = world(mpiexec)
    kill_rank_2(rc)
    error = error_of(rc[1].execute(DEATHS[1][0]))
    assert "its process, MPI rank 1, was killed by SIGKILL" in error and "first" not in error
    wait_until(lambda: rc.ids == [0, 3], "rank 1 is unregistered")
    broken = "MPI world broken: rank 1 died (SIGKILL), rank 2 died (SIGKILL); "
    assert rc.status()[0]["world_broken"].startswith(broken)
    assert launcher.is_running()


def test_a_rank_that_somebody_ends_by_sigterm_leaves_the_others_alone(world, mpiexec):
    launcher, rc = world(mpiexec)
    os.kill(rc.status()[2]["pid"], signal.SIGTERM)
    wait_until(lambda: rc.ids == [0, 1, 3], "rank 2 is unregistered")
    assert_survivors_work(launcher, rc)


def test_the_launcher_ends_when_the_last_survivor_has_left(world, mpiexec):
    launcher, rc = world(mpiexec)
    kill_rank_2(rc)
    rc.shutdown(block=True)
    launcher.wait(PATIENCE)


def test_a_rank_that_is_killed_leaves_no_shared_memory_of_mpi_behind(world, mpiexec):
    launcher, rc = world(mpiexec)
    with open(f"/proc/{rc.status()[0]['pid']}/maps") as maps:
        segments = {line.split()[-1] for line in maps if "/dev/shm/vader_segment." in line}
    assert len(segments) == 4
    kill_rank_2(rc)
    rc.shutdown(block=True)
    launcher.wait(PATIENCE)
    assert not [path for path in segments if os.path.exists(path)]


def test_the_launcher_ends_when_the_hub_is_shut_down(world, mpiexec):
    launcher, rc = world(mpiexec)
    kill_rank_2(rc)
    slow = "import atexit, time; atexit.register(time.sleep, 2); time.sleep(3)"
    rc[:].execute(slow).get(PATIENCE)  # they end when nobody answers their parents any more
    rc.shutdown(hub=True, block=True)
    launcher.wait(PATIENCE)


def test_the_launcher_ends_when_all_ranks_have_died(world, mpiexec):
    launcher, rc = world(mpiexec)
    for row in rc.status():
        os.kill(row["pid"], signal.SIGKILL)
    wait_until(lambda: rc.ids == [], "all are unregistered")
    assert launcher.wait(PATIENCE) != 0


def test_a_launcher_that_is_terminated_ends_the_survivors(world, mpiexec):
    launcher, rc = world(mpiexec)
    kill_rank_2(rc)
    launcher.signal(signal.SIGTERM)
    launcher.wait(PATIENCE)
    wait_until(lambda: rc.ids == [], "all are unregistered")


def test_a_launcher_that_is_killed_leaves_no_process_behind(world, mpiexec):
    launcher, rc = world(mpiexec)
    kill_rank_2(rc)
    launcher.signal(signal.SIGKILL)
    wait_until(lambda: rc.ids == [], "all are unregistered")


def test_with_abort_the_launcher_ends_the_others(world, mpiexec):
    launcher, rc = world(mpiexec, "--when-rank-dies=abort")
    error_of(rc[2].execute(DEATHS[0][0]))
    wait_until(lambda: rc.ids == [], "the world has ended")
    assert launcher.wait(PATIENCE) != 0


def test_a_bad_word_for_when_rank_dies_is_told(engine_cmd):
    done = subprocess.run(
        [*engine_cmd, "--when-rank-dies=panic"], capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode != 0
    assert "--when-rank-dies" in done.stderr and "continue" in done.stderr


def test_a_restart_gives_a_new_world_with_the_same_ids(stage, cluster_cmd):
    def run(verb, *options):
        return stage.run([*cluster_cmd, verb, "--profile=broken", *options])

    done = run("start", "-n", "4", "--engines=mpi", "--daemonize")
    assert done.returncode == 0, done.stdout + done.stderr
    rc = connect(stage.ipython_dir / "profile_broken" / "security" / "ipcontroller-client.json", 4)
    kill_rank_2(rc)
    shown = run("status")
    assert "engines 0, 1, 3: MPI world broken: rank 2 died (SIGKILL)" in shown.stdout
    waiting = rc[1].execute("import time; time.sleep(600)")
    done = run("restart")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Engine 1 on " in (error := error_of(waiting)) and "pxcluster ended it for a restart" in error
    rc.wait_for_engines(4, timeout=PATIENCE)
    ranks = rc[:].apply(lambda: __import__("mpi4py.MPI").MPI.COMM_WORLD.allreduce(1)).get(PATIENCE)
    assert rc.ids == [0, 1, 2, 3] and ranks == [4] * 4
    assert [row["world_broken"] for row in rc.status()] == [None] * 4
    run("stop")
