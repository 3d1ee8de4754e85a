"""Communicators of tasks of several ranks are freed: an MPI library has only so many."""

import polyxeus as px
import pytest

TASKS = 1000  # MPICH has 2,048 communicators, and each gang takes three of them


@pytest.fixture(scope="module")
def four_ranks(ranks_under, mpich):
    """Four engines under MPICH. They keep one communicator of a gang each."""
    with ranks_under("gang_communicators", mpich, "--gang-communicators=1") as cluster:
        yield cluster


@px.interactive
def total(item, comm):
    from polyxeus.serialize import communicators

    return comm.allreduce(item), len(communicators._made)


def test_gangs_of_other_ranks_again_and_again_do_not_use_up_the_communicators(own):
    others = (1, 2, 3)
    views = [own.load_balanced_view([0, other]) for other in others]
    for view in views:
        view.set_flags(ranks=2)
    for item in range(TASKS):  # one after another, so that rank 0 needs another communicator for each
        result, count = views[item % len(views)].apply_sync(total, item)
        assert (result, count) == (2 * item, 1)
