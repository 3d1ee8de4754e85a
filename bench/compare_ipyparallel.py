"""The same work on ipyparallel's programs and on ours, in one run, through its own client.

    python bench/compare_ipyparallel.py [--repetitions 3] [--json build/compare.json]

Both clusters are started by ipyparallel's `Cluster`, each by its launchers, alternately (theirs,
ours, theirs, ours ...). Figures are medians over the repetitions; the ratio ours / theirs is held
against the bar. Exit code 0 when every bar is met, 1 when not; --no-bars only measures.

Memory is PSS (a page shared by n processes counts 1/n) and needs /proc/<pid>/smaps_rollup.
"""

import argparse
import contextlib
import json
import os
import statistics
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import ipyparallel as ipp
import numpy as np

from figures import Bar, host, milliseconds

ENGINES = 4
PATIENCE = 120.0
TAG = "PX_COMPARE"


@dataclass(frozen=True)
class Side:
    """One of the two sets of programs: what Cluster calls its launchers."""

    name: str
    controller: str
    engines: str


UNITS = {
    "start_s": "s until 4 engines are registered",
    "round_trip_ms": "ms, apply_sync on one engine",
    "tasks_per_s": "balanced no-op tasks/s",
    "all_engines_ms": "ms, apply_sync on all 4",
    "push_mib_per_s": "MiB/s, push of 64 MiB to one",
    "pull_mib_per_s": "MiB/s, pull of 64 MiB from one",
    "controller_pss_mb": "MB PSS, all controller processes",
    "controller_processes": "controller processes",
    "engine_pss_mb": "MB PSS, one engine with its helpers, after its first cell",
    "engine_idle_pss_mb": "MB PSS, the same before its first cell",
    "engine_processes": "processes of one engine",
}

BARS = [
    Bar("tasks_per_s", of_ours=False, at_most=False, limit=2.0),
    Bar("round_trip_ms", of_ours=False, at_most=True, limit=0.5),
    Bar("all_engines_ms", of_ours=False, at_most=True, limit=0.5),
    Bar("start_s", of_ours=False, at_most=True, limit=0.4),
    Bar("controller_pss_mb", of_ours=False, at_most=True, limit=0.25),
    Bar("controller_processes", of_ours=True, at_most=True, limit=1),
    Bar("engine_pss_mb", of_ours=False, at_most=True, limit=0.9),
]


# ------------------------------------------------------------------------------- processes


@dataclass(frozen=True)
class Process:
    pid: int
    parent: int
    pss_kb: int


def pss_kb(pid):
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1])
    return 0


def tagged_processes(tag):
    """All live processes whose environment holds `tag`, by pid."""
    wanted = f"{TAG}={tag}".encode()
    found = {}
    for entry in os.listdir("/proc"):
        # a process may end while we look at it
        with contextlib.suppress(OSError, IndexError, ValueError):
            if entry.isdigit() and int(entry) != os.getpid():
                if wanted in Path(f"/proc/{entry}/environ").read_bytes().split(b"\0"):
                    parent = int(
                        Path(f"/proc/{entry}/stat").read_text().rsplit(")", 1)[1].split()[1]
                    )
                    found[int(entry)] = Process(int(entry), parent, pss_kb(entry))
    return found


def below(processes, root):
    """`root` and all its descendants among `processes`."""
    inside = {root}
    grew = True
    while grew:
        more = {pid for pid, process in processes.items() if process.parent in inside} - inside
        inside |= more
        grew = bool(more)
    return [processes[pid] for pid in inside if pid in processes]


def engine_family(processes, engine, controller_family):
    """An engine, its helpers below it, and a launcher of its own above it, if there is one."""
    family = {process.pid: process for process in below(processes, engine)}
    return [process for pid, process in family.items() if pid not in controller_family]


# -------------------------------------------------------------------------------- one run


@contextlib.contextmanager
def started(side, folder, tag):
    """A cluster of `side`, its client, and how many seconds that took."""
    os.environ["IPYTHONDIR"] = str(folder)
    os.environ[TAG] = tag
    began = time.perf_counter()
    cluster = ipp.Cluster(
        controller=side.controller, engines=side.engines, n=ENGINES,
        profile_dir=str(Path(folder) / "profile_compare"), log_level=30, shutdown_atexit=True,
    )  # fmt: skip
    cluster.start_cluster_sync()
    try:
        client = cluster.connect_client_sync()
        client.wait_for_engines(ENGINES, timeout=PATIENCE, interactive=False)
        yield cluster, client, time.perf_counter() - began
        client.close()
    finally:
        cluster.stop_cluster_sync()
        del os.environ[TAG]


def tasks_per_second(client, count):
    view = client.load_balanced_view()
    view.wait([view.apply_async(int) for _ in range(ENGINES * 5)])
    began = time.perf_counter()
    answers = [view.apply_async(int) for _ in range(count)]
    client.wait(answers, timeout=PATIENCE)
    elapsed = time.perf_counter() - began
    wrong = sum(answer.get(PATIENCE) != 0 for answer in answers)
    if wrong:
        raise RuntimeError(f"{wrong} of {count} tasks gave a wrong answer")
    return count / elapsed


def transfer(client, mebibytes=64):
    """MiB/s of one push and of one pull."""
    array = np.frombuffer(os.urandom(mebibytes * 2**20), dtype=np.uint8)
    view = client[0]
    began = time.perf_counter()
    view.push({"array": array}, block=True)
    pushed = time.perf_counter()
    back = view.pull("array", block=True)
    pulled = time.perf_counter()
    if not np.array_equal(back, array):
        raise RuntimeError("the array came back changed")
    view.execute("del array", block=True)
    return mebibytes / (pushed - began), mebibytes / (pulled - pushed)


def memory(cluster, client, tag):
    """PSS and number of the controller's processes, and of one engine's."""
    engines = client[:].apply_sync(os.getpid)
    processes = tagged_processes(tag)
    controller = below(processes, cluster.controller.pid)
    inside = {process.pid for process in controller}
    families = [engine_family(processes, pid, inside) for pid in engines]
    return {
        "controller_pss_mb": sum(process.pss_kb for process in controller) / 1000,
        "controller_processes": len(controller),
        "engine_pss_mb": statistics.mean(
            sum(process.pss_kb for process in family) / 1000 for family in families
        ),
        "engine_processes": statistics.mean(len(family) for family in families),
    }


def measure(side, tasks, round_trips):
    """All figures of one start of `side`."""
    tag = f"{side.name}-{os.getpid()}-{time.monotonic_ns()}"
    with tempfile.TemporaryDirectory(prefix="px-compare-") as folder:
        with started(side, folder, tag) as (cluster, client, seconds):
            figures = {"start_s": seconds}
            # memory first: of a cluster that is up and has answered, before 64 MiB pass through it
            client[:].apply_sync(os.getpid)
            idle = memory(cluster, client, tag)["engine_pss_mb"]
            client[:].execute("1 + 1", silent=False, block=True)
            figures |= memory(cluster, client, tag) | {"engine_idle_pss_mb": idle}
            one, everyone = client[0], client[:]
            figures["round_trip_ms"] = milliseconds(lambda: one.apply_sync(int), round_trips)
            figures["all_engines_ms"] = milliseconds(
                lambda: everyone.apply_sync(int), max(20, round_trips // 2)
            )
            figures["tasks_per_s"] = tasks_per_second(client, tasks)
            rates = [transfer(client) for _ in range(3)]
            figures["push_mib_per_s"] = statistics.median(push for push, _ in rates)
            figures["pull_mib_per_s"] = statistics.median(pull for _, pull in rates)
    return figures


# --------------------------------------------------------------------------------- report


def medians(runs):
    return {name: statistics.median(run[name] for run in runs) for name in UNITS}


def verdicts(ours, theirs):
    """For each bar: its words, the value, and whether it is met."""
    rows = []
    for bar in BARS:
        rows.append(
            {
                "figure": bar.figure,
                "bar": bar.words(),
                "value": bar.value(ours[bar.figure], theirs[bar.figure]),
                "met": bar.is_met(ours[bar.figure], theirs[bar.figure]),
            }
        )
    return rows


def print_table(sides, result):
    theirs, ours = (result["medians"][side.name] for side in sides)
    by_figure = {row["figure"]: row for row in result["verdicts"]}
    print(f"\n{'':22}{sides[0].name:>12}{sides[1].name:>12}{'ratio':>9}   bar")
    for name, unit in UNITS.items():
        row = by_figure.get(name)
        bar = f"{row['bar']:8} {'met' if row['met'] else 'MISSED'}" if row else ""
        ratio = ours[name] / theirs[name]
        print(f"{name:22}{theirs[name]:12.2f}{ours[name]:12.2f}{ratio:9.2f}   {bar:18} {unit}")


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--repetitions", type=int, default=3, help="starts of each side (3)")
    parser.add_argument("--tasks", type=int, default=2000, help="balanced tasks (2000)")
    parser.add_argument("--round-trips", type=int, default=200, help="calls per median (200)")
    parser.add_argument(
        "--controller", default="polyxeus", help="our controller launcher (polyxeus)"
    )
    parser.add_argument("--engines", default="polyxeus", help="our engine launcher (polyxeus)")
    parser.add_argument("--json", type=Path, help="write all figures here")
    parser.add_argument("--no-bars", action="store_true", help="exit with 0 whatever the figures")
    return parser.parse_args()


def main():
    options = arguments()
    sides = [
        Side("ipyparallel", "local", "local"),
        Side("polyxeus", options.controller, options.engines),
    ]
    runs = {side.name: [] for side in sides}
    result = {
        "host": host("ipyparallel"),
        "sides": [asdict(side) for side in sides],
        "engines": ENGINES,
    }
    for repetition in range(options.repetitions):
        for side in sides:
            figures = measure(side, options.tasks, options.round_trips)
            runs[side.name].append(figures)
            shown = ", ".join(f"{name} {value:.4g}" for name, value in figures.items())
            print(f"{repetition + 1}/{options.repetitions} {side.name}: {shown}", flush=True)
    result["runs"] = runs
    result["medians"] = {side.name: medians(runs[side.name]) for side in sides}
    theirs, ours = (result["medians"][side.name] for side in sides)
    result["verdicts"] = verdicts(ours, theirs)
    print_table(sides, result)
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(result, indent=2) + "\n")
    return 0 if options.no_bars or all(row["met"] for row in result["verdicts"]) else 1


if __name__ == "__main__":
    sys.exit(main())
