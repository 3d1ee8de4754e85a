"""Collective calls that one rank makes in a thread and the others in their main threads, which MPI_THREAD_MULTIPLE
allows."""

import pytest
from deadlines import wait_until

from mpi_fuzz import START
from scenarios_test import EVERYBODY, assert_well, kinds, run

pytestmark = kinds(("python", "own"), ("python", "own", "mpich"))

IN_THREAD = """
import threading

def in_thread(call):
    "Rank 0 makes it in a thread; what it returns."
    if mpi_rank != 0:
        return call()
    results = []
    thread = threading.Thread(target=lambda: results.append(call()), daemon=True)
    thread.start()
    thread.join()
    return results[0]
"""

CALLS = {
    "barrier": "world.Barrier()",
    "sum": "assert world.allreduce(mpi_rank) == 6",
    "array": "got = np.empty(100000); world.Allreduce(np.full(100000, mpi_rank + 1.0), got); assert (got == 10).all()",
    "few bytes": "got = np.empty(2); world.Allreduce(np.full(2, mpi_rank + 1.0), got); assert (got == 10).all()",
    "duplicate": "copy = world.Dup(); assert copy.allreduce(1) == 4; copy.Free()",
    "part": "part = world.Split(mpi_rank // 2, mpi_rank); assert part.allreduce(mpi_rank) in (1, 5); part.Free()",
    "group": "made = world.Create(world.group.Incl([1, 2, 3]))\n    if made != MPI.COMM_NULL: made.Free()",
    "window": "window = MPI.Win.Create(np.ones(4), comm=world); window.Fence(); window.Free()",
}


@pytest.mark.parametrize("name", CALLS)
def test_a_collective_call_of_a_thread_meets_those_of_main_threads(ranks, name):
    cell = f"{IN_THREAD}\ndef call():\n    {CALLS[name]}\n    return 'done'\nfor _ in range(3):\n    in_thread(call)\n    call()"
    assert run(ranks, lambda _: cell) == dict.fromkeys(EVERYBODY)
    assert_well(ranks)


def test_the_calls_of_several_threads_do_not_disturb_each_other(ranks):
    """Each thread has a communicator of its own."""
    cell = """
import threading
comms = [world.Dup() for _ in range(3)]
failures = []
def work(number):
    try:
        for step in range(100):
            few, many = np.full(2, mpi_rank + 100 * number), np.full(1000, mpi_rank - number)
            comms[number].Allreduce(MPI.IN_PLACE, few)
            comms[number].Allreduce(MPI.IN_PLACE, many)
            comms[number].Barrier()
            assert (few == 6 + 400 * number).all() and (many == 6 - 4 * number).all()
    except BaseException as failure:
        failures.append(failure)
threads = [threading.Thread(target=work, args=[number]) for number in (1, 2)]
for thread in threads:
    thread.start()
work(0)
for thread in threads:
    thread.join()
assert not failures, failures
for comm in comms:
    comm.Free()
"""
    assert run(ranks, lambda _: cell) == dict.fromkeys(EVERYBODY)
    assert_well(ranks)


def test_an_executor_of_mpi4py_runs(ranks):
    cell = """
from mpi4py.futures import MPICommExecutor
with MPICommExecutor(world, root=0) as executor:
    if executor is not None:
        assert list(executor.map(abs, range(-20, 0), chunksize=3)) == list(range(20, 0, -1))
"""
    for _ in range(2):
        assert run(ranks, lambda _: cell) == dict.fromkeys(EVERYBODY)
    assert_well(ranks)


def test_a_call_of_a_thread_ends_where_another_rank_has_failed(ranks):
    cell = IN_THREAD + """
if mpi_rank == 2:
    raise ValueError("no data")
def call():
    try:
        world.Barrier()
    except Exception as failure:
        return str(failure)
told = in_thread(call)
"""
    outcomes = run(ranks, lambda _: cell)
    assert outcomes[2] == ("ValueError", "no data")
    assert "MPI_Barrier cannot end: rank 2 raised ValueError: no data" in ranks.rc[0].pull("told", block=True)
    assert_well(ranks)


def test_a_stop_ends_the_call_of_a_thread(ranks):
    """Rank 2 does not come; the main thread of rank 0 waits for its thread."""
    cells = ranks.execute(lambda _: IN_THREAD + """
import time
print("begun", flush=True)
time.sleep(100) if mpi_rank == 2 else in_thread(world.Barrier)
""")  # fmt: skip
    assert not cells.wait(1)
    ranks.interrupt()
    assert cells.wait(60)
    assert {outcome[0] for outcome in cells.outcomes().values()} == {"KeyboardInterrupt"}
    assert_well(ranks)


def test_a_thread_that_polls_ends_where_the_cell_that_was_stopped_waits_for_it(ranks):
    """As mpi4py.futures' manager thread, whose workers were stopped, too."""
    cell = """
import threading, time
def poll():
    while not world.Iprobe(source=MPI.ANY_SOURCE, tag=77):
        time.sleep(0.01)
thread = threading.Thread(target=poll, daemon=True)
thread.start()
print("begun", flush=True)
try:
    time.sleep(100)
finally:
    thread.join()
"""
    cells = ranks.execute(lambda _: cell)
    wait_until(lambda: all("begun" in text for text in cells.printed()), "all ranks run the cell", START)
    ranks.interrupt()
    assert cells.wait(60)
    assert {outcome[0] for outcome in cells.outcomes().values()} == {"KeyboardInterrupt"}
    assert_well(ranks)
