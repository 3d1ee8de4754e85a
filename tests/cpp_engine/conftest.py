"""Clusters of C++ engines under mpiexec; nothing outlives a test run."""

import sys
from pathlib import Path

import deadlines
import pytest
from cluster_folders import ipython_dir_of_tests

sys.path.insert(0, str(Path(__file__).parent))

TIME_LIMIT = 90  # seconds for one test


@pytest.fixture(autouse=True)
def time_limit():
    """No test waits for ever."""
    with deadlines.time_limit(TIME_LIMIT):
        yield


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """The IPYTHONDIR of all clusters of these tests."""
    with ipython_dir_of_tests(tmp_path_factory) as ipython_dir, pytest.MonkeyPatch.context() as patch:
        patch.setenv("POLYXEUS_MPI_GRACE", "60")  # these tests stop by themselves what waits for ever
        yield ipython_dir


def _start(profile, **options):
    import polyxeus

    return polyxeus.Cluster(engines="mpi", profile=profile, cluster_id="", **options)


@pytest.fixture(scope="session")
def running(folder):
    """Four C++ ranks, shared by the tests that leave them alive."""
    with _start("cpp", n=4, language="cpp") as client:
        client.close()
        yield


@pytest.fixture
def rc(running):
    """A client of the four C++ ranks."""
    import polyxeus

    with polyxeus.Client(profile="cpp") as client:
        client.wait_for_engines(4, timeout=60)
        yield client


@pytest.fixture
def view(rc):
    """All four ranks; calls wait for their results."""
    view = rc[:]
    view.block = True
    return view


@pytest.fixture(scope="session")
def mixed(folder):
    """Ranks 0 and 1 speak Python, 2 and 3 C++."""
    with _start("mixed", language="python:2,cpp:2") as client:
        client.wait_for_engines(4, timeout=60)
        yield client


@pytest.fixture
def fresh(folder, request):
    """Two C++ ranks that the test may end."""
    with _start(request.node.name[:40], n=2, language="cpp") as client:
        client.wait_for_engines(2, timeout=60)
        yield client
