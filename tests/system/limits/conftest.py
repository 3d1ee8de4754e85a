"""Fixtures of the tests of limits."""

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
