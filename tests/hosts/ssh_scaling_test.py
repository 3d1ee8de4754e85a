"""Engines on other hosts come and go with `pxcluster scale`, and come back with --respawn."""

import json

import bed as beds
import pytest
from host_cluster import HostCluster


@pytest.fixture
def cluster(bed):
    """A cluster of its own for one test, in a folder of its own."""
    cluster = HostCluster(bed, f"{beds.HOME}/own")
    yield cluster
    cluster.run("stop", check=False)
    cluster.bed.exec_on("host1", "rm", "-rf", cluster.folder)


def hosts_of(cluster):
    code = "import socket; print(socket.gethostname())"
    lines = cluster.run("px", "--json", code, check=False).stdout.splitlines()
    return sorted(json.loads(line)["stdout"].strip() for line in lines)


def test_engines_are_added_by_ssh_and_end_when_they_are_idle(cluster):
    cluster.start("--engines=ssh", "--hosts", "host2:1,host3:2", "-n", "1")
    assert hosts_of(cluster) == ["host2"]
    cluster.run("scale", "3", "3")
    beds.wait_until(lambda: hosts_of(cluster) == ["host2", "host3", "host3"], "two engines come")
    cluster.run("scale", "1", "3", "--idle=0.2s")
    told = json.loads(cluster.run("scale", "--json").stdout)
    assert (told["minimum"], told["maximum"], told["idle_seconds"]) == (1, 3, 0.2)
    beds.wait_until(
        lambda: json.loads(cluster.run("scale", "--json").stdout)["engines"] == 1, "two engines end"
    )
    beds.wait_until(lambda: hosts_of(cluster) == ["host2"], "the first one stays")


def test_an_engine_that_dies_there_comes_back_beside_the_others(cluster):
    cluster.start("--engines=ssh", "--hosts", "host2:2", "--respawn")
    cluster.px("here = 'kept'")
    cluster.run("px", "--targets=1", "import os; os.kill(os.getpid(), 9)", check=False)
    beds.wait_until(lambda: hosts_of(cluster) == ["host2"] * 2, "it comes back")
    assert cluster.px("print(globals().get('here'))") == ["kept", "None"]
    assert "engine 1 was started again" in cluster.log("pxcluster-*")
