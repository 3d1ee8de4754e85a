"""How long `pxcluster restart` takes after kill -9 of one of four MPI ranks.

    python bench/restart_bench.py [--mpi openmpi mpich] [--json build/restart.json] [--runs 3] [--megabytes 200]

Four Python engines, under the mpiexec of each MPI on this host. Rank 2 is killed; the command starts a
new world with the same ids, once with nothing carried over and once with `--keep` of an array of each
of the three survivors. Each run checks the ids, what was carried, and a collective call. Exit code 0
when the aim is met, 1 when not or an MPI is not there.
"""

import os
import signal
import sys

import polyxeus

from clusters import bench_of_mpis, parser_of_mpis, restart, started, wait_until
from figures import Aim, row, seconds

BENCH = "restart_bench"
RANKS, KILLED = 4, 2
SURVIVORS = [rank for rank in range(RANKS) if rank != KILLED]
NOTHING, ARRAYS = "nothing kept", "an array of each survivor kept"


def sum_of_data():
    import zlib

    return zlib.crc32(data)  # noqa: F821  of the engine


def count_ranks():
    from mpi4py import MPI

    return MPI.COMM_WORLD.allreduce(1)


def run(cluster, client, megabytes, keeps):
    """The seconds of one restart."""
    client[:].execute(
        "import numpy\n"
        f"data = numpy.random.default_rng(mpi_rank).integers(0, 255, {megabytes} * 10**6, 'u1')",
        block=True,
    )
    before = client[SURVIVORS].apply_sync(sum_of_data)
    os.kill(client.status()[KILLED]["pid"], signal.SIGKILL)
    wait_until(lambda: client.ids == SURVIVORS, f"engine {KILLED} has not gone")
    took = seconds(lambda: restart(cluster, *(["--keep=data"] if keeps else [])))
    wait_until(lambda: client.ids == list(range(RANKS)), "the engines have not come")
    if keeps and client[SURVIVORS].apply_sync(sum_of_data) != before:
        raise RuntimeError("an array was carried over wrongly")
    if client[:].apply_sync(count_ranks) != [RANKS] * RANKS:
        raise RuntimeError("the new world has not all ranks")
    return took


def measure(options, mpi, mpiexec):
    values = {NOTHING: [], ARRAYS: []}
    with started(polyxeus, RANKS, engines="mpi", mpi_cmd=mpiexec) as (cluster, client, _):
        for _ in range(options.runs):
            for peer in values:
                values[peer].append(run(cluster, client, options.megabytes, peer == ARRAYS))
    what = f"{mpi}: restart after kill -9 of a rank, {options.megabytes} MB each"
    return [
        row(BENCH, what, "s", NOTHING, values[NOTHING]),
        row(BENCH, what, "s", ARRAYS, values[ARRAYS], aims=[Aim("<=", 2.0, of="value")]),
    ]


def arguments():
    made = parser_of_mpis(__doc__)
    made.add_argument("--runs", type=int, default=3, help="of each kind (3)")
    made.add_argument("--megabytes", type=int, default=200, help="that a survivor carries over (200)")
    return made.parse_args()


def main():
    return bench_of_mpis(arguments(), measure)


if __name__ == "__main__":
    sys.exit(main())
