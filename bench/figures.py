"""What the programs of bench/ have in common: how they take a figure, hold it against an aim, print
it and write it.

Every bench gives rows of one shape, so that bench/report can make a table of any of them. The JSON
file that a Python bench writes (`--json FILE`) is one object:

    rows      list of rows, see Row
    options   what the bench was called with, defaults included
    versions  of the programs that were measured: name -> version
    missing   name -> why it was not measured; empty when all were
"""

from __future__ import annotations

import argparse
import json
import platform
import signal
import statistics
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path


@dataclass(frozen=True)
class Aim:
    """What a figure is to reach: the value itself, or its ratio to the row of `ratio_to`."""

    relation: str  # "<=" or ">="
    limit: float
    of: str = "ratio"  # or "value"

    def __post_init__(self):
        if self.relation not in ("<=", ">=") or self.of not in ("ratio", "value"):
            raise ValueError(f"not an aim: {self}")

    def is_met(self, number):
        return number <= self.limit if self.relation == "<=" else number >= self.limit


@dataclass(frozen=True)
class Row:
    """One figure of one peer; we are a peer, too."""

    bench: str
    what: str  # in words; rows of one table line have the same
    unit: str
    value: float  # the median of the runs
    peer: str  # whose figure this is
    n_runs: int
    spread: tuple  # (smallest, largest) of the runs
    ratio_to: str | None = None  # the peer to whose value this one is compared: ours / theirs
    aims: tuple = ()

    def to_json(self):
        return asdict(self)

    @classmethod
    def from_json(cls, data):
        aims = tuple(Aim(**aim) for aim in data.get("aims", ()))
        return cls(**{**data, "spread": tuple(data["spread"]), "aims": aims})


def row(bench, what, unit, peer, values, ratio_to=None, aims=()):
    """A Row of the values that the runs gave."""
    values = list(values)
    return Row(
        bench, what, unit, statistics.median(values), peer, len(values),
        (min(values), max(values)), ratio_to, tuple(aims),
    )  # fmt: skip


def ratio(a_row, rows):
    """The row's value / that of the peer it is compared to; None where that was not measured."""
    for other in rows:
        if (other.what, other.peer) == (a_row.what, a_row.ratio_to) and other.value:
            return a_row.value / other.value
    return None


def missed_aims(a_row, rows):
    """The aims that the row does not reach. One that cannot be judged is not among them."""
    numbers = {"value": a_row.value, "ratio": ratio(a_row, rows)}
    return [
        aim for aim in a_row.aims if numbers[aim.of] is not None and not aim.is_met(numbers[aim.of])
    ]


def best_peer(what, rows, less_is_better, ours):
    """The name of the peer with the best figure besides ours; None where there is no other."""
    others = [each for each in rows if each.what == what and each.peer != ours]
    if not others:
        return None
    best = min if less_is_better else max
    return best(others, key=lambda each: each.value).peer


# ------------------------------------------------------------------------------ taking figures


def seconds(action):
    """How long one call takes."""
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def milliseconds(action, count):
    """The median over `count` calls, after a tenth as many to warm up."""
    for _ in range(max(1, count // 10)):
        action()
    return statistics.median(seconds(action) for _ in range(count)) * 1e3


def rate(action, at_least, first=1000):
    """How many a second `action(count)` does, over a call that takes `at_least` seconds: the count
    grows from `first` until one does."""
    count = first
    while True:
        took = seconds(lambda: action(count))
        if took >= at_least:
            return count / took
        # At most ten times as many: what the first call warms up makes it slow.
        count = int(count * min(10.0, max(1.3, 1.15 * at_least / took)))


def there_and_back(array, push, pull, runs):
    """MiB/s of each push and of each pull of an array: two lists. Checks what comes back."""
    import numpy

    mebibytes, pushes, pulls = array.nbytes / 2**20, [], []
    for _ in range(runs):
        began = time.perf_counter()
        push()
        pushed = time.perf_counter()
        back = pull()
        pulled = time.perf_counter()
        if not numpy.array_equal(back, array):
            raise RuntimeError("the array came back changed")
        del back
        pushes.append(mebibytes / (pushed - began))
        pulls.append(mebibytes / (pulled - pushed))
    return pushes, pulls


# ---------------------------------------------------------------------------- printing, writing


def print_rows(rows):
    """A line for each row, with its ratio and what its aims say."""
    for each in rows:
        low, high = each.spread
        line = f"{each.what[:58]:58} {each.peer[:24]:24} {each.value:11.4g} {each.unit:9}"
        line += f" [{low:.4g} - {high:.4g}, n={each.n_runs}]"
        compared = ratio(each, rows)
        if compared is not None:
            line += f"  {compared:.2f} x {each.ratio_to}"
        missed = missed_aims(each, rows)
        for aim in each.aims:
            line += f"  {aim.relation} {aim.limit:g}{' x' if aim.of == 'ratio' else ''}: "
            line += "MISSED" if aim in missed else "met"
        print(line)


def parser(documentation):
    """The command line of a bench, with the options that all have. From here on SIGTERM ends the
    bench as an error does: what it has started is stopped."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    made = argparse.ArgumentParser(
        description=documentation, formatter_class=argparse.RawTextHelpFormatter
    )
    made.add_argument("--json", type=Path, help="write rows, options and versions here")
    made.add_argument("--no-bars", action="store_true", help="exit with 0 where an aim is missed")
    return made


def finish(rows, options, versions_of, missing=None):
    """Prints the rows, writes the file of --json, gives the exit code: 0 when every aim is met and
    nothing is missing, 1 when not; with --no-bars missed aims are no failure."""
    missing = missing or {}
    print_rows(rows)
    for name, why in missing.items():
        print(f"not measured: {name}: {why}")
    if options.json:
        used = {name: value for name, value in vars(options).items() if is_an_option(value)}
        for name in ("json", "no_bars"):
            used.pop(name, None)
        report = {
            "rows": [each.to_json() for each in rows],
            "options": used,
            "versions": versions_of,
            "missing": missing,
        }
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(report, indent=2) + "\n")
    are_met = options.no_bars or not any(missed_aims(each, rows) for each in rows)
    return 0 if are_met and not missing else 1


def is_an_option(value):
    return value is not None and not isinstance(value, Path)


def versions(*packages, programs=()):
    """The versions of Python itself, of these packages (None where one is not installed), and what
    `PROGRAM --version` says: after "Version:" (MPICH's mpiexec), or else in its first line."""
    found = {"python": platform.python_version()}
    for package in packages:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = None
    for program in programs:
        try:
            command = [program, "--version"]
            said = subprocess.run(command, capture_output=True, text=True, timeout=60)
            lines = [line.strip() for line in said.stdout.splitlines()]
            named = [line.removeprefix("Version:").strip() for line in lines if line.startswith("Version:")]
            found[program] = next(iter(named + lines), None)
        except OSError:
            found[program] = None
    return found
