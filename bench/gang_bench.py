"""Balanced tasks of several ranks: mixed ones beside a perfect packing, and one that does nothing.

    python bench/gang_bench.py [--mpi openmpi mpich] [--json build/gang_bench.json] [--tasks 1000] [--runs 3]

For each MPI eight Python engines under its mpiexec on this host. Tasks of 1, 2 and 4 ranks, each
asleep for 20 to 200 ms after an allreduce, are sent at once; the utilization of the engines is the
sum of rank-seconds asleep over 8 times the time until the last result, so a perfect packing has at
most 1. Then one task at a time, of two ranks, whose function does nothing. With Open MPI other
packages do the same, if they are installed: mpi4py.futures with a barrier of its two workers, and
executorlib, which starts mpiexec for each task, or, if told to, keeps the ranks. Exit code 0 when
every aim is met, 1 when not or an MPI is not there.
"""

import importlib.util
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import polyxeus

from clusters import MPIS, bench_of_mpis, parser_of_mpis, started, variable
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


# ------------------------------------------------- a task that does nothing on two ranks, elsewhere


def meet():
    """On each of the two workers of mpi4py.futures, which has no tasks of several ranks."""
    from mpi4py.futures import get_comm_workers

    get_comm_workers().Barrier()


def no_task():
    return None


def of_mpi4py_futures(measure_task):
    from mpi4py.futures import MPIPoolExecutor

    with MPIPoolExecutor(max_workers=2) as pool:
        pool.bootup(wait=True)

        def task():
            for future in [pool.submit(meet) for _ in range(2)]:
                future.result()

        return measure_task(task)


def of_executorlib(measure_task, **options):
    """It starts the first mpiexec on PATH."""
    from executorlib import SingleNodeExecutor

    with SingleNodeExecutor(max_cores=2, resource_dict={"cores": 2}, **options) as executor:
        return measure_task(lambda: executor.submit(no_task).result())


def of_kept_ranks(measure_task):
    return of_executorlib(measure_task, block_allocation=True, max_workers=1)


class Peer(NamedTuple):
    package: str
    measure: object  # measure(measure_task) gives what measure_task(task) gives
    tasks: int  # of a run
    of_mpiexec: list = []  # with these options of mpiexec; none: without it
    of_python: list = []


PEERS = {
    "mpi4py.futures": Peer("mpi4py", of_mpi4py_futures, 200, ["-n", "3"], ["-m", "mpi4py.futures"]),
    "executorlib": Peer("executorlib", of_executorlib, 5),
    "executorlib, ranks kept": Peer("executorlib", of_kept_ranks, 50),
}


def peers_under(mpi):
    """Those that are installed; under one MPI, as it is not what they cost."""
    if mpi != MPIS["openmpi"]:
        return []
    return [name for name, peer in PEERS.items() if importlib.util.find_spec(peer.package)]


def of_peer(name, mpiexec, runs):
    """Milliseconds of a task of two ranks whose function does nothing, for each run."""
    peer = PEERS[name]
    command = [sys.executable, *peer.of_python, __file__, f"--peer={name}", f"--runs={runs}"]
    if peer.of_mpiexec:
        command = [mpiexec, *peer.of_mpiexec, *command]
    with tempfile.TemporaryDirectory(prefix="px-bench-") as folder:
        Path(folder, "mpiexec").symlink_to(shutil.which(mpiexec))
        with variable("PATH", folder + os.pathsep + os.environ["PATH"]):
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, timeout=600)
    return json.loads(done.stdout.splitlines()[-1])


def measure_peer(name, runs):
    """In a process of its own."""
    peer = PEERS[name]
    print(json.dumps(peer.measure(lambda task: [milliseconds(task, peer.tasks) for _ in range(runs)])))
    return 0


# ------------------------------------------------------------------------------------------ all


def measure(options, mpi, mpiexec):
    """All rows of an MPI."""
    with started(polyxeus, ENGINES, engines="mpi", mpi_cmd=mpiexec) as (_, client, _):
        view = client.load_balanced_view()
        use_of_engines(view, max(20, options.tasks // 10), 0)  # makes communicators
        used = [use_of_engines(view, options.tasks, number) for number in range(1, options.runs + 1)]
        idle = [
            milliseconds(lambda: view.submit(nothing, polyxeus.Ranks(2)).get(60), 200) for _ in range(options.runs)
        ]
    task = f"{mpi}: a task on 2 ranks that does nothing"
    return [
        row(
            BENCH, f"{mpi}: {options.tasks} tasks of 1, 2 and 4 ranks on {ENGINES} engines", "utilization", OURS, used,
            aims=[Aim(">=", 0.85, "value")],
        ),
        row(
            BENCH, task, "ms", OURS, idle, ratio_to="executorlib",
            aims=[Aim("<=", 2.0, "value"), Aim("<=", 0.01, "ratio")],
        ),
        *(row(BENCH, task, "ms", peer, of_peer(peer, mpiexec, options.runs)) for peer in peers_under(mpi)),
    ]  # fmt: skip


def arguments():
    made = parser_of_mpis(__doc__)
    made.add_argument("--tasks", type=int, default=1000, help="that are sent at once (1000)")
    made.add_argument("--runs", type=int, default=3, help="of each measurement (3)")
    made.add_argument("--peer", choices=PEERS, help="one of the processes of other packages")
    return made.parse_args()


def main():
    options = arguments()
    if options.peer:
        return measure_peer(options.peer, options.runs)
    return bench_of_mpis(options, measure, "executorlib")


if __name__ == "__main__":
    sys.exit(main())
