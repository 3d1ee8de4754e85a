"""Which tests are flaky: those that failed first and passed when they ran again, alone.

A unit test has nothing to wait for and nothing beside it, so one that is flaky has failed.
"""

from dataclasses import replace

from .cases import FAILED, FLAKY, PASSED

MOST_FLAKY = 3  # in a whole run; more fail it
MOST_RERUN = 50  # of one group; where more fail it is no accident


def to_rerun(cases):
    """The failed tests that deserve a second run."""
    failed = [case for case in cases if case.outcome == FAILED and case.can_rerun]
    return failed if len(failed) <= MOST_RERUN else []


def after_rerun(first, rerun, may_be_flaky=lambda case: True):
    """The verdict on each case of `first`. A crash stays a failure, and so does a test that the
    rerun did not reach, skipped or failed again. Crashes of the rerun itself are added.

    may_be_flaky  false for a unit test: if it passed in the rerun it stays a failure that says so."""
    passed = {case.name for case in rerun if case.outcome == PASSED}
    asked = {case.name for case in to_rerun(first)}
    verdicts = [
        _passed_later(case, may_be_flaky) if case.name in asked and case.name in passed else case
        for case in first
    ]
    names = {case.name for case in first}
    crashes = [case for case in rerun if case.outcome == FAILED and case.name not in names]
    return verdicts + crashes


def _passed_later(case, may_be_flaky):
    if may_be_flaky(case):
        return replace(case, outcome=FLAKY)
    return replace(case, reason=f"flaky, which a unit test must not be: {case.reason}")


def too_many_are_flaky(cases):
    return sum(case.outcome == FLAKY for case in cases) > MOST_FLAKY


def totals(cases):
    """-> (passed, failed, skipped). Flaky tests count as passed, unless they are too many."""
    flaky = sum(case.outcome == FLAKY for case in cases)
    passed = sum(case.outcome == PASSED for case in cases)
    failed = sum(case.outcome == FAILED for case in cases)
    skipped = len(cases) - flaky - passed - failed
    if too_many_are_flaky(cases):
        return passed, failed + flaky, skipped
    return passed + flaky, failed, skipped
