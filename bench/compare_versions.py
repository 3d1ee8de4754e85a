"""Compares two installed versions of polyxeus: what messages and arrays cost from Python.

    python bench/compare_versions.py [--engines local|mpi] [--journal off|process] OLD_PYTHON NEW_PYTHON

With --engines=mpi calls of MPI on the ranks are compared, too.
Each is the Python of an environment with polyxeus. Both clusters run at the same time, and the two
take turns in short rounds, so that what else the machine does disturbs both alike. A ratio is that of
the medians of all rounds, new / old; wall times on a busy machine say less than the processor time
that the sending thread takes for one submit and that all processes take for a round trip.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from clusters import allow_mpiexec, started
from figures import Aim, finish, milliseconds, parser, row, seconds

BENCH = "compare_versions"
ENGINES = 4
NOT_SLOWER = 0.97
# name -> (what, unit)
FIGURES = {
    "direct": ("submits to one engine, one by one", "1/s"),
    "direct_cpu": ("processor time of the sending thread for one", "us"),
    "balanced": ("load-balanced submits, one by one", "1/s"),
    "balanced_cpu": ("processor time of the sending thread for one of these", "us"),
    "round_trip": ("call on one engine", "ms"),
    "round_trip_cpu": ("processor time of client and engine for one call", "us"),
    "map": ("items of a load-balanced map", "1/s"),
    "push_pull": ("push of a number and pull", "ms"),
    "cell": ("cell on all 4 engines", "ms"),
    "push_64_kib": ("pushes of 64 KiB, not waited for one by one", "1/s"),
    "push_200_kib": ("pushes of 200 KiB, not waited for one by one", "1/s"),
    "push_1_mib": ("pushes of 1 MiB, not waited for one by one", "1/s"),
    "pull_64_kib": ("pull of 64 KiB", "ms"),
    "pull_1_mib": ("pull of 1 MiB", "ms"),
}
OF_MPI = {
    "sendrecv": ("Sendrecv of 8 B around the ranks", "us"),
    "sendrecv_1_mib": ("Sendrecv of 1 MiB around the ranks", "us"),
    "allreduce": ("Allreduce of 8 B", "us"),
    "bcast_1_mib": ("Bcast of 1 MiB", "us"),
}


# ------------------------------------------------------------------------------ in each version


def sent_and_answered(client, view, count):
    """(submits a second, microseconds of the sending thread for one)"""
    import time

    def echo(x):
        return x

    echo.__module__ = None  # as of a session: it travels by value
    wall, processor = time.perf_counter(), time.thread_time()
    answers = [view.apply_async(echo, number) for number in range(count)]
    wall, processor = time.perf_counter() - wall, time.thread_time() - processor
    if [each.get() for each in answers] != list(range(count)):
        raise RuntimeError("a task gave a wrong answer")
    client.history.clear()
    view.history.clear()
    return count / wall, 1e6 * processor / count


def called(view, count):
    """(ms of a call, microseconds of client and engine for one)"""
    import time

    def one():
        return 1

    one.__module__ = None
    view.apply_sync(one)
    processor = time.process_time() + view.apply_sync(time.process_time)
    took = milliseconds(lambda: view.apply_sync(one), count)
    processor = time.process_time() + view.apply_sync(time.process_time) - processor
    return took, 1e6 * processor / (1.1 * count)


def pushes(view, n_bytes, count):
    import numpy

    array = numpy.ones(n_bytes // 8)

    def push_all():
        for answer in [view.push({"x": array}, block=False) for _ in range(count)]:
            answer.get()

    return (count / seconds(push_all),)


def pulls(view, n_bytes, count):
    view.execute(f"import numpy\ny = numpy.ones({n_bytes // 8})", block=True)
    return (milliseconds(lambda: view.pull("y", block=True), count),)


CALLS = """
from mpi4py import MPI
import numpy
comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
def mean_us(n_bytes, count, call):
    given, got = numpy.zeros(n_bytes // 8), numpy.zeros(n_bytes // 8)
    comm.Barrier()
    begun = MPI.Wtime()
    for _ in range(count):
        call(given, got)
    return (MPI.Wtime() - begun) / count * 1e6
def sendrecv(given, got):
    comm.Sendrecv(given, (rank + 1) % size, 0, got, (rank - 1) % size, 0)
def allreduce(given, got):
    comm.Allreduce(given, got)
def bcast(given, got):
    comm.Bcast(given)
"""


def mean_us(view, call, n_bytes, count):
    view.execute(f"took = mean_us({n_bytes}, {count}, {call})", block=True)
    return (view.pull("took", targets=0, block=True),)


def serve(options):
    """Measures what the lines of standard input name, until it ends."""
    import polyxeus

    with started(
        polyxeus, ENGINES, engines=options.engines, journal=options.journal
    ) as (_, client, _):
        one, free, everyone = client[0], client.load_balanced_view(), client[:]
        count = options.tasks

        def push_and_pull():
            one.push({"x": 5}, block=True)
            one.pull("x", block=True)

        actions = {
            "direct": lambda: sent_and_answered(client, one, count),
            "balanced": lambda: sent_and_answered(client, free, count),
            "round_trip": lambda: called(one, options.round_trips),
            "map": lambda: (10 * count / seconds(lambda: free.map_sync(abs, range(10 * count))),),
            "push_pull": lambda: (milliseconds(push_and_pull, options.round_trips // 2),),
            "cell": lambda: (
                milliseconds(lambda: everyone.execute("1", block=True), options.round_trips // 4),
            ),
            "push_64_kib": lambda: pushes(one, 64 << 10, count // 2),
            "push_200_kib": lambda: pushes(one, 200 << 10, count // 4),
            "push_1_mib": lambda: pushes(one, 1 << 20, count // 10),
            "pull_64_kib": lambda: pulls(one, 64 << 10, options.round_trips),
            "pull_1_mib": lambda: pulls(one, 1 << 20, options.round_trips // 2),
            "sendrecv": lambda: mean_us(everyone, "sendrecv", 8, 2 * count),
            "sendrecv_1_mib": lambda: mean_us(everyone, "sendrecv", 1 << 20, count // 10),
            "allreduce": lambda: mean_us(everyone, "allreduce", 8, 2 * count),
            "bcast_1_mib": lambda: mean_us(everyone, "bcast", 1 << 20, count // 10),
        }
        if options.engines == "mpi":
            everyone.execute(CALLS, block=True)
        print(json.dumps([polyxeus.__version__]), flush=True)
        for line in sys.stdin:
            print(json.dumps(actions[line.strip()]()), flush=True)


# -------------------------------------------------------------------------------- both of them


class Version:
    """One version of polyxeus, in a process of its own."""

    def __init__(self, name, python, options):
        self.name = name
        # Not resolved: the link belongs to the environment, where its programs are, too.
        path = os.pathsep.join([str(Path(python).absolute().parent), os.environ["PATH"]])
        environment = os.environ | {"PATH": path, "PYTHONPATH": ""}
        environment.pop("VIRTUAL_ENV", None)
        passed_on = [
            f"--{name.replace('_', '-')}={getattr(options, name)}"
            for name in ("tasks", "round_trips", "engines", "journal")
        ]
        self.process = subprocess.Popen(
            [python, __file__, "--serve", *passed_on, python, python],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
        )  # fmt: skip
        (self.version,) = self.read()

    def read(self):
        for line in self.process.stdout:
            if line.startswith("["):
                return json.loads(line)
        raise RuntimeError(f"the measuring process of {self.name} ended")

    def measure(self, name):
        self.process.stdin.write(name + "\n")
        self.process.stdin.flush()
        return self.read()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def rows_of(found):
    rows = []
    for name, (what, unit) in (FIGURES | OF_MPI).items():
        aim = Aim(">=", NOT_SLOWER) if unit == "1/s" else Aim("<=", 1 / NOT_SLOWER)
        for version, runs in found.items():
            if name in runs:
                compared = {"ratio_to": "old", "aims": [aim]} if version == "new" else {}
                rows.append(row(BENCH, what, unit, version, runs[name], **compared))
    return rows


def arguments():
    made = parser(__doc__)
    made.add_argument("old", help="the Python of the old version")
    made.add_argument("new", help="the Python of the new version")
    made.add_argument("--rounds", type=int, default=7, help="turns of each version (7)")
    made.add_argument("--tasks", type=int, default=1000, help="submits in one turn (1000)")
    made.add_argument("--round-trips", type=int, default=200, help="calls in one turn (200)")
    made.add_argument("--engines", default="local", help="local (default) or mpi")
    made.add_argument("--journal", default="off", help="of the controllers (off)")
    made.add_argument("--only", nargs="*", help="some of the figures")
    made.add_argument("--serve", action="store_true", help="one of the two processes")
    return made.parse_args()


def main():
    options = arguments()
    if options.serve:
        return serve(options)
    names = options.only or [name for name in FIGURES if not name.endswith("_cpu")]
    if options.engines == "mpi" and not options.only:
        names += OF_MPI
    allow_mpiexec()
    versions = [Version("old", options.old, options), Version("new", options.new, options)]
    found = {version.name: {} for version in versions}
    try:
        for round_ in range(options.rounds + 1):
            for name in names:
                for version in versions if round_ % 2 else reversed(versions):
                    figures = version.measure(name)
                    if round_ == 0:  # warms up
                        continue
                    for key, figure in zip((name, name + "_cpu"), figures):
                        found[version.name].setdefault(key, []).append(figure)
    finally:
        for version in versions:
            version.close()
    used = {version.name: version.version for version in versions}
    return finish(rows_of(found), options, used)


if __name__ == "__main__":
    sys.exit(main())
