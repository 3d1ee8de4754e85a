"""Fixtures of the tests of values."""

import pytest

import polyxeus as px


@pytest.fixture
def view(rc):
    return rc.load_balanced_view()


@pytest.fixture
def other(rc):
    """A client that has made none of the results."""
    with px.Client(rc.cluster.connection_file) as client:
        client.wait_for_engines(len(rc), timeout=30)
        yield client
