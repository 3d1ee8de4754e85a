"""Fixtures of the tests in a browser: see jupyter_page.py."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "system"))

import jupyter_page  # noqa: E402
import programs  # noqa: E402
from jupyter_page import PATIENCE  # noqa: E402


@pytest.fixture(scope="session")
def screenshots():
    """Where the pictures of a run are kept, to be looked at."""
    folder = ROOT / "build" / "screenshots"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def stage(tmp_path_factory):
    stage = programs.Stage(tmp_path_factory.mktemp("browser"))
    yield stage
    left_behind = stage.close()
    assert not left_behind, "processes outlived their notebook:\n" + "\n".join(left_behind)


@pytest.fixture(scope="session")
def server(stage):
    """The address of a Jupyter server with an empty home, and the folder that it shows."""
    with jupyter_page.jupyter_server(stage) as running:
        yield running


@pytest.fixture(scope="session")
def browser():
    with jupyter_page.chromium() as browser:
        yield browser


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    page = item.funcargs.get("page")
    if report.failed and call.when == "call" and page is not None:
        page.screenshot(path=item.funcargs["screenshots"] / "failure.png")
    return report


@pytest.fixture
def page(browser, screenshots):
    page = browser.new_page(viewport={"width": 1280, "height": 1400})
    page.set_default_timeout(PATIENCE * 1000)
    yield page
    page.close()
