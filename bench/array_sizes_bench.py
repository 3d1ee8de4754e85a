"""Arrays from 1 KiB to 4 GiB between a client and four engines of one host, beside MPI, Ray and the host.

    python bench/array_sizes_bench.py [--json build/array_sizes.json] [--largest 4096]

Rates are those of the array's bytes, counted once also where all four engines get it, and medians of
what one start of each gives. Of large arrays the first transfer, which goes into new memory, has a row
of its own; the others are those that follow, as most are of the smaller sizes. MPI_Bcast is that of
mpi4py, from one rank to four others; Ray's is put() and a call of four actors with what it returned.
The limit is a write into a new file of /dev/shm. The peak of memory is taken of another pass, beside
which nothing is timed.
Exit code 0 when every aim is met, 1 when not.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from clusters import Alongside, allow_mpiexec, controller_pid, home, large_array, pss_mb, started
from figures import Aim, finish, parser, row, seconds, versions

BENCH = "array_sizes_bench"
ENGINES = 4
SIZES = [1 << 10, 16 << 10, 256 << 10, 4 << 20, 64 << 20, 1 << 30, 4 << 30]
LARGE = 1 << 30  # from here on each figure has a cluster of its own, which gives its memory back
WARM_UP_LARGE = 3  # calls until memory is written that is there: of smaller arrays there are many
USUAL = 64 << 20  # the rate at this size is what larger ones are held against
RUNS = {"least": 3, "most": 200, "seconds": 0.4}  # of one figure
WRITE, BCAST, RAY = "write to /dev/shm", "MPI_Bcast to four", "Ray to four"
OURS = ["push", "pull", "push to four", "scatter", "gather"]
SERIES = [*OURS, BCAST, RAY, WRITE]
LEAST_OF_USUAL = 0.8
MOST_MB = 40  # of the controller


def shown(size):
    for unit, of_unit in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= of_unit:
            return f"{size // of_unit} {unit}"


def array_of(size):
    import numpy

    return numpy.resize(large_array(1), size)


def rate(action, size, warm_up=1):
    """GB/s, the median of a few calls or of many where they are quick."""
    for _ in range(warm_up):
        action()
    times, began = [], time.perf_counter()
    while len(times) < RUNS["least"] or (
        len(times) < RUNS["most"] and time.perf_counter() - began < RUNS["seconds"]
    ):
        times.append(seconds(action))
    return size / statistics.median(times) / 1e9


# ------------------------------------------------------------------------------ the subjects


def processes_mb(pids):
    return sum(map(pss_mb, pids))


def shared_mb():
    """What lies in /dev/shm."""
    there = os.statvfs("/dev/shm")
    return (there.f_blocks - there.f_bfree) * there.f_frsize / 1e6


class Peaks(Alongside):
    """While it lasts: the largest value of each of these functions, by its name."""

    def __init__(self, functions, pause=0.02):
        super().__init__()
        self.functions, self.pause = functions, pause
        self.values = dict.fromkeys(functions, 0.0)

    def run(self):
        while not self.is_done.wait(self.pause):
            for name, function in self.functions.items():
                self.values[name] = max(self.values[name], function())


def actions(client, array):
    """What is measured, by its name; and what is to be done before."""
    one, everyone = client[0], client[:]
    make = f"import numpy; array = numpy.full({array.nbytes}, 7, 'u1')"
    share = f"import numpy; part = numpy.full({array.nbytes // ENGINES}, 7, 'u1')"
    return {
        "push": ("", lambda: one.push({"array": array}, block=True)),
        "pull": (make, lambda: one.pull("array", block=True)),
        "push to four": ("", lambda: everyone.push({"array": array}, block=True)),
        "scatter": ("", lambda: everyone.scatter("part", array, block=True)),
        "gather": (share, lambda: everyone.gather("part", block=True)),
    }


def clusters_for(sizes):
    """Of each cluster the figures that it measures, as (size, name): one alone where that is large."""
    small = [(size, name) for size in sizes if size < LARGE for name in OURS]
    large = [[(size, name)] for size in sizes if size >= LARGE for name in OURS]
    return [small, *large]


def measure_ours(sizes):
    """size -> name -> GB/s, the same of the first transfers of large arrays, and whether large -> the
    peak of the controller's memory in MB.
    """
    import polyxeus

    rates, firsts, most = {size: {} for size in sizes}, {size: {} for size in sizes}, {}
    for figures in clusters_for(sizes):
        is_large = figures[0][0] >= LARGE
        with started(polyxeus, ENGINES) as (_, client, _):
            controller = [controller_pid()]
            with Peaks({"controller": lambda pids=controller: processes_mb(pids)}) as peaks:
                for size, name in figures:
                    before, action = actions(client, array_of(size))[name]
                    client[0 if name == "pull" else slice(None)].execute(before, block=True)
                    if is_large:
                        firsts[size][name] = size / seconds(action) / 1e9
                    rates[size][name] = rate(action, size, WARM_UP_LARGE if is_large else 1)
                    client[:].clear(block=True)
        most[is_large] = max(most.get(is_large, 0), peaks.values["controller"])
    return rates, firsts, most


def measure_memory(size):
    """The peaks of memory while arrays of this size move, in MB more than before."""
    import polyxeus

    with started(polyxeus, ENGINES) as (_, client, _):
        array = array_of(size)
        engines = client[:].apply_sync(os.getpid)
        controller = [controller_pid()]
        functions = {
            "controller (PSS)": lambda: processes_mb(controller),
            "client (PSS)": lambda: processes_mb([os.getpid()]),
            "four engines (PSS)": lambda: processes_mb(engines),
            "files in /dev/shm": shared_mb,
        }
        peaks = {}
        for name in OURS:
            before, action = actions(client, array)[name]
            client[0 if name == "pull" else slice(None)].execute(before, block=True)
            idle = {who: function() for who, function in functions.items()}
            with Peaks(functions, 0.005) as watched:
                action()
            peaks[name] = {who: watched.values[who] - idle[who] for who in functions}
            client[:].clear(block=True)
        return peaks


def measure_writes(sizes):
    rates = {}
    for size in sizes:
        data = memoryview(array_of(size))

        def write():
            with tempfile.NamedTemporaryFile(dir="/dev/shm") as file:
                done = 0
                while done < size:
                    done += os.pwrite(file.fileno(), data[done:], done)

        rates[size] = {WRITE: rate(write, size)}
    return rates


def measure_ray(sizes):
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray

    class Worker:
        def keep(self, array):
            self.array = array

    ray.init(num_cpus=ENGINES, logging_level="error")
    actors = [ray.remote(num_cpus=0)(Worker).remote() for _ in range(ENGINES)]
    rates = {}
    for size in sizes:
        array = array_of(size)

        def to_four():
            shared = ray.put(array)
            ray.get([actor.keep.remote(shared) for actor in actors])

        rates[size] = {RAY: rate(to_four, size)}
    ray.shutdown()
    return rates


def measure_bcast(sizes):
    """In a rank of `mpiexec -n 5`; the first one tells."""
    import numpy
    from mpi4py import MPI

    world = MPI.COMM_WORLD
    rates = {}
    for size in sizes:
        is_root = world.rank == 0
        array = array_of(size) if is_root else numpy.empty(size, "u1")
        times = []
        for _ in range(1 + max(RUNS["least"], min(RUNS["most"], (USUAL * 10) // size))):
            world.Barrier()
            times.append(seconds(lambda: (world.Bcast(array), world.Barrier())))
        rates[size] = {BCAST: size / statistics.median(times[1:]) / 1e9}
        del array
    return rates if world.rank == 0 else None


SUBJECTS = {"ray": measure_ray, "bcast": measure_bcast}


def measure_apart(name, sizes):
    """What SUBJECTS[name] gives, measured in processes of its own."""
    with home() as folder:
        report = folder / "report.json"
        command = [sys.executable, __file__, "--subject", name, "--report", str(report)]
        command += ["--largest", str(sizes[-1] >> 20)]
        if name == "bcast":
            allow_mpiexec()
            command = ["mpiexec", "--oversubscribe", "-n", str(ENGINES + 1), *command]
        subprocess.run(command, check=True, timeout=300)
        return {int(size): rates for size, rates in json.loads(report.read_text()).items()}


# ----------------------------------------------------------------------------- the whole run


def rows_of(rates, firsts, controller, peaks, sizes, measured):
    rows = []
    for size in sizes:
        for name in SERIES:
            if name in rates[size]:
                rows.append(row(BENCH, shown(size), "GB/s", name, [rates[size][name]]))
        for name, value in firsts[size].items():
            rows.append(row(BENCH, f"{shown(size)}, first transfer", "GB/s", name, [value]))
    largest = sizes[-1]
    if largest > USUAL:
        what = f"{shown(largest)}, as a fraction of the rate at {shown(USUAL)}"
        for name in OURS:
            share = rates[largest][name] / rates[USUAL][name]
            aim = Aim(">=", LEAST_OF_USUAL, "value")
            rows.append(row(BENCH, what, "", name, [share], aims=[aim]))
    for is_large, megabytes in controller.items():
        which = f"{shown(LARGE)} and more" if is_large else f"less than {shown(LARGE)}"
        aims = [Aim("<=", MOST_MB, "value")] if is_large else []
        what = f"largest memory of the controller (PSS) while {which} are sent"
        rows.append(row(BENCH, what, "MB", "push", [megabytes], aims=aims))
    for who in peaks[OURS[0]]:
        what = f"increase in the memory of {who} while {shown(measured)} are sent, as a multiple of these bytes"
        for name in OURS:
            value = max(0.0, peaks[name][who]) * 1e6 / measured
            rows.append(row(BENCH, what, "", name, [value]))
    return rows


def arguments():
    made = parser(__doc__)
    made.add_argument("--largest", type=int, default=4096, help="MiB of the largest array (4096)")
    made.add_argument("--subject", choices=SUBJECTS, help=argparse.SUPPRESS)
    made.add_argument("--report", type=Path, help=argparse.SUPPRESS)
    return made.parse_args()


def main():
    options = arguments()
    sizes = [size for size in SIZES if size <= options.largest << 20]
    if options.subject:
        rates = SUBJECTS[options.subject](sizes)
        if rates is not None:
            options.report.write_text(json.dumps(rates))
        return 0
    rates, firsts, controller = measure_ours(sizes)
    missing = {}
    others = [size for size in sizes if size <= LARGE]  # five times as much must find room
    for name, measure in (
        (WRITE, lambda: measure_writes(sizes)),
        (BCAST, lambda: measure_apart("bcast", others)),
        (RAY, lambda: measure_apart("ray", others)),
    ):
        try:
            for size, found in measure().items():
                rates[size] |= found
        except (subprocess.SubprocessError, OSError) as problem:
            missing[name] = str(problem)
        print(f"{name}: done", flush=True)
    measured = min(sizes[-1], 256 << 20)
    peaks = measure_memory(measured)
    rows = rows_of(rates, firsts, controller, peaks, sizes, measured)
    return finish(rows, options, versions("polyxeus", "ray", "mpi4py", "numpy"), missing)


if __name__ == "__main__":
    sys.exit(main())
