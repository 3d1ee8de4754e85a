"""An engine that nobody hears and that has not left: who waits for it is told why, in time."""

import contextlib
import os
import signal
import subprocess
import time
import warnings

import polyxeus
import pytest
from programs import wait_until


@pytest.fixture(scope="module")
def cluster(new_cluster):
    """A controller that notices silence after half a second and never gives an engine up."""
    cluster = new_cluster("silence")
    cluster.start_controller("--ping=200", "--HeartMonitor.max_heartmonitor_misses=1000")
    cluster.start_engines(2)
    cluster.client(engines=2)
    return cluster


@pytest.fixture
def rc(cluster):
    with polyxeus.Client(str(cluster.connection_file("client")), timeout=20) as rc:
        yield rc


class Stopped:
    """Engine 0, stopped until resume()."""

    def __init__(self, cluster, rc):
        self.cluster = cluster
        before = self.times("does not answer heartbeats")
        self.pid = rc[0].apply_sync(os.getpid)
        os.kill(self.pid, signal.SIGSTOP)
        wait_until(lambda: self.times("does not answer heartbeats") > before, "it is noticed")

    def times(self, text):
        return self.cluster.controller.output().count(text)

    def resume(self):
        before = self.times("answers heartbeats again")
        os.kill(self.pid, signal.SIGCONT)
        wait_until(lambda: self.times("answers heartbeats again") > before, "it is back")


@pytest.fixture
def stopped(cluster, rc):
    stopped = Stopped(cluster, rc)
    yield stopped
    os.kill(stopped.pid, signal.SIGCONT)


@contextlib.contextmanager
def recorded():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield caught


def test_who_waits_is_warned_once_and_gets_the_answer_when_the_engine_is_back(rc, stopped):
    with recorded() as caught:
        answer = rc[0].apply_async(os.getpid)
        wait_until(lambda: answer.wait(1.1) or caught, "a warning", 20)
        assert not answer.ready()
        answer.wait(1.1)
        stopped.resume()
        assert answer.get(60) == stopped.pid
    assert [warning.category for warning in caught] == [RuntimeWarning]
    said = str(caught[0].message)
    assert said.startswith("engine 0 on ") and " has not answered for " in said and "retries" in said


def test_a_client_that_comes_later_is_warned_too(cluster, stopped):
    with polyxeus.Client(str(cluster.connection_file("client")), timeout=20) as late:
        with recorded() as caught:
            answer = late[:].apply_async(os.getpid)
            wait_until(lambda: answer.wait(1.1) or caught, "a warning", 20)
            stopped.resume()
            assert answer.get(60)[0] == stopped.pid


def test_who_waits_for_tasks_of_which_nobody_knows_where_they_are_is_warned_too(rc, stopped):
    with recorded() as caught:
        answer = rc.load_balanced_view([0]).apply_async(os.getpid)
        wait_until(lambda: rc.wait(timeout=0.1) or caught, "a warning", 20)
        stopped.resume()
        assert answer.get(60) == stopped.pid


def test_who_waits_for_others_is_left_alone(rc, stopped):
    with recorded() as caught:
        assert rc[1].apply_sync(time.sleep, 1.5) is None
    assert caught == []


def test_a_client_of_ipyparallel_works_on(cluster, stopped):
    client = cluster.client(engines=2)
    assert client.ids == [0, 1]
    assert client[1].apply_sync(len, "abc") == 3
    answer = client[0].apply_async(os.getpid)
    stopped.resume()
    assert answer.get(60) == stopped.pid
    assert client[:].apply_sync(len, "abc") == [3, 3]


def test_pxcluster_px_says_for_whom_it_waits(cluster, stopped, cluster_cmd):
    waiting = subprocess.Popen(
        [*cluster_cmd, "px", "6 * 7", f"--profile-dir={cluster.profile_dir}", "--cluster-id="],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=cluster.stage.environment(),
    )  # fmt: skip
    try:
        said = waiting.stderr.readline()
        assert "warning: engine 0 on " in said and "has not answered" in said
        stopped.resume()
        assert waiting.communicate(timeout=20)[0] == "[result:0,1] 42\n"
    finally:
        waiting.kill()
