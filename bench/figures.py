"""What the programs of bench/ that compare us with peers have in common."""

import os
import platform
import statistics
import time
from dataclasses import dataclass
from importlib import metadata


@dataclass(frozen=True)
class Bar:
    """What the ratio ours / theirs, or our own figure, must reach."""

    figure: str
    of_ours: bool  # our figure itself, not the ratio
    at_most: bool  # else at least
    limit: float

    def value(self, ours, theirs):
        return ours if self.of_ours else ours / theirs

    def is_met(self, ours, theirs):
        value = self.value(ours, theirs)
        return value <= self.limit if self.at_most else value >= self.limit

    def words(self):
        relation = "<=" if self.at_most else ">="
        return f"{relation} {self.limit:g}" + ("" if self.of_ours else " x")


def milliseconds(action, count):
    """The median over `count` calls, after a tenth as many to warm up."""
    for _ in range(max(1, count // 10)):
        action()
    times = []
    for _ in range(count):
        began = time.perf_counter()
        action()
        times.append(time.perf_counter() - began)
    return statistics.median(times) * 1e3


def per_second(action, count):
    """How often a second happens what `action` does `count` times."""
    began = time.perf_counter()
    action()
    return count / (time.perf_counter() - began)


def print_table(figures, units, bars):
    """A line for each figure, with what its bar says."""
    by_figure = {bar.figure: bar for bar in bars}
    width = max(map(len, units))
    for name, unit in units.items():
        verdict = ""
        if bar := by_figure.get(name):
            met = "met" if bar.is_met(figures[name], None) else "MISSED"
            verdict = f"{bar.words()} {met}"
        print(f"{name:{width}}{figures[name]:12.4g}   {verdict:16} {unit}")


def host(*packages):
    """The machine, and the versions of these packages, None where one is missing."""
    found = {
        "machine": platform.machine(),
        "system": platform.platform(),
        "cores": len(os.sched_getaffinity(0)),
        "load_before": os.getloadavg()[0],
        "python": platform.python_version(),
    }
    for package in packages:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = None
    return found
