"""How views ask for several ranks, and how functions get their communicator. No cluster runs here."""

import pickle

import pytest
from polyxeus.engine import native
from polyxeus.serialize import communicators, compact_json, functions, requests
from polyxeus.views.ranks import Ranks, as_metadata, on_one_rank, ranks_in, ranks_of


class Comm:
    """In the place of a communicator."""

    def __init__(self, rank=0):
        self.rank = rank

    def Get_rank(self):
        return self.rank


@pytest.fixture
def comm(monkeypatch):
    """The communicator of each task of several ranks."""
    made = Comm()
    monkeypatch.setattr(communicators, "_communicator_of", lambda gang: made)
    return made


def serve(request, gang=None):
    """The value that an engine answers to a request of requests.py."""
    kind, content, buffers = request
    content = compact_json.load(content)
    if gang is not None:
        content["gang"] = gang
    text, found = native.serve(kind.encode(), compact_json.dump(content).encode(), buffers, functions)
    return requests.read(compact_json.load(text.decode()), found)


CALLS = []


def noted(item):
    CALLS.append(item)
    return item


GANG = {"ranks": [0, 1], "number": 1}


@pytest.mark.parametrize(
    "wanted, ranks", [(None, None), (3, Ranks(3)), ((2, 8), Ranks(2, 8)), ([1, 2], Ranks(1, 2)), (Ranks(2), Ranks(2))]
)
def test_the_forms_of_the_flag(wanted, ranks):
    assert ranks_of(wanted) == ranks


@pytest.mark.parametrize("wrong", [0, -1, (3, 2), (1, 2, 3)])
def test_wrong_numbers_are_refused(wrong):
    with pytest.raises(ValueError, match="ranks must be"):
        ranks_of(wrong)


@pytest.mark.parametrize("wrong", [True, 1.5, "2", (2, "3")])
def test_what_is_no_number_is_refused(wrong):
    with pytest.raises(TypeError, match="ranks must be a number of engines"):
        ranks_of(wrong)


def test_the_metadata():
    assert as_metadata(None) == "null"
    assert as_metadata(Ranks(1)) == "null"
    assert as_metadata(Ranks(4)) == "[4,4]"
    assert as_metadata(Ranks(1, 8)) == "[1,8]"


def test_ranks_among_arguments_are_found_once():
    assert ranks_in((1, Ranks(2)), {}) == Ranks(2)
    assert ranks_in((), {"group": Ranks(3)}) == Ranks(3)
    assert ranks_in((1,), None) is None
    with pytest.raises(TypeError, match="one argument that is a Ranks, not 2"):
        ranks_in((Ranks(2),), {"comm": Ranks(2)})


def test_the_argument_and_the_parameter_comm_are_the_communicator(comm):
    assert serve(requests.call(lambda a, group: group.rank + a, (5, Ranks(2))), GANG) == 5
    assert serve(requests.call(lambda a, comm: comm.rank + a, (5,)), GANG) == 5
    assert serve(requests.call(lambda a, *, comm=None: comm.rank + a, (5,)), GANG) == 5
    assert serve(requests.call(lambda a, comm: comm + a, (5, 6)), GANG) == 11  # the call sets it
    assert serve(requests.call(lambda a: communicators.communicator().rank + a, (5,)), GANG) == 5
    assert serve(requests.call(abs, (-5,)), GANG) == 5


def test_each_call_of_a_map_gets_the_communicator(comm):
    (request,) = requests.map_calls(lambda a, comm: comm.rank + a, [[[1, 2, 3]]])
    assert serve(request, GANG) == [1, 2, 3]


def test_ranks_other_than_the_first_answer_with_nothing(comm):
    comm.rank = 1
    CALLS.clear()
    assert serve(requests.call(noted, (5,)), GANG) is None
    (request,) = requests.map_calls(noted, [[[6, 7]]])
    assert serve(request, GANG) is None
    assert CALLS == [5, 6, 7]


def test_a_task_of_one_rank_has_a_communicator_if_it_asks_for_one(comm):
    (request,) = on_one_rank([requests.call(lambda comm: comm.rank, (), {})])
    assert serve(request) == 0


def test_other_calls_have_no_communicator():
    with pytest.raises(pickle.UnpicklingError, match="not a task of several ranks"):
        serve(requests.call(lambda group: group, (Ranks(2),)))
    with pytest.raises(RuntimeError, match="not a task of several ranks"):
        communicators.communicator()
