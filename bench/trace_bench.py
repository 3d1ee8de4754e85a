"""What a trace costs: cells with many small Allreduce, and many small applies, with a trace on and off in turn.

    python bench/trace_bench.py [--json build/trace.json] [--runs 9] [--ranks 2] [--calls 20000] [--applies 1000]
                                [--without PYTHON]

A run is a pair, in an order that changes each time: the same work with and without a trace. What counts is the time of
the work itself; how long it takes to begin a trace and to write its file has rows of its own. With --without, a Python
whose polyxeus has none of the hooks of traces, its cluster runs the same work in the same turns: what hooks cost while
no trace is on. Exit code 0 when the aims are met.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from clusters import allow_mpiexec, started
from figures import Aim, finish, parser, row, seconds, versions

BENCH = "trace_bench"
ON, OFF, WITHOUT = "trace on", "trace off", "without the hooks"
MOST_ON, MOST_OFF = 1.03, 1.005
CELL = """
from mpi4py import MPI
import numpy as np
comm, one, total = MPI.COMM_WORLD, np.ones(1), np.empty(1)
def work(count):
    for _ in range(count):
        comm.Allreduce(one, total)
"""


class Work:
    """Both kinds of work on one cluster: what they take, in microseconds for each call."""

    def __init__(self, client, options):
        self.view, self.options = client[:], options
        self.view.execute(CELL, block=True)
        for kind in self.kinds():  # warm
            self.take(kind)

    def kinds(self):
        return {"a small Allreduce in a cell": self.reduce, "an apply on one engine": self.apply}

    def take(self, kind):
        work, count = self.kinds()[kind]()
        return seconds(work) / count * 1e6

    def reduce(self):
        calls = self.options.calls
        return lambda: self.view.execute(f"work({calls})", block=True), calls

    def apply(self):
        applies, engine = self.options.applies, self.view.client[0]

        def work():
            for _ in range(applies):
                engine.apply_sync(abs, -1)

        return work, applies


def measure(client, folder, options, other):
    """{(kind, variant): the times of each run}; those of the trace itself have the kind "the trace"."""
    work, found = Work(client, options), {}
    begins, ends = [], []

    def traced(kind):
        trace = client.trace(folder / "run.pftrace")
        begins.append(seconds(trace.start) * 1e3)
        took = work.take(kind)
        ends.append(seconds(trace.stop) * 1e3)
        return took

    ways = {ON: traced, OFF: work.take}
    if other:
        ways[WITHOUT] = other
    for run in range(options.runs):
        for kind in work.kinds():
            order = list(ways.items())
            for name, take in order[run % len(order) :] + order[: run % len(order)]:
                found.setdefault((kind, name), []).append(take(kind))
    return found, begins, ends


def ratios(found, kind, one, other):
    """Of each run: what `one` takes, divided by what `other` takes."""
    return [mine / theirs for mine, theirs in zip(found[kind, one], found[kind, other])]


def rows_of(found, begins, ends):
    kinds = list(dict.fromkeys(kind for kind, _ in found))
    rows = []
    for kind in kinds:
        for name in (ON, OFF, WITHOUT):
            if (kind, name) in found:
                rows.append(row(BENCH, kind, "us", name, found[kind, name]))
        on = ratios(found, kind, ON, OFF)
        rows.append(row(BENCH, f"{kind}: trace on / off", "x", ON, on, aims=[Aim("<=", MOST_ON, of="value")]))
        if (kind, WITHOUT) in found:
            off = ratios(found, kind, OFF, WITHOUT)
            rows.append(row(BENCH, f"{kind}: trace off / without hooks", "x", OFF, off, aims=[Aim("<=", MOST_OFF, of="value")]))
    rows.append(row(BENCH, "to begin a trace", "ms", ON, begins))
    rows.append(row(BENCH, "to end it and write its file", "ms", ON, ends))
    return rows


# ---------------------------------------------------------------- a build without hooks, in a process of its own


class Other:
    """This program under another Python: it tells what a kind of work takes there, when asked by a line."""

    def __init__(self, python, options):
        command = [str(python), __file__, "--answer", f"--ranks={options.ranks}", f"--calls={options.calls}",
                   f"--applies={options.applies}"]  # fmt: skip
        environment = {**os.environ, "PATH": f"{Path(python).parent}:{os.environ['PATH']}"}
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
        self.process.stdout.readline()

    def __call__(self, kind):
        self.process.stdin.write(kind + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait(60)


def answer(client, options):
    work = Work(client, options)
    print("ready", flush=True)
    for kind in sys.stdin:
        print(work.take(kind.rstrip("\n")), flush=True)
    return 0


def arguments():
    made = parser(__doc__)
    made.add_argument("--runs", type=int, default=9, help="pairs of each kind (9)")
    made.add_argument("--ranks", type=int, default=2, help="engines under mpiexec (2)")
    made.add_argument("--calls", type=int, default=20000, help="of Allreduce in a cell (20000)")
    made.add_argument("--applies", type=int, default=1000, help="in a row (1000)")
    made.add_argument("--without", type=Path, help="a Python with a polyxeus that has no traces")
    made.add_argument("--answer", action="store_true", help="measure what the standard input names")
    return made.parse_args()


def main():
    import polyxeus

    options = arguments()
    allow_mpiexec()
    with started(polyxeus, options.ranks, engines="mpi") as (cluster, client, _):
        if options.answer:
            return answer(client, options)
        other = Other(options.without, options) if options.without else None
        try:
            found, begins, ends = measure(client, Path(os.environ["IPYTHONDIR"]), options, other)
        finally:
            if other:
                other.close()
    return finish(rows_of(found, begins, ends), options, versions("polyxeus", "mpi4py", "numpy"))


if __name__ == "__main__":
    sys.exit(main())
