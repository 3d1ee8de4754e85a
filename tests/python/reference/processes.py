"""Starts and ends the controller and the engines that ipyparallel's tests run on."""

import os
import subprocess
import sys
import time
from pathlib import Path

import polyxeus
from polyxeus.client.pxcluster import find

launchers = []


class _Process:
    """What the tests want of a launcher."""

    def __init__(self, argv):
        self.process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, cwd=os.environ["IPYTHONDIR"])
        self.poll = self.process.poll

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()

    def wait(self):
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def _wait_until(is_met, what, patience=30):
    end = time.monotonic() + patience
    while not is_met():
        if time.monotonic() > end:
            raise RuntimeError(f"{what}: not within {patience} s")
        time.sleep(0.01)


def setup():
    """One controller and one engine under the profile that the tests use."""
    security = Path(os.environ["IPYTHONDIR"]) / "profile_iptest" / "security"
    launchers.append(_Process([find("pxcontroller"), "--profile=iptest", "--ping=250", "--dictdb"]))
    files = [security / f"ipcontroller-{side}.json" for side in ("client", "engine")]
    _wait_until(lambda: all(file.exists() for file in files), "the controller starts")
    add_engines(1)


def add_engines(n=1, profile="iptest", total=False):
    """Starts n engines, or as many as are missing to n in total."""
    client = polyxeus.Client(profile=profile)
    before = len(client)
    n = max(n - before, 0) if total else n
    command = [find("pxengine"), f"--profile={profile}", "--InteractiveShell.colors=nocolor"]
    started = [_Process(command) for _ in range(n)]
    launchers.extend(started)
    _wait_until(lambda: len(client) >= before + n, f"{n} engines register")
    client.close()
    return started


def teardown():
    """Ends all."""
    ended = list(reversed(launchers))
    launchers.clear()
    for process in ended:
        process.stop()
    for process in ended:
        process.wait()


def environment():
    """What the programs need beside the tests' own environment."""
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
