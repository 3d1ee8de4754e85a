"""A real Jupyter server, and Debian's Chromium driven by Playwright."""

import contextlib
import re
import shutil
import subprocess
import sys

import programs

PATIENCE = 90


@contextlib.contextmanager
def jupyter_server(stage):
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
               "jupyterlab.NeverCheckForUpdate"]  # fmt: skip
    with open(log, "w") as output:
        process = subprocess.Popen(command, env=environment, stdout=output,
                                   stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)  # fmt: skip
    try:
        address = programs.wait_until(
            lambda: re.search(r"http://(?:localhost|127\.0\.0\.1):\d+/", log.read_text()),
            "Jupyter's address", timeout=PATIENCE).group(0)  # fmt: skip
        yield address, folder
    finally:
        process.terminate()
        process.wait(timeout=60)


@contextlib.contextmanager
def chromium():
    """A browser.  FileNotFoundError where Debian's Chromium is not there."""
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium")
    if not program:
        raise FileNotFoundError("Chromium is not there: apt install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()
