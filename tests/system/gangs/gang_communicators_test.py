"""Communicators of tasks of several ranks are freed: an MPI library has only so many."""

import polyxeus as px
import pytest

TASKS = 800  # MPICH has 2,048 communicators, and each gang takes three of them


@pytest.fixture(scope="module")
def four_ranks(new_cluster, mpich):
    """Four engines under MPICH. They keep one communicator of a gang each."""
    cluster = new_cluster("gang_communicators")
    cluster.start_controller("--gang-communicators=1")
    engines = cluster.start_mpi_engines(4, mpiexec=mpich)
    cluster.client(engines=4)
    yield cluster
    cluster.engines.remove(engines)
    engines.stop()
    cluster.stop()


@px.interactive
def total(item, comm):
    from polyxeus.serialize import communicators

    return comm.allreduce(item), len(communicators._made)


def test_gangs_of_other_ranks_again_and_again_do_not_use_up_the_communicators(own):
    pairs = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]
    views = [own.load_balanced_view(pair) for pair in pairs]
    for view in views:
        view.set_flags(ranks=2)
    results = [views[item % len(views)].apply_async(total, item) for item in range(TASKS)]
    sums, counts = zip(*(result.get(120) for result in results))
    assert list(sums) == [2 * item for item in range(TASKS)]
    assert max(counts) <= len(pairs) // 2  # of a rank: it hears of the others with its next task
