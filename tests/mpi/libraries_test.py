"""Libraries that call MPI for themselves: a stop waits until all ranks have left them at the same place."""

import random
import subprocess
from pathlib import Path

import polyxeus
import pytest
from deadlines import wait_until

from scenarios_test import EVERYBODY, PATIENCE, assert_well, kinds, run

HERE = Path(__file__).parent
pytestmark = kinds(("python", "own"), ("python", "own", "mpich"))


@pytest.fixture
def library(ranks, tmp_path):
    """Loaded on all ranks, as `library`: counting_library.c, built with the MPI of the ranks."""
    path = tmp_path / "libcounting.so"
    compiler = "mpicc.mpich" if ranks.mpi == "mpich" else "mpicc.openmpi"
    subprocess.run([compiler, "-shared", "-fPIC", HERE / "counting_library.c", "-o", path], check=True)
    run(ranks, lambda _: f"import ctypes\nlibrary = ctypes.CDLL({str(path)!r})\nassert library.solve(3) == 0")


def stop_while(ranks, cell, after, stopped=EVERYBODY):
    """Stops the cell that long after all ranks have called the library in it; their errors."""
    cells = ranks.execute(lambda _: "library.solve(1)\nprint('begun', flush=True)\n" + cell)
    wait_until(lambda: all(cells.printed()), "all ranks have called it", PATIENCE)
    cells.wait(after)
    ranks.rc[list(stopped)].interrupt()
    assert cells.wait(PATIENCE)
    return cells.outcomes()


def assert_interrupted(outcomes):
    assert {outcome[0] for outcome in outcomes.values()} == {"KeyboardInterrupt"}, outcomes


def assert_in_step(ranks):
    """Its counts are the same on all ranks, and it works."""
    assert run(ranks, lambda _: "assert library.solve(3) == 0\ncount = library.count()") == dict.fromkeys(EVERYBODY)
    assert len(set(ranks.rc[:].pull("count", block=True))) == 1
    assert_well(ranks)


@pytest.mark.parametrize("steps", [1, 40])
def test_a_library_that_was_stopped_works_on(ranks, library, steps):
    chance = random.Random(steps)
    for _ in range(6):
        assert_interrupted(stop_while(ranks, f"while True: library.solve({steps})", chance.random() / 5))
        assert_in_step(ranks)


def test_one_rank_that_is_stopped_stops_all_at_the_same_call(ranks, library):
    assert_interrupted(stop_while(ranks, "while True: library.solve(20)", 0.1, stopped=[2]))
    assert_in_step(ranks)


def test_a_cell_says_where_it_can_be_stopped(ranks, library):
    """Between its steps there are no calls that all ranks make but that one."""
    cell = "from polyxeus import mpi\nsteps = 0\nwhile True:\n    steps += 1\n    mpi.stop_here()"
    assert_interrupted(stop_while(ranks, cell, 0.1))
    assert len(set(ranks.rc[:].pull("steps", block=True))) == 1
    assert_well(ranks)


def test_a_library_that_calls_abort_ends_its_rank_alone(ranks, library, clusters):
    run(ranks, lambda _: "kept = mpi_rank * 11")
    try:
        with pytest.raises(polyxeus.RemoteError, match="exited with code 7"):
            ranks.rc[2].execute("library.give_up(7)", block=True)
        assert ranks.rc[[0, 1, 3]].pull("kept", block=True) == [0, 11, 33]
    finally:
        clusters.end()
