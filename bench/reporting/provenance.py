"""Where figures come from: the commit, the machine, what else ran there."""

import datetime
import os
import platform
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# What a record of bench/results must say before its figures go into a document.
REQUIRED = {
    "bench": str,
    "commit": str,
    "has_changes": bool,  # were tracked files changed since that commit?
    "date": str,  # UTC, when the bench began
    "machine": dict,  # cpu, cpus, kernel
    "command": list,
    "options": dict,
    "versions": dict,
    "load_before": float,  # the load average of the last minute
    "load_after": float,
    "busy_before": float,  # CPUs in use in the second before the bench began
    "seconds": float,
    "quick": bool,
    "rows": list,
}
REQUIRED_OF_MACHINE = ("cpu", "cpus", "kernel")


class NoProvenance(Exception):
    """These figures must not be shown; says which and why."""


def check(record, source):
    """Raises NoProvenance unless the record says where all of its figures come from."""
    lacks = [
        key
        for key, kind in REQUIRED.items()
        if not isinstance(record.get(key), kind)
        or (kind in (str, list) and key != "rows" and not record[key])
    ]
    machine = record.get("machine")
    if isinstance(machine, dict):
        lacks += [f"machine.{key}" for key in REQUIRED_OF_MACHINE if not machine.get(key)]
    if lacks:
        raise NoProvenance(
            f"{source} does not say where its figures come from: it lacks {', '.join(lacks)}; "
            "run the bench again by bench/report"
        )
    if record["quick"]:
        raise NoProvenance(
            f"{source} is of a quick run, whose figures mean nothing; run the bench again by "
            "bench/report without --quick"
        )
    if not record["rows"] and not record.get("failed"):
        raise NoProvenance(f"{source} has no figures and does not say why; run the bench again")


def git(*arguments):
    said = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    return said.stdout if said.returncode == 0 else ""


def commit():
    """(the commit of this checkout, whether tracked files differ from it); what bench/report itself
    writes does not count. ("", True) outside of a checkout."""
    made = ("bench/results", "docs/performance.md", "docs/performance-details.md")
    changed = git("status", "--porcelain", "--untracked-files=no", "--", ".",
                  *(f":!{path}" for path in made))  # fmt: skip
    identity = git("rev-parse", "HEAD").strip()
    return identity, bool(changed.strip()) or not identity


def machine():
    return {
        "cpu": cpu_model(),
        "cpus": len(os.sched_getaffinity(0)),
        "kernel": platform.release(),
        "system": platform.platform(),
    }


def cpu_model():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def load():
    """The load average of the last minute."""
    return round(os.getloadavg()[0], 2)


def busy_cpus(seconds=1.0):
    """How many CPUs are in use now, by everybody: what a load average of a minute cannot say
    shortly after a bench of ours."""

    def ticks():
        numbers = Path("/proc/stat").read_text().splitlines()[0].split()[1:9]
        return sum(map(int, numbers)), sum(map(int, numbers[3:5]))  # all, idle

    all_before, idle_before = ticks()
    time.sleep(seconds)
    all_after, idle_after = ticks()
    passed = max(1, all_after - all_before)
    return round(os.cpu_count() * (1 - (idle_after - idle_before) / passed), 2)


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")


def newest_source():
    """When a tracked source file changed last, in seconds since 1970."""
    names = git("ls-files", "-z", "--", "*.cpp", "*.hpp", "python/*.py", "CMakeLists.txt", "cmake")
    times = [
        path.stat().st_mtime
        for name in names.split("\0")
        if name and not name.startswith(("tests/", "bench/")) and (path := ROOT / name).exists()
    ]
    return max(times, default=0.0)


def is_stale(program):
    """Is the program older than the source of this checkout?"""
    return Path(program).stat().st_mtime < newest_source()
