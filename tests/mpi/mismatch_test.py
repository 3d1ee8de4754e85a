"""Ranks that make different collective calls: all get one sentence that names the calls, at once, and the next cell is
well."""

import pytest

from scenarios_test import EVERYBODY, assert_well, kinds, python_ranks, run

SETUP = """
a, b, all_of_a = np.ones(400000), np.ones(400000), np.empty(1600000)
one, window = np.ones(4), None
"""

# The cell of each rank, and the calls that the sentence names.
CASES = {
    "roots": ("world.Bcast(a, root=mpi_rank % 2)",
              "ranks 0, 2 called MPI_Bcast of 3200000 bytes with root 0; "
              "ranks 1, 3 called MPI_Bcast of 3200000 bytes with root 1"),
    "roots of a small one": ("world.Bcast(one, root=mpi_rank % 2)",
                             "ranks 0, 2 called MPI_Bcast of 32 bytes with root 0; "
                             "ranks 1, 3 called MPI_Bcast of 32 bytes with root 1"),
    "kinds": ("world.Allgather(a, all_of_a) if mpi_rank == 1 else world.Allreduce(a, b)",
              "ranks 0, 2, 3 called MPI_Allreduce of 3200000 bytes by MPI_SUM; "
              "rank 1 called MPI_Allgather of 3200000 bytes"),
    "barrier": ("world.Barrier() if mpi_rank == 1 else world.Reduce(a, b if mpi_rank == 0 else None)",
                "ranks 0, 2, 3 called MPI_Reduce of 3200000 bytes by MPI_SUM with root 0; "
                "rank 1 called MPI_Barrier"),
    "made communicators": ("world.Split(0) if mpi_rank == 3 else world.Allreduce(a, b)",
                           "rank 3 called MPI_Comm_split"),
    "sizes": ("world.Allreduce(a[:mpi_rank + 1], b[:mpi_rank + 1])",
              "rank 1 called MPI_Allreduce of 16 bytes by MPI_SUM"),
    "operations": ("world.Allreduce(one, b[:4], MPI.MAX if mpi_rank == 2 else MPI.SUM)",
                   "ranks 0, 1, 3 called MPI_Allreduce of 32 bytes by MPI_SUM; "
                   "rank 2 called MPI_Allreduce of 32 bytes by MPI_MAX"),
    "types": ("world.Allreduce(one.view('int64') if mpi_rank == 2 else one, "
              "b[:4].view('int64') if mpi_rank == 2 else b[:4])",
              "rank 2 called MPI_Allreduce of 32 bytes (signed integers of 8 bytes each) by MPI_SUM"),
    "file": ("file = MPI.File.Open(world, f'{FOLDER}/kept', MPI.MODE_CREATE | MPI.MODE_RDWR)\n"
             "file.Close() if mpi_rank == 1 else file.Write_at_all(mpi_rank * 80, np.ones(10))",
             "ranks 0, 2, 3 called MPI_File_write_at_all; rank 1 called MPI_File_close"),
}  # fmt: skip


@kinds(("python", "own"), ("python", "own", "mpich"))
@pytest.mark.parametrize("case", CASES)
def test_calls_that_do_not_match_are_told_to_all_ranks_at_once(ranks, tmp_path, case):
    cell, calls = CASES[case]
    outcomes = run(ranks, lambda _: SETUP + f"FOLDER = {str(tmp_path)!r}\n" + cell)
    sentences = {outcomes[rank][1].split(" cannot end: ")[1] for rank in EVERYBODY}
    (sentence,) = sentences
    assert sentence.startswith("the ranks made calls that do not match: ")
    assert calls in sentence
    assert_well(ranks)


@pytest.mark.time_limit(400)  # after a stop the ranks make 256 communicators again, while they share loaded cores
@kinds(("python", "own"), ("cpp", "own"))
def test_ranks_whose_roll_calls_go_through_mpi_compare_their_calls_too(ranks):
    """As those of several hosts: the memory of a host holds the roll calls of 255 communicators."""
    make = {"python": "many = [world.Dup() for _ in range(256)]",
            "cpp": "MPI_Comm many[256]; for (MPI_Comm& each : many) MPI_Comm_dup(MPI_COMM_WORLD, &each);"}
    call = {"python": "many[-1].Bcast(np.ones(4), root=mpi_rank % 2)",
            "cpp": "{ double a[4]{}; MPI_Bcast(a, 4, MPI_DOUBLE, mpi_rank % 2, many[255]); }"}
    match = {"python": "assert many[-1].allreduce(mpi_rank) == 6",
             "cpp": "{ int sum = 0; MPI_Allreduce(&mpi_rank, &sum, 1, MPI_INT, MPI_SUM, many[255]); }"}
    free = {"python": "for each in many: each.Free()", "cpp": "for (MPI_Comm& each : many) MPI_Comm_free(&each);"}
    assert run(ranks, make.get) == dict.fromkeys(EVERYBODY)
    outcomes = run(ranks, call.get)
    (sentence,) = {outcomes[rank][1].split(" cannot end: ")[1] for rank in EVERYBODY}
    assert "ranks 0, 2 called MPI_Bcast of 32 bytes with root 0; ranks 1, 3 called MPI_Bcast of 32 bytes with root 1" in sentence
    assert run(ranks, match.get, 180) == run(ranks, free.get) == dict.fromkeys(EVERYBODY)
    assert_well(ranks)


@python_ranks
def test_a_call_of_another_communicator_is_stopped(ranks):
    """Rank 1 waits in the fence of a window, the others in a barrier of the world."""
    cells = ranks.execute(lambda _: "window = MPI.Win.Create(np.ones(4), comm=world)\nprint('begun', flush=True)\n"
                                    "window.Fence() if mpi_rank == 1 else world.Barrier()")  # fmt: skip
    assert not cells.wait(1)
    ranks.interrupt()
    assert cells.wait(60)
    assert {outcome[0] for outcome in cells.outcomes().values()} == {"KeyboardInterrupt"}
    assert_well(ranks)
