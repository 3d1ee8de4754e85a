"""The command line: chooses groups, runs them in their lanes, reruns what failed, sums up."""

import argparse
import shutil
import signal
import sys
import threading
import time
import traceback
from pathlib import Path

from . import catalogue, installed, lanes, summary, verdicts
from .cases import FAILED, crash
from .groups import Build
from .programs import Workshop

ROOT = Path(__file__).resolve().parents[2]
TAIL = 60  # lines of a log that are shown where a group fails


def arguments(words):
    parser = argparse.ArgumentParser(
        prog="scripts/test", allow_abbrev=False,
        description="All tests: installs what is missing, builds, runs the groups of tests side by "
        "side, and once more, alone, each test that failed. One that passes then is flaky; more than "
        f"{verdicts.MOST_FLAKY} flaky tests fail the run, and so does one flaky unit test. Logs: build/logs; reports: build/*.junit.xml.",
        epilog="Exit code: 0 all passed, 1 a test failed, 2 a wrong option. PX_HOSTS_COMMAND names the "
        "program that makes several hosts, PX_PEER_SUITE the one that runs ipyparallel's own tests.",
    )  # fmt: skip
    parser.add_argument("--quick", action="store_true",
                        help="the C++ tests once, without sanitizers")  # fmt: skip
    parser.add_argument("--only", metavar="GROUP[,GROUP]", help="only these groups, and what they need")
    parser.add_argument("--list", action="store_true", help="name the groups, and stop")
    parser.add_argument("--installed", metavar="PYTHON",
                        help=f"the groups {', '.join(installed.GROUPS)} on the polyxeus that is installed for this Python, "
                        "away from the sources; it needs the packages of scripts/wheel_test_requirements.txt")  # fmt: skip
    options = parser.parse_args(words)
    by_lane = catalogue.all_groups(options.quick)
    known = {group.name: group for lane in by_lane.values() for group in lane}
    if options.installed is not None:
        if not shutil.which(options.installed):
            parser.error(f"--installed: {options.installed} is no program")
        known = {name: known[name] for name in installed.GROUPS}
        by_lane = only(by_lane, installed.GROUPS, {name: group.needs for name, group in known.items()})
    if options.only is not None:
        asked = [name for name in options.only.split(",") if name]
        unknown = [name for name in asked if name not in known]
        if unknown or not asked:
            parser.error(f"no group {', '.join(unknown) or 'is named'}; there are {', '.join(known)}")
        by_lane = only(by_lane, asked, {name: group.needs for name, group in known.items()})
    return options, by_lane


def only(by_lane, asked, needs):
    """The lanes with these groups and what they need, nothing else."""
    wanted, more = set(), list(asked)
    while more:
        name = more.pop()
        wanted.add(name)
        more.extend(need for need in needs[name] if need not in wanted)
    return {lane: [group for group in groups if group.name in wanted] for lane, groups in by_lane.items()}


class Run:
    """One run of some groups."""

    def __init__(self, by_lane, shop):
        self.by_lane = by_lane
        self.shop = shop
        self.groups = {group.name: group for lane in by_lane.values() for group in lane}
        self.results = {name: summary.Result(name) for name in self.groups}
        self._lock = threading.Lock()
        self._started = time.monotonic()

    def say(self, text):
        with self._lock:
            print(f"{time.strftime('%H:%M:%S')}  {text}", flush=True)

    def run(self):
        """Runs all groups in their lanes, then once more, one after another, what failed."""
        names = {lane: [group.name for group in groups] for lane, groups in self.by_lane.items()}
        needs = {name: group.needs for name, group in self.groups.items()}
        lanes.run(names, needs, self.run_group, self.block_group)
        for name in self.groups:
            self.rerun_group(name)

    def run_group(self, name):
        group, result = self.groups[name], self.results[name]
        result.why_not = group.why_not()
        if result.why_not:
            self.say(f"skip   {name}: {result.why_not}")
            return True
        self.say(f"start  {name}")
        self.shop.log(name).unlink(missing_ok=True)
        began = time.monotonic()
        result.cases = self._guarded(name, lambda: group.run(self.shop))
        result.seconds = time.monotonic() - began
        has_failed = any(case.outcome == FAILED for case in result.cases)
        word = "FAILED" if has_failed else "end   "
        told = summary.counts(result.cases) + " in" if result.cases else "took"
        self.say(f"{word} {name}: {told} {result.seconds:.0f} s")
        if has_failed:
            self.show_log(name)
        result.notes = group.notes(self.shop, result.cases)
        return not has_failed

    def block_group(self, name, need):
        self.say(f"FAILED {name}: not run, as {need} failed")
        self.results[name].cases = [crash(f"{name} as a whole", f"not run, as {need} failed")]

    def rerun_group(self, name):
        group, result = self.groups[name], self.results[name]
        failed = verdicts.to_rerun(result.cases)
        if not failed:
            return
        self.say(f"rerun  {name}: alone, {len(failed)} that failed")
        began = time.monotonic()
        again = self._guarded(name, lambda: group.rerun(self.shop, failed))
        result.cases = verdicts.after_rerun(result.cases, again, group.may_be_flaky)
        result.seconds += time.monotonic() - began
        self.say(f"end    {name}: {summary.counts(again)} in the rerun")

    def _guarded(self, name, run):
        """What a group gives; where it cannot run at all, that is its failure."""
        try:
            return run()
        except (OSError, ValueError) as error:
            with open(self.shop.log(name), "a") as log:
                traceback.print_exc(file=log)
            return [crash(f"{name} as a whole", f"{type(error).__name__}: {error}")]

    def show_log(self, name):
        lines = self.shop.log(name).read_text(errors="replace").splitlines()[-TAIL:]
        with self._lock:
            print("\n".join(f"    {name}| {line}" for line in lines), flush=True)

    def last_lines(self):
        minutes, seconds = divmod(round(time.monotonic() - self._started), 60)
        shown = [
            result for name, result in self.results.items()
            if result.cases or result.why_not or isinstance(self.groups[name], Build)
        ]  # fmt: skip
        return [*summary.last_lines(shown)[:-1], f"   wall clock: {minutes} min {seconds} s",
                summary.last_lines(shown)[-1]]  # fmt: skip


def list_groups(by_lane):
    for lane, groups in by_lane.items():
        print(f"lane {lane}")
        for group in groups:
            why_not = group.why_not()
            print("  %-16s %s%s" % (group.name, group.what, f" (not here: {why_not})" if why_not else ""))


def workshop(python):
    """Where the tests run: in the tree; where `python` is given, in a copy of some tests, on its polyxeus."""
    return Workshop(ROOT) if python is None else Workshop(installed.copy_tests(ROOT, python), python)


def main(words):
    options, by_lane = arguments(words)
    if options.list:
        list_groups(by_lane)
        return 0
    forgotten = catalogue.without_a_group(catalogue.all_groups(options.quick), ROOT)
    if forgotten:
        names = ", ".join(str(file.relative_to(ROOT)) for file in forgotten)
        print(f"no group runs {names}: add a folder in scripts/test_runner/catalogue.py", file=sys.stderr)
        return 1
    shop = workshop(options.installed)
    if options.only is None:
        shop.forget_reports()
    for number in (signal.SIGINT, signal.SIGTERM):  # a shell's background job would ignore SIGINT
        signal.signal(number, signal.default_int_handler)
    run = Run(by_lane, shop)
    try:
        run.run()
    except KeyboardInterrupt:
        shop.stop()
        print(f"interrupted: no verdict; temporary files are in {shop.temporary}", file=sys.stderr)
        return 130
    results = list(run.results.values())
    failed = {r.group for r in results if any(case.outcome == FAILED for case in r.cases)}
    shop.close(keep=failed)
    if failed:
        print(f"temporary files of the groups that failed are in {shop.temporary}")
    print("\n" + "\n".join(run.last_lines()), flush=True)
    return summary.exit_code(results)
