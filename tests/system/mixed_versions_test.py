"""Engines that do not fit together are named in one line, by the controller and by the client."""

import sys
import warnings

import pytest
from programs import wait_until
from raw_peer import RawPeer

import polyxeus

OWN = f"{sys.version_info.major}.{sys.version_info.minor}"


@pytest.fixture(scope="module")
def cluster(new_cluster):
    cluster = new_cluster("mixed_versions")
    cluster.start_controller()
    cluster.start_engines(1)
    cluster.client(engines=1)
    return cluster


def register(cluster, **facts):
    """An engine that says this of itself; it never works."""
    with RawPeer(cluster.connection("engine")) as engine:
        return engine.ask("registration_request", {"uuid": engine.session, **facts})


def connected(cluster):
    """What a client of ours is warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        polyxeus.Client(str(cluster.connection_file("client")), timeout=20).close()
    return [str(warning.message) for warning in caught if warning.category is RuntimeWarning]


def test_engines_of_one_version_cause_no_word(cluster):
    reply = register(cluster, python=OWN, polyxeus=polyxeus.__version__)
    assert reply["status"] == "ok" and reply["polyxeus"] == polyxeus.__version__
    assert connected(cluster) == []
    assert "runs Python" not in cluster.controller.output()


def test_another_python_is_named_once_by_the_controller_and_by_the_client(cluster):
    for _ in range(3):
        register(cluster, python="2.7", polyxeus=polyxeus.__version__)
    said = wait_until(lambda: [line for line in cluster.controller.output().splitlines()
                               if "runs Python 2.7" in line], "the controller says so")  # fmt: skip
    assert len(said) == 1 and f"engine 0 runs Python {OWN}" in said[0] and "--python" in said[0]
    told = connected(cluster)
    assert len(told) == 1 and "runs Python 2.7" in told[0]


def test_clients_are_told_the_python_of_each_engine(cluster):
    with RawPeer(cluster.connection("client")) as peer:
        assert peer.ask("connection_request")["pythons"] == {"0": OWN}


def test_another_mpi_and_another_polyxeus_are_named(cluster):
    register(cluster, mpi="Open MPI v4.1.4")
    register(cluster, mpi="MPICH 4.0")
    register(cluster, polyxeus="0.0.1")
    for words in ("has loaded MPICH 4.0", "runs polyxeus 0.0.1, the controller runs"):
        wait_until(lambda: words in cluster.controller.output(), f"the controller says: {words}", 10)


def test_who_starts_engines_is_told_that_they_do_not_fit_together(cluster, cluster_cmd):
    register(cluster, python="2.6")
    more = cluster.stage.start(
        [*cluster_cmd, "engines", *cluster.options(), "--cluster-id=", "-n", "1"], "more-engines"
    )
    wait_until(lambda: "is ready" in more.output(), "one more engine")
    said = [line for line in more.output().splitlines() if "runs Python 2.6" in line]
    assert len(said) == 1 and f"engine 0 runs Python {OWN}" in said[0] and "--python" in said[0]
    more.stop(30)
