"""PyTorch of PyPI, which scripts/torch_packages.py has installed, for the engines and notebooks of these tests."""

import os
from pathlib import Path

import deadlines
import pytest
from cluster_folders import ipython_dir_of_tests

FOLDER = Path(__file__).resolve().parents[2] / "build/torch"


@pytest.fixture(scope="session", autouse=True)
def torch_of_pypi():
    if not (FOLDER / "installed").exists():
        pytest.fail("PyTorch of PyPI is not there: .venv/bin/python scripts/torch_packages.py installs it", pytrace=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(FOLDER), os.environ.get("PYTHONPATH")])))
        yield FOLDER


@pytest.fixture
def time_limit():
    """For tests whose ranks may wait for each other."""
    with deadlines.time_limit(90):
        yield


@pytest.fixture(scope="session")
def ipython_dir(tmp_path_factory):
    """The IPYTHONDIR of all clusters of these tests."""
    with ipython_dir_of_tests(tmp_path_factory) as folder:
        yield folder


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    item.has_failed = getattr(item, "has_failed", False) or report.failed
    return report
