"""Stops in calls on intercommunicators, of two groups of ranks that each have one communicator of their own."""

import pytest
from deadlines import wait_until

from mpi_fuzz import INTERRUPTED, START
from scenarios_test import EVERYBODY, PATIENCE, assert_well, call, kinds, run, stop

pytestmark = kinds(("python", "own"), ("python", "own", "mpich"))

MAKE = """
half = world.Split(mpi_rank % 2)
between = half.Create_intercomm(0, world, 1 - mpi_rank % 2, 5)
def exchange():
    "Each rank gets the sum of the ranks of the other group."
    got = np.empty(1)
    between.Allreduce(np.full(1, float(mpi_rank)), got)
    assert got[0] == (4 if mpi_rank % 2 == 0 else 2), f"WRONG {got}"
def share():
    "Rank 0 tells the other group a number."
    value = np.full(1, 7.0 if mpi_rank == 0 else 0.0)
    between.Bcast(value, root=(MPI.ROOT if mpi_rank == 0 else MPI.PROC_NULL) if mpi_rank % 2 == 0 else 0)
    assert value[0] == (7 if mpi_rank in (0, 1, 3) else 0), f"WRONG {value}"
def wait_for_request():
    request = between.Ibarrier()
    while not request.Test(): time.sleep(1e-3)
"""
CALLS = {"Allreduce": "exchange()", "Bcast": "share()", "Barrier": "between.Barrier()",
         "Intercomm_merge": "between.Merge(mpi_rank % 2 == 1)", "Test": "wait_for_request()"}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_ranks_that_wait_for_one_of_either_group_are_stopped(ranks, name):
    assert run(ranks, lambda _: MAKE) == dict.fromkeys(EVERYBODY)
    outcomes = run(ranks, lambda _: "if mpi_rank == 2: raise RuntimeError('gives up')\n" + CALLS[name])
    assert outcomes[2][0] == "RuntimeError"
    # Open MPI ends a barrier that was begun as soon as the ranks of the other group have come.
    for rank in (1,) if name == "Test" else (0, 1, 3):
        assert "cannot end" in outcomes[rank][1], outcomes
    ends = "exchange(); share(); between.Barrier(); between.Merge(mpi_rank % 2 == 1).Free()"
    assert run(ranks, lambda _: ends) == dict.fromkeys(EVERYBODY)
    assert run(ranks, lambda _: "between.Disconnect(); half.Free()") == dict.fromkeys(EVERYBODY)
    assert_well(ranks)


@pytest.mark.parametrize("missing", [0, 2], ids=["a leader", "another rank"])
@pytest.mark.parametrize("does", ["give_up_in()", "loop()"])
def test_ranks_that_wait_to_make_one_are_stopped(ranks, does, missing):
    make = "half.Create_intercomm(0, world, 1 - mpi_rank % 2, 5)"
    assert run(ranks, lambda _: "half = world.Split(mpi_rank % 2)") == dict.fromkeys(EVERYBODY)
    calls = [[make] for _ in EVERYBODY]
    calls[missing] = [does]
    waiting = [rank for rank in EVERYBODY if rank != missing]
    outcomes = stop(ranks, call(ranks, calls), waiting, done=(missing,) if does == "give_up_in()" else ())
    for rank in waiting:
        assert "MPI_Intercomm_create" in outcomes[rank][1], outcomes
    assert run(ranks, lambda _: f"{make}.Disconnect(); half.Free()") == dict.fromkeys(EVERYBODY)
    assert_well(ranks)


EXECUTOR = """
from mpi4py.futures import MPICommExecutor
def use_executors(times):
    for time_ in range(times):
        with MPICommExecutor(world, root=0) as executor:
            if executor is not None:
                assert list(executor.map(abs, range(-20, 0), chunksize=3)) == list(range(20, 0, -1))
        if time_ == 0: print("uses", flush=True)
"""


@pytest.mark.time_limit(240)
def test_executors_of_mpi4py_are_stopped_at_any_place(ranks):
    """Rank 0 makes its calls in a thread, and waits for this thread."""
    assert run(ranks, lambda _: EXECUTOR) == dict.fromkeys(EVERYBODY)
    for _ in range(5):
        cells = ranks.execute(lambda _: "use_executors(10**9)")
        wait_until(lambda: all("uses" in text for text in cells.printed()), "the ranks use executors", START)
        ranks.interrupt()
        assert cells.wait(PATIENCE), f"{PATIENCE} s after the interrupt:\n{ranks.rc.stacks()}"
        # by the interrupt, or because the other ranks were interrupted: whichever came first
        assert all(name in INTERRUPTED or "raised KeyboardInterrupt" in text for name, text in cells.outcomes().values()), \
            cells.outcomes()
        assert run(ranks, lambda _: "use_executors(2)") == dict.fromkeys(EVERYBODY)
        assert_well(ranks)
