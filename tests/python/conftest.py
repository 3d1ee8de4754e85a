"""A cluster of four engines for the tests of the Python package; nothing outlives a test run."""

import gc
import os
import sys
from pathlib import Path

import deadlines
import pytest

TIME_LIMIT = 60  # seconds for one test
_HERE = Path(__file__).parent


@pytest.fixture(autouse=True)
def time_limit(request):
    """No test waits for ever."""
    if request.path.parent not in (
        _HERE, *(_HERE / each for each in ("debugging", "executors", "scaling", "values", "views", "traces"))
    ):
        yield
        return
    marked = request.node.get_closest_marker("time_limit")
    with deadlines.time_limit(marked.args[0] if marked else TIME_LIMIT):
        yield


def pytest_configure(config):
    config.addinivalue_line("markers", "time_limit(seconds): of the test")


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """The IPYTHONDIR of all clusters of these tests."""
    ipython_dir = tmp_path_factory.mktemp("ipython")
    before = os.environ.get("IPYTHONDIR")
    os.environ["IPYTHONDIR"] = str(ipython_dir)
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    yield ipython_dir
    if before is None:
        del os.environ["IPYTHONDIR"]
    else:
        os.environ["IPYTHONDIR"] = before


@pytest.fixture(scope="session")
def running(folder):
    """Four engines, shared by the tests that leave them alive."""
    import polyxeus

    cluster = polyxeus.Cluster(n=4, profile="shared", cluster_id="")
    client = cluster.start_and_connect_sync()
    client.close()
    yield cluster
    cluster.stop_cluster_sync()


@pytest.fixture
def rc(running):
    """A client of the four engines, whose namespaces are empty."""
    with running.connect_client_sync() as client:
        client.wait_for_engines(4, timeout=60)
        client.clear(block=True)
        client[:].apply_sync(gc.freeze)  # else each clear() examines all modules that earlier tests have imported
        yield client


@pytest.fixture
def own(folder):
    """Makes clusters of the test's own."""
    import polyxeus

    made = []

    def start(n):
        cluster = polyxeus.Cluster(n=n, profile="own")
        made.append(cluster)
        return cluster.start_and_connect_sync()

    yield start
    for cluster in made:
        cluster.stop_cluster_sync()
