"""ipyparallel's own engine under our controller, driven by our client."""

import subprocess
import sys

import pytest

import polyxeus

SENTENCE = "ipyparallel's ipengine, which can only execute cells of this client"


@pytest.fixture(scope="module")
def mixed(new_cluster):
    """Engine 0 is ours, engine 1 is an ipengine."""
    cluster = new_cluster(profile="mixed")
    cluster.start_controller()
    cluster.start_engines(1)
    client = cluster.client(engines=1)
    cluster.engines.append(cluster.stage.start(
        [sys.executable, "-m", "ipyparallel.engine", *cluster.options()], "ipengine"))
    cluster.wait_for_engines(client, 2)
    return cluster


@pytest.fixture
def rc(mixed):
    with polyxeus.Client(str(mixed.connection_file("client")), timeout=20) as client:
        client.wait_for_engines(2, timeout=60)
        yield client


def test_it_is_known_by_its_silence(rc):
    assert rc.languages == {0: "python", 1: ""}


def test_cells_run_there(rc):
    result = rc[:].execute("x = 5\nprint('hello')\nx")
    assert result.wait_for_output(20)
    assert result.stdout == ["hello\n"] * 2


@pytest.mark.parametrize("ask", [
    lambda rc: rc[1].apply_sync(abs, -1),
    lambda rc: rc[:].push({"y": 1}, block=True),
    lambda rc: rc[1]["x"],
    lambda rc: rc[1].scatter("y", [1, 2]),
    lambda rc: rc[:].map_sync(abs, range(4)),
    lambda rc: rc.broadcast_view([0, 1]).apply_sync(abs, -1),
    lambda rc: rc.load_balanced_view([1]).apply_sync(abs, -1),
])
def test_what_it_would_never_answer_is_refused_at_once(rc, ask):
    with pytest.raises(NotImplementedError, match="engine 1 runs " + SENTENCE) as caught:
        ask(rc)
    assert "\n" not in str(caught.value)
    assert rc[0].apply_sync(abs, -1) == 1


def test_balanced_tasks_go_to_those_that_know_them(rc):
    assert rc.load_balanced_view().map_sync(abs, range(-5, 0), chunksize=1) == [5, 4, 3, 2, 1]


def test_other_clients_of_ours_say_the_same(mixed, cluster_cmd):
    def pxcluster(*words):
        return subprocess.run([*cluster_cmd, *words, f"--profile-dir={mixed.profile_dir}"],
                              text=True, capture_output=True, timeout=60,
                              env=mixed.stage.environment())

    assert pxcluster("px", "print('cell')").stdout == "[0,1] cell\n"
    done = pxcluster("pull", "x")
    assert done.returncode == 1 and SENTENCE in done.stderr


def test_where_says_that_it_does_not_tell(rc):
    places = rc.where(timeout=20)
    assert [place["state"] for place in places] == ["idle", "unknown"]
    assert "1 unknown (this engine cannot answer" in str(places)
