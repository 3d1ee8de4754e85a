"""The stories with msgpack as the packer of headers and contents."""

import ipyparallel as ipp
import pytest


@pytest.fixture(scope="module")
def rc(new_cluster):
    cluster = new_cluster("packed")
    cluster.start_controller("--Session.packer=msgpack")
    cluster.start_engines(2)
    return cluster.client(engines=2)


def test_the_client_takes_the_packer_from_its_file(rc):
    assert rc.session.packer == "msgpack"


def test_calls_cells_and_variables(rc):
    view = rc[:]
    assert view.apply_sync(abs, -42) == [42, 42]
    cell = view.execute("print('out'); x = 3; x", silent=False)
    cell.get()
    cell.wait_for_output(20)  # it takes another way than the answer
    assert cell.stdout == ["out\n", "out\n"]
    assert [output["data"]["text/plain"] for output in cell.execute_result] == ["3", "3"]
    assert view["x"] == [3, 3]


def test_balanced_and_broadcast_calls(rc):
    assert rc.load_balanced_view().map_sync(abs, range(-20, 0)) == list(range(20, 0, -1))
    assert rc.broadcast_view().apply_sync(len, "a") == [1, 1]


def test_an_error_names_its_engine(rc):
    with pytest.raises(ipp.RemoteError, match="ValueError") as raised:
        rc[1].apply_sync(int, "seven")
    assert raised.value.engine_info["engine_id"] == 1


def test_what_the_hub_remembers(rc):
    done = rc[0].apply_async(abs, 5)
    done.get()
    assert rc.get_result(done.msg_ids[0], owner=False).get() == 5
    (record,) = rc.db_query({"msg_id": done.msg_ids[0]}, keys=["submitted", "completed", "queue"])
    assert record["submitted"] <= record["completed"]
    assert record["queue"] == "mux"
    assert rc.queue_status()["unassigned"] == 0
