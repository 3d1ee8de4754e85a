"""Who waits for whom in a collective call, and how it is said."""

import pytest

from polyxeus.engine.process_groups import roll_call
from polyxeus.engine.process_groups.epochs import INTERRUPTED, RAISED, Cause
from polyxeus.engine.process_groups.roll_call import TorchCall

SUM = TorchCall("all_reduce", 4 << 20, 7, 0.0)
EVEN = [0, 2, 4]  # a group's ranks of the world


def test_ranks_with_fewer_calls_are_missing():
    assert roll_call.missing(SUM, [0, 1, 2, 3], {0: 7, 1: 8, 2: 6, 3: 0}) == [2, 3]


def test_ranks_that_did_not_say_are_not_called_missing():
    assert roll_call.missing(SUM, [0, 1, 2, 3], {0: 7, 2: 6}) == [2]


def test_an_interrupt_names_the_missing_ranks():
    assert roll_call.interrupted_in(SUM, EVEN, {0: 7, 2: 6, 4: 7}) == "in all_reduce, which rank 2 had not reached"
    assert roll_call.interrupted_in(SUM, EVEN, {0: 7, 2: 6, 4: 1}) == "in all_reduce, which ranks 2, 4 had not reached"
    assert roll_call.interrupted_in(SUM, EVEN, {0: 7, 2: 7, 4: 7}) == "in all_reduce"


def test_an_interrupt_in_a_message_names_the_other_rank_of_the_world():
    receives = TorchCall("recv", 12, 7, 0.0, peer=1)
    assert roll_call.interrupted_in(receives, EVEN, {}) == "in recv from rank 2"
    assert roll_call.interrupted_in(receives._replace(peer=None), EVEN, {}) == "in recv from any rank"
    assert roll_call.interrupted_in(receives._replace(name="send"), EVEN, {}) == "in send to rank 2"


def test_a_call_that_another_rank_has_ended_names_it_and_who_is_missing():
    raised = Cause(RAISED, 2, "ValueError: no data")
    assert roll_call.cannot_end(SUM, raised, EVEN, {}) == (
        "all_reduce cannot end: rank 2 raised ValueError: no data")
    assert roll_call.cannot_end(SUM, Cause(INTERRUPTED, 4), EVEN, {0: 7, 2: 6, 4: 7}) == (
        "all_reduce cannot end: rank 4 was interrupted; rank 2 had not reached it")


def test_a_time_limit_names_who_is_missing():
    assert roll_call.too_late(SUM, EVEN, {0: 7, 2: 6, 4: 7}) == (
        "all_reduce did not end within the time limit of its process group: rank 2 had not reached it")
    assert roll_call.too_late(SUM, EVEN, {}) == "all_reduce did not end within the time limit of its process group"


@pytest.mark.parametrize("operation, name", [
    ("ALLREDUCE", "all_reduce"), ("ALLGATHER_BASE", "all_gather_into_tensor"), ("BARRIER", "barrier"),
    ("REDUCE_SCATTER", "reduce_scatter"), ("ALLTOALL_BASE", "all_to_all_single"), ("SOMETHING_NEW", "something_new"),
])
def test_operations_have_the_names_of_torchs_functions(operation, name):
    assert roll_call.name_of(operation) == name
