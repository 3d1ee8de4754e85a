"""What the hub remembers, asked by a second client that sent none of the work."""

import datetime

import ipyparallel as ipp
import pytest
from programs import wait_until
from raw_peer import RawPeer


@ipp.interactive
def add(a, b):
    print("adding")
    return a + b


@pytest.fixture(scope="module", params=["dictdb", "sqlitedb"])
def remembering(request, new_cluster):
    """A cluster of two engines whose hub keeps records in this task database."""
    cluster = new_cluster(request.param)
    cluster.start_controller(f"--{request.param}")
    cluster.start_engines(2)
    cluster.client(engines=2)
    yield cluster
    cluster.stop()


@pytest.fixture
def worker(remembering):
    """The client that sends the work; the hub has forgotten all that was before."""
    client = remembering.client(engines=2)
    client.purge_everything()
    yield client
    client.close()


@pytest.fixture
def asker(remembering):
    """The client that only asks."""
    client = remembering.client(engines=2)
    yield client
    client.close()


def recorded(asker, count):
    """The records, once `count` of them are complete."""

    def complete():
        records = asker.db_query({"completed": {"$ne": None}}, keys=["msg_id"])
        return len(records) == count and records

    return wait_until(complete, f"the hub has {count} complete records")


def test_a_second_client_gets_result_output_and_metadata(worker, asker):
    sent = worker[1].apply_async(add, 2, 3)
    assert sent.get(60) == 5
    recorded(asker, 1)
    seen = asker.get_result(sent.msg_ids[0], owner=False)
    assert seen.get(60) == 5
    assert seen.metadata["engine_id"] == 1
    wait_until(
        lambda: asker.db_query({"msg_id": sent.msg_ids[0]}, keys=["stdout"])[0]["stdout"],
        "the hub records the output",
    )
    assert asker.get_result(sent.msg_ids[0], owner=False).stdout == "adding\n"


def test_a_second_client_waits_for_a_result_that_is_pending(worker, asker, tmp_path):
    gate = tmp_path / "gate"

    @ipp.interactive
    def wait_for(path):
        import os
        import time

        while not os.path.exists(path):
            time.sleep(0.01)
        return "waited"

    sent = worker[0].apply_async(wait_for, str(gate))
    seen = asker.get_result(sent.msg_ids[0], owner=False)
    try:
        wait_until(lambda: is_pending(seen), "the hub knows the task")
        assert asker.queue_status()[0]["queue"] == 1
    finally:
        gate.touch()
    assert seen.get(60) == "waited"
    assert sent.get(60) == "waited"


def is_pending(answer):
    """Whether the hub knows of the task; asking for one that it does not know yet is an error."""
    try:
        return not answer.ready()
    except (KeyError, ipp.RemoteError):
        return False


def test_the_error_of_a_task_is_remembered_as_an_error(worker, asker):
    sent = worker[0].apply_async(ipp.interactive(lambda: 1 / 0))
    with pytest.raises(ipp.RemoteError):
        sent.get(20)
    recorded(asker, 1)
    with pytest.raises(ipp.RemoteError, match="ZeroDivisionError"):
        asker.get_result(sent.msg_ids[0], owner=False).get(20)


@pytest.mark.better_than_reference("its SQLite store gives the value back as JSON text")
def test_an_executed_cell_is_remembered_with_its_value(worker, asker):
    sent = worker[0].execute("print('text'); 6 * 7", silent=False)
    sent.get(60)
    recorded(asker, 1)
    seen = asker.get_result(sent.msg_ids[0], owner=False)
    assert seen.get(60).execute_result["data"]["text/plain"] == "42"


def test_queue_status_counts_what_each_engine_did(worker, asker):
    before = {n: asker.queue_status()[n]["completed"] for n in (0, 1)}
    for _ in range(3):
        worker[0].apply_sync(len, "abc")
    worker[1].apply_sync(len, "abc")

    def counted():
        status = asker.queue_status()
        return [status[n]["completed"] - before[n] for n in (0, 1)] == [3, 1] and status

    status = wait_until(counted, "the hub counts the completed requests")
    assert set(status) == {0, 1, "unassigned"}
    assert set(status[0]) == {"queue", "completed", "tasks"}
    assert status["unassigned"] == 0
    assert (status[0]["queue"], status[0]["tasks"]) == (0, 0)


def test_verbose_queue_status_lists_the_tasks_themselves(worker, asker):
    sent = worker[1].apply_async(len, "abc")
    sent.get(60)
    wait_until(
        lambda: sent.msg_ids[0] in asker.queue_status(targets=1, verbose=True)["completed"],
        "the hub lists the completed request",
    )
    status = asker.queue_status(targets=1, verbose=True)
    assert set(status) == {"queue", "completed", "tasks"}
    assert status["queue"] == [] and status["tasks"] == []


def test_queue_status_of_an_unknown_engine_is_an_index_error(remembering):
    with RawPeer(remembering.connection("client")) as peer:
        answer = peer.ask("queue_request", {"targets": [99]})
    assert (answer["status"], answer["ename"]) == ("error", "IndexError")
    assert "99" in answer["evalue"]


@pytest.fixture
def five(worker, asker):
    """The ids of five tasks, in the order they were sent; the last one failed."""
    view = worker.load_balanced_view()
    ids = []
    for n in range(4):
        sent = view.apply_async(add, n, n)
        sent.get(60)
        ids += sent.msg_ids
    failed = worker[0].apply_async(ipp.interactive(lambda: 1 / 0))
    with pytest.raises(ipp.RemoteError):
        failed.get(20)
    recorded(asker, 5)
    return ids + failed.msg_ids


def found(asker, query):
    return [record["msg_id"] for record in asker.db_query(query, keys=["msg_id"])]


def test_history_lists_all_tasks_in_the_order_they_were_sent(asker, five):
    assert asker.hub_history() == five


OPERATORS = [
    ("$eq", lambda ids: ids[1], lambda ids: ids[1:2]),
    ("$ne", lambda ids: ids[1], lambda ids: ids[:1] + ids[2:]),
    ("$in", lambda ids: ids[:2] + ["unknown"], lambda ids: ids[:2]),
    ("$nin", lambda ids: ids[:2], lambda ids: ids[2:]),
]


@pytest.mark.parametrize("operator, operand, expected", OPERATORS, ids=lambda case: str(case)[:4])
def test_records_are_found_by_id(asker, five, operator, operand, expected):
    assert sorted(found(asker, {"msg_id": {operator: operand(five)}})) == sorted(expected(five))


@pytest.mark.parametrize(
    "operator, expected",
    [
        ("$lt", slice(0, 2)),
        ("$lte", slice(0, 3)),
        pytest.param(
            "$gt",
            slice(3, 5),
            marks=pytest.mark.better_than_reference("$gt is inverted in its memory store"),
        ),
        ("$gte", slice(2, 5)),
    ],
)
def test_records_are_found_by_time(asker, five, operator, expected):
    (middle,) = asker.db_query({"msg_id": five[2]}, keys=["submitted"])
    assert isinstance(middle["submitted"], datetime.datetime)
    answer = found(asker, {"submitted": {operator: middle["submitted"]}})
    assert sorted(answer) == sorted(five[expected])


def test_records_are_found_by_a_plain_value_and_by_two_conditions(asker, five):
    assert found(asker, {"msg_id": five[3]}) == [five[3]]
    (record,) = asker.db_query({"msg_id": five[4]}, keys=["engine_uuid", "queue"])
    assert record["queue"] == "mux"
    both = {"engine_uuid": {"$eq": record["engine_uuid"]}, "msg_id": {"$in": five[4:]}}
    assert found(asker, both) == [five[4]]


def test_a_glob_finds_records_by_the_beginning_of_their_id(asker, five):
    beginning = five[0].rsplit("_", 1)[0]
    assert sorted(found(asker, {"msg_id": {"$glob": beginning + "*"}})) == sorted(five)
    assert found(asker, {"msg_id": {"$glob": "nothing*"}}) == []


def test_a_record_has_all_its_keys_and_no_buffers_unless_asked(asker, five):
    (record,) = asker.db_query({"msg_id": five[0]})
    assert {
        "msg_id", "header", "metadata", "content", "submitted", "client_uuid", "engine_uuid",
        "started", "completed", "resubmitted", "received", "result_header", "result_metadata",
        "result_content", "queue", "execute_input", "execute_result", "error", "stdout", "stderr",
        "label",
    } <= set(record)  # fmt: skip
    assert not record.get("buffers") and not record.get("result_buffers")
    assert record["submitted"] <= record["started"] <= record["completed"]
    assert record["result_content"]["status"] == "ok"


def test_only_the_keys_asked_for_come_with_the_id_and_with_buffers_if_asked(asker, five):
    (record,) = asker.db_query({"msg_id": five[0]}, keys=["submitted"])
    assert set(record) == {"msg_id", "submitted"}
    (record,) = asker.db_query({"msg_id": five[0]}, keys=["buffers", "result_buffers"])
    assert len(record["buffers"]) >= 2 and len(record["result_buffers"]) >= 1


def test_an_unknown_key_is_an_error_and_the_hub_goes_on(asker, five):
    with pytest.raises(ipp.RemoteError, match="no_such_key"):
        asker.db_query({"msg_id": five[0]}, keys=["no_such_key"])
    assert asker.hub_history() == five


def test_purged_results_are_forgotten_and_the_others_stay(asker, five):
    asker.purge_hub_results(five[:2])
    assert asker.hub_history() == five[2:]
    with pytest.raises(ipp.RemoteError, match=f"KeyError.*{five[0]}"):
        asker.get_result(five[0], owner=False).get(20)
    asker.purge_hub_results("all")
    assert asker.hub_history() == []


@pytest.mark.better_than_reference("two plain conditions are both compared with the last value")
def test_the_results_of_one_engine_are_purged(worker, asker):
    ids = [worker[n].apply_async(len, "abc") for n in (0, 1)]
    for answer in ids:
        answer.get(60)
    recorded(asker, 2)
    asker.purge_hub_results(targets=[0])
    assert asker.hub_history() == ids[1].msg_ids


def test_a_task_is_run_again_on_request_by_another_client(worker, asker):
    sent = worker.load_balanced_view().apply_async(add, 20, 3)
    sent.get(60)
    recorded(asker, 1)
    again = asker.resubmit(sent.msg_ids)
    assert again.get(60) == [23]
    assert again.msg_ids != sent.msg_ids
    (record,) = asker.db_query({"msg_id": sent.msg_ids[0]}, keys=["resubmitted"])
    assert record["resubmitted"] == again.msg_ids[0]


def test_a_task_that_nobody_knows_cannot_be_run_again(asker):
    with pytest.raises(ipp.RemoteError, match="KeyError.*unknown"):
        asker.resubmit(["unknown"]).get(20)


def test_labels_are_recorded_and_found(worker, asker):
    view = worker.load_balanced_view()
    with view.temp_flags(label="mine"):
        sent = view.apply_async(add, 1, 1)
    sent.get(60)
    worker[0].apply_sync(len, "other")
    recorded(asker, 2)
    assert found(asker, {"label": "mine"}) == sent.msg_ids


def test_without_a_task_database_work_goes_on_and_queries_say_so(own_cluster):
    cluster = own_cluster()
    cluster.start_controller("--nodb")
    cluster.start_engines(1)
    rc, other = cluster.client(engines=1), cluster.client(engines=1)
    sent = rc[0].apply_async(add, 1, 2)
    assert sent.get(60) == 3
    assert rc.load_balanced_view().apply_sync(add, 1, 2) == 3
    with pytest.raises(ipp.RemoteError, match="NoData"):
        other.hub_history()
    with pytest.raises(ipp.RemoteError, match="NoData"):
        other.db_query({"msg_id": sent.msg_ids[0]})
    assert rc[0].apply_sync(add, 3, 4) == 7
