"""Runs the command pxcluster."""

import os
import shutil
import signal
import subprocess
import sys
import time

__all__ = ["Program", "find", "run", "signal_number"]

_PATIENCE = 60.0  # seconds for a program to start what it is to start
_GRACE = 15.0  # seconds to end in an orderly way


def find(name="pxcluster"):
    """The program of this name: beside this Python, else in $PATH."""
    beside = os.path.join(os.path.dirname(sys.executable), name)
    found = beside if os.access(beside, os.X_OK) else shutil.which(name)
    if not found:
        raise FileNotFoundError(
            f"cannot find the program {name} beside {sys.executable} or in $PATH"
        )
    return found


def run(arguments):
    """What `pxcluster arguments` prints.  RuntimeError where it fails: what it says."""
    done = subprocess.run(
        [find(), *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60
    )
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise RuntimeError(lines[-1] if lines else f"pxcluster {arguments[0]} failed")
    return done.stdout


def signal_number(signum):
    """The number of a signal, from its name or number."""
    if isinstance(signum, str):
        try:
            return int(getattr(signal, signum))
        except AttributeError:
            raise ValueError(f"unknown signal {signum!r}") from None
    return int(signum)


class Program:
    """A pxcluster that runs and watches over what it has started."""

    def __init__(self, arguments, log):
        self._log = log
        with open(log, "wb") as output:
            self.process = subprocess.Popen(
                [find(), *arguments],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.n = 0
        self.set_id = None

    @property
    def pid(self):
        return self.process.pid

    def is_running(self):
        return self.process.poll() is None

    def get_output(self):
        """What it has printed."""
        with open(self._log, errors="replace") as file:
            return file.read()

    def last_words(self):
        lines = self.get_output().strip().splitlines()
        return lines[-1] if lines else f"it has ended with {self.process.poll()}"

    def wait_until(self, is_met, what):
        """Waits for what it is to do.  RuntimeError where it ends before: says why."""
        end = time.monotonic() + _PATIENCE
        try:
            while not is_met():
                if not self.is_running():
                    raise RuntimeError(self.last_words())
                if time.monotonic() > end:
                    raise TimeoutError(f"timed out after {_PATIENCE:g} s: {what}; see {self._log}")
                time.sleep(0.01)
        except BaseException:
            self.stop()
            raise

    def stop(self):
        """SIGTERM, some patience, SIGKILL."""
        if not self.is_running():
            return
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
