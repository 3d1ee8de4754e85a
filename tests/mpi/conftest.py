"""Clusters of four ranks under mpiexec; one at a time, and nothing outlives a test run."""

import sys
from pathlib import Path

import deadlines
import pytest
from cluster_folders import ipython_dir_of_tests

sys.path.insert(0, str(Path(__file__).parent))

import mpi_fuzz  # noqa: E402

_has_failed = pytest.StashKey()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    item.stash[_has_failed] = item.stash.get(_has_failed, False) or report.failed
    return report


@pytest.fixture(autouse=True)
def time_limit(request):
    """No test waits for ever. A test that runs many programs says how long it may take."""
    marked = request.node.get_closest_marker("time_limit")
    with deadlines.time_limit(marked.args[0] if marked else 90):
        yield


def pytest_configure(config):
    config.addinivalue_line("markers", "time_limit(seconds): of the test")


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """The IPYTHONDIR of all clusters of these tests."""
    with ipython_dir_of_tests(tmp_path_factory) as ipython_dir:
        yield ipython_dir


@pytest.fixture(scope="session")
def clusters(folder):
    """Gives the session of a language, a client and an MPI; ends the one before, if that is another one."""
    running = {}

    def session_of(*kind):
        for key in [key for key in running if key != kind]:
            running.pop(key).close()
        if not running:
            running[kind] = mpi_fuzz.Session(*kind)
        return running[kind]

    def end():
        for key in list(running):
            running.pop(key).close()

    session_of.end = end
    yield session_of
    end()


@pytest.fixture(scope="session")
def kind(request):
    """(language, client) of the ranks, and perhaps their MPI: tests with the same ones run after each other."""
    return request.param


@pytest.fixture
def ranks(clusters, kind, request):
    """Four ranks. After a failure the next test gets new ones."""
    yield clusters(*kind)
    if request.node.stash.get(_has_failed, False):
        clusters.end()
