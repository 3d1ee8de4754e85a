"""Large results for clients of other hosts: they stay with the engine until these have fetched them.

Such a client is one that sees neither the Unix sockets nor the shared memory of the cluster.
"""

import json
import os
from pathlib import Path

import numpy as np
import polyxeus
import pytest
from programs import PATIENCE, wait_until
from running_cluster import connect

ARRAY = np.arange(3_000_001, dtype="<i4")
MANY = 24 << 20  # values of eight bytes


@pytest.fixture(scope="module", params=["json", "msgpack"])
def cluster(new_cluster, request):
    cluster = new_cluster(f"far-{request.param}")
    cluster.start_controller(f"--Session.packer={request.param}")
    cluster.start_engines(2)
    return cluster


@pytest.fixture
def far_client(cluster, tmp_path):
    info = cluster.connection()
    del info["local"]
    info["memory"]["identity"] = "elsewhere"
    file = tmp_path / "client.json"
    file.touch(0o600)
    file.write_text(json.dumps(info))
    with connect(file, 2, timeout=PATIENCE) as client:
        assert client.controller_address == "tcp://127.0.0.1"
        yield client


def equal(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and bool((a == b).all())


def highest_memory_of(process):
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) << 10


def test_pulled_gathered_and_returned_arrays_come_whole(far_client):
    view = far_client[:]
    view.push({"x": ARRAY, "small": 7}, block=True)
    assert all(equal(each, ARRAY) for each in view.pull("x", block=True))
    x, small = far_client[0].pull(["x", "small"], block=True)
    assert equal(x, ARRAY) and small == 7
    view.scatter("part", ARRAY, block=True)
    assert equal(view.gather("part", block=True), ARRAY)
    assert equal(far_client[1].apply_sync(lambda a: a * 2, ARRAY), ARRAY * 2)
    x[0] = 5  # it is the client's own
    assert far_client[0].pull("x", block=True)[0] == 0


def test_the_controller_holds_a_window_of_a_large_result(cluster, far_client):
    far_client[0].execute(f"import numpy; large = numpy.ones({MANY})", block=True)
    far_client[0].pull("large", block=True)  # what it costs once
    Path(f"/proc/{cluster.controller.pid}/clear_refs").write_text("5")
    before = highest_memory_of(cluster.controller)
    assert far_client[0].pull("large", block=True).sum() == MANY
    assert highest_memory_of(cluster.controller) - before < 32 << 20
    far_client[0].execute("del large", block=True)


def test_an_engine_gives_out_a_result_while_it_works_for_the_next_request(far_client, tmp_path):
    def wait_for(path):
        import os
        import time

        while not os.path.exists(path):
            time.sleep(0.01)

    flag = tmp_path / "flag"
    far_client[0].push({"x": ARRAY}, block=True)
    pulled = far_client[0].pull("x", block=False)
    busy = far_client[0].apply_async(wait_for, str(flag))
    assert equal(pulled.get(PATIENCE), ARRAY)
    assert not busy.ready()
    flag.touch()
    busy.get(PATIENCE)


def test_later_changes_of_an_array_are_not_in_the_result(far_client):
    far_client[0].push({"x": ARRAY}, block=True)
    pulled = far_client[0].pull("x", block=False)
    changed = far_client[0].execute("x[:] = 0", block=False)
    assert equal(pulled.get(PATIENCE), ARRAY)
    changed.get(PATIENCE)


def test_a_result_that_went_to_its_client_alone_is_not_on_record(cluster, far_client):
    far_client[0].push({"x": ARRAY}, block=True)
    pulled = far_client[0].pull("x", block=False)
    assert equal(pulled.get(PATIENCE), ARRAY)
    with polyxeus.Client(str(cluster.connection_file("client")), timeout=PATIENCE) as other:
        with pytest.raises(polyxeus.error.RemoteError, match="were sent only to its client"):
            other.get_result(pulled.msg_ids, owner=False).get(PATIENCE)


def test_the_records_hold_no_pieces(far_client):
    far_client[0].push({"x": ARRAY}, block=True)
    before = set(far_client.hub_history())
    pulled = far_client[0].pull("x", block=False)
    pulled.get(PATIENCE)
    assert set(far_client.hub_history()) - before == set(pulled.msg_ids)


def test_an_engine_forgets_what_was_fetched(far_client):
    def size():
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    engine = far_client[1]
    engine.execute("import os; from pathlib import Path", block=True)
    engine.push({"x": np.ones(4 << 20)}, block=True)
    engine.pull("x", block=True)
    before = engine.apply_sync(size)
    for _ in range(6):
        engine.pull("x", block=True)
    wait_until(lambda: engine.apply_sync(size) < before + (96 << 20), "six times 32 MiB are freed")


def test_a_client_on_the_controllers_host_gets_results_of_near_engines_in_one(cluster):
    with connect(cluster.connection_file("client"), 2) as client:
        client[0].push({"x": ARRAY}, block=True)
        pulled = client[0].pull("x", block=False)
        assert equal(pulled.get(PATIENCE), ARRAY)
        assert equal(client.get_result(pulled.msg_ids, owner=False).get(PATIENCE)[0], ARRAY)
