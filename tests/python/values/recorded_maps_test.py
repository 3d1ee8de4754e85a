"""Maps that are fetched by their label or msg_ids give what they gave to the client that has sent them."""

import polyxeus as px
import pytest
from deadlines import wait_until
from polyxeus.client.recorded_calls import RecordedCalls


@pytest.fixture
def later(running, rc):
    """Another client."""
    with running.connect_client_sync() as client:
        yield client


def views(rc):
    return {"direct": rc[:], "balanced": rc.load_balanced_view(), "broadcast": rc.broadcast_view()}


@pytest.mark.parametrize("kind", ["direct", "balanced", "broadcast"])
@pytest.mark.parametrize("by", ["label", "ids"])
def test_another_client_gets_the_results_of_the_items(rc, later, kind, by, request):
    label = request.node.name
    mine = views(rc)[kind].map_async(lambda x: x * x, range(150), label=label)
    assert mine.get(60) == [x * x for x in range(150)]
    found = later.get_result(label=label) if by == "label" else later.get_result(mine.msg_ids)
    assert found.get(60) == mine.get()
    assert (len(found), found.progress) == (150, 150)
    assert repr(found) == "<AsyncHubMapResult(<lambda>): finished>"
    assert list(found) == mine.get() and found[3] == 9


def test_items_come_while_the_map_runs(rc, later, tmp_path):
    gate = tmp_path / "gate"

    def until_open(x):
        import os
        import time

        while x and not os.path.exists(gate):
            time.sleep(0.01)
        return -x

    mine = rc.load_balanced_view().map_async(until_open, range(8), chunksize=2, label="slow")
    on_record = {"msg_id": {"$in": mine.msg_ids}}
    wait_until(lambda: len(later.db_query(on_record, keys=["msg_id"])) == 4, "the controller has all requests", 20)
    found = later.get_result(label="slow")
    assert (len(found), found.ready()) == (8, False)
    gate.touch()
    assert list(found) == [-x for x in range(8)]


def test_a_map_that_deals_its_items_like_cards(rc, later):
    dealt = px.ParallelFunction(rc[:], abs, dist="r", label="dealt")
    mine = dealt.map(range(-10, 0))
    assert mine.get(60) == list(range(10, 0, -1))
    assert later.get_result(label="dealt").get(60) == mine.get()


def test_failures_are_items_where_they_are_given(rc, later):
    mine = rc[:].map_async(lambda x: 1 / x, [1, 0, 2, 4], label="fails", return_exceptions=True)
    mine.wait(60)
    with pytest.raises(px.RemoteError):
        later.get_result(label="fails").get(20)
    found = later.get_result(label="fails").get(20, return_exceptions=True)
    assert [found[0], found[2], found[3]] == [1, 0.5, 0.25] and isinstance(found[1], px.RemoteError)


def test_several_calls_of_one_label_come_one_behind_the_other(rc, later):
    balanced = rc.load_balanced_view()
    with balanced.temp_flags(label="several"):
        sent = [balanced.map_async(abs, range(70)), balanced.apply_async(list, "ab"), balanced.map_async(str, range(5))]
    rc.wait(sent, 60)
    found = later.get_result(label="several")
    assert found.get(60) == list(found) == [*range(70), ["a", "b"], *map(str, range(5))]
    assert len(found) == 76 and repr(found).startswith("<AsyncHubMapResult(abs, list, str)")


def test_single_requests_of_a_map_stay_what_they_are(rc, later):
    mine = rc[:].map_async(abs, range(8))
    mine.wait(60)
    assert later.get_result(mine.msg_ids[1:3]).get(60) == [[2, 3], [4, 5]]
    assert later.get_result(mine.msg_ids[1]).get(60) == [2, 3]


def test_the_client_that_has_the_result_gets_it_again(rc):
    mine = rc[:].map_async(abs, range(8), label="again")
    assert rc.get_result(mine.msg_ids) is mine
    mine.wait(60)
    assert rc.get_result(label="again") is mine


def test_a_map_of_which_a_part_was_forgotten_is_an_error(rc, later):
    mine = rc[:].map_async(abs, range(8), label="in part")
    mine.wait(60)
    rc.purge_hub_results(mine.msg_ids[0])
    with pytest.raises(KeyError, match="only 3 of the 4 requests of a map of abs"):
        later.get_result(label="in part")


def record(msg_id, number=None, of=2, client="one", **more):
    part = {"map": 1, "dist": "b", "of": of, "number": number, "items": 3, **more}
    content = {"title": "f"} if number is None else {"title": "f", "map": True, "part": part}
    return {"msg_id": msg_id, "client_uuid": client, "content": content}


def test_parts_are_joined_in_the_order_of_their_numbers():
    calls = RecordedCalls(["b", "c", "a"], [record("a", 0), record("b", 1), record("c")])
    assert (calls.msg_ids, calls.sizes, calls.is_of_map) == (["a", "b", "c"], [3, 3, 1], [True, True, False])
    assert calls.join([[1, 2, 3], [4, 5, 6], [7]]) == [1, 2, 3, 4, 5, 6, [7]]


def test_maps_of_two_clients_are_two():
    records = [record("a", 0, client="one"), record("b", 0, client="two")]
    assert RecordedCalls(["a", "b"], records).missing == ("f", 1, 2)


@pytest.mark.parametrize("wrong", [{"dist": "x"}, {"of": "2"}, {"number": None}, {"map": [1]}])
def test_what_other_programs_have_sent_is_no_part_of_a_map(wrong):
    calls = RecordedCalls(["a"], [record("a", **{"number": 0, **wrong})])
    assert not calls.has_maps and calls.sizes == [1]
