"""After any program that is stopped at any moment, MPI calls are right or refused: never wrong, and
nobody waits for ever.

PX_MPI_FUZZ_SEEDS=200 runs so many seeds with each kind of cluster and client, PX_MPI_FUZZ_SEED=17 the
one; fuzz_programs.py does the same on a command line.
"""

import os

import pytest

import mpi_fuzz

SEEDS = 5


def seeds_of(number):
    """The seeds of a kind of cluster: each kind has its own."""
    if os.environ.get("PX_MPI_FUZZ_SEED"):
        return [int(os.environ["PX_MPI_FUZZ_SEED"])]
    count = int(os.environ.get("PX_MPI_FUZZ_SEEDS", SEEDS))
    return range(1000 * number, 1000 * number + count)


@pytest.mark.time_limit(90 + 30 * int(os.environ.get("PX_MPI_FUZZ_SEEDS", SEEDS)))
@pytest.mark.parametrize("number, language, client", [
    (0, "python", "own"),
    (1, "cpp", "own"),
    (2, "python:2,cpp:2", "own"),
    (3, "python", "ipyparallel"),
    (4, "cpp", "ipyparallel"),
])  # fmt: skip
def test_stopped_programs_leave_nothing_wrong(clusters, folder, number, language, client):
    clusters.end()
    with mpi_fuzz.Runner(language, client, patience=20) as runner:
        outcomes = [runner.run(seed) for seed in seeds_of(number)]
    bad = [each for each in outcomes if each.verdict in (mpi_fuzz.WRONG, mpi_fuzz.HUNG)]
    print(mpi_fuzz.summary(outcomes))
    assert not bad, "\n".join(f"{each.report()}\n{each.text}" for each in bad)


@pytest.mark.time_limit(90 + 30 * int(os.environ.get("PX_MPI_FUZZ_SEEDS", SEEDS)))
@pytest.mark.parametrize("number, language, mpi", [
    (10, "python", "openmpi"),
    (11, "python:2,cpp:2", "openmpi"),
    (12, "python", "mpich"),
    (13, "cpp", "mpich"),
])  # fmt: skip
def test_stops_in_one_gang_leave_the_other_one_alone(clusters, folder, number, language, mpi):
    clusters.end()
    outcomes = []
    with mpi_fuzz.Session(language, mpi=mpi) as session:
        for seed in seeds_of(number):
            outcomes.append(mpi_fuzz.run_gangs(session, seed, "own", patience=20))
            if outcomes[-1].verdict in (mpi_fuzz.WRONG, mpi_fuzz.HUNG):
                break
    print(mpi_fuzz.summary(outcomes))
    last = outcomes[-1]
    assert last.verdict in (mpi_fuzz.RIGHT, mpi_fuzz.REFUSED), f"{last.report()}\n{last.text}"


@pytest.mark.parametrize("error", [
    ("AssertionError", "WRONG Recv of step 3: 5, not 6"),
    ("std::runtime_error", "WRONG Recv of step 3: 5, not 6"),
    ("std::runtime_error", "MPI_ERR_TRUNCATE: message truncated"),
    ("Crashed", "the cell crashed: SIGSEGV"),
    ("RuntimeError", ""),
    ("RuntimeError", "one line\nand another one"),
])  # fmt: skip
def test_what_is_no_refusal(error):
    assert mpi_fuzz.is_wrong(error)


def test_a_sentence_is_a_refusal():
    assert not mpi_fuzz.is_wrong(("RuntimeError", "the request was begun before the cell was stopped"))
