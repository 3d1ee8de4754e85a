"""Results of ipyparallel's own tests, held against the tests that must pass."""

import json
from pathlib import Path

import pytest

from test_runner import peer_suite, verdicts
from test_runner.cases import FAILED, FLAKY, PASSED, SKIPPED, Case

LISTS = Path(__file__).resolve().parents[1] / "peer_suite"


def result(outcome, counted=True, msg=""):
    return {"outcome": outcome, "counted": counted, "dur": 0.5, "msg": msg}


def outcomes(results, must_pass):
    return {case.name: case.outcome for case in peer_suite.cases_of(results, must_pass)}


def test_a_listed_test_must_pass():
    results = {"a": result("passed"), "b": result("xpassed"), "c": result("failed", msg="x\nE  boom")}
    assert outcomes(results, ["a", "b", "c"]) == {"a": PASSED, "b": PASSED, "c": FAILED}
    failed = peer_suite.cases_of(results, ["c"])[2]
    assert failed.reason == "failed: E  boom"


@pytest.mark.parametrize("outcome", ["failed", "error", "timeout", "notrun", "skipped", "xfailed"])
def test_whatever_is_not_a_pass_fails_a_listed_test(outcome):
    assert outcomes({"a": result(outcome)}, ["a"]) == {"a": FAILED}
    assert outcomes({"a": result(outcome, counted=False)}, ["a"]) == {"a": FAILED}


def test_a_listed_test_that_the_suite_does_not_know_fails():
    assert outcomes({"a": result("passed")}, ["a", "gone"]) == {"a": PASSED, "gone": FAILED}


def test_a_test_that_is_not_listed_may_fail():
    assert outcomes({"a": result("failed")}, []) == {"a": SKIPPED}


def test_tests_that_start_no_program_of_ours_are_left_out():
    assert outcomes({"a": result("passed", counted=False)}, []) == {}


def test_a_pass_that_is_not_listed_is_new():
    cases = peer_suite.cases_of({"a": result("passed"), "b": result("passed")}, ["a"])
    assert peer_suite.new_names(cases, ["a"]) == ["b"]


def test_a_listed_test_that_passes_alone_afterwards_is_flaky_by_name():
    first = peer_suite.cases_of({"a": result("failed"), "b": result("timeout")}, ["a", "b"])
    rerun = peer_suite.cases_of({"a": result("passed"), "b": result("failed")}, ["a", "b"])
    verdict = verdicts.after_rerun(first, rerun)
    assert {case.name: case.outcome for case in verdict} == {"a": FLAKY, "b": FAILED}


def test_a_broken_results_file_is_no_result(tmp_path):
    file = tmp_path / "results.json"
    assert peer_suite.read_results(file) is None
    file.write_text('{"tests": {"a"')
    assert peer_suite.read_results(file) is None
    file.write_text(json.dumps({"exit": 3}))
    assert peer_suite.read_results(file) is None
    file.write_text(json.dumps({"tests": {"a": result("passed")}}))
    assert peer_suite.cases_of(peer_suite.read_results(file), ["a"]) == [Case("a", PASSED, "", 0.5)]


def test_a_list_is_sorted_and_names_each_test_once(tmp_path):
    file = tmp_path / "list.txt"
    file.write_text("# a comment\na\nb\n")
    assert peer_suite.read_list(file) == ["a", "b"]
    for text in ("b\na\n", "a\na\n"):
        file.write_text(text)
        with pytest.raises(ValueError, match="must stand once"):
            peer_suite.read_list(file)


# By default no client takes TCP on the controller's host: a test about that is in `encrypted` alone.
LEAST = [("all-three", 317), ("controller", 309), ("engine", 308), ("encrypted", 45)]


@pytest.mark.parametrize("name, least", LEAST)
def test_the_lists_of_this_project_only_grow(name, least):
    assert len(peer_suite.read_list(LISTS / f"{name}.txt")) >= least
