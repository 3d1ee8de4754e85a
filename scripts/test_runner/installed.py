"""Tests on an installed polyxeus, e.g. that of a wheel for another Python, where no source is at hand."""

import shutil
from pathlib import Path

# The groups whose tests need nothing of the tree but the tests themselves.
GROUPS = ("engine", "kernel", "python")
# What these tests read beside the files in their own folders.
_SHARED = ("docs/compatibility.md", "docs/guide/errors.md", "pyproject.toml", "tests/conftest.py", "tests/dap_client.py",
           "tests/deadlines.py", "tests/jupyter_kernels.py", "tests/partition_vectors.txt", "tests/random_stops.py")  # fmt: skip
# They read the sources, or find the same with every Python.
_ABOUT_SOURCES = ("types_test.py", "cpython_executor_test.py")
_ABOUT_CPP = ("cpp_kernel_test.py", "other_kernels_test.py")


def copy_tests(root, python):
    """Copies the tests that can run on the polyxeus of `python` from the tree at `root`; -> the folder of the copy.

    It is build/installed/NAME, where NAME is that of the environment. What lay there before is removed. The tests of the C++
    kernel are left out where there is none.
    """
    environment = Path(python).absolute().parent.parent
    copy = Path(root) / "build" / "installed" / environment.name
    shutil.rmtree(copy, ignore_errors=True)
    left_out = ["__pycache__", "*.cpp", *_ABOUT_SOURCES]
    if not (environment / "bin" / "pxkernel-cpp").exists():
        left_out += _ABOUT_CPP
    for group in GROUPS:
        shutil.copytree(Path(root) / "tests" / group, copy / "tests" / group, ignore=shutil.ignore_patterns(*left_out))
    for file in _SHARED:
        (copy / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(Path(root) / file, copy / file)
    return copy
