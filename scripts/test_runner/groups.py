"""The kinds of groups of tests. Each runs all of its tests, and later those alone that failed.

Of a group NAME: build/logs/NAME.log, build/NAME.junit.xml, build/NAME.rerun.junit.xml.
"""

import os
import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

from . import peer_suite
from .cases import (
    FAILED, PASSED, Case, crash, read_ctest, read_gtest, read_pytest, write_junit,
)  # fmt: skip
from .programs import how_it_ended


LAST = 19  # nobody stands back further, as nice(1) counts


@dataclass(frozen=True, kw_only=True)
class Group:
    """`needs`: groups that must have succeeded before this one starts. `why_not`: gives the reason
    why it cannot run on this machine, or nothing. `timeout`: of one program, in seconds. `nice`: how
    far its programs stand back behind those of other groups, as nice(1) counts."""

    name: str
    what: str
    needs: tuple[str, ...] = ()
    timeout: float = 1800
    nice: int = 0
    why_not: Callable[[], str] = field(default=lambda: "")

    def run(self, shop):
        """Runs all tests of the group. -> [Case]"""
        raise NotImplementedError

    def rerun(self, shop, failed):
        """Runs the cases in `failed` once more. -> [Case]"""
        return []

    def may_be_flaky(self, case):
        """False for a unit test: if it fails it has failed, although it may pass when it runs again."""
        return True

    def notes(self, shop, cases):
        """What somebody should do about the outcome. -> [str]"""
        return []

    def start(self, shop, words, **environment):
        """Runs a program to its end. -> its exit code, None: timed out"""
        before = ("nice", "-n", str(self.nice)) if self.nice else ()
        return shop.run(self.name, [*before, *words], self.timeout, **environment)

    def report(self, shop, part=""):
        """Where the report of the group lies; no old one is left there."""
        path = shop.build / f"{self.name}{part}.junit.xml"
        path.unlink(missing_ok=True)
        return path

    def ended(self, shop, code, what):
        """A failure of the program that runs the tests."""
        log = shop.log(self.name).relative_to(shop.root)
        return crash(f"{self.name} as a whole", f"{what}: {how_it_ended(code)}; see {log}")


@dataclass(frozen=True, kw_only=True)
class Build(Group):
    """Commands without tests. Unless it `is_urgent`, a build gets only the time of the processors
    that nothing else wants: most tests wait most of the time."""

    commands: tuple[tuple[str, ...], ...]
    timeout: float = 4500  # may wait until the tests of all other lanes have ended
    is_urgent: bool = False

    def run(self, shop):
        for command in self.commands:
            words = [word.format(root=shop.root, build=shop.build) for word in command]
            if self.is_urgent:
                code = self.start(shop, words)
            else:
                code = shop.run(self.name, [*_when_idle(), *words], self.timeout, LAST)
            if code != 0:
                return [self.ended(shop, code, " ".join(words))]
        return []


def _when_idle():
    """Starts a program that never takes a processor from another one."""
    return ("chrt", "--idle", "0") if shutil.which("chrt") else ("nice", "-n", str(LAST))


@dataclass(frozen=True, kw_only=True)
class Script(Group):
    """A program that is one test: its exit code says whether it passed."""

    command: tuple[str, ...]

    def run(self, shop):
        return self._run(shop, "")

    def rerun(self, shop, failed):
        return self._run(shop, ".rerun")

    def _run(self, shop, part):
        report = self.report(shop, part)
        words = [word.format(root=shop.root, build=shop.build) for word in self.command]
        code = self.start(shop, words)
        case = Case(self.name, PASSED) if code == 0 else Case(self.name, FAILED, how_it_ended(code))
        write_junit(report, self.name, [case])
        return [case]


# ---------------------------------------------------------------- pytest


@dataclass(frozen=True, kw_only=True)
class Pytest(Group):
    """Folders of Python tests in one pytest process. `python_path`: a folder from which it, too, imports packages."""

    folders: tuple[str, ...]
    python_path: str = ""
    are_unit_tests: bool = False

    def may_be_flaky(self, case):
        return not self.are_unit_tests

    def run(self, shop):
        shutil.rmtree(self._cache(shop), ignore_errors=True)
        return self._run(shop, "", ())

    def rerun(self, shop, failed):
        return self._run(shop, ".rerun", ("--last-failed", "--last-failed-no-failures=none"))

    def _cache(self, shop):
        return shop.build / "pytest" / self.name  # where pytest notes which tests failed

    def _run(self, shop, part, options):
        report = self.report(shop, part)
        environment = {"PYTHONPATH": str(shop.root / self.python_path)} if self.python_path else {}
        code = self.start(shop, [
            shop.python, "-m", "pytest", *self.folders, "-q", "-rs", "--durations=5",
            f"--junitxml={report}", "-o", f"cache_dir={self._cache(shop)}", *options,
        ], **environment)  # fmt: skip
        cases = read_pytest(report, shop.root)
        if cases is None:
            return [self.ended(shop, code, "pytest wrote no report")]
        has_failed = any(case.outcome == FAILED for case in cases)
        if code == 0 and not has_failed or code == 1 and has_failed:
            return cases
        return [*cases, self.ended(shop, code, "pytest did not run its tests to the end")]


# ---------------------------------------------------------------- ctest


@dataclass(frozen=True, kw_only=True)
class Ctest(Group):
    """What CMake registered as tests: parts of GoogleTest programs, named PROGRAM.NUMBER, which
    write reports of their own to BUILD/gtest, and programs that are one test.

    `select`: a regular expression for the names; all where it is empty.
    """

    preset: str
    select: str = ""

    def may_be_flaky(self, case):
        return " " not in case.name  # the programs that are one test run others, or take their time

    def run(self, shop):
        return self._run(shop, "", self.select)

    def rerun(self, shop, failed):
        names = [case.name.partition(" ") for case in failed]
        programs = {rf"{re.escape(program)}\.[0-9]+" for program, space, _ in names if space}
        entries = {re.escape(entry) for entry, space, _ in names if not space}
        tests = ":".join(test for _, space, test in names if space)
        select = f"^({'|'.join(sorted(programs | entries))})$"
        return self._run(shop, ".rerun", select, GTEST_FILTER=tests or "*")

    def _run(self, shop, part, select, **environment):
        merged = self.report(shop, part)
        entries = self.report(shop, f"{part}.ctest")
        reports = shop.build / self.preset / "gtest"
        shutil.rmtree(reports, ignore_errors=True)
        code = self.start(shop, [
            "ctest", "--preset", self.preset, "-j", str(os.cpu_count()), "--timeout", "600",
            "--output-junit", entries, *(["-R", select] if select else []),
        ], **environment)  # fmt: skip
        found = read_ctest(entries)
        if not found:
            return [self.ended(shop, code, "ctest ran no test")]
        cases = [case for entry in found for case in cases_of_entry(entry, reports)]
        if code != 0 and not any(case.outcome == FAILED for case in cases):
            cases.append(self.ended(shop, code, "ctest failed though no test did"))
        write_junit(merged, self.name, cases)
        return cases


def cases_of_entry(entry, reports):
    """The tests of one of ctest's entries: itself, or the cases of a part of a GoogleTest program.

    A part that wrote no report has crashed; one that failed though all of its tests passed has been
    stopped by a sanitizer. Both are failures that no rerun can mend.
    """
    program, _, number = entry.name.rpartition(".")
    if not number.isdigit():
        return [entry]
    cases = read_gtest(Path(reports) / f"{entry.name}.xml", program)
    if cases is None:
        return [crash(entry.name, f"it ended without a report: {entry.reason or 'crashed'}")]
    if entry.outcome == FAILED and not any(case.outcome == FAILED for case in cases):
        return [*cases, crash(entry.name, "its tests passed, yet it failed: see the log")]
    return cases


# ---------------------------------------------------------------- ipyparallel's own tests


@dataclass(frozen=True, kw_only=True)
class PeerSuite(Group):
    """ipyparallel's own test suite with some of its programs replaced by ours.

    `runner`: the program that runs the suite. `roles`: which of our programs take part. `select`: its
    arguments that say which tests. `options`: the other ones.
    """

    runner: str
    roles: tuple[str, ...]
    select: tuple[str, ...] = ("--no-internals",)
    options: tuple[str, ...] = ()
    timeout: float = 3600

    def must_pass(self, shop):
        file = self.name.removeprefix("peer-")
        return peer_suite.read_list(shop.root / "tests" / "peer_suite" / f"{file}.txt")

    def run(self, shop):
        return self._run(shop, "", self.select, self.must_pass(shop))

    def rerun(self, shop, failed):
        names = [case.name for case in failed]
        return self._run(shop, ".rerun", ("--no-preflight", *names), names)

    def notes(self, shop, cases):
        if not any(case.outcome == PASSED for case in cases):
            return []
        new = peer_suite.new_names(cases, self.must_pass(shop))
        return [f"new, add it to tests/peer_suite: {name}" for name in new]

    def _run(self, shop, part, select, must_pass):
        report = self.report(shop, part)
        results = shop.build / f"{self.name}{part}.json"
        results.unlink(missing_ok=True)
        code = self.start(
            shop,
            [self.runner, *self._programs(shop), "--min-pass", "0", "--json", results,
             *self.options, *select],
            PEER_SUITE_VENV=str(peer_venv(shop)),
            PEER_SUITE_TMP=str(shop.temporary),
        )
        tests = peer_suite.read_results(results)
        if tests is None:
            return [self.ended(shop, code, "the suite wrote no results")]
        cases = peer_suite.cases_of(tests, must_pass)
        if code != 0:
            cases.append(self.ended(shop, code, "the suite's runner failed"))
        write_junit(report, self.name, cases)
        return cases

    def _programs(self, shop):
        for role in self.roles:
            program = {"controller": "pxcontroller", "engine": "pxengine", "cluster": "pxcluster"}[role]
            yield from (f"--{role}", peer_venv(shop) / "bin" / program)


def peer_venv(shop):
    """The environment of ipyparallel's suite: without our test tools, with our programs."""
    return shop.build / "peer-venv"
