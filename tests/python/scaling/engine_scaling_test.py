"""The number of engines follows the tasks: rc.scale(), Cluster.scale() and `pxcluster scale`."""

import os
import signal
import subprocess

import pytest
from deadlines import wait_until

import polyxeus as px

SECONDS = 30  # a guard against a hang


def engines_of(rc):
    return len(rc.ids)


def test_engines_come_for_tasks_and_go_when_they_are_idle(own_scaled):
    rc = own_scaled(0)
    assert rc.scale(0, 4, idle=0.5)["maximum"] == 4
    view = rc.load_balanced_view()

    def nap(seconds):
        import os
        import time

        time.sleep(seconds)
        return os.getpid()

    for _ in range(2):  # two bursts
        pids = view.map_async(nap, [0.4] * 8).get(SECONDS)
        assert 1 <= len(set(pids)) <= 4
        wait_until(lambda: engines_of(rc) == 0, "idle engines end", SECONDS)
    told = rc.scale()
    assert told["engines"] == 0 and told["minimum"] == 0
    kinds = [event["kind"] for event in rc.events()]
    assert "scaled" in kinds and "died" not in kinds


def test_a_busy_engine_stays_and_its_task_ends(own_scaled):
    rc = own_scaled(3)
    rc.cluster.scale_sync(0, 3, idle=0.2)
    release = os.path.join(rc.cluster.profile_dir, "release")

    def hold(path):
        import os
        import time

        open(path + ".began", "w").close()
        while not os.path.exists(path):
            time.sleep(0.01)
        return os.getpid()

    held = rc.load_balanced_view().apply_async(hold, release)
    wait_until(lambda: os.path.exists(release + ".began"), "the task runs", SECONDS)
    wait_until(lambda: engines_of(rc) == 1, "the idle engines end", SECONDS)
    assert not held.ready()
    open(release, "w").close()
    assert held.get(SECONDS) > 0
    wait_until(lambda: engines_of(rc) == 0, "the last engine ends", SECONDS)


def test_the_minimum_is_kept_also_after_a_death(own_scaled):
    rc = own_scaled(1)
    rc.scale(2, 2)
    wait_until(lambda: engines_of(rc) == 2, "the missing engine comes", SECONDS)
    killed = rc[0].apply_sync(os.getpid)
    os.kill(killed, signal.SIGKILL)
    wait_until(lambda: rc.ids == [1], "the death is noticed", SECONDS)
    wait_until(lambda: rc.ids == [0, 1], "an engine comes", SECONDS)
    assert rc[0].apply_sync(os.getpid) != killed


def test_the_command_shows_and_refuses(own_scaled):
    rc = own_scaled(1)

    def run(*options):
        return subprocess.run(
            ["pxcluster", "scale", *options, f"--profile-dir={rc.cluster.profile_dir}",
             f"--cluster-id={rc.cluster.cluster_id}"], capture_output=True, text=True, timeout=SECONDS)  # fmt: skip

    assert "the number is fixed" in run().stdout
    assert "1 to 3 engines, now 1; an engine without work for 600 s ends" in run("1", "3", "--idle=10m").stdout
    assert run("3", "1").returncode == 2 and "larger" in run("3", "1").stderr
    assert "the number is fixed" in run("--off").stdout
    with pytest.raises(ValueError, match="larger"):
        rc.scale(3, 1)
    with pytest.raises(TypeError, match="minimum"):
        rc.scale("two", 3)
    assert rc.scale()["minimum"] is None


def test_a_world_of_ranks_is_refused_in_one_sentence(own_scaled):
    rc = own_scaled(2, engines="mpi")
    with pytest.raises(RuntimeError, match="ranks of an MPI world start and end together"):
        rc.scale(0, 4)
    assert rc.ids == [0, 1]


@pytest.fixture
def own_scaled(folder):
    """Makes clusters of the test's own."""
    made = []

    def start(n, **options):
        cluster = px.Cluster(n=n, profile="scaled", **options)
        made.append(cluster)
        return cluster.start_and_connect_sync()

    yield start
    for cluster in made:
        cluster.stop_cluster_sync()
