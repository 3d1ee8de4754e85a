"""Reading reports."""

import pytest

from test_runner import cases
from test_runner.cases import FAILED, PASSED, SKIPPED


@pytest.fixture
def report(tmp_path):
    def write(inside):
        file = tmp_path / "report.xml"
        file.write_text(f"<testsuites><testsuite>{inside}</testsuite></testsuites>")
        return file

    return write


def test_googletest_names_the_place_of_a_failure_and_the_reason_of_a_skip(report):
    file = report(
        '<testcase classname="A" name="bad"><failure message="a.cpp:7&#x0A;Expected: 1&#x0A;got 2"/></testcase>'
        '<testcase classname="A" name="off"><skipped message="a.cpp:9&#x0A;no moon&#x0A;"/></testcase>'
        '<testcase classname="A" name="not_now" status="notrun" />'
    )
    found = cases.read_gtest(file, "px_a_tests")
    assert [(case.name, case.outcome, case.reason) for case in found] == [
        ("px_a_tests A.bad", FAILED, "a.cpp:7: Expected: 1"),
        ("px_a_tests A.off", SKIPPED, "no moon"),
        ("px_a_tests A.not_now", SKIPPED, "disabled"),
    ]


def test_an_entry_that_ctest_could_not_start_has_failed(report):
    file = report(
        '<testcase name="gone" status="notrun"><skipped message="Unable to find executable"/></testcase>'
        '<testcase name="off" status="disabled"><skipped message="Disabled"/></testcase>'
        '<testcase name="good" status="run" time="0.5"/>'
    )
    gone, off, good = cases.read_ctest(file)
    assert (gone.outcome, gone.can_rerun) == (FAILED, False)
    assert (off.outcome, good.outcome, good.seconds) == (SKIPPED, PASSED, 0.5)


@pytest.mark.parametrize("text", ["", "<testsuite><testcase"])
def test_a_report_that_is_cut_off_is_no_report(tmp_path, text):
    file = tmp_path / "report.xml"
    assert cases.read_ctest(file) is None
    file.write_text(text)
    assert cases.read_ctest(file) is None
    assert cases.read_gtest(file, "px_a_tests") is None
    assert cases.read_pytest(file, tmp_path) is None


def test_a_node_id_is_found_by_the_file_that_holds_it(tmp_path):
    file = tmp_path / "tests" / "a" / "b_test.py"
    file.parent.mkdir(parents=True)
    file.touch()
    assert cases.node_id("tests.a.b_test", "test_x[1.2]", tmp_path) == "tests/a/b_test.py::test_x[1.2]"
    assert cases.node_id("tests.a.b_test.C", "test_x", tmp_path) == "tests/a/b_test.py::C::test_x"
    assert cases.node_id("", "tests.gone", tmp_path) == "tests.gone"


def test_a_report_that_we_write_can_be_read_again(tmp_path):
    file = tmp_path / "report.xml"
    written = [
        cases.Case("px_a_tests A.b", PASSED, "", 0.25),
        cases.Case("px_a_tests A.c", FAILED, "boom"),
        cases.Case("px_a_tests A.d", SKIPPED, "no moon"),
    ]
    cases.write_junit(file, "dev", written)
    read = cases.read_pytest(file, tmp_path)
    assert [(case.name, case.outcome, case.reason) for case in read] == [
        ("px_a_tests::A.b", PASSED, ""),
        ("px_a_tests::A.c", FAILED, "boom"),
        ("px_a_tests::A.d", SKIPPED, "no moon"),
    ]
