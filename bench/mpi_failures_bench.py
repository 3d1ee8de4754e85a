"""How soon a cell ends whose ranks wait in MPI for one that does not come, and what waiting costs.

    python bench/mpi_failures_bench.py [--mpi openmpi mpich] [--json build/mpi_failures.json] [--runs 3]

Under the mpiexec of each MPI on this host, through mpi4py. Four Python ranks: rank 2 raises, computes
for ever, sleeps or is killed while the others are in an MPI call that waits for it, for each of eight
calls. What counts is the call with the slowest end. After each, variables are there and a collective
call is right; after a kill, once pxcluster has restarted the ranks. Then 31 of 32 ranks wait 20 s
in a barrier for one that sleeps. Exit code 0 when the aims are met, 1 when not or an MPI is not there.
"""

import os
import signal
import sys
import time
from pathlib import Path

import polyxeus

from clusters import bench_of_mpis, parser_of_mpis, restart, started, wait_until
from figures import Aim, row

BENCH = "mpi_failures_bench"
OURS = "polyxeus"
RANKS, ABSENT = 4, 2
OTHERS = [rank for rank in range(RANKS) if rank != ABSENT]
CALLS = {
    "Barrier": "world.Barrier()",
    "Allreduce": "world.Allreduce(one, got)",
    "Bcast": "world.Bcast(got, root=2)",
    "Recv": "world.Recv(got, source=2)",
    "Sendrecv": "world.Sendrecv(one, 2, 0, got, 2, 0)",
    "Wait": "world.Irecv(got, source=2).Wait()",
    "Gatherv": "world.Gatherv(one, four, root=0) if rank == 0 else world.Recv(got, source=2)",
    "File_write_at_all": "file.Write_at_all(rank, one)",
}
LEAD = 0.3  # seconds that the others wait before something happens
DEFINE = """
import time
import numpy as np
from mpi4py import MPI

world = MPI.COMM_WORLD
rank = world.rank
one, got, four = np.ones(1), np.empty(1), np.empty(4)
file = MPI.File.Open(world, {path!r}, MPI.MODE_WRONLY | MPI.MODE_CREATE)
kept = rank * 11
"""


def begin(client, call, does):
    """A cell: the others wait in the call, rank 2 does something else."""
    return client[:].execute(f"if rank == {ABSENT}:\n    {does}\nelse:\n    {call}", block=False)


def check_well(client, name, answer):
    """The others were stopped, and all is well."""
    for rank, error in enumerate(answer.get(return_exceptions=True)):
        if rank != ABSENT and f"MPI_{'Recv' if name == 'Gatherv' and rank else name}" not in str(error):
            raise RuntimeError(f"{name}: rank {rank} was not stopped there: {error}")
    client[:].execute("assert world.allreduce(kept) == 66", block=True)


def after_a_failure(client, name):
    answer = begin(client, CALLS[name], f"time.sleep({LEAD}); raise ValueError('no data')")
    failed = wait_until(lambda: answer.progress > 0, "rank 2 has not raised")
    took = wait_until(answer.ready, f"{name} has not ended") - failed
    check_well(client, name, answer)
    return took


def after_an_interrupt(client, name, does):
    answer = begin(client, CALLS[name], does)
    time.sleep(LEAD)
    begun = time.monotonic()
    client.send_signal("SIGINT")
    took = wait_until(answer.ready, f"{name} has not ended") - begun
    check_well(client, name, answer)
    return took


def after_a_kill(cluster, client, name):
    """Until the others have ended the cell and answer a next one."""
    answer = begin(client, CALLS[name], "time.sleep(600)")
    pid = client.status()[ABSENT]["pid"]
    time.sleep(LEAD)
    begun = time.monotonic()
    os.kill(pid, signal.SIGKILL)
    wait_until(answer.ready, f"{name} has not ended")
    if client[OTHERS].pull("kept", block=True) != [11 * rank for rank in OTHERS]:
        raise RuntimeError("the survivors have lost their variables")
    took = time.monotonic() - begun
    errors = [str(error) for error in answer.get(return_exceptions=True)]
    if not all("rank 2" in errors[rank] and "SIGKILL" in errors[rank] for rank in range(RANKS)):
        raise RuntimeError(f"{name}: the reason is missing: {errors}")
    restart(cluster)
    wait_until(lambda: client.ids == list(range(RANKS)), "the engines have not come")
    return took


def slowest(what, values, limit):
    """A row of runs, each a list of what its calls took."""
    return row(BENCH, what, "s", OURS, [max(each) for each in values], aims=[Aim("<=", limit, of="value")])


def measure_four(mpi, mpiexec, runs):
    with started(polyxeus, RANKS, engines="mpi", mpi_cmd=mpiexec) as (cluster, client, _):
        define = DEFINE.format(path=str(Path(os.environ["IPYTHONDIR"]) / "shared"))

        def measured(take):
            client[:].execute(define, block=True)
            return [[take(name) for name in CALLS] for _ in range(runs)]

        rows = [slowest(f"{mpi}: a rank raises, until the cell has ended", measured(
            lambda name: after_a_failure(client, name)), 2.5)]  # fmt: skip
        for words, does in (("computes", "while True: pass"), ("sleeps", "time.sleep(600)")):
            rows.append(slowest(f"{mpi}: interrupt while a rank {words}", measured(
                lambda name, does=does: after_an_interrupt(client, name, does)), 0.5))  # fmt: skip

        def killed(name):
            client[:].execute(define, block=True)
            return after_a_kill(cluster, client, name)

        rows.append(slowest(f"{mpi}: kill -9 of a rank, until the others answer", measured(killed), 1.0))
    return rows


def computed(pids):
    """Seconds that these processes have computed."""
    ticks = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def measure_many(mpi, mpiexec, count, seconds):
    with started(polyxeus, count, engines="mpi", mpi_cmd=mpiexec) as (_, client, _):
        client[:].execute("import time\nfrom mpi4py import MPI\nMPI.COMM_WORLD.Barrier()", block=True)
        pids = [each["pid"] for each in client.status()]
        answer = client[:].execute(
            f"if MPI.COMM_WORLD.rank == 1: time.sleep({seconds + 1})\nMPI.COMM_WORLD.Barrier()", block=False
        )
        time.sleep(1)
        begun, before = time.monotonic(), computed(pids)
        time.sleep(seconds - 1)
        used = (computed(pids) - before) / (time.monotonic() - begun)
        if answer.ready():
            raise RuntimeError("the ranks have not waited so long")
        answer.get()
    what = f"{mpi}: CPU time of {count} ranks while {count - 1} wait for one, from second 1 to {seconds}"
    return [row(BENCH, what, "% of one CPU", OURS, [100 * used], aims=[Aim("<=", 20, of="value")])]


def measure(options, mpi, mpiexec):
    four = measure_four(mpi, mpiexec, options.runs)
    return four + measure_many(mpi, mpiexec, options.ranks, options.seconds)


def arguments():
    made = parser_of_mpis(__doc__)
    made.add_argument("--runs", type=int, default=3, help="of each call (3)")
    made.add_argument("--ranks", type=int, default=32, help="that wait for one (32)")
    made.add_argument("--seconds", type=int, default=20, help="that they wait (20)")
    return made.parse_args()


def main():
    return bench_of_mpis(arguments(), measure)


if __name__ == "__main__":
    sys.exit(main())
