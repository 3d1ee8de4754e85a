"""Whether engines can form a gang, and with which communicator. No cluster runs here."""

import pytest
from polyxeus.views.gang_view import _number_of

RUN = "prterun-node1-7@1"


def places(*numbers, ranks=None, size=8, run=RUN):
    """What the engines say that have made these communicators for the gang."""
    ranks = range(len(numbers)) if ranks is None else ranks
    return [(rank, size, number, run) for rank, number in zip(ranks, numbers)]


def test_the_first_communicator_of_a_gang_has_the_number_1():
    assert _number_of(places(0, 0, 0), [0, 1, 2], is_new=False) == 1


def test_a_communicator_that_all_ranks_have_is_used_again():
    assert _number_of(places(3, 3), [0, 1], is_new=False) == 3


def test_a_communicator_that_not_all_ranks_have_is_made_anew():
    assert _number_of(places(3, 2), [0, 1], is_new=False) == 4
    assert _number_of(places(3, 0), [0, 1], is_new=False) == 4


def test_a_communicator_is_made_anew_on_request():
    assert _number_of(places(3, 3), [0, 1], is_new=True) == 4


def test_the_gang_may_have_another_order_than_the_world():
    assert _number_of(places(0, 0, ranks=[4, 1]), [4, 1], is_new=False) == 1


def test_engines_without_mpi_are_no_gang():
    with pytest.raises(RuntimeError, match="--engines=mpi"):
        _number_of([(0, 1, 0, ""), (0, 1, 0, "")], [0, 1], is_new=False)


def test_engines_whose_ids_are_not_their_ranks_are_a_gang_if_their_world_has_a_name():
    assert _number_of(places(3, 3), [4, 5], is_new=False) == 3
    with pytest.raises(RuntimeError, match=r"no names, .* engines \[4, 5\] are ranks \[0, 1\]"):
        _number_of(places(0, 0, run=""), [4, 5], is_new=False)


def test_two_engines_with_one_rank_are_no_gang():
    with pytest.raises(RuntimeError, match=r"engines \[0, 4\] are of several"):
        _number_of(places(0, 0, ranks=[0, 0], run=""), [0, 4], is_new=False)


@pytest.mark.parametrize("other", [{"size": 4}, {"run": "prterun-node1-9@1"}])
def test_ranks_of_two_worlds_are_no_gang(other):
    with pytest.raises(RuntimeError, match="one MPI world"):
        _number_of(places(0) + places(0, ranks=[1], **other), [0, 1], is_new=False)
