"""Which tests are flaky, and what they do to a run."""

import pytest

from test_runner import verdicts
from test_runner.cases import FAILED, FLAKY, PASSED, SKIPPED, Case, crash, one_per_name


def outcomes(cases):
    return {case.name: case.outcome for case in cases}


def test_a_test_that_passes_in_the_rerun_only_is_flaky():
    first = [Case("a", PASSED), Case("b", FAILED), Case("c", FAILED)]
    rerun = [Case("b", PASSED), Case("c", FAILED)]
    assert outcomes(verdicts.after_rerun(first, rerun)) == {"a": PASSED, "b": FLAKY, "c": FAILED}


def test_a_unit_test_that_passes_in_the_rerun_only_has_failed():
    first = [Case("a", FAILED, "expected 1"), Case("b", FAILED, "expected 2"), Case("c", FAILED)]
    rerun = [Case("a", PASSED), Case("b", FAILED), Case("c", PASSED)]
    a, b, c = verdicts.after_rerun(first, rerun, may_be_flaky=lambda case: case.name == "c")
    assert (a.outcome, a.reason) == (FAILED, "flaky, which a unit test must not be: expected 1")
    assert b == first[1]
    assert c.outcome == FLAKY


@pytest.mark.parametrize("rerun", [[], [Case("a", SKIPPED)], [Case("b", PASSED)]])
def test_a_test_that_the_rerun_does_not_pass_stays_failed(rerun):
    assert outcomes(verdicts.after_rerun([Case("a", FAILED)], rerun))["a"] == FAILED


def test_a_crash_is_not_run_again_and_stays_failed():
    first = [crash("group as a whole", "SIGSEGV"), Case("a", FAILED)]
    assert [case.name for case in verdicts.to_rerun(first)] == ["a"]
    rerun = [Case("group as a whole", PASSED), Case("a", PASSED)]
    assert outcomes(verdicts.after_rerun(first, rerun)) == {"group as a whole": FAILED, "a": FLAKY}


def test_a_crash_of_the_rerun_is_a_failure_too():
    verdict = verdicts.after_rerun([Case("a", FAILED)], [Case("a", PASSED), crash("whole", "SIGABRT")])
    assert outcomes(verdict) == {"a": FLAKY, "whole": FAILED}


def test_many_failures_are_no_accident_and_are_not_run_again():
    failed = [Case(str(number), FAILED) for number in range(verdicts.MOST_RERUN + 1)]
    assert verdicts.to_rerun(failed) == []
    passed = [Case(case.name, PASSED) for case in failed]
    assert verdicts.totals(verdicts.after_rerun(failed, passed)) == (0, len(failed), 0)


def test_three_flaky_tests_count_as_passed():
    cases = [Case("a", PASSED), Case("s", SKIPPED), *(Case(str(n), FLAKY) for n in range(3))]
    assert verdicts.totals(cases) == (4, 0, 1)


def test_four_flaky_tests_count_as_failed():
    cases = [Case("a", PASSED), *(Case(str(n), FLAKY) for n in range(4))]
    assert verdicts.totals(cases) == (1, 4, 0)


def test_a_test_whose_teardown_failed_has_failed():
    assert one_per_name([Case("a", PASSED), Case("a", FAILED)]) == [Case("a", FAILED)]
    assert one_per_name([Case("a", FAILED), Case("a", PASSED)]) == [Case("a", FAILED)]
