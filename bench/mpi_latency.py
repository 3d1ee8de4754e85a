"""MPI calls of Python ranks that answer interrupts, beside the same calls left alone.

    python bench/mpi_latency.py [--mpi openmpi mpich] [--json build/mpi_latency.json] [--seconds 1] [--runs 5]

For each MPI two clusters of four Python engines under its mpiexec on this host, one of them with
POLYXEUS_MPI_INTERRUPTS=0. They take turns: only one computes at a time. The loops are those of the
OSU micro-benchmarks, through mpi4py: the mean of a call on all ranks, in microseconds, with a barrier
between two collective calls. Exit code 0 when every aim is met, 1 when not or an MPI is not there.
"""

import contextlib
import statistics
import sys

import polyxeus

from clusters import bench_of_mpis, in_turns, parser_of_mpis, started, variable
from figures import Aim, row

BENCH = "mpi_latency"
RANKS = 4
ALONE, ANSWERING = "calls left alone", "calls that answer interrupts"
SIZES = {"8 B": 8, "1 MiB": 1 << 20}
CALLS = {
    "Allreduce": "comm.Allreduce(given, got)",
    "Bcast": "comm.Bcast(given)",
    "Sendrecv": "comm.Sendrecv(given, (rank + 1) % size, 0, got, (rank - 1) % size, 0)",
}

# Defined on the engines.
LOOPS = """
import time
import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size


def mean_us(call, seconds, pause):
    def run(count):
        took = 0.0
        for _ in range(count):
            begun = MPI.Wtime()
            call()
            took += MPI.Wtime() - begun
            pause()
        return took

    run(3)
    begun = MPI.Wtime()
    run(5)
    count = comm.bcast(max(5, int(5 * seconds / (MPI.Wtime() - begun))))
    comm.Barrier()
    return comm.allreduce(run(count)) / size / count * 1e6


def cpus_of_waiting_ranks(seconds):
    comm.Barrier()
    begun, computed = time.monotonic(), time.process_time()
    if rank == 0:
        time.sleep(seconds)
    comm.Barrier()
    used = (time.process_time() - computed) / (time.monotonic() - begun)
    return comm.allreduce(used if rank else 0.0)
"""


@contextlib.contextmanager
def both(mpiexec):
    """{peer: a view of four ranks}"""
    with contextlib.ExitStack() as stack:
        views = {}
        for peer, value in ((ALONE, "0"), (ANSWERING, None)):
            with variable("POLYXEUS_MPI_INTERRUPTS", value):
                _, client, _ = stack.enter_context(
                    started(polyxeus, RANKS, engines="mpi", language="python", mpi_cmd=mpiexec)
                )
            views[peer] = client[:]
            views[peer].execute(LOOPS, block=True)
        yield views


def figures_of(views, what, unit, code, runs, aims=lambda alone: []):
    """A row for each peer; they take turns. aims: of the median of the calls left alone."""
    values = in_turns(views, code, runs)
    made = aims(statistics.median(values[ALONE]))
    return [
        row(BENCH, what, unit, ALONE, values[ALONE]),
        row(BENCH, what, unit, ANSWERING, values[ANSWERING], ratio_to=ALONE, aims=made),
    ]


def measure(options, mpi, mpiexec):
    """All rows of an MPI."""
    with both(mpiexec) as views:
        code = f"figure = mean_us(comm.Barrier, {options.seconds}, lambda: None)"
        rows = figures_of(views, f"{mpi}: Barrier", "us", code, options.runs)
        barrier = rows[0].value
        for name, call in CALLS.items():
            for words, n_bytes in SIZES.items():
                is_collective = name != "Sendrecv"
                pause = "comm.Barrier" if is_collective else "lambda: None"
                code = (
                    f"given, got = np.ones({n_bytes // 8}), np.empty({n_bytes // 8})\n"
                    f"figure = mean_us(lambda: {call}, {options.seconds}, {pause})"
                )
                more = 1 + (barrier if is_collective else 0)
                aims = (lambda alone: [Aim("<=", 1.1)]) if n_bytes > 8 else (
                    lambda alone, more=more: [Aim("<=", round(alone + more, 2), of="value")])  # fmt: skip
                rows += figures_of(views, f"{mpi}: {name} of {words}", "us", code, options.runs, aims)
        what = f"{mpi}: three ranks wait in a Barrier for one that sleeps"
        code = f"figure = cpus_of_waiting_ranks({max(1.0, options.seconds)})"
        rows += figures_of(views, what, "CPUs", code, options.runs, lambda alone: [Aim("<=", 1.0)])
    return rows


def arguments():
    made = parser_of_mpis(__doc__)
    made.add_argument("--seconds", type=float, default=1.0, help="of one loop (1)")
    made.add_argument("--runs", type=int, default=5, help="of each loop (5)")
    return made.parse_args()


def main():
    return bench_of_mpis(arguments(), measure)


if __name__ == "__main__":
    sys.exit(main())
