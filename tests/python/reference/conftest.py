"""ipyparallel's own tests, from its wheel, on polyxeus: package, controller and engines.

What cannot apply is skipped by name, each with its reason: LEFT_OUT.
"""

import os
import shutil
import signal
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))

from reference import aliases, processes  # noqa: E402
from reference.left_out import LEFT_OUT  # noqa: E402

pytest.register_assert_rewrite("ipyparallel.tests")
aliases.install()

_HERE = Path(__file__).parent


def pytest_collection_modifyitems(items):
    for item in items:
        if _HERE not in item.path.parents:
            continue
        name = item.nodeid.partition("::")[2].replace("()::", "").partition("[")[0]
        reason = LEFT_OUT.get(name) or LEFT_OUT.get(name.rpartition("::")[2])
        if reason:
            item.add_marker(pytest.mark.skip(reason=f"ipyparallel's own test: {reason}"))


@contextmanager
def _ipython_dir():
    folder = tempfile.mkdtemp(suffix=".ipython")
    try:
        with mock.patch.dict(os.environ, {"IPYTHONDIR": folder}):
            from IPython.core.profiledir import ProfileDir

            ProfileDir.create_profile_dir_by_name(folder, name="default")
            with mock.patch.object(tempfile, "tempdir", folder):  # tests put profiles there
                yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(autouse=True, scope="module")
def ipython_dir():
    processes.environment()
    with _ipython_dir() as folder:
        yield folder


@pytest.fixture(scope="module")
def cluster(ipython_dir):
    processes.setup()
    try:
        yield
    finally:
        processes.teardown()


@pytest.fixture(scope="module")
def ipython(ipython_dir):
    from IPython.terminal.interactiveshell import TerminalInteractiveShell
    from traitlets.config import Config

    config = Config()
    config.TerminalInteractiveShell.colors = "NoColor"
    config.TerminalInteractiveShell.simple_prompt = True
    config.HistoryManager.enabled = False
    shell = TerminalInteractiveShell.instance(config=config)
    yield shell
    TerminalInteractiveShell.clear_instance()


@pytest.fixture
def ipython_interactive(ipython):
    """What IPython puts among the builtins, get_ipython() above all."""
    with ipython.builtin_trap:
        yield ipython


@pytest.fixture
def engine_launcher_class():
    return "local"


@pytest.fixture
def Cluster(request, ipython_dir):
    import polyxeus

    def make(**kwargs):
        cluster = polyxeus.Cluster(**kwargs)
        request.addfinalizer(cluster.stop_cluster_sync)
        return cluster

    return make


@pytest.fixture(autouse=True)
def no_alarm_left():
    yield
    signal.alarm(0)
