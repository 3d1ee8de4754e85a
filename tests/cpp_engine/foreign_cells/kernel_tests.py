#!/usr/bin/env python3
"""Runs xeus-cpp's or xeus-cling's own test of their kernel on ours, not changed but for the kernel's name.

    python tests/cpp_engine/foreign_cells/kernel_tests.py xeus-cpp/test/test_xcpp_kernel.py...

Needs `jupyter_kernel_test`; where there is no `papermill`, nbclient runs the notebooks. Each test that does not pass is
listed, with the reason where KNOWN has one. The exit code is 1 where one fails without a reason.
"""  # fmt: skip

import argparse
import os
import re
import sys
import types
import unittest
from pathlib import Path

import nbclient
import nbformat

KERNEL = "pxcpp"

# Tests that differ here: what their name and what is said contain, the reason.
KNOWN = (
    ("test_kernel_info", "C++", "the language is `c++` here, as in xeus-cling"),
    ("test_codecomplete", "", "more names are offered: those of std, the C library and macros follow"),
    ("test_continuation", "", "another indentation is proposed"),
    ("test_xcpp_omp", "", "OpenMP needs `%flags -fopenmp` in the first cell"),
    ("test_xcpp_stderr", "oops", "the text ends with the line end that the cell writes"),
)


def module_of(path):
    """Their file, with our kernel in place of theirs."""
    text = path.read_text()
    text = re.sub(r"kernel_names = \[.*?\]", f"kernel_names = ['{KERNEL}']", text)
    text = re.sub(r"kernel_name = '\w+'", f"kernel_name = '{KERNEL}'", text)
    module = types.ModuleType(re.sub(r"\W", "_", str(path)))
    sys.modules[module.__name__] = module
    exec(compile(text, path, "exec"), module.__dict__)
    return module


def execute_notebook(source, target, kernel_name, **_):
    """What their tests use of papermill."""
    notebook = nbformat.read(source, as_version=4)
    nbclient.NotebookClient(notebook, kernel_name=kernel_name, timeout=60).execute()
    nbformat.write(notebook, target)
    return notebook


def without_papermill():
    """Lets their files be run without it."""
    try:
        import papermill  # noqa: F401
    except ImportError:
        sys.modules["papermill"] = types.ModuleType("papermill")
        sys.modules["papermill"].execute_notebook = execute_notebook


def reason_of(name, said):
    return next((reason for of_name, of_text, reason in KNOWN if of_name in name and of_text in said), "")


def run(path):
    """-> (how many ran, [(test, reason, what it said)])"""
    os.chdir(path.parent)
    tests = vars(module_of(path)).values()
    cases = [each for each in tests if isinstance(each, type) and issubclass(each, unittest.TestCase)]
    suite = unittest.TestSuite(
        unittest.defaultTestLoader.loadTestsFromTestCase(each)
        for each in dict.fromkeys(cases)
        if vars(each).get("__test__", True)
    )
    result = unittest.TextTestRunner(stream=open(os.devnull, "w"), verbosity=0).run(suite)
    found = [(test, said) for test, said in result.failures + result.errors]
    skipped = len(result.skipped)
    return result.testsRun - skipped, [
        (str(test), reason_of(str(test), said), said.strip().splitlines()[-1]) for test, said in found
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", metavar="FILE", type=lambda text: Path(text).resolve())
    unexplained = 0
    without_papermill()
    for path in parser.parse_args().paths:
        count, differences = run(path)
        for test, reason, said in differences:
            unexplained += not reason
            print(f"{path.parent.parent.name}: {test}: {reason or 'NO REASON IS KNOWN'}\n    {said}")
        print(f"{path}: {count - len(differences)} of {count} tests pass", flush=True)
    sys.exit(1 if unexplained else 0)


if __name__ == "__main__":
    main()
