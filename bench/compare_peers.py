"""The same work through our Python package, ipyparallel, Dask, Ray, mpi4py.futures, joblib and MPI.

    pip install -r bench/requirements.txt
    python bench/compare_peers.py [--repetitions 3] [--json build/peers.json]

Each is started with four workers on this host as its documentation starts it, in a process of its
own, one after the other and then all again. Ours is started twice, with local engines and with engines under
mpiexec, which are held against the local ones. joblib's processes and the ranks of MPI's own collective
calls stand beside them where they do the same. Figures are medians over the repetitions. Rates are of
one call that takes at least two seconds (--seconds). Exit code 0 when all could be measured and we
are ahead of the best peer in each figure, 1 when not; --no-bars: whoever is ahead.
"""

import argparse
import dataclasses
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from clusters import PATIENCE, allow_mpiexec, home, large_array, transfer_rates
from figures import (
    Aim,
    best_peer,
    finish,
    milliseconds,
    parser,
    rate,
    row,
    seconds,
    there_and_back,
    versions,
)

BENCH = "compare_peers"
ENGINES = 4
MEBIBYTES = 64
TRANSFERS = 5
TIME_LIMIT = 300.0  # seconds for one start of a peer and all that is measured on it

# name: (in words, unit, is less better?)
FIGURES = {
    "start": ("start until four workers have answered, imports included", "s", True),
    "map": ("map of a tiny function, with default settings", "items/s", False),
    "submits": ("tasks, each submitted by a separate call", "tasks/s", False),
    "round_trip": ("submit one task and wait for it", "ms", True),
    "all_engines": ("call on each of the four workers", "ms", True),
    "push": (f"{MEBIBYTES} MiB to one worker", "MiB/s", False),
    "pull": (f"{MEBIBYTES} MiB from one worker", "MiB/s", False),
    "push_all": (f"the same {MEBIBYTES} MiB to all four, sum of the received bytes", "MiB/s", False),
    "scatter": (f"{MEBIBYTES} MiB scattered over all four", "MiB/s", False),
    "gather": (f"{MEBIBYTES} MiB gathered from all four", "MiB/s", False),
    "call_array": (f"call with {MEBIBYTES} MiB as argument and as result", "MiB/s", False),
}
ARRIVING = {"push_all": ENGINES}  # so often the array arrives; once in all other figures
OURS, OURS_MPI = "polyxeus", "polyxeus, mpiexec"
OF_LOCAL = 0.95  # of what local engines do, engines under mpiexec do in these figures
AS_LOCAL = ("submits", "round_trip")


def increment(number):
    return number + 1


def same(array):
    return array


def process_id(*_):
    import os  # ipyparallel leaves behind what a module imports

    return os.getpid()


def check_results(results, count):
    if results != list(range(1, count + 1)):
        raise RuntimeError("wrong results")


# -------------------------------------------------------------------- the subjects, each its own


class Views:
    """polyxeus and ipyparallel: the same script but for the name of the package."""

    def __init__(self, package, **options):
        self.cluster = package.Cluster(n=ENGINES, log_level=30, **options)
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
        return transfer_rates(self.one, MEBIBYTES, TRANSFERS)

    def arrays(self, array):
        return {
            "push_all": lambda: self.everyone.push({"array": array}, block=True),
            "scatter": lambda: self.everyone.scatter("part", array, block=True),
            "gather": lambda: self.everyone.gather("part", block=True),
            "call_array": lambda: self.one.apply_sync(same, array),
        }

    def stop(self):
        self.client.close()
        self.cluster.stop_cluster_sync()


class Dask:
    """Large arrays by scatter() to one worker and result()."""

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

    def transfers(self):
        worker = next(iter(self.client.scheduler_info()["workers"]))
        array = large_array(MEBIBYTES)
        futures = []

        def push():
            futures[:] = self.client.scatter([array], workers=[worker], hash=False)

        return there_and_back(array, push, lambda: futures[0].result(), TRANSFERS)

    def arrays(self, array):
        import numpy

        client, parts = self.client, []

        def scatter():
            parts[:] = client.scatter(numpy.split(array, ENGINES), hash=False)

        def call():
            argument = client.scatter(array, hash=False)
            return client.submit(same, argument, pure=False).result()

        return {
            "push_all": lambda: client.scatter([array], broadcast=True, hash=False),
            "scatter": scatter,
            "gather": lambda: numpy.concatenate(client.gather(parts)),
            "call_array": call,
        }

    def stop(self):
        self.client.close()
        self.cluster.close()


class Ray:
    """Tasks by remote functions, map by Ray's Pool, calls to all by four actors, large arrays as
    the argument and the result of an actor's method."""

    def __init__(self):
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        import ray
        from ray.util.multiprocessing import Pool

        self.ray = ray
        # as many as the others have workers; the actors of the pool and those below need none
        ray.init(num_cpus=ENGINES, logging_level="error")
        self.increment = ray.remote(increment)

        class Worker:
            def process_id(self):
                return process_id()

            def keep(self, array):
                self.array = array

            def give(self):
                return self.array

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

    def transfers(self):
        array, actor = large_array(MEBIBYTES), self.actors[0]
        return there_and_back(
            array,
            lambda: self.ray.get(actor.keep.remote(array)),
            lambda: self.ray.get(actor.give.remote()),
            TRANSFERS,
        )

    def arrays(self, array):
        import numpy

        ray, identity = self.ray, self.ray.remote(same)

        def push_all():
            shared = ray.put(array)
            ray.get([each.keep.remote(shared) for each in self.actors])

        def scatter():
            parts = numpy.split(array, ENGINES)
            ray.get([each.keep.remote(part) for each, part in zip(self.actors, parts)])

        def gather():
            return numpy.concatenate(ray.get([each.give.remote() for each in self.actors]))

        return {
            "push_all": push_all,
            "scatter": scatter,
            "gather": gather,
            "call_array": lambda: ray.get(identity.remote(array)),
        }

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

    def arrays(self, array):
        return {"call_array": lambda: self.pool.submit(same, array).result()}

    def stop(self):
        self.pool.shutdown()


class Joblib:
    """Its processes (loky), which get large arrays as files in shared memory; it has no call of a
    certain worker, so that a call to all is one of four items."""

    transfers = submit = None

    def __init__(self):
        from joblib import Parallel, delayed

        self.delayed = delayed
        self.parallel = Parallel(n_jobs=ENGINES).__enter__()

    def run(self, function, items):
        return self.parallel(self.delayed(function)(each) for each in items)

    def map(self, count):
        return self.run(increment, range(count))

    def call(self):
        return self.run(increment, [1])[0]

    def call_all(self):
        return self.run(process_id, range(ENGINES))

    def arrays(self, array):
        # It knows an array again that it has sent, and does not send it again.
        fresh = [array.copy() for _ in range(2 * (TRANSFERS + 1))]
        return {
            "push_all": lambda: self.run(process_id, [fresh.pop()] * ENGINES),
            "call_array": lambda: self.run(same, [fresh.pop()]),
        }

    def stop(self):
        self.parallel.__exit__(None, None, None)


class Collectives:
    """MPI's Bcast, Scatter and Gather by mpi4py, from and to one rank beside four. Each ends with a
    barrier. Started as `mpiexec -n 5 python`; the other ranks do as the first one says."""

    transfers = map = submit = call = None

    def __init__(self):
        from mpi4py import MPI

        self.world = MPI.COMM_WORLD
        self.is_first = self.world.rank == 0

    def call_all(self):
        return self.world.gather(os.getpid())

    def arrays(self, array):
        import numpy

        world, is_root = self.world, self.is_first
        others = numpy.empty_like(array) if not is_root else array
        size = array.nbytes // ENGINES
        counts = [0] + [size] * ENGINES  # the root has nothing of it
        part = numpy.empty(counts[world.rank], "u1")
        whole = [array, counts] if is_root else None

        def ended(action):
            action()
            world.Barrier()

        return {
            "push_all": lambda: ended(lambda: world.Bcast(others)),
            "scatter": lambda: ended(lambda: world.Scatterv(whole, part)),
            "gather": lambda: ended(lambda: world.Gatherv(part, whole)),
        }

    def stop(self):
        pass


def polyxeus_views():
    import polyxeus

    return Views(polyxeus)


def polyxeus_views_mpi():
    import polyxeus

    return Views(polyxeus, engines="mpi")


def ipyparallel_views():
    import ipyparallel

    return Views(ipyparallel)


SUBJECTS = {
    OURS: polyxeus_views,
    OURS_MPI: polyxeus_views_mpi,
    "ipyparallel": ipyparallel_views,
    "dask": Dask,
    "ray": Ray,
    "mpi4py.futures": Mpi4pyFutures,
    "joblib": Joblib,
    "MPI": Collectives,
}


def measure(name, options):
    """All figures of one start of a subject; None in all of its processes but the first."""
    subject = SUBJECTS[name]()
    try:
        subject.call_all()
        figures = {"start": time.time() - options.began} if subject.call else {}
        if subject.map:
            check_results(subject.map(200), 200)
            figures["map"] = rate(lambda n: check_results(subject.map(n), n), options.seconds)
        if subject.submit:
            check_results(subject.submit(200), 200)
            figures["submits"] = rate(lambda n: check_results(subject.submit(n), n), options.seconds)
        if subject.call:
            figures["round_trip"] = milliseconds(subject.call, options.round_trips)
            figures["all_engines"] = milliseconds(subject.call_all, options.round_trips)
        if subject.transfers:
            pushes, pulls = subject.transfers()
            figures["push"], figures["pull"] = statistics.median(pushes), statistics.median(pulls)
        for figure, action in subject.arrays(large_array(MEBIBYTES)).items():
            action()  # what the first one costs more
            took = statistics.median(seconds(action) for _ in range(TRANSFERS))
            figures[figure] = ARRIVING.get(figure, 1) * MEBIBYTES / took
        return figures if getattr(subject, "is_first", True) else None
    finally:
        subject.stop()


# ----------------------------------------------------------------------------- the whole run

MODULES = {OURS_MPI: OURS, "dask": "distributed", "MPI": "mpi4py"}  # where the module is not called as the peer
MPI_OPTIONS = {"mpi4py.futures": ["-m", "mpi4py.futures"], "MPI": []}  # of python, below mpiexec


def why_not(name):
    """Why the peer cannot be measured by this Python; None where it can."""
    module = MODULES.get(name, name)
    try:
        if importlib.util.find_spec(module):
            return None
    except ModuleNotFoundError:  # the package around it
        pass
    if module == OURS:
        return "polyxeus is not installed; bench/report --help says how"
    return f"{module} is not installed; install it by pip install -r bench/requirements.txt"


def command(name, options, report):
    work = [__file__, "--subject", name, "--report", str(report)]
    work += ["--seconds", str(options.seconds), "--round-trips", str(options.round_trips)]
    work += ["--began", str(time.time())]
    if name not in MPI_OPTIONS:
        return [sys.executable, *work]
    workers = ["-n", str(ENGINES + 1), sys.executable, *MPI_OPTIONS[name], *work]
    return ["mpiexec", *options.mpiexec, *workers]


def end(process):
    """Ends the process, if it still runs, in a way that lets it stop its cluster."""
    process.terminate()
    try:
        process.wait(timeout=30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def measure_apart(name, options):
    """measure() in a process of its own, with a home folder of its own."""
    with home() as folder:
        report = folder / "report.json"
        process = subprocess.Popen(command(name, options, report))
        try:
            code = process.wait(timeout=TIME_LIMIT)
        finally:
            end(process)
        if code != 0:
            raise subprocess.CalledProcessError(code, name)
        return json.loads(report.read_text())


def rows_of(runs):
    """runs: subject's name -> the figures of each start."""
    rows = [
        row(BENCH, what, unit, name, [run[figure] for run in runs[name]])
        for figure, (what, unit, _) in FIGURES.items()
        for name in runs
        if runs[name] and figure in runs[name][0]
    ]
    return [compared(each, rows) if each.peer in (OURS, OURS_MPI) else each for each in rows]


def compared(ours, rows):
    """Our row, held against the best of the peers, or that of the engines under mpiexec against the local ones."""
    name = next(name for name, (what, _, _) in FIGURES.items() if what == ours.what)
    less_is_better = FIGURES[name][2]
    if ours.peer == OURS_MPI:
        aim = Aim("<=", 1 / OF_LOCAL) if less_is_better else Aim(">=", OF_LOCAL)
        return dataclasses.replace(ours, ratio_to=OURS, aims=(aim,) if name in AS_LOCAL else ())
    best = best_peer(ours.what, [each for each in rows if each.peer != OURS_MPI], less_is_better, OURS)
    aims = [Aim("<=" if less_is_better else ">=", 1.0)] if best else []
    return dataclasses.replace(ours, ratio_to=best, aims=tuple(aims))


def arguments():
    made = parser(__doc__)
    made.add_argument("--repetitions", type=int, default=3, help="starts of each (3)")
    made.add_argument("--seconds", type=float, default=2.0, help="rates over at least so long (2)")
    made.add_argument("--round-trips", type=int, default=200, help="calls per median (200)")
    made.add_argument("--only", nargs="+", choices=SUBJECTS, default=list(SUBJECTS))
    made.add_argument("--mpiexec", nargs="*", default=["--oversubscribe"],
                      help="options of mpiexec (--oversubscribe)")  # fmt: skip
    made.add_argument("--subject", choices=SUBJECTS, help=argparse.SUPPRESS)
    made.add_argument("--report", type=Path, help=argparse.SUPPRESS)
    made.add_argument("--began", type=float, help=argparse.SUPPRESS)
    return made.parse_args()


def main():
    options = arguments()
    if options.subject:
        if figures := measure(options.subject, options):
            options.report.write_text(json.dumps(figures))
        return 0
    allow_mpiexec()
    missing = {name: why for name in options.only if (why := why_not(name))}
    for name, why in missing.items():
        print(f"{name} is left out: {why} (with {sys.executable})", file=sys.stderr, flush=True)
    runs = {name: [] for name in options.only if name not in missing}
    for repetition in range(options.repetitions):
        for name in [each for each in runs if each not in missing]:
            try:
                figures = measure_apart(name, options)
            except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as problem:
                missing[name] = f"start {repetition + 1} failed: {reason(problem)}"
                print(f"{name}: {missing[name]}", file=sys.stderr, flush=True)
                runs.pop(name)
                continue
            runs[name].append(figures)
            shown = ", ".join(f"{figure} {value:.4g}" for figure, value in figures.items())
            print(f"{repetition + 1}/{options.repetitions} {name}: {shown}", flush=True)
    packages = versions("polyxeus", "ipyparallel", "distributed", "ray", "mpi4py", "joblib", "numpy")
    return finish(rows_of(runs), options, packages, missing)


def reason(problem):
    if isinstance(problem, subprocess.TimeoutExpired):
        return f"not done after {problem.timeout:g} s"
    return f"exit code {problem.returncode}"


if __name__ == "__main__":
    sys.exit(main())
