"""Runs the command pxcluster."""

import os
import shutil
import subprocess
import sys

__all__ = ["find", "run"]


def find(name="pxcluster"):
    """The path of the program with this name: in the folder of this Python, else in $PATH."""
    beside = os.path.join(os.path.dirname(sys.executable), name)
    found = beside if os.access(beside, os.X_OK) else shutil.which(name)
    if not found:
        raise FileNotFoundError(
            f"cannot find the program {name} beside {sys.executable} or in $PATH"
        )
    return found


def run(arguments, timeout=60):
    """Runs `pxcluster arguments` and returns its output. RuntimeError with its message if it fails."""
    done = subprocess.run(
        [find(), *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise RuntimeError(lines[-1] if lines else f"pxcluster {arguments[0]} failed")
    return done.stdout
