"""px.Cluster(respawn=True): an engine that dies comes back by itself."""

import os
import signal
import subprocess
from pathlib import Path

import pytest
from deadlines import wait_until

import polyxeus as px

SECONDS = 30  # a guard against a hang


@pytest.fixture
def own_respawned(folder):
    """Makes clusters whose engines come back."""
    made = []

    def start(n, **options):
        cluster = px.Cluster(n=n, profile="respawned", respawn=True, **options)
        made.append(cluster)
        client = cluster.start_and_connect_sync()
        log = Path(cluster.profile_dir) / "log"

        def knows_engines():  # else pxcluster takes an engine that dies now for one that could not start
            return any(" ready" in each.read_text() for each in log.glob(f"cluster-{cluster.cluster_id}-engines-*.log"))

        wait_until(knows_engines, "pxcluster knows that the engines are ready", SECONDS)
        return client

    yield start
    for cluster in made:
        cluster.stop_cluster_sync()


def kill(rc, engine):
    """Kills the engine; returns when another process has its id."""
    before = rc[engine].apply_sync(os.getpid)
    os.kill(before, signal.SIGKILL)

    def is_back():
        try:
            return rc[engine].apply_sync(os.getpid) != before
        except (px.RemoteError, px.NoEnginesRegistered, IndexError):
            return False

    wait_until(is_back, f"engine {engine} comes back", SECONDS)


def test_a_killed_engine_comes_back_with_its_id_and_says_so(own_respawned):
    rc = own_respawned(2)
    other = rc[0].apply_sync(os.getpid)

    def reported():
        return [(each["engine"], each["count"]) for each in rc.scale()["respawned"]]

    for count in (1, 2):
        kill(rc, 1)
        wait_until(lambda count=count: reported() == [(1, count)], "the report says so", SECONDS)
    assert rc.ids == [0, 1] and rc[0].apply_sync(os.getpid) == other
    told = rc.scale()
    assert told["respawn_limit"] == 10
    assert "SIGKILL" in told["respawned"][0]["why"]
    shown = subprocess.run(
        ["pxcluster", "status", f"--profile-dir={rc.cluster.profile_dir}", f"--cluster-id={rc.cluster.cluster_id}"],
        capture_output=True, text=True, timeout=SECONDS)  # fmt: skip
    assert "engine 1 was started again 2 times; the last time it was killed by SIGKILL" in shown.stdout
    texts = [event["text"] for event in rc.events() if event["kind"] == "respawned"]
    assert len(texts) == 2 and all("engine 1 was started again" in text for text in texts)


def test_a_task_with_retries_runs_once_on_the_engine_that_came_back(own_respawned):
    rc = own_respawned(1)
    log = os.path.join(rc.cluster.profile_dir, "runs")

    def once_killed(path):
        import os
        import signal

        with open(path, "a") as file:
            file.write("run\n")
        if open(path).read().count("run") == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return "done"

    view = rc.load_balanced_view(retries=3)
    assert view.apply_async(once_killed, log).get(SECONDS) == "done"
    assert open(log).read() == "run\n" * 2


def test_no_more_engines_are_started_within_a_minute_than_the_limit(own_respawned):
    rc = own_respawned(2, respawn_limit=1)
    kill(rc, 0)
    os.kill(rc[1].apply_sync(os.getpid), signal.SIGKILL)
    wait_until(lambda: rc.scale()["waiting"] == 1, "the second one waits", SECONDS)
    assert rc.ids == [0]
    rc.restart_engines(1)  # by hand it does not wait
    assert rc.ids == [0, 1] and rc.scale()["waiting"] == 0


def test_an_engine_that_was_shut_down_stays_away(own_respawned):
    rc = own_respawned(2)
    rc.shutdown(targets=1, block=True)
    wait_until(lambda: rc.ids == [0], "engine 1 ends", 30)
    kill(rc, 0)  # by then the other one would be back, too
    assert rc.ids == [0]


def test_it_gets_the_variables_of_the_last_checkpoint(own_respawned, tmp_path):
    rc = own_respawned(2)
    rc[0]["x"], rc[1]["x"] = "of 0", "of 1"
    rc[:].checkpoint(str(tmp_path / "kept"), names=["x"])
    kill(rc, 1)

    def has_x():
        try:
            return rc[1].pull("x", block=True) == "of 1"
        except px.RemoteError:
            return False

    wait_until(has_x, "x is there", SECONDS)
    assert rc[:]["x"] == ["of 0", "of 1"]


def test_mpi_ranks_are_refused_in_one_sentence(folder):
    cluster = px.Cluster(n=2, profile="respawned", engines="mpi", respawn=True)
    try:
        with pytest.raises(RuntimeError, match="cannot start single ranks of an MPI world again"):
            cluster.start_cluster_sync()
    finally:
        cluster.stop_cluster_sync()
