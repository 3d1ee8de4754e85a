"""What a run of ipyparallel's own test suite says, held against the tests that must pass.

A list is a text file: a comment line that starts with #, then one pytest node id a line, sorted.
"""

import json

from .cases import FAILED, PASSED, SKIPPED, Case

_OK = ("passed", "xpassed")
_KNOWN = "ipyparallel's own tests that are known not to pass: not in the list of those that must"


def read_list(path):
    """The names in a list. ValueError where it is not sorted or names a test twice."""
    with open(path) as file:
        names = [line.strip() for line in file if line.strip() and not line.startswith("#")]
    for before, after in zip(names, names[1:]):
        if before >= after:
            raise ValueError(f"{path}: {after} must stand once, and before {before}")
    return names


def read_results(path):
    """{name: result} of a results file of the suite's runner; None where there is none."""
    try:
        with open(path) as file:
            return json.load(file)["tests"]
    except (OSError, ValueError, KeyError):
        return None


def cases_of(results, must_pass):
    """One case for each test that starts one of our programs, and for each name of the list.

    A test of the list that did not pass, or did not run, has failed.
    """
    must_pass = set(must_pass)
    found = [
        _case(name, result, name in must_pass)
        for name, result in results.items()
        if result["counted"] or name in must_pass
    ]
    missing = sorted(must_pass.difference(results))
    return found + [Case(name, FAILED, "the suite did not run it") for name in missing]


def _case(name, result, must_pass):
    seconds = float(result.get("dur") or 0)
    if result["outcome"] in _OK:
        return Case(name, PASSED, "", seconds)
    if not must_pass:
        return Case(name, SKIPPED, _KNOWN, seconds)
    last_line = ((result.get("msg") or "").strip().splitlines() or [""])[-1]
    return Case(name, FAILED, f"{result['outcome']}: {last_line}", seconds)


def new_names(cases, must_pass):
    """The tests that pass and are not in the list yet."""
    return sorted({case.name for case in cases if case.outcome == PASSED}.difference(must_pass))
