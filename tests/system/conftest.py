"""Fixtures of the system tests: see programs.py for which programs they test."""

import gc
import itertools
import os
import shutil
import sys
from pathlib import Path

import deadlines
import pytest

sys.path.insert(0, str(Path(__file__).parent))

import programs  # noqa: E402
from running_cluster import RunningCluster  # noqa: E402

TIME_LIMIT = 90  # seconds for one test
OWN_NUMBERS = itertools.count()  # of clusters that are no other test's


def pytest_configure(config):
    config.addinivalue_line(
        "markers", "better_than_reference(why): the original fails here; we must not"
    )
    config.addinivalue_line("markers", "mpi: needs mpiexec")


def pytest_collection_modifyitems(items):
    for item in items:
        if Path(__file__).parent not in item.path.parents:
            continue
        better = item.get_closest_marker("better_than_reference")
        # one original is enough to bring its defect in
        commands = (programs.CONTROLLER, programs.ENGINE, programs.CLUSTER)
        if better and any(programs.is_reference(command) for command in commands):
            item.add_marker(pytest.mark.xfail(reason=better.args[0], strict=True))


@pytest.fixture(autouse=True)
def time_limit():
    """No test waits for ever: the client's own waits have no limit."""
    with deadlines.time_limit(TIME_LIMIT):
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    stage = item.funcargs.get("stage") if hasattr(item, "funcargs") else None
    if report.failed and stage is not None:
        report.sections.append(("logs of the programs", stage.logs()))
    return report


def command(found, name):
    if not found:
        pytest.fail(f"no {name} to test: neither beside {sys.executable} nor on PATH")
    return found


@pytest.fixture(scope="session")
def controller_cmd():
    return command(programs.CONTROLLER, "pxcontroller")


@pytest.fixture(scope="session")
def engine_cmd():
    return command(programs.ENGINE, "pxengine")


@pytest.fixture(scope="session")
def cluster_cmd():
    return command(programs.CLUSTER, "pxcluster")


@pytest.fixture(scope="session")
def mpiexec():
    return shutil.which("mpiexec") or pytest.fail("no mpiexec on PATH")


@pytest.fixture(scope="session")
def mpich():
    """MPICH's mpiexec, which Debian names so where another MPI is there as well."""
    return shutil.which("mpiexec.mpich") or pytest.fail("no mpiexec.mpich on PATH")


@pytest.fixture(scope="module")
def stage(request, tmp_path_factory):
    """A folder, an IPYTHONDIR and a process tag for one test module; nothing outlives it."""
    stage = programs.Stage(tmp_path_factory.mktemp(request.module.__name__))
    before = os.environ.get("IPYTHONDIR")
    os.environ["IPYTHONDIR"] = str(stage.ipython_dir)
    yield stage
    left_behind = stage.close()
    if before is None:
        del os.environ["IPYTHONDIR"]
    else:
        os.environ["IPYTHONDIR"] = before
    assert not left_behind, "processes outlived their cluster:\n" + "\n".join(left_behind)


@pytest.fixture(scope="module")
def new_cluster(stage, controller_cmd, engine_cmd):
    """Makes a cluster of its own; nothing is started yet."""

    def make(profile="default", cluster_id="", **environment):
        return RunningCluster(stage, profile, cluster_id, **environment)

    return make


@pytest.fixture
def own_cluster(new_cluster, request):
    """Like new_cluster, under a profile of its own, and stopped at the end of the test."""
    made = []

    def make(cluster_id="", **environment):
        profile = f"own{next(OWN_NUMBERS)}_{request.node.name[:40]}"
        cluster = new_cluster(profile, cluster_id, **environment)
        made.append(cluster)
        return cluster

    yield make
    for cluster in made:
        cluster.stop()


@pytest.fixture
def limited(request):
    """A command line that runs what follows it in a control group of memory; needs root.

    Its parameter is the limit in bytes; 400 MiB without one: for three engines and what starts them.
    """
    root = Path("/sys/fs/cgroup")
    first_version = (root / "memory").is_dir()
    group = (root / "memory" if first_version else root) / f"px-test-{os.getpid()}"
    try:
        group.mkdir()
        limit = group / ("memory.limit_in_bytes" if first_version else "memory.max")
        limit.write_text(str(getattr(request, "param", 400 << 20)))
    except OSError as problem:
        pytest.fail(f"this test makes a control group with a limit of memory, as root: {problem}")
    yield ["sh", "-c", 'echo $$ > "$0" && exec "$@"', group / "cgroup.procs"]
    programs.wait_until(lambda: not (group / "cgroup.procs").read_text(), "the group is empty")
    group.rmdir()


@pytest.fixture(scope="module")
def mpi_cluster(new_cluster, mpiexec):
    """Four engines under mpiexec, shared by the tests of a module that leave them alive."""
    cluster = new_cluster("mpi")
    cluster.start_controller()
    cluster.start_mpi_engines(4)
    cluster.client(engines=4)
    return cluster


@pytest.fixture(scope="module")
def local_cluster(new_cluster):
    """Four engines without MPI, shared by the tests of a module that leave them alive."""
    cluster = new_cluster("local")
    cluster.start_controller()
    cluster.start_engines(4)
    cluster.client(engines=4)
    return cluster


def fresh_client(cluster):
    client = cluster.client(engines=4)
    client.clear(block=True)
    client[:].apply_sync(gc.freeze)  # else each clear() examines all modules that earlier tests have imported
    return client


@pytest.fixture
def rc(mpi_cluster):
    """A client of the four MPI engines, whose namespaces are empty."""
    client = fresh_client(mpi_cluster)
    yield client
    client.close()


@pytest.fixture
def local_rc(local_cluster):
    """A client of the four engines without MPI, whose namespaces are empty."""
    client = fresh_client(local_cluster)
    yield client
    client.close()
