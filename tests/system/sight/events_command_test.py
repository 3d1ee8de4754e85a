"""The event log: what pxcluster events and rc.events() tell of a cluster's life."""

import json
import os
import signal
import stat
import subprocess

import polyxeus
import pytest
from deadlines import wait_until
from running_cluster import connect


@polyxeus.interactive
def die_once(path):
    """Kills its engine when it runs for the first time."""
    import os

    if not os.path.exists(path):
        open(path, "w").close()
        os.kill(os.getpid(), 9)
    return os.getpid()


def told(cluster_cmd, cluster, *options):
    """What pxcluster events prints."""
    done = subprocess.run([*cluster_cmd, "events", f"--profile-dir={cluster.profile_dir}", *options],
                          capture_output=True, text=True, timeout=60)  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def events_of(cluster_cmd, cluster, *options):
    return [json.loads(line) for line in told(cluster_cmd, cluster, "--json", *options).splitlines()]


def kinds_of(events):
    return [each["kind"] for each in events]


def of_kind(client, kind):
    return wait_until(lambda: [each for each in client.events() if each["kind"] == kind], kind, 30, 0.1)


@pytest.fixture
def cluster(own_cluster):
    """Two engines, whose hearts beat fast."""
    cluster = own_cluster()
    cluster.start_controller("--ping=200")
    cluster.start_engines(2)
    return cluster


def test_deaths_and_retries_are_told_with_their_engines(cluster, cluster_cmd, tmp_path):
    with connect(cluster.connection_file("client"), 2) as client:
        balanced = client.load_balanced_view()
        balanced.retries = 1
        survivor = balanced.apply_async(die_once, str(tmp_path / "died")).get(timeout=60)
        died, = of_kind(client, "died")
        retried, = of_kind(client, "retried")
        assert {died["engine"], retried["engine"]} == {0, 1} and died["host"]
        assert "attempt has failed" in retried["text"]
        assert client[retried["engine"]].apply_sync(os.getpid) == survivor
        events = client.events()
        assert kinds_of(events)[:3] == ["started", "joined", "joined"]
        assert f"engine {died['engine']} (" in str(events) and "<div>" in events._repr_html_()
        assert client.events(since=events[-1]["time"])[0]["time"] >= events[-1]["time"]
        assert len(client.events(since=3600)) == len(events)
        assert events_of(cluster_cmd, cluster) == list(events)
    assert told(cluster_cmd, cluster).splitlines() == str(events).splitlines()
    assert told(cluster_cmd, cluster, "--since=2200-01-01T00:00:00") == ""


def test_an_engine_that_is_silent_and_comes_back_is_told(cluster):
    with connect(cluster.connection_file("client"), 2) as client:
        pid = client[0].apply_sync(os.getpid)
        os.kill(pid, signal.SIGSTOP)
        try:
            assert of_kind(client, "silent")[0]["engine"] == 0
        finally:
            os.kill(pid, signal.SIGCONT)
        assert of_kind(client, "back")[0]["engine"] == 0


def test_new_events_are_followed_and_the_log_outlives_the_controller(cluster, cluster_cmd):
    with connect(cluster.connection_file("client"), 2) as client:
        follow = subprocess.Popen(
            [*cluster_cmd, "events", "--follow", "--json", f"--profile-dir={cluster.profile_dir}"],
            stdout=subprocess.PIPE, text=True)  # fmt: skip
        try:
            assert [json.loads(follow.stdout.readline())["kind"] for _ in range(3)] == ["started", "joined", "joined"]
            client.shutdown(targets=[1], block=True)
            left = json.loads(follow.stdout.readline())
            assert (left["kind"], left["engine"]) == ("left", 1)
            cluster.controller.signal(signal.SIGTERM)
            assert "stopped" in (json.loads(follow.stdout.readline())["kind"] for _ in range(9))
        finally:
            follow.kill()
            follow.wait()
            follow.stdout.close()
    cluster.controller.wait(60)
    file = cluster.profile_dir / "log" / "events-.jsonl"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    before = events_of(cluster_cmd, cluster)
    assert before[-1]["kind"] == "stopped"
    cluster.start_controller()
    with connect(cluster.connection_file("client"), 0) as client:
        assert kinds_of(client.events()) == [*kinds_of(before), "started"]


def test_a_restart_is_told_with_what_it_is(stage):
    with polyxeus.Cluster(n=2, profile="restarted") as rc:
        rc.wait_for_engines(2, timeout=60)
        rc.restart_engines()
        kinds = kinds_of(rc.events())
        ending = of_kind(rc, "ending")[0]
    assert kinds.count("joined") == 4 and kinds.count("left") == 2 and "died" not in kinds
    assert "restart" in ending["text"]


def test_a_cluster_without_a_log_and_a_wrong_date_are_told(cluster_cmd, tmp_path):
    def run(*options):
        done = subprocess.run([*cluster_cmd, "events", f"--profile-dir={tmp_path}", *options],
                              capture_output=True, text=True, timeout=60)  # fmt: skip
        return done.returncode, done.stderr

    code, why = run()
    assert code == 1 and "there is no event log" in why and "rc.events()" in why
    code, why = run("--since=yesterday")
    assert code == 2 and "takes an age (30s, 10m, 2h, 1d)" in why
