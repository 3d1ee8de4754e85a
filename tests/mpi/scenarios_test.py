"""What works after a stop, one thing a test: a rank does not come, the others wait for it in MPI, the
user presses stop."""

import os
import subprocess
import time
from pathlib import Path

import pytest
from deadlines import cpu_time, wait_until

import mpi_cells
from mpi_fuzz import INTERRUPTED, START, Session

HERE = Path(__file__).parent
PATIENCE = 60  # seconds
EVERYBODY = (0, 1, 2, 3)

# What rank 2 does instead, and the name of its error once all are interrupted.
FAULTS = {"raises": ("give_up_in()", "RuntimeError"), "loops": ("loop()", "KeyboardInterrupt"),
          "sleeps": ("sleep_long()", "KeyboardInterrupt")}  # fmt: skip

# Calls in which the others wait for rank 2.
CALLS = {
    "Barrier": "world.Barrier()",
    "Allreduce": "world.Allreduce(np.ones(1), np.empty(1))",
    "Bcast": "world.Bcast(np.empty(1), root=2)",
    "Recv": "world.Recv(np.empty(1), source=2)",
    "Sendrecv": "world.Sendrecv(np.ones(1), 2, 0, np.empty(1), 2, 0)",
    "Wait": "world.Irecv(kept_array, source=2).Wait()",
    "Gatherv": "world.Gatherv(np.ones(1), np.empty(4) if mpi_rank == 0 else None, root=0)",
}
COLLECTIVE = ("Barrier", "Allreduce", "Bcast", "Gatherv")

def kinds(*pairs):
    """pairs: language and client, and MPI where that is not Open MPI."""
    return pytest.mark.parametrize("kind", pairs, ids=["-".join(pair) for pair in pairs], indirect=True)


python_ranks = kinds(("python", "own"))
all_languages = (("python", "own"), ("cpp", "own"), ("python:2,cpp:2", "own"))
languages = kinds(*all_languages)
languages_and_mpis = kinds(*all_languages, ("cpp", "own", "mpich"), ("python:2,cpp:2", "own", "mpich"))
mpich = kinds(("cpp", "own", "mpich"), ("python:2,cpp:2", "own", "mpich"))
foreign_clients = kinds(("python", "ipyparallel"), ("cpp", "ipyparallel"))


def effort(pid):
    """How much the main thread of a process has done: its milliseconds of computing, and how often it
    has slept. Both grow while it waits in MPI, whether it polls at once or in intervals."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("voluntary_ctxt_switches"):
            return cpu_time(pid) * 1e3 + int(line.split()[1])
    raise AssertionError(f"/proc/{pid}/status has no voluntary_ctxt_switches")


def run(ranks, cell_of, patience=PATIENCE):
    """Runs a cell to its end: rank -> its error or None."""
    cells = ranks.execute(cell_of)
    if not cells.wait(patience):
        ranks.interrupt()
        cells.wait(patience)
        state = f"{4 - cells.n_done()} ranks still run" if cells.n_done() < 4 else cells.outcomes()
        pytest.fail(f"not done after {patience} s; after an interrupt: {state}")
    return cells.outcomes()


def call(ranks, calls):
    """Runs calls of the helpers on each rank; the Cells."""
    number = ranks.next_program()
    return ranks.execute(lambda language: mpi_cells.calls_cell(calls, number, language))


def stop(ranks, cells, waiting, done=(), times=1):
    """Interrupts all ranks once `waiting` are in their call and `done` have ended; rank -> its error.

    times: 2 does not wait until a library that calls MPI has returned.
    """
    wait_until(lambda: all("\n" in text for text in cells.printed()), "all ranks run the cell", START)
    pids = {rank: int(cells.printed()[rank].split()[1]) for rank in waiting}
    before = {rank: effort(pid) for rank, pid in pids.items()}
    wait_until(lambda: cells.n_done() >= len(done), "the ranks that raise have ended", PATIENCE)
    wait_until(lambda: all(effort(pid) > before[rank] + 10 for rank, pid in pids.items()),
               "the others wait", PATIENCE)  # fmt: skip
    begun = time.monotonic()
    for _ in range(times):
        ranks.interrupt()
    assert cells.wait(PATIENCE), f"{4 - cells.n_done()} ranks run {PATIENCE} s after the interrupt"
    outcomes = cells.outcomes()
    print(f"stopped after {time.monotonic() - begun:.2f} s:", *outcomes.items(), sep="\n")
    return outcomes


def assert_well(ranks):
    """Messages and collective calls are right, on the world and on other communicators."""
    number = ranks.next_program()
    assert run(ranks, lambda language: mpi_cells.known_cell(number, language)) == dict.fromkeys(EVERYBODY)


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    """The path of waiting_calls.c as a shared library."""
    path = tmp_path_factory.mktemp("library") / "libwaiting_calls.so"
    subprocess.run(["mpicc", "-shared", "-fPIC", HERE / "waiting_calls.c", "-o", path], check=True)
    return path


@python_ranks
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("way", ["mpi4py", "library"])
def test_ranks_that_wait_are_stopped_and_say_for_whom(ranks, library, way, name, fault):
    does, ename = FAULTS[fault]
    waits = CALLS[name]
    if way == "library":
        run(ranks, lambda _: f"import ctypes\nlibrary = ctypes.CDLL({str(library)!r})")
        waits = f"library.wait_{name}()"
    run(ranks, lambda _: "kept = mpi_rank * 11\nkept_array = np.empty(1)")
    others = [waits, "reached = True"]
    run(ranks, lambda _: "reached = False")
    cells = call(ranks, [others, others, [does], others])
    waiting = (0,) if name == "Gatherv" else (0, 1, 3)  # only the root must wait
    times = 2 if way == "library" else 1
    outcomes = stop(ranks, cells, waiting, done=(2,) if fault == "raises" else (), times=times)
    assert outcomes[2][0] == ename
    for rank in waiting:
        assert outcomes[rank][0] == "KeyboardInterrupt"
        assert f"MPI_{name}" in outcomes[rank][1]
        assert ("a library made this call" in outcomes[rank][1]) == (way == "library")
        if name in COLLECTIVE:
            assert "rank 2" in outcomes[rank][1]
    assert ranks.rc[:].pull("kept", block=True) == [0, 11, 22, 33]
    assert [ranks.rc[rank].pull("reached", block=True) for rank in waiting] == [False] * len(waiting)
    assert_well(ranks)


def assert_stopped(outcomes):
    """By the interrupt, or because rank 2 had failed: whichever came first."""
    for rank in (0, 1, 3):
        name, text = outcomes[rank]
        assert name in INTERRUPTED or "cannot end: rank 2 raised" in text, outcomes


@languages
@pytest.mark.parametrize("name", ["Sendrecv", "Sendrecv_replace"])
def test_no_exchange_ends_well_without_its_data(ranks, name):
    """Rank 3 waits for a value of rank 2, soon the others for rank 3."""
    shift = [f"{name}(world, {(rank + 1) % 4}, {(rank + 3) % 4}, 0, 4, 1)" for rank in EVERYBODY]
    calls = [[shift[rank]] * 5 for rank in EVERYBODY]
    calls[2] = [shift[2], "give_up_in()"]
    outcomes = stop(ranks, call(ranks, calls), waiting=(0, 1, 3), done=(2,))
    assert_stopped(outcomes)
    assert_well(ranks)


@languages
@pytest.mark.parametrize("calls_before", [[], ["Barrier(world)"]], ids=["at once", "after a call"])
def test_the_same_cell_again_waits_for_the_rank_that_failed_before(ranks, calls_before):
    """Longer than ranks wait for one that has failed."""
    slow = {mpi_cells.PYTHON: "import time; time.sleep(3)", mpi_cells.CPP: "sleep(3);"}
    fails = {mpi_cells.PYTHON: "fails = {}", mpi_cells.CPP: "fails = {};"}
    run(ranks, lambda language: "fails = 1" if language == mpi_cells.PYTHON else "int fails = 1;")
    number = ranks.next_program()

    def cell(language):
        calls = [[*calls_before, "Barrier(world)"] for _ in EVERYBODY]
        text = mpi_cells.calls_cell(calls, number, language)
        if language == mpi_cells.PYTHON:
            return ("if mpi_rank == 2 and fails: raise ValueError('not yet')\n"
                    f"if mpi_rank == 2: {slow[language]}\n{text}")
        return ('if (mpi_rank == 2 && fails) throw std::runtime_error("not yet");\n'
                f"if (mpi_rank == 2) {slow[language]}\n{text}")

    first = ranks.execute(cell)
    assert first.wait(PATIENCE + 5)
    assert "not yet" in first.outcomes()[2][1]
    run(ranks, lambda language: fails[language].format(0))
    again = ranks.execute(cell)
    assert again.wait(PATIENCE + 10)
    assert again.outcomes() == dict.fromkeys(EVERYBODY)
    assert_well(ranks)


@languages
@pytest.mark.parametrize("n_messages", [1, 40])
def test_messages_of_a_stopped_cell_are_not_received_by_the_next(ranks, n_messages):
    """They have been sent, and nobody has received them."""
    calls = [[f"Send(world, {(rank + 1) % 4}, 0, 4, 1)"] * n_messages + ["Barrier(world)"]
             for rank in EVERYBODY]  # fmt: skip
    calls[2][-1] = "give_up_in()"
    stop(ranks, call(ranks, calls), waiting=(0, 1, 3), done=(2,))
    assert_well(ranks)


FREES_AND_FAILS = """
half = world.Split(mpi_rank // 2, mpi_rank)
if mpi_rank == 0:
    while not os.path.exists({path!r}):
        pass
    half.Send(np.full(4, -5.0), 1)
else:
    half.Free()
if mpi_rank == 1:
    open({path!r}, "w").close()
    raise ValueError("no data")
"""
TWO_AND_TWO = """
made.append(world.Split(mpi_rank in (1, 2), -mpi_rank))
for comm in made:
    got, other = np.zeros(4), 1 - comm.rank
    comm.Sendrecv(np.full(4, mpi_rank + 1.0), other, 0, got, other, 0)
    assert np.all(got == (4, 3, 2, 1)[mpi_rank]), f"WRONG {got}"
"""


@kinds(("python", "own"), ("python", "own", "mpich"))
def test_a_message_over_what_a_failing_rank_has_freed_comes_over_no_other_communicator(ranks, tmp_path):
    """The MPI library gives the number of a communicator that was freed to the next one."""
    outcomes = run(ranks, lambda _: FREES_AND_FAILS.format(path=str(tmp_path / "freed")))
    assert outcomes == {**dict.fromkeys(EVERYBODY), 1: ("ValueError", "no data")}
    run(ranks, lambda _: "made = []")
    for _ in range(6):
        assert run(ranks, lambda _: TWO_AND_TWO) == dict.fromkeys(EVERYBODY)
    assert_well(ranks)


@python_ranks
def test_communicators_that_a_cell_frees_are_free_before_it_ends(ranks):
    """Open MPI numbers them; each is three, and the numbers are used again."""
    makes = ("numbers = []\nfor _ in range(50):\n    copy = world.Dup()\n    copy.Barrier()\n"
             "    numbers.append(copy.py2f())\n    copy.Free()\nassert max(numbers) - numbers[0] < 30, numbers")  # fmt: skip
    assert run(ranks, lambda _: makes) == dict.fromkeys(EVERYBODY)
    assert_well(ranks)


FREES_BY_AN_ATTRIBUTE = """
key = MPI.Comm.Create_keyval(copy_fn=lambda _, key, kept: kept.Dup(), delete_fn=lambda _, key, kept: kept.Free())
for _ in range(3):
    holder = world.Dup()
    holder.Set_attr(key, world.Dup())
    copy = holder.Dup()
    copy.Free()
    holder.Free()
MPI.Comm.Free_keyval(key)
"""


@python_ranks
def test_a_communicator_may_be_freed_by_an_attribute_of_one_that_is_freed(ranks):
    assert run(ranks, lambda _: FREES_BY_AN_ATTRIBUTE) == dict.fromkeys(EVERYBODY)
    assert_well(ranks)


# More than the memory of a host has counts for roll calls of a rank.
GOES_ON_ALONE = """
half = world.Split(mpi_rank // 2, mpi_rank)
if mpi_rank == 0:
    half.Barrier()
if mpi_rank == 1:
    half.Free()
if mpi_rank in (1, 2):
    both = world.Get_group().Incl([1, 2])
    for _ in range(300):
        copy = world.Create_group(both)
        copy.Barrier()
        copy.Free()
if mpi_rank == 1:
    raise ValueError("no data")
"""


@python_ranks
def test_no_call_begins_without_a_rank_that_has_freed_its_communicator(ranks):
    """Each communicator has a count in memory, which is used again when that has been freed."""
    outcomes = run(ranks, lambda _: GOES_ON_ALONE)
    assert outcomes[0] and "MPI_Barrier cannot end: rank 1 raised ValueError: no data" in outcomes[0][1]
    assert_well(ranks)


# Of all ranks, in another order than the world.
MAKES_PART = {
    mpi_cells.PYTHON: """
def make_part():
    global part
    part = world.Create_group(world.Get_group().Incl([2, 1, 0, 3]), 7)
""",
    mpi_cells.CPP: """
MPI_Comm part = MPI_COMM_NULL;
void make_part() {
  const int order[] = {2, 1, 0, 3};
  MPI_Group whole = MPI_GROUP_NULL, group = MPI_GROUP_NULL;
  MPI_Comm_group(world, &whole);
  MPI_Group_incl(whole, 4, order, &group);
  MPI_Comm_create_group(world, group, 7, &part);
  MPI_Group_free(&group);
  MPI_Group_free(&whole);
}
""",
}


@languages_and_mpis
@pytest.mark.parametrize("missing", [0, 2], ids=["a member", "the first member"])
@pytest.mark.parametrize("does", ["give_up_in()", "loop()"])
def test_ranks_that_wait_for_one_to_make_a_communicator_of_a_group_are_stopped(ranks, does, missing):
    """The first member of the group asks the others."""
    run(ranks, MAKES_PART.get)
    calls = [["make_part()"] for _ in EVERYBODY]
    calls[missing] = [does]
    waiting = [rank for rank in EVERYBODY if rank != missing]
    outcomes = stop(ranks, call(ranks, calls), waiting, done=(missing,) if does == "give_up_in()" else ())
    for rank in waiting:
        assert "MPI_Comm_create_group" in outcomes[rank][1], outcomes
    made = call(ranks, [["make_part()", "Barrier(part)"]] * 4)
    assert made.wait(PATIENCE)
    assert made.outcomes() == dict.fromkeys(EVERYBODY)
    assert_well(ranks)


@python_ranks
def test_an_error_names_the_function_of_mpi4py_that_was_called(ranks):
    """mpi4py makes it of several functions of MPI, and the ranks may wait in different ones."""
    outcomes = run(ranks, lambda _: "if mpi_rank == 1: raise ValueError('no data')\nworld.allreduce(mpi_rank)")
    for rank in (0, 2, 3):
        assert outcomes[rank][1].startswith("MPI_Allreduce cannot end: rank 1 "), outcomes
    assert_well(ranks)


# Of a rank to itself, on a communicator of its own: what a cell has begun, and not ended.
FROM_ITSELF = {"a receive": ["Irecv(0, {comm}, 0, 0, 4, 1)"],
               "a receive after a call of all": ["Barrier(world)", "Irecv(0, {comm}, 0, 0, 4, 1)"]}  # fmt: skip
TO_ITSELF = ["Isend(0, {comm}, 0, 0, 4, 1)"]
SELF = {mpi_cells.PYTHON: "alone = MPI.COMM_SELF", mpi_cells.CPP: "MPI_Comm alone = MPI_COMM_SELF;"}


def outcome_of_next_message(ranks, comm, calls):
    """What rank 3 says to a message to itself after a cell that began calls on the same communicator and was stopped."""
    run(ranks, SELF.get)
    calls = [each.format(comm=comm) for each in calls]
    others = [call for call in calls if "world" in call]
    ends = call(ranks, [others, others, others, [*calls, "give_up_in()"]])
    assert ends.wait(PATIENCE)
    assert mpi_cells.RAISED in ends.outcomes()[3][1]
    ends = call(ranks, [[], [], [], [f"Sendrecv({comm}, 0, 0, 0, 4, 2)"]])
    if not ends.wait(PATIENCE):
        ranks.interrupt()
        pytest.fail("rank 3 waits for its own message")
    outcomes = ends.outcomes()
    assert [outcomes[rank] for rank in (0, 1, 2)] == [None] * 3
    return outcomes[3]


@languages_and_mpis
@pytest.mark.parametrize("comm", ["three", "alone"])
@pytest.mark.parametrize("begun", FROM_ITSELF)
def test_a_receive_that_a_stopped_rank_has_begun_from_itself_takes_nothing_of_a_later_cell(ranks, begun, comm):
    assert outcome_of_next_message(ranks, comm, FROM_ITSELF[begun]) is None
    assert_well(ranks)


@languages
@pytest.mark.parametrize("comm", ["three", "alone"])
def test_a_message_that_a_stopped_rank_has_sent_to_itself_comes_to_no_later_cell(ranks, comm):
    assert outcome_of_next_message(ranks, comm, TO_ITSELF) is None
    assert_well(ranks)


@mpich
@pytest.mark.parametrize(("comm", "cure"), [("three", "make it again"), ("alone", "restart the engines")])
def test_a_communicator_is_refused_where_a_message_to_itself_is_still_under_way(ranks, clusters, comm, cure):
    """MPICH keeps no copy of such a message: the cell's memory is read when it is received."""
    kind, said = outcome_of_next_message(ranks, comm, TO_ITSELF)
    assert "as a message of this rank to itself was under way; " + cure in said
    if cure == "make it again":
        run(ranks, mpi_cells.setup_cell)
        assert_well(ranks)
    else:
        clusters.end()


# 48 MiB: memory that goes back to the system when it is freed.
HUGE = 6 << 20
SENDS = f"Send(world, 1, 0, {HUGE}, 1)"
EXCHANGES = f"Sendrecv_replace(world, 1, 1, 0, {HUGE}, 1)"
RECEIVES = f"Recv(world, 0, 0, {HUGE}, 1)"
AWAITS = f"Irecv(0, world, 0, 0, {HUGE}, 1)"


@python_ranks
@pytest.mark.parametrize("sends, before, after", [(SENDS, [], RECEIVES), (EXCHANGES, [], RECEIVES),
                                                  (EXCHANGES, [AWAITS], "Wait(0)")])  # fmt: skip
def test_what_a_stopped_rank_has_half_sent_is_not_read_from_memory_that_it_has_freed(
    ranks, tmp_path, sends, before, after
):
    """Rank 0 alone is stopped. Rank 1 receives later, or looks later what has come."""
    waiting, stopped = tmp_path / "waiting", tmp_path / "stopped"
    waits = [f"open({str(waiting)!r}, 'x').close()", f"while not os.path.exists({str(stopped)!r}): time.sleep(0.01)"]
    cells = call(ranks, [[sends], [*before, *waits, after], [], []])
    wait_until(lambda: all("\n" in text for text in cells.printed()), "all ranks run the cell", START)
    wait_until(waiting.exists, "rank 1 waits, and has begun to receive where it does", PATIENCE)
    wait_until(lambda: "MPI_Send" in str(ranks.rc.where(0)), "rank 0 sends", PATIENCE)
    ranks.rc.send_signal("SIGINT", targets=0)
    wait_until(lambda: cells.n_done() == 3, "rank 0 has left the call", PATIENCE)
    stopped.touch()
    assert cells.wait(PATIENCE)
    outcomes = cells.outcomes()
    assert outcomes[0][0] == "KeyboardInterrupt"
    assert before or "rank 0 was interrupted" in outcomes[1][1]
    assert_well(ranks)


@languages
@pytest.mark.parametrize("calls", [
    ["Iallreduce(0, world, 4, 1)", "Wait(0)"],
    ["Iallreduce(0, world, 4, 1)", "Waitall(0)"],
    ["Ibarrier(0, world)", "Test_until_done(0)"],
    ["Ibarrier(0, world)", "Ibarrier(1, pair)", "Iallreduce(2, world, 4, 3)", "Wait(2)"],
], ids=["Wait", "Waitall", "Test", "several"])  # fmt: skip
def test_collective_requests_that_are_stopped_leave_the_next_calls_well(ranks, calls):
    outcomes = stop(ranks, call(ranks, [calls, calls, ["give_up_in()"], calls]), (0, 1, 3), done=(2,))
    assert_stopped(outcomes)
    assert_well(ranks)


@languages
def test_requests_begun_before_a_stop_are_refused_with_a_sentence_or_done(ranks):
    """Rank 0 waits in vain for a value of rank 2, which never sends it."""
    waits = ["Irecv(0, world, 2, 0, 4, 1)", "Barrier(world)"]
    stop(ranks, call(ranks, [waits, ["Barrier(world)"], ["give_up_in()"], ["Barrier(world)"]]), (0, 1, 3), (2,))
    outcomes = run(ranks, mpi_cells.leftover_cell)
    assert {rank: error for rank, error in outcomes.items() if error and rank != 0} == {}
    assert outcomes[0] is not None
    assert "stop" in outcomes[0][1] and "\n" not in outcomes[0][1].strip()
    assert_well(ranks)


# Collective calls on files, windows and neighbours, in which the others wait for rank 2.
SHARED = {
    "File_write_all": "file.Write_all(np.full(4, mpi_rank, 'int64'))",
    "File_read_at_all": "file.Read_at_all(0, np.empty(4, 'int64'))",
    "File_set_size": "file.Set_size(32)",
    "File_sync": "file.Sync()",
    "File_open": "MPI.File.Open(world, path, MPI.MODE_RDONLY)",
    "Win_fence": "window.Fence()",
    "Win_allocate": "MPI.Win.Allocate(8, comm=world)",
    "Neighbor_allgather": "ring.Neighbor_allgather(np.ones(1), np.empty(2))",
}
MAKE_SHARED = """
file = MPI.File.Open(world, {path!r}, MPI.MODE_RDWR | MPI.MODE_CREATE)
shown = np.full(4, -1, "int64")
window = MPI.Win.Create(shown, 8, comm=world)
ring = world.Create_cart([4], periods=[True])
path = {path!r}
"""
USE_SHARED = """
file.Set_view(0, MPI.INT64_T)
file.Write_at_all(4 * mpi_rank, np.full(4, {number} + mpi_rank, "int64"))
file.Sync()
got = np.empty(4, "int64")
file.Read_at_all(4 * ((mpi_rank + 1) % 4), got)
assert np.all(got == {number} + (mpi_rank + 1) % 4), f"WRONG {{got}}"
window.Fence()
window.Put(np.full(4, {number} + mpi_rank, "int64"), (mpi_rank + 1) % 4)
window.Fence()
assert np.all(shown == {number} + (mpi_rank + 3) % 4), f"WRONG {{shown}}"
near = np.empty(2, "int64")
ring.Neighbor_allgather(np.full(1, {number} + mpi_rank, "int64"), near)
assert list(near) == [{number} + (mpi_rank + 3) % 4, {number} + (mpi_rank + 1) % 4], f"WRONG {{near}}"
"""


@kinds(("python", "own"), ("python", "own", "mpich"))
def test_files_windows_and_neighbours_are_usable_after_a_stop_in_one_of_their_calls(ranks, tmp_path):
    path = str(tmp_path / "shared")
    assert run(ranks, lambda _: MAKE_SHARED.format(path=path)) == dict.fromkeys(EVERYBODY)
    assert run(ranks, lambda _: USE_SHARED.format(number=100)) == dict.fromkeys(EVERYBODY)
    for place, (name, waits) in enumerate(SHARED.items(), 2):
        outcomes = stop(ranks, call(ranks, [[waits], [waits], ["give_up_in()"], [waits]]), (0, 1, 3), done=(2,))
        for rank in (0, 1, 3):
            assert outcomes[rank][0] == "KeyboardInterrupt"
            assert f"in MPI_{name}" in outcomes[rank][1] and "rank 2" in outcomes[rank][1]
        assert run(ranks, lambda _: USE_SHARED.format(number=100 * place)) == dict.fromkeys(EVERYBODY)
    assert run(ranks, lambda _: "file.Close(); window.Free(); ring.Free()") == dict.fromkeys(EVERYBODY)
    assert_well(ranks)


MERGE = """
half = world.Split(mpi_rank % 2)
between = half.Create_intercomm(0, world, 1 - mpi_rank % 2, 5)
merged = between.Merge(mpi_rank % 2 == 1)
"""


@kinds(("python", "own"), ("python", "own", "mpich"))
def test_a_communicator_that_was_merged_is_usable_after_a_stop(ranks):
    assert run(ranks, lambda _: MERGE) == dict.fromkeys(EVERYBODY)
    waits = ["Allreduce(merged, 4, 1)"]
    stop(ranks, call(ranks, [waits, waits, ["give_up_in()"], waits]), (0, 1, 3), done=(2,))
    ends = call(ranks, [["Allreduce(merged, 4, 1)", "Bcast(merged, 3, 4, 2)"]] * 4)
    assert ends.wait(PATIENCE)
    assert ends.outcomes() == dict.fromkeys(EVERYBODY)
    assert_well(ranks)


@python_ranks
def test_where_names_a_call_that_cannot_be_interrupted(ranks, tmp_path):
    """Rank 0 waits for the window of rank 2, which rank 3 has locked."""
    free = tmp_path / "free"
    run(ranks, lambda _: "window = MPI.Win.Create(np.zeros(1), comm=world)")
    others = ["Barrier(world)"]
    waits = [*others, "window.Lock(2)", "window.Unlock(2)"]
    holds = ["window.Lock(2)", *others, f"while not os.path.exists({str(free)!r}): time.sleep(0.01)",
             "window.Unlock(2)"]  # fmt: skip
    cells = call(ranks, [waits, others, others, holds])
    wait_until(lambda: "MPI_Win_" in str(ranks.rc.where(0)), "rank 0 waits for the lock", PATIENCE)
    free.touch()
    assert cells.wait(PATIENCE)
    assert cells.outcomes() == dict.fromkeys(EVERYBODY)
    run(ranks, lambda _: "window.Free()")
    assert_well(ranks)


# Ranks 1 and 3 only send to rank 0, which waits for rank 2.
REDUCTIONS = {
    "ranks that are in different ones": ["world.reduce(1)"] * 3 + ["Barrier(world)"],
    "ranks that are in the first one": ["allreduce_object(copied, 1)"],
    "ranks that are in a later one": ["allreduce_object(world, 1)"],
}


@python_ranks
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_of_objects_that_are_stopped_leave_the_next_ones_well(ranks, name):
    """mpi4py sends their messages over a duplicate of its own, and counts them."""
    run(ranks, lambda _: "copied = world.Dup()")
    ends = call(ranks, [["allreduce_object(world, 1)"]] * 4)
    assert ends.wait(PATIENCE)
    calls = REDUCTIONS[name]
    stop(ranks, call(ranks, [calls, calls, ["give_up_in()"], calls]), (0, 1, 3), done=(2,))
    known = ["allreduce_object(copied, 1)", "allreduce_object(world, 2)", "allreduce_object(copied, 3)"]
    again = call(ranks, [known] * 4)
    if not again.wait(PATIENCE):
        ranks.interrupt()
        pytest.fail(f"{4 - again.n_done()} ranks wait for each other in the next reductions")
    assert again.outcomes() == dict.fromkeys(EVERYBODY)
    assert_well(ranks)


@languages_and_mpis
def test_ranks_can_be_stopped_again_and_again(ranks):
    for _ in range(3):
        stop(ranks, call(ranks, [["Barrier(world)"]] * 2 + [["loop()"]] + [["Allreduce(pair, 4, 1)"]]), (0, 1, 3))
        assert_well(ranks)


SHARE_A_CORE = """
import ctypes
yields = ctypes.CDLL(None).yields

def usual_yields(call):
    "How often the ranks together give the core away in most calls: the system may do it first in some."
    counts = np.empty(20)
    for i in range(len(counts)):
        before = yields()
        call()
        counts[i] = yields() - before
    return int(sorted(sum(world.allgather(counts)))[5])

size = 1 << 17
given, got, sums = np.arange(size) / 3 + mpi_rank, np.empty(size), []
for _ in range(20):
    world.Allreduce(given, got)
    sums.append(got.tobytes())
assert np.allclose(got, 4 * (np.arange(size) / 3) + 6), "WRONG Allreduce"
assert set(world.allgather(sums[0])) == set(sums), "WRONG Allreduce: its sums differ"
sent = np.arange(size) / 3 if mpi_rank == 2 else np.empty(size)
world.Bcast(sent, root=2)
assert sent.tobytes() == (np.arange(size) / 3).tobytes(), "WRONG Bcast"
one = np.ones(1)
usual = [usual_yields(lambda: world.Allreduce(one, np.empty(1))),
         usual_yields(lambda: world.Sendrecv(one, (mpi_rank + 1) % 4, 0, np.empty(1), (mpi_rank - 1) % 4, 0))]
assert min(usual) > 0, usual
"""


@pytest.fixture
def one_core():
    """All that the test starts runs on it."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    yield
    os.sched_setaffinity(0, cores)


@pytest.fixture
def counted_yields(tmp_path, monkeypatch):
    """All that the test starts has the function of yields.c, which counts those of a thread."""
    path = tmp_path / "libyields.so"
    subprocess.run(["cc", "-shared", "-fPIC", HERE / "yields.c", "-o", path], check=True)
    monkeypatch.setenv("LD_PRELOAD", str(path))


def test_ranks_of_mpich_that_share_a_core_give_it_away_while_they_wait(clusters, folder, one_core, counted_yields):
    """The first rank in a call waits for others, which need the core. MPICH's own calls never give it away."""
    clusters.end()
    with Session("python", mpi="mpich") as ranks:
        assert run(ranks, lambda _: SHARE_A_CORE) == dict.fromkeys(EVERYBODY)
        assert_well(ranks)


STOPS = int(os.environ.get("PX_MPI_STOPS", 25))
COPIES = {"openmpi": 10, "mpich": max(10, 2000 // STOPS)}  # each is renewed after each stop


@kinds(("python", "own"), ("python", "own", "mpich"))
@pytest.mark.time_limit(90 + 10 * STOPS)
def test_stops_do_not_use_up_the_communicators_of_the_mpi_library(ranks):
    """MPICH has 2,048; the stops need more. Open MPI has too many for a test. PX_MPI_STOPS=1000 stops that often."""
    run(ranks, lambda _: "copies = []")
    for _ in range(COPIES[ranks.mpi] // 10):
        run(ranks, lambda _: "copies += [world.Dup() for _ in range(10)]")
    waits = [["Barrier(world)"], ["allreduce_object(world, 1)"], ["allreduce_object(copies[7], 1)"],
             [f"Send(world, {rank}, 0, 4, 1)" for rank in EVERYBODY] + ["Barrier(copies[1])"],
             ["Isend(0, copies[2], 2, 7, 4, 1)", "Irecv(1, copies[2], 2, 7, 4, 1)", "Bcast(world, 2, 4, 2)"],
             ["Allreduce(copies[4], 4, 1)", "Barrier(world)"]]  # fmt: skip
    for n in range(STOPS):
        calls = waits[n % len(waits)]
        stop(ranks, call(ranks, [calls, calls, ["give_up_in()"], calls]), (0, 1, 3), done=(2,))
        together = call(ranks, [["Barrier(world)"]] * 4)
        assert together.wait(PATIENCE)
        assert together.outcomes() == dict.fromkeys(EVERYBODY)
    assert_well(ranks)
    ends = call(ranks, [["allreduce_object(copies[7], 1)", "Bcast(copies[-1], 0, 4, 2)"]] * 4)
    assert ends.wait(PATIENCE)
    assert ends.outcomes() == dict.fromkeys(EVERYBODY)
    run(ranks, lambda _: "for copy in copies: copy.Free()")


# What rank 0 waits in, for whoever comes first.
FOR_ANY = {
    "Recv": "world.Recv(np.empty(1), MPI.ANY_SOURCE, 12)",
    "Probe": "world.Probe(MPI.ANY_SOURCE, 12)",
    "Wait": "world.Irecv(kept_array, MPI.ANY_SOURCE, 12).Wait()",
}


@kinds(("python", "own"), ("python", "own", "mpich"))
@pytest.mark.parametrize("name", FOR_ANY)
def test_a_wait_for_any_rank_ends_where_one_has_failed_and_the_rest_wait_as_well(ranks, name):
    """Rank 3 waits in a collective call of its own for rank 1, rank 1 for rank 0."""
    run(ranks, lambda _: "kept_array = np.empty(1)\npart = world.Split(mpi_rank % 2)")
    waits = [FOR_ANY[name], "world.Recv(np.empty(1), 0, 11)", "give_up_in()", "part.Barrier()"]
    cells = call(ranks, [[wait] for wait in waits])
    assert cells.wait(PATIENCE)
    outcomes = cells.outcomes()
    for rank in (0, 1, 3):
        assert "cannot end: rank 2 raised RuntimeError: rank 2 gives up" in outcomes[rank][1], outcomes
    assert_well(ranks)


@python_ranks
def test_a_wait_for_any_rank_goes_on_while_one_of_them_computes(ranks):
    """Longer than the grace after another one has failed."""
    computes = ["time.sleep(4)", "world.Send(np.full(1, 7.0), 0, 12)", "world.Recv(np.empty(1), 0, 13)"]
    waits = ["got = np.empty(1)", "world.Recv(got, MPI.ANY_SOURCE, 12)", "assert got[0] == 7",
             "world.Send(got, 3, 13)"]  # fmt: skip
    cells = call(ranks, [waits, ["world.Recv(np.empty(1), 0, 11)"], ["give_up_in()"], computes])
    assert cells.wait(PATIENCE)
    outcomes = cells.outcomes()
    assert outcomes[0] is None, outcomes
    assert "cannot end" in outcomes[1][1]
    assert_well(ranks)


@foreign_clients
def test_a_client_of_ipyparallel_can_stop_ranks_again_and_again(ranks):
    for _ in range(3):
        stop(ranks, call(ranks, [["Barrier(world)"]] * 2 + [["loop()"]] + [["Barrier(world)"]]), (0, 1, 3))
        assert_well(ranks)
