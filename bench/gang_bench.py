"""Balanced tasks of several ranks: mixed ones beside a perfect packing, and one that does nothing.

    python bench/gang_bench.py [--mpi openmpi mpich] [--json build/gang_bench.json] [--tasks 1000] [--runs 3]

For each MPI eight Python engines under its mpiexec on this host. Tasks of 1, 2 and 4 ranks, each
asleep for 20 to 200 ms after an allreduce, are sent at once; their use of the engines is the sum of
rank-seconds asleep over 8 times the time until the last result, so a perfect packing has at most 1.
Then one task at a time that does nothing on two ranks. Exit code 0 when every aim is met, 1 when not
or an MPI is not there.
"""

import random
import sys
import time

import polyxeus

from clusters import bench_of_mpis, parser_of_mpis, started
from figures import Aim, milliseconds, row

BENCH = "gang_bench"
OURS = "polyxeus"
ENGINES = 8


@polyxeus.interactive
def sleep_together(seconds, comm):
    import time

    size = comm.allreduce(1)
    time.sleep(seconds)
    return size


@polyxeus.interactive
def nothing(comm):
    return None


def use_of_engines(view, tasks, number):
    """The part of the engines' time in which they slept, over all tasks."""
    choice = random.Random(number)
    plan = [(choice.choice((1, 2, 4)), choice.uniform(0.02, 0.2)) for _ in range(tasks)]
    began = time.perf_counter()
    results = [view.submit(sleep_together, seconds, polyxeus.Ranks(ranks)) for ranks, seconds in plan]
    if [each.get(600) for each in results] != [ranks for ranks, _ in plan]:
        raise RuntimeError("a task has computed with a wrong number of ranks")
    took = time.perf_counter() - began
    return sum(ranks * seconds for ranks, seconds in plan) / (ENGINES * took)


def measure(options, mpi, mpiexec):
    """All rows of an MPI."""
    with started(polyxeus, ENGINES, engines="mpi", mpi_cmd=mpiexec) as (_, client, _):
        view = client.load_balanced_view()
        use_of_engines(view, max(20, options.tasks // 10), 0)  # makes communicators
        used = [use_of_engines(view, options.tasks, number) for number in range(1, options.runs + 1)]
        idle = [
            milliseconds(lambda: view.submit(nothing, polyxeus.Ranks(2)).get(60), 200) for _ in range(options.runs)
        ]
    return [
        row(
            BENCH, f"{mpi}: {options.tasks} tasks of 1, 2 and 4 ranks on {ENGINES} engines", "of all", OURS, used,
            aims=[Aim(">=", 0.85, "value")],
        ),
        row(BENCH, f"{mpi}: a task on 2 ranks that does nothing", "ms", OURS, idle, aims=[Aim("<=", 2.0, "value")]),
    ]  # fmt: skip


def arguments():
    made = parser_of_mpis(__doc__)
    made.add_argument("--tasks", type=int, default=1000, help="that are sent at once (1000)")
    made.add_argument("--runs", type=int, default=3, help="of each measurement (3)")
    return made.parse_args()


def main():
    return bench_of_mpis(arguments(), measure)


if __name__ == "__main__":
    sys.exit(main())
