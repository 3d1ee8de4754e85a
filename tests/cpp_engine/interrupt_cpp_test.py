"""Ranks that wait for others in MPI answer the stop button, and are in step again afterwards."""

import os

import polyxeus as ipp
import pytest
from deadlines import wait_until, wait_until_busy

from cells import begin, error_of, run, shown

SUM = """int mine = mpi_rank + 1, total = 0;
MPI_Allreduce(&mine, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
total"""


def stop(rc, view, code, hanging=(0, 1, 2, 3)):
    """Runs a cell in which the ranks `hanging` loop, or wait in MPI, which polls, and stops it:
    {engine id: what became of it}."""
    result, pids = begin(view, code)
    wait_until_busy([pids[rank] for rank in hanging], 30)
    rc.interrupt(block=True)
    assert result.wait(60), "ranks run 30 s after the interrupt"  # POLYXEUS_MPI_GRACE is longer
    outcomes = result.get(return_exceptions=True)
    print("stopped:", *map(str, outcomes), sep="\n")
    return dict(zip(result.engine_id, outcomes))


def assert_in_step(view):
    """Collective calls, messages and cells work on all ranks as at the start."""
    for _ in range(3):
        assert shown(run(view, SUM)) == ["10"] * 4
    assert shown(run(view, """int got = -1, right = (mpi_rank + 1) % 4, left = (mpi_rank + 3) % 4;
MPI_Sendrecv(&mpi_rank, 1, MPI_INT, right, 0, &got, 1, MPI_INT, left, 0, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
got""")) == ["3", "0", "1", "2"]  # fmt: skip


@pytest.mark.parametrize("call", [
    "MPI_Barrier(MPI_COMM_WORLD)",
    "double a = 1, b; MPI_Allreduce(&a, &b, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD)",
    "std::vector<int> all(4); MPI_Gather(&mpi_rank, 1, MPI_INT, all.data(), 1, MPI_INT, 0, MPI_COMM_WORLD)",
])  # fmt: skip
@pytest.mark.parametrize("fault, name", [
    ('throw std::runtime_error("no luck");', "std::runtime_error"),
    ("volatile int* nowhere = nullptr; *nowhere = 1;", "Crashed"),
    ("for (;;) ;", "Interrupted"),
])  # fmt: skip
def test_ranks_in_a_collective_call_answer_when_one_does_not_come(rc, view, call, fault, name):
    outcomes = stop(rc, view, f"if (mpi_rank == 2) {{ {fault} }} {call};", hanging=(0, 1, 3))
    assert outcomes[2].ename == name
    function = call[call.index("MPI_"):call.index("(", call.index("MPI_"))]
    for rank in (0, 1, 3):
        assert outcomes[rank].ename == "Interrupted"
        assert f"in {function}, which rank 2 had not reached" in outcomes[rank].evalue
    assert_in_step(view)


def test_a_cell_that_does_not_compile_on_one_rank_leaves_nobody_in_a_barrier(rc, view):
    run(rc[[0, 1, 3]], "int only_on_three = 1;")
    failures = error_of(view, "only_on_three = 2; MPI_Barrier(MPI_COMM_WORLD);")  # in less than POLYXEUS_MPI_GRACE
    assert failures[2][0] == "CompileError"
    assert all("rank 2" in failures[rank][1] for rank in (0, 1, 3))
    assert_in_step(view)


def test_the_same_cell_can_be_stopped_again(rc, view):
    for _ in range(2):
        outcomes = stop(rc, view, "if (mpi_rank != 2) MPI_Barrier(MPI_COMM_WORLD); else for (;;) ;")
        for rank in (0, 1, 3):
            assert "in MPI_Barrier, which rank 2 had not reached" in outcomes[rank].evalue


def test_several_ranks_may_miss_a_call_that_several_others_wait_in(rc, view):
    outcomes = stop(rc, view, "if (mpi_rank % 2) MPI_Barrier(MPI_COMM_WORLD); else for (;;) ;")
    for rank in (1, 3):
        assert "in MPI_Barrier, which ranks 0, 2 had not reached" in outcomes[rank].evalue
    assert_in_step(view)


def test_a_deadlock_of_receives_is_stopped(rc, view):
    outcomes = stop(rc, view, """int value;
MPI_Recv(&value, 1, MPI_INT, (mpi_rank + 1) % 4, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);""")
    assert {each.evalue for each in outcomes.values()} == {"the cell was interrupted in MPI_Recv"}
    assert_in_step(view)


def test_a_deadlock_of_sends_is_stopped_and_leaves_no_message(rc, view):
    run(view, "std::vector<double> big(1 << 20, mpi_rank);")  # it takes longer than to enter a call
    outcomes = stop(rc, view, """
MPI_Ssend(big.data(), 1 << 20, MPI_DOUBLE, (mpi_rank + 1) % 4, 7, MPI_COMM_WORLD);""")
    assert {each.evalue for each in outcomes.values()} == {"the cell was interrupted in MPI_Ssend"}
    assert shown(run(view, """int is_there = 0;
MPI_Iprobe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
is_there""")) == ["0"] * 4  # fmt: skip
    assert_in_step(view)


def test_probes_and_waits_are_stopped(rc, view):
    for call in ("MPI_Status s; MPI_Probe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &s);",
                 """int* value = new int; MPI_Request r;
MPI_Irecv(value, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &r);
MPI_Wait(&r, MPI_STATUS_IGNORE);"""):  # fmt: skip
        outcomes = stop(rc, view, call)
        assert {each.ename for each in outcomes.values()} == {"Interrupted"}
    assert_in_step(view)


def test_communicators_of_cells_are_settled_too(rc, view):
    run(view, "MPI_Comm pair; MPI_Comm_split(MPI_COMM_WORLD, mpi_rank / 2, mpi_rank, &pair);")
    outcomes = stop(rc, view, "if (mpi_rank == 1) for (;;) ; MPI_Barrier(pair);", hanging=(0, 1))
    assert "which rank 1 had not reached" in outcomes[0].evalue
    assert not isinstance(outcomes[3], ipp.RemoteError)
    assert shown(run(view, """int sum = 0;
MPI_Allreduce(&mpi_rank, &sum, 1, MPI_INT, MPI_SUM, pair);
sum""")) == ["1", "1", "5", "5"]  # fmt: skip
    run(view, "MPI_Comm_free(&pair);")
    assert_in_step(view)


@pytest.mark.parametrize("comes", [True, False])
def test_a_rank_that_does_not_answer_is_not_waited_for(rc, view, comes):
    outcomes = stop(rc, view, f"""#include <csignal>
if (mpi_rank == 2) {{
  sigset_t interrupt; sigemptyset(&interrupt); sigaddset(&interrupt, SIGINT);
  pthread_sigmask(SIG_BLOCK, &interrupt, nullptr);
  sigset_t pending;
  do {{ usleep(1000); sigpending(&pending); }} while (!sigismember(&pending, SIGINT));
  sleep(4);  // longer than the others wait for an answer
  pthread_sigmask(SIG_UNBLOCK, &interrupt, nullptr);
}}
if ({str(comes).lower()} || mpi_rank != 2) MPI_Barrier(MPI_COMM_WORLD);""", hanging=(0, 1, 3))
    for rank in (0, 1, 3):
        assert "in MPI_Barrier; rank 2 did not answer" in outcomes[rank].evalue
    assert_in_step(view)


def test_errors_of_mpi_are_exceptions(rc, view):
    failures = error_of(view, "MPI_Send(&mpi_rank, 1, MPI_INT, 99, 0, MPI_COMM_WORLD);")
    assert {name for name, _ in failures.values()} == {"std::runtime_error"}
    assert all("MPI_ERR_RANK" in words for _, words in failures.values())
    assert_in_step(view)


def test_calls_of_mpi_are_left_alone_where_the_environment_says_so(folder, monkeypatch):
    """An interrupt then ends what loops, and not what waits in a call: rank 0 is still in the
    barrier when rank 1 comes."""
    import polyxeus

    monkeypatch.setenv("POLYXEUS_MPI_INTERRUPTS", "0")
    with polyxeus.Cluster(engines="mpi", profile="alone", n=2, language="cpp", cluster_id="") as rc:
        rc.wait_for_engines(2, timeout=60)
        result, pids = begin(rc[:], "if (mpi_rank == 1) for (;;) ; MPI_Barrier(MPI_COMM_WORLD);")
        wait_until_busy(pids, 30)
        rc.interrupt(block=True)
        wait_until(lambda: result.progress == 1, "the loop has ended", 20)
        assert error_of(rc[[1]], "MPI_Barrier(MPI_COMM_WORLD);") == {}
        result.wait(60)
        outcomes = result.get(return_exceptions=True)
        assert outcomes[1].ename == "Interrupted"
        assert "MPI_Barrier" not in str(outcomes[0])


@pytest.mark.parametrize("compiling, busy", [(0, 3), (3, 0)])
def test_a_rank_stopped_while_it_compiles_waits_for_nobody(rc, view, tmp_path, compiling, busy):
    """The same stop keeps a busy rank from the cell: it never says whether the cell compiles there."""
    gate, header = tmp_path / "gate", tmp_path / "endless.hpp"
    os.mkfifo(gate)
    os.mkfifo(header)
    rc[busy].execute(f'{{ std::ifstream gate("{gate}"); gate.get(); }}', block=False)
    both = rc[[compiling, busy]]
    result = both.execute(f'#include "{header}"\nMPI_Barrier(MPI_COMM_WORLD);', block=False)
    with open(header, "w"):  # the compiler reads it
        both.abort(result, block=True)
        rc.interrupt(targets=compiling, block=True)
        try:
            wait_until(lambda: result.progress == 1, f"rank {compiling} has ended", 20)
        finally:
            with open(gate, "w"):
                pass
            rc.interrupt(targets=compiling, block=True)
    result.wait(60)
    outcomes = dict(zip(result.engine_id, result.get(return_exceptions=True)))
    assert outcomes[compiling].ename == "Interrupted"
    assert isinstance(outcomes[busy], ipp.TaskAborted)
    assert_in_step(view)
