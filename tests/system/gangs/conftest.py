"""Fixtures of the tests of gangs."""

import pytest
from running_cluster import connect


@pytest.fixture(scope="module")
def four_ranks(mpi_cluster):
    """The cluster of `own`."""
    return mpi_cluster


@pytest.fixture
def own(four_ranks):
    """A client of our own package; the namespaces of its four ranks are empty."""
    with connect(four_ranks.connection_file("client"), 4) as client:
        client.clear(block=True)
        yield client
