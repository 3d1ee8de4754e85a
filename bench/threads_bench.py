"""Matrix products of ranks that share cores: the threads that polyxeus sets, beside the libraries' own choice.

    python bench/threads_bench.py [--mpi openmpi mpich] [--json build/threads_bench.json] [--seconds 2] [--runs 5]

For each MPI two clusters of four Python engines under its mpiexec on this host, one of them with
--threads-per-engine=unchanged, where NumPy's BLAS starts as many threads in each rank as there are
cores. They take turns: only one computes at a time. All ranks multiply matrices at the same time; a
figure is the sum of what they do. Exit code 0 when every aim is met, 1 when not or an MPI is not there.
"""

import contextlib
import os
import sys

import polyxeus

from clusters import bench_of_mpis, in_turns, parser_of_mpis, started, variable
from figures import Aim, row

BENCH = "threads_bench"
RANKS = 4
DEFAULTS, SHARED = "the libraries' defaults", "threads that share the cores"
SIZES = (128, 512, 2048)
LIMITS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS")

# Defined on the engines.
LOOPS = """
import time
import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD


def gflops(size, seconds):
    left, right = np.random.default_rng(comm.rank).random((2, size, size))
    left @ right
    comm.Barrier()
    count, begun = 0, time.perf_counter()
    while (passed := time.perf_counter() - begun) < seconds:
        left @ right
        count += 1
    return comm.allreduce(2e-9 * count * size**3 / passed)
"""


@contextlib.contextmanager
def both(mpiexec):
    """{peer: a view of four ranks}"""
    with contextlib.ExitStack() as stack:
        for name in LIMITS:
            stack.enter_context(variable(name, None))
        views = {}
        for peer, wish in ((DEFAULTS, "unchanged"), (SHARED, "auto")):
            _, client, _ = stack.enter_context(
                started(polyxeus, RANKS, engines="mpi", mpi_cmd=mpiexec, threads_per_engine=wish)
            )
            views[peer] = client[:]
            views[peer].execute(LOOPS, block=True)
        yield views


def measure(options, mpi, mpiexec):
    """All rows of an MPI."""
    rows = []
    with both(mpiexec) as views:
        for size in SIZES:
            values = in_turns(views, f"figure = gflops({size}, {options.seconds})", options.runs)
            what = f"{mpi}: {RANKS} ranks on {len(os.sched_getaffinity(0))} cores multiply {size} x {size}"
            rows += [
                row(BENCH, what, "GFLOP/s", DEFAULTS, values[DEFAULTS]),
                row(BENCH, what, "GFLOP/s", SHARED, values[SHARED], DEFAULTS, [Aim(">=", 1.5)]),
            ]
    return rows


def arguments():
    made = parser_of_mpis(__doc__)
    made.add_argument("--seconds", type=float, default=2.0, help="of one loop (2)")
    made.add_argument("--runs", type=int, default=5, help="of each loop (5)")
    return made.parse_args()


def main():
    return bench_of_mpis(arguments(), measure)


if __name__ == "__main__":
    sys.exit(main())
