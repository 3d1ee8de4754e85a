"""The same work on ipyparallel's programs and on ours, in one run, through its own client.

    python bench/compare_ipyparallel.py [--repetitions 3] [--json build/compare.json]

Both clusters are started by ipyparallel's `Cluster`, each by its launchers and otherwise with its
defaults, alternately (theirs, ours, theirs, ours ...). Figures are medians over the repetitions;
the ratio ours / theirs is held against the aims. Exit code 0 when every aim is met, 1 when not;
--no-bars only measures.

Memory is PSS (a page shared by n processes counts 1/n) and needs /proc/<pid>/smaps_rollup.
"""

import contextlib
import os
import statistics
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import ipyparallel as ipp

from clusters import PATIENCE, large_array, pss_mb, started, transfer_rates
from figures import Aim, finish, milliseconds, parser, rate, row, seconds, versions

BENCH = "compare_ipyparallel"
ENGINES = 4
MEBIBYTES = 64
TAG = "PX_COMPARE"


@dataclass(frozen=True)
class Side:
    """One of the two sets of programs: what Cluster calls its launchers."""

    name: str
    controller: str
    engines: str


# name: (in words, unit, aims of ours / theirs)
FIGURES = {
    "start": ("start until four engines are registered", "s", [Aim("<=", 0.4)]),
    "round_trip": ("call on one engine", "ms", [Aim("<=", 0.5)]),
    "all_engines": ("call on all four engines", "ms", [Aim("<=", 0.5)]),
    "tasks": ("load-balanced no-op tasks, one submit each", "tasks/s", [Aim(">=", 2.0)]),
    "map": ("map of a no-op, with default settings", "items/s", [Aim(">=", 1.0)]),
    "push": ("push of 64 MiB to one engine", "MiB/s", [Aim(">=", 1.0)]),
    "pull": ("pull of 64 MiB from one engine", "MiB/s", [Aim(">=", 1.0)]),
    "push_all": ("the same 64 MiB to all four, sum of the received bytes", "MiB/s", [Aim(">=", 1.0)]),
    "controller_memory": ("memory of the controller (PSS)", "MB", [Aim("<=", 0.25)]),
    "controller_processes": ("processes of the controller", "", [Aim("<=", 1, "value")]),
    "idle_engine_memory": ("memory of an engine before its first cell (PSS)", "MB", []),
    "engine_memory": ("memory of an engine after its first cell (PSS)", "MB", [Aim("<=", 0.9)]),
    "engine_processes": ("processes of an engine", "", []),
}


# ------------------------------------------------------------------------------- processes


@dataclass(frozen=True)
class Process:
    pid: int
    parent: int
    pss_mb: float


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
                    found[int(entry)] = Process(int(entry), parent, pss_mb(entry))
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


def run_tasks(client, count):
    view = client.load_balanced_view()
    answers = [view.apply_async(int) for _ in range(count)]
    client.wait(answers, timeout=PATIENCE)
    wrong = sum(answer.get(PATIENCE) != 0 for answer in answers)
    if wrong:
        raise RuntimeError(f"{wrong} of {count} tasks gave a wrong answer")


def memory(cluster, client, tag):
    """PSS and number of the controller's processes, and of one engine's."""
    engines = client[:].apply_sync(os.getpid)
    processes = tagged_processes(tag)
    controller = below(processes, cluster.controller.pid)
    inside = {process.pid for process in controller}
    families = [engine_family(processes, pid, inside) for pid in engines]
    return {
        "controller_memory": sum(process.pss_mb for process in controller),
        "controller_processes": len(controller),
        "engine_memory": statistics.mean(
            sum(process.pss_mb for process in family) for family in families
        ),
        "engine_processes": statistics.mean(len(family) for family in families),
    }


@contextlib.contextmanager
def tagged(tag):
    """What is started meanwhile has the tag in its environment."""
    os.environ[TAG] = tag
    try:
        yield
    finally:
        del os.environ[TAG]


def measure(side, options):
    """All figures of one start of `side`."""
    tag = f"{side.name}-{os.getpid()}-{time.monotonic_ns()}"
    launchers = {"controller": side.controller, "engines": side.engines}
    with tagged(tag), started(ipp, ENGINES, **launchers) as (cluster, client, start):
        figures = {"start": start}
        # memory first: of a cluster that is up and has answered, before 64 MiB pass through it
        client[:].apply_sync(os.getpid)
        idle = memory(cluster, client, tag)["engine_memory"]
        client[:].execute("1 + 1", silent=False, block=True)
        figures |= memory(cluster, client, tag) | {"idle_engine_memory": idle}
        one, everyone = client[0], client[:]
        calls = options.round_trips
        figures["round_trip"] = milliseconds(lambda: one.apply_sync(int), calls)
        figures["all_engines"] = milliseconds(lambda: everyone.apply_sync(int), max(20, calls // 2))
        run_tasks(client, ENGINES * 5)
        figures["tasks"] = rate(lambda count: run_tasks(client, count), options.seconds)
        view = client.load_balanced_view()
        figures["map"] = rate(lambda count: view.map_sync(int, range(count)), options.seconds)
        pushes, pulls = transfer_rates(one, MEBIBYTES, 3)
        figures |= {"push": statistics.median(pushes), "pull": statistics.median(pulls)}
        array = large_array(MEBIBYTES)
        took = [seconds(lambda: everyone.push({"array": array}, block=True)) for _ in range(3)]
        return figures | {"push_all": ENGINES * MEBIBYTES / statistics.median(took)}


def rows_of(runs, sides):
    """runs: side's name -> the figures of each start."""
    theirs, ours = sides
    rows = []
    for name, (what, unit, aims) in FIGURES.items():
        for side in sides:
            values = [run[name] for run in runs[side.name]]
            compared = {"ratio_to": theirs.name, "aims": aims} if side is ours else {}
            rows.append(row(BENCH, what, unit, side.name, values, **compared))
    return rows


def arguments():
    made = parser(__doc__)
    made.add_argument("--repetitions", type=int, default=3, help="starts of each side (3)")
    made.add_argument("--seconds", type=float, default=2.0, help="tasks for at least so long (2)")
    made.add_argument("--round-trips", type=int, default=200, help="calls per median (200)")
    made.add_argument("--controller", default="polyxeus", help="our controller launcher (polyxeus)")
    made.add_argument("--engines", default="polyxeus", help="our engine launcher (polyxeus)")
    return made.parse_args()


def main():
    options = arguments()
    sides = [
        Side("ipyparallel", "local", "local"),
        Side("polyxeus", options.controller, options.engines),
    ]
    runs = {side.name: [] for side in sides}
    for repetition in range(options.repetitions):
        for side in sides:
            figures = measure(side, options)
            runs[side.name].append(figures)
            shown = ", ".join(f"{name} {value:.4g}" for name, value in figures.items())
            print(f"{repetition + 1}/{options.repetitions} {side.name}: {shown}", flush=True)
    return finish(rows_of(runs, sides), options, versions("polyxeus", "ipyparallel", "pyzmq"))


if __name__ == "__main__":
    sys.exit(main())
