"""Where the clusters of tests have their files."""

import contextlib
import os
import sys
from pathlib import Path

import pytest


@contextlib.contextmanager
def ipython_dir_of_tests(tmp_path_factory):
    """A new IPYTHONDIR for all clusters that start meanwhile; those of this Python come first on PATH."""
    ipython_dir = tmp_path_factory.mktemp("ipython")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IPYTHONDIR", str(ipython_dir))
        patch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
        yield ipython_dir
