"""A real Jupyter server, and Debian's Chromium driven by Playwright."""

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "system"))

import programs  # noqa: E402

PATIENCE = 90


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
    folder = stage.folder / "notebooks"
    folder.mkdir()
    home = stage.folder / "home"
    home.mkdir()
    environment = stage.environment(HOME=home)
    del environment["MPLBACKEND"]  # the kernel chooses it
    log = stage.folder / "jupyter.log"
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--port=0",
               "--ServerApp.token=", "--ServerApp.password=", f"--ServerApp.root_dir={folder}",
               "--LabApp.news_url=", "--LabApp.check_for_updates_class="
               "jupyterlab.NeverCheckForUpdate"]
    with open(log, "w") as output:
        process = subprocess.Popen(command, env=environment, stdout=output,
                                   stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
    address = programs.wait_until(
        lambda: re.search(r"http://(?:localhost|127\.0\.0\.1):\d+/", log.read_text()),
        "Jupyter's address", timeout=PATIENCE).group(0)
    yield address, folder
    process.terminate()
    process.wait(timeout=20)


@pytest.fixture(scope="session")
def browser():
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium")
    if not chromium:
        pytest.fail("Chromium is not there: apt install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


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
