"""Fixtures of the tests of limits."""

import programs
import pytest
from running_cluster import connect


@pytest.fixture(scope="module")
def start_cluster(new_cluster):
    """start_cluster(name, engines): a running cluster of that name, with that many engines."""

    def start(name, engines):
        cluster = new_cluster(name)
        cluster.start_controller()
        cluster.start_engines(engines)
        with connect(cluster.connection_file("client"), engines):
            pass
        return cluster

    return start


@pytest.fixture
def little_cluster(limited, own_cluster, monkeypatch):
    """A cluster of one engine whose controller is in the control group `limited`."""
    monkeypatch.setenv("POLYXEUS_SHARED_MEMORY", "0")  # all bytes pass the controller
    cluster = own_cluster()
    argv = [*limited, *programs.CONTROLLER, *cluster.options()]
    cluster.controller = cluster.stage.start(argv, "controller", **cluster.environment)
    programs.wait_until(cluster.is_listening, "the controller writes its connection files")
    cluster.start_engines(1)
    yield cluster
    assert cluster.controller.is_running()
    cluster.stop()  # before the group is removed
