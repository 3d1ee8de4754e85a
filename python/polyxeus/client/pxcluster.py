"""Runs the command pxcluster."""

import hashlib
import os
import shutil
import subprocess
import sys

__all__ = ["find", "key_of", "run"]


def find(name="pxcluster"):
    """Returns the path of the program with this name, from the folder of this Python, or else from $PATH."""
    beside = os.path.join(os.path.dirname(sys.executable), name)
    found = beside if os.access(beside, os.X_OK) else shutil.which(name)
    if not found:
        raise FileNotFoundError(
            f"cannot find the program {name} in the folder of {sys.executable} or in $PATH"
        )
    return found


def run(arguments, timeout=60):
    """Runs pxcluster with these arguments and returns its output. If the command fails, this function raises a
    RuntimeError with pxcluster's last message, and with its warnings, which may name the cause."""
    done = subprocess.run(
        [find(), *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines()
        warnings = [line for line in lines[:-1] if line.startswith("pxcluster: warning: ")]
        raise RuntimeError("\n".join([*lines[-1:], *warnings]) or f"pxcluster {arguments[0]} failed")
    return done.stdout


def key_of(profile_dir, cluster_id):
    """Returns the key that names a cluster in URLs of the Jupyter server."""
    return hashlib.sha256(f"{profile_dir}\0{cluster_id}".encode()).hexdigest()[:16]
