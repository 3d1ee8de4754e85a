"""The same small work through our Python package, ipyparallel, Dask, Ray and mpi4py.futures.

    pip install ray distributed mpi4py ipyparallel polyxeus
    python bench/compare_peers.py [--repetitions 3] [--json build/peers.json]

Each is started with four workers on this host as its documentation starts it, in a process of its
own, one after the other and then all again. Figures are medians over the repetitions. Exit code 0
when we are ahead of each peer in each figure and every bar is met, 1 when not.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from figures import Bar, host, milliseconds, per_second

ENGINES = 4
MEBIBYTES = 64
PATIENCE = 300.0

FIGURES = {
    "map_per_s": "items/s, a map of a tiny function as it is by default",
    "submits_per_s": "tasks/s, each submitted by a call of its own",
    "round_trip_ms": "ms, submit one task and wait for it",
    "all_engines_ms": "ms, one call on each of the four",
    "push_mib_per_s": f"MiB/s, {MEBIBYTES} MiB to one engine",
    "pull_mib_per_s": f"MiB/s, {MEBIBYTES} MiB from one engine",
}
LESS_IS_BETTER = ("round_trip_ms", "all_engines_ms")

OURS = "polyxeus"
BARS = [
    Bar("map_per_s", of_ours=True, at_most=False, limit=10_000),
    Bar("submits_per_s", of_ours=True, at_most=False, limit=5_000),
]
# Held against ipyparallel alone: the others have no such calls.
TRANSFER_BARS = [
    Bar("push_mib_per_s", of_ours=False, at_most=False, limit=2.0),
    Bar("pull_mib_per_s", of_ours=False, at_most=False, limit=2.0),
]


def increment(number):
    return number + 1


def process_id(*_):
    import os  # ipyparallel leaves behind what a module imports

    return os.getpid()


def check(results, count):
    if results != list(range(1, count + 1)):
        raise RuntimeError("wrong results")


# -------------------------------------------------------------------- the subjects, each its own


class Views:
    """polyxeus and ipyparallel: the same script but for the name of the package."""

    def __init__(self, package):
        self.cluster = package.Cluster(n=ENGINES, log_level=30)
        self.client = self.cluster.start_and_connect_sync()
        self.client.wait_for_engines(ENGINES, timeout=PATIENCE)
        self.balanced = self.client.load_balanced_view()
        self.one, self.everyone = self.client[0], self.client[:]

    def map(self, count):
        return list(self.balanced.map_sync(increment, range(count)))

    def submit(self, count):
        results = [self.balanced.apply_async(increment, each) for each in range(count)]
        return [each.get() for each in results]

    def call(self):
        return self.balanced.apply_sync(increment, 1)

    def call_all(self):
        return self.everyone.apply_sync(process_id)

    def transfers(self):
        """MiB/s of one push and of one pull."""
        import numpy

        array = numpy.frombuffer(os.urandom(MEBIBYTES << 20), dtype=numpy.uint8)
        back = None

        def pull():
            nonlocal back
            back = self.one.pull("array", block=True)

        rates = (
            per_second(lambda: self.one.push({"array": array}, block=True), MEBIBYTES),
            per_second(pull, MEBIBYTES),
        )
        if not numpy.array_equal(back, array):
            raise RuntimeError("the array came back changed")
        self.one.execute("del array", block=True)
        return rates

    def stop(self):
        self.client.close()
        self.cluster.stop_cluster_sync()


class Dask:
    transfers = None

    def __init__(self):
        from distributed import Client, LocalCluster

        self.cluster = LocalCluster(
            n_workers=ENGINES, threads_per_worker=1, processes=True, dashboard_address=None
        )
        self.client = Client(self.cluster)
        self.client.wait_for_workers(ENGINES)

    def map(self, count):
        return self.client.gather(self.client.map(increment, range(count), pure=False))

    def submit(self, count):
        futures = [self.client.submit(increment, each, pure=False) for each in range(count)]
        return self.client.gather(futures)

    def call(self):
        return self.client.submit(increment, 1, pure=False).result()

    def call_all(self):
        return list(self.client.run(process_id).values())

    def stop(self):
        self.client.close()
        self.cluster.close()


class Ray:
    """Tasks by remote functions, map by Ray's Pool, calls to all by an actor on each worker."""

    transfers = None

    def __init__(self):
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        import ray
        from ray.util.multiprocessing import Pool

        self.ray = ray
        # four for the tasks, four for the pool's actors; the actors below need none
        ray.init(num_cpus=2 * ENGINES, include_dashboard=False, logging_level="error")
        self.increment = ray.remote(increment)

        class Worker:
            def process_id(self):
                return process_id()

        actor = ray.remote(num_cpus=0)(Worker)
        self.actors = [actor.remote() for _ in range(ENGINES)]
        self.pool = Pool(ENGINES)

    def map(self, count):
        return self.pool.map(increment, range(count))

    def submit(self, count):
        return self.ray.get([self.increment.remote(each) for each in range(count)])

    def call(self):
        return self.ray.get(self.increment.remote(1))

    def call_all(self):
        return self.ray.get([each.process_id.remote() for each in self.actors])

    def stop(self):
        self.pool.terminate()
        self.ray.shutdown()


class Mpi4pyFutures:
    """Started as `mpiexec -n 5 python -m mpi4py.futures`; it cannot address a worker, so that a
    call to all is a map over four items."""

    transfers = None

    def __init__(self):
        from mpi4py.futures import MPIPoolExecutor

        self.pool = MPIPoolExecutor(max_workers=ENGINES)
        self.pool.bootup(wait=True)

    def map(self, count):
        return list(self.pool.map(increment, range(count)))

    def submit(self, count):
        futures = [self.pool.submit(increment, each) for each in range(count)]
        return [each.result() for each in futures]

    def call(self):
        return self.pool.submit(increment, 1).result()

    def call_all(self):
        return list(self.pool.map(process_id, range(ENGINES)))

    def stop(self):
        self.pool.shutdown()


def polyxeus_views():
    import polyxeus

    return Views(polyxeus)


def ipyparallel_views():
    import ipyparallel

    return Views(ipyparallel)


SUBJECTS = {
    OURS: polyxeus_views,
    "ipyparallel": ipyparallel_views,
    "dask": Dask,
    "ray": Ray,
    "mpi4py.futures": Mpi4pyFutures,
}


def measure(name, tasks, round_trips):
    """All figures of one start of a subject."""
    subject = SUBJECTS[name]()
    try:
        check(subject.map(200), 200)
        check(subject.submit(200), 200)
        figures = {
            "map_per_s": per_second(lambda: check(subject.map(tasks), tasks), tasks),
            "submits_per_s": per_second(lambda: check(subject.submit(tasks), tasks), tasks),
            "round_trip_ms": milliseconds(subject.call, round_trips),
            "all_engines_ms": milliseconds(subject.call_all, round_trips),
        }
        if subject.transfers:
            rates = [subject.transfers() for _ in range(5)]
            figures["push_mib_per_s"] = statistics.median(push for push, _ in rates)
            figures["pull_mib_per_s"] = statistics.median(pull for _, pull in rates)
        return figures
    finally:
        subject.stop()


# ----------------------------------------------------------------------------- the whole run


def command(name, options, report):
    work = [__file__, "--subject", name, "--report", str(report)]
    work += ["--tasks", str(options.tasks), "--round-trips", str(options.round_trips)]
    if name != "mpi4py.futures":
        return [sys.executable, *work]
    workers = ["-n", str(ENGINES + 1), sys.executable, "-m", "mpi4py.futures", *work]
    return ["mpiexec", *options.mpiexec, *workers]


def measure_apart(name, options):
    """measure() in a process of its own, with a home folder of its own."""
    with tempfile.TemporaryDirectory(prefix="px-peers-") as folder:
        report = Path(folder) / "report.json"
        environment = os.environ | {"IPYTHONDIR": folder}
        subprocess.run(
            command(name, options, report), check=True, timeout=PATIENCE, env=environment
        )
        return json.loads(report.read_text())


def verdicts(medians):
    """(what is held against what, the value, the bar, whether it is met)."""
    ours = medians[OURS]
    rows = [
        (f"{bar.figure}", bar.value(ours[bar.figure], None), bar.words(),
         bar.is_met(ours[bar.figure], None))
        for bar in BARS
    ]  # fmt: skip
    for peer, theirs in medians.items():
        if peer == OURS:
            continue
        for figure in list(FIGURES)[:4]:
            bar = Bar(figure, of_ours=False, at_most=figure in LESS_IS_BETTER, limit=1.0)
            rows.append((f"{figure} / {peer}", bar.value(ours[figure], theirs[figure]),
                         bar.words(), bar.is_met(ours[figure], theirs[figure])))  # fmt: skip
    if "ipyparallel" in medians:
        theirs = medians["ipyparallel"]
        rows += [
            (f"{bar.figure} / ipyparallel", bar.value(ours[bar.figure], theirs[bar.figure]),
             bar.words(), bar.is_met(ours[bar.figure], theirs[bar.figure]))
            for bar in TRANSFER_BARS
        ]  # fmt: skip
    return rows


def print_tables(medians, rows):
    print("\n" + " " * 16 + "".join(f"{name:>16}" for name in medians))
    for figure, unit in FIGURES.items():
        values = [medians[name].get(figure) for name in medians]
        shown = "".join(f"{'-' if v is None else format(v, '.4g'):>16}" for v in values)
        print(f"{figure:16}{shown}   {unit}")
    print()
    for name, value, words, is_met in rows:
        print(f"{name:34}{value:12.4g}   {words:10} {'met' if is_met else 'MISSED'}")


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--repetitions", type=int, default=3, help="starts of each (3)")
    parser.add_argument("--tasks", type=int, default=10_000, help="items and tasks (10000)")
    parser.add_argument("--round-trips", type=int, default=200, help="calls per median (200)")
    parser.add_argument("--only", nargs="+", choices=SUBJECTS, default=list(SUBJECTS))
    parser.add_argument("--mpiexec", nargs="*", default=["--oversubscribe"],
                        help="options of mpiexec (--oversubscribe)")  # fmt: skip
    parser.add_argument("--json", type=Path, help="write all figures here")
    parser.add_argument("--no-bars", action="store_true", help="exit with 0 whatever the figures")
    parser.add_argument("--subject", choices=SUBJECTS, help=argparse.SUPPRESS)
    parser.add_argument("--report", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def main():
    options = arguments()
    if options.subject:
        figures = measure(options.subject, options.tasks, options.round_trips)
        options.report.write_text(json.dumps(figures))
        return 0
    result = {
        "host": host("polyxeus", "ipyparallel", "distributed", "ray", "mpi4py"),
        "tasks": options.tasks,
        "runs": {name: [] for name in options.only},
    }
    for repetition in range(options.repetitions):
        for name in options.only:
            figures = measure_apart(name, options)
            result["runs"][name].append(figures)
            shown = ", ".join(f"{figure} {value:.4g}" for figure, value in figures.items())
            print(f"{repetition + 1}/{options.repetitions} {name}: {shown}", flush=True)
    medians = result["medians"] = {
        name: {figure: statistics.median(run[figure] for run in runs) for figure in runs[0]}
        for name, runs in result["runs"].items()
    }
    rows = result["verdicts"] = verdicts(medians) if OURS in medians else []
    print_tables(medians, rows)
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(result, indent=2) + "\n")
    return 0 if options.no_bars or all(row[-1] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
