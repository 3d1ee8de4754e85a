"""Fixtures of the tests of gangs."""

import contextlib

import pytest
from running_cluster import connect


@pytest.fixture(scope="module")
def four_ranks(mpi_cluster):
    """The cluster of `own`."""
    return mpi_cluster


@pytest.fixture(scope="module")
def ranks_under(new_cluster):
    """ranks_under(NAME, MPIEXEC, CONTROLLER'S OPTION, ...): a context with a cluster of four ranks."""

    @contextlib.contextmanager
    def start(name, mpiexec, *options):
        cluster = new_cluster(name)
        cluster.start_controller(*options)
        engines = cluster.start_mpi_engines(4, mpiexec=mpiexec)
        cluster.client(engines=4)
        yield cluster
        cluster.engines.remove(engines)
        engines.stop()
        cluster.stop()

    return start


@pytest.fixture
def own(four_ranks):
    """A client of our own package; the namespaces of its four ranks are empty."""
    with connect(four_ranks.connection_file("client"), 4) as client:
        client.clear(block=True)
        yield client
