"""The last lines of a run."""

from test_runner import summary
from test_runner.cases import FAILED, FLAKY, PASSED, SKIPPED, Case
from test_runner.summary import Result


def test_the_last_line_holds_the_totals():
    results = [Result("a", [Case("1", PASSED), Case("2", FAILED)]), Result("b", [Case("3", SKIPPED)])]
    assert summary.last_lines(results)[-1] == "1 passed, 1 failed, 1 skipped"
    assert summary.exit_code(results) == 1


def test_what_did_not_run_is_told_with_its_reason():
    no_bed = [Case(str(number), SKIPPED, "no beds of hosts") for number in range(3)]
    results = [Result("hosts", no_bed), Result("dev", [Case("x", SKIPPED, "no moon"), Case("y", PASSED)]),
               Result("peer", why_not="no runner")]  # fmt: skip
    lines = summary.last_lines(results)
    assert lines[:4] == [
        "== not run",
        "     3 skipped in hosts: no beds of hosts",
        "     1 skipped in dev: no moon",
        "   all of peer: no runner",
    ]


def test_flaky_tests_are_named():
    results = [Result("kernel", [Case("t::a", FLAKY, "no answer in 20 s"), Case("t::b", PASSED)])]
    lines = summary.last_lines(results)
    assert "   kernel: t::a  (no answer in 20 s)" in lines
    assert lines[-1] == "2 passed, 0 failed, 0 skipped"
    assert summary.exit_code(results) == 0


def test_four_flaky_tests_fail_the_run():
    results = [Result("kernel", [Case("p", PASSED), *(Case(str(n), FLAKY) for n in range(4))])]
    lines = summary.last_lines(results)
    assert "   more than 3 tests are flaky: they count as failed" in lines
    assert lines[-1] == "1 passed, 4 failed, 0 skipped"
    assert summary.exit_code(results) == 1


def test_a_run_without_a_test_is_no_success():
    assert summary.exit_code([Result("peer", why_not="no runner")]) == 1


def test_failed_tests_are_named_with_their_reason():
    results = [Result("dev", [Case("A.b", FAILED, "expected 1")])]
    assert summary.last_lines(results)[-2:] == ["   dev: A.b  (expected 1)", "0 passed, 1 failed, 0 skipped"]
