"""`pxcluster list`, `stop`, `clean` and `start` where somebody has typed `pxcontroller` and `pxengine`."""

import json
import os
import signal
from pathlib import Path

import pytest
from programs import PATIENCE, wait_until


@pytest.fixture
def by_hand(own_cluster):
    """A controller and two engines."""
    cluster = own_cluster()
    cluster.start_controller()
    cluster.start_engines(2)
    cluster.client(engines=2).close()
    return cluster


@pytest.fixture
def pxcluster(stage, cluster_cmd):
    def run(command, cluster, *options, status=0):
        done = stage.run([*cluster_cmd, command, *cluster.options(), *options], timeout=PATIENCE)
        assert done.returncode == status, done.stdout + done.stderr
        return done

    return run


def test_a_second_controller_of_the_same_name_is_refused_and_the_first_one_loses_nothing(own_cluster):
    cluster = own_cluster()
    first = cluster.start_controller("--reuse", "--journal=process")
    cluster.start_engines(1)
    rc = cluster.client(engines=1)
    folders = [cluster.profile_dir / "log" / "journal", cluster.profile_dir / "security"]
    info = cluster.connection()
    folders += [Path(info["local"]["interface"].removeprefix("ipc://")), Path(info["memory"]["folder"])]
    before = [sorted(folder.iterdir()) for folder in folders]
    for options in (["--reuse", "--journal=process"], []):
        second = cluster.start_controller(*options, wait=False)
        assert second.wait(PATIENCE) == 1
        assert f"already runs in {cluster.profile_dir}: process {first.pid}; stop it" in second.output()
    cluster.controller = first
    assert [sorted(folder.iterdir()) for folder in folders] == before
    assert rc[0].apply_sync(len, "abc") == 3


def rows(pxcluster, cluster):
    return [row.split() for row in pxcluster("list", cluster).stdout.splitlines()[1:]]


def test_it_is_listed_with_its_engines(pxcluster, by_hand):
    assert rows(pxcluster, by_hand) == [[by_hand.profile, "''", "True", "2", "started", "by", "hand"]]
    (listed,) = json.loads(pxcluster("list", by_hand, "--json").stdout)
    pid = by_hand.controller.pid
    assert (listed["by_hand"]["pid"], listed["by_hand"]["engines"]) == (pid, 2)
    assert listed["controller"]["state"]["pid"] == pid
    assert listed["cluster"]["profile_dir"] == str(by_hand.profile_dir)


def test_a_controller_that_does_not_answer_is_listed(pxcluster, by_hand):
    by_hand.controller.signal(signal.SIGSTOP)
    try:
        assert rows(pxcluster, by_hand)[0][2:4] == ["True", "?"]
    finally:
        by_hand.controller.signal(signal.SIGCONT)


def test_stop_ends_it_with_its_engines(pxcluster, by_hand):
    said = pxcluster("stop", by_hand).stderr
    assert f"process {by_hand.controller.pid}, was started by hand" in said
    assert by_hand.controller.wait(60) == 0
    for engine in by_hand.engines:
        engine.wait(60)
    assert list((by_hand.profile_dir / "security").iterdir()) == []
    assert rows(pxcluster, by_hand) == []
    assert "no such cluster" in pxcluster("stop", by_hand, status=11).stderr


def test_stop_names_the_engines_that_do_not_end(pxcluster, by_hand):
    by_hand.engines[1].signal(signal.SIGSTOP)
    try:
        said = pxcluster("stop", by_hand).stderr
        assert by_hand.controller.wait(60) == 0
        by_hand.engines[0].wait(60)
    finally:
        by_hand.engines[1].signal(signal.SIGCONT)
    assert "these engines have not ended within 5 s: " in said and "end their processes on their hosts" in said


def test_the_files_of_one_that_was_killed_are_no_cluster(pxcluster, by_hand):
    by_hand.controller.signal(signal.SIGKILL)
    by_hand.controller.wait(60)
    assert by_hand.connection_file("client").exists()
    assert rows(pxcluster, by_hand) == []
    assert "no such cluster" in pxcluster("stop", by_hand, status=11).stderr
    assert "no clusters to stop" in pxcluster("stop", by_hand, "--all").stderr


def test_stop_keeps_the_files_that_the_controller_keeps_for_the_next_one(pxcluster, own_cluster):
    cluster = own_cluster()
    cluster.start_controller("--reuse")
    before = cluster.connection()
    pxcluster("stop", cluster)
    assert cluster.controller.wait(60) == 0
    cluster.start_controller("--reuse")
    wait_until(lambda: cluster.connection() != before, "the new controller's process is in its file")
    assert cluster.connection()["key"] == before["key"]
    assert cluster.connection()["process"]["pid"] == cluster.controller.pid


def test_engines_that_pxcluster_has_added_are_counted_and_stopped(pxcluster, by_hand):
    pxcluster("engines", by_hand, "-n", "1", "--daemonize")
    assert rows(pxcluster, by_hand)[0][2:] == ["True", "3", "Local,", "started", "by", "hand"]
    pxcluster("stop", by_hand)
    assert by_hand.controller.wait(60) == 0
    wait_until(lambda: rows(pxcluster, by_hand) == [], "the added engine ends")


def test_stop_says_who_has_to_end_what_it_does_not_know(pxcluster, by_hand):
    file = by_hand.connection_file("client")
    text = by_hand.connection()
    del text["process"]  # as ipcontroller writes it
    for location, part in (("elsewhere.example", "on elsewhere.example: end it there"),
                           (text["location"], "end it on its host with Ctrl-C or `kill`")):  # fmt: skip
        file.write_text(json.dumps(text | {"location": location}))
        assert part in pxcluster("stop", by_hand, status=1).stderr
        assert by_hand.controller.is_running()
        assert file.exists()
    assert rows(pxcluster, by_hand)[0][2:4] == ["True", "2"]


def test_clean_leaves_the_files_of_one_that_runs(pxcluster, by_hand):
    assert "is running: stop it first" in pxcluster("clean", by_hand, status=1).stderr
    assert by_hand.connection_file("engine").exists()
    pxcluster("clean", by_hand, "--force")
    assert by_hand.controller.wait(60) == 0


def test_start_refuses_to_take_its_place(pxcluster, by_hand):
    said = pxcluster("start", by_hand, "-n", "1", status=10).stderr
    assert f"its controller, process {by_hand.controller.pid}, was started by hand" in said
    assert by_hand.client(engines=2).ids == [0, 1]


def test_clusters_of_one_profile_are_told_apart_by_their_ids(pxcluster, own_cluster):
    cluster = own_cluster("red")
    cluster.start_controller()
    assert rows(pxcluster, cluster)[0][1:4] == ["red", "True", "0"]
    assert os.path.exists(cluster.connection_file("client"))
    pxcluster("stop", cluster)
    assert cluster.controller.wait(60) == 0
