"""Arrays that travel in pieces, as they do over encrypted connections."""

import signal

import numpy as np
import polyxeus
import pytest
from running_cluster import connect

ARRAY = np.arange(3_000_001, dtype="<i4")
MIXED = {"large": ARRAY, "empty": np.empty((0, 4)), "small": np.arange(5.0), "text": b"ab" * 400_000}


@pytest.fixture(scope="module", params=["json", "msgpack"])
def cluster(new_cluster, request):
    cluster = new_cluster(f"pieces-{request.param}", POLYXEUS_SHARED_MEMORY="0")
    cluster.start_controller("--no-ipc", f"--Session.packer={request.param}")
    cluster.start_engines(2)
    return cluster


@pytest.fixture
def client(cluster):
    with connect(cluster.connection_file("client"), 2, timeout=20) as client:
        yield client


def equal(a, b):
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and bool((a == b).all())
    return a == b


@pytest.mark.parametrize("kind", ["direct", "broadcast"])
def test_what_was_pushed_is_pulled_unchanged(client, kind):
    view = client[:] if kind == "direct" else client.broadcast_view()
    view.push(MIXED, block=True)
    for name, value in MIXED.items():
        for there in view.pull(name, block=True):
            assert equal(there, value), name


def test_arguments_and_results_of_tasks(client):
    view = client.load_balanced_view()
    assert equal(view.apply_sync(lambda a, b, c: a[::-1] + b.size + len(c), ARRAY, np.empty(0), b"c"),
                 ARRAY[::-1] + 0 + 1)  # fmt: skip
    assert all(equal(result, ARRAY * 2) for result in view.map_sync(lambda a: a * 2, [ARRAY] * 4))


def test_another_client_gets_the_result_of_a_task_from_the_hub(cluster, client):
    sent = client.load_balanced_view().apply_async(lambda a: a + 1, ARRAY)
    assert equal(sent.get(60), ARRAY + 1)
    with polyxeus.Client(str(cluster.connection_file("client")), timeout=20) as other:
        assert equal(other.get_result(sent.msg_ids[0]).get(60), ARRAY + 1)


def test_an_array_is_scattered_and_gathered(client):
    view = client[:]
    view.scatter("part", ARRAY, block=True)
    assert equal(view.gather("part", block=True), ARRAY)


def test_parts_of_results_know_whether_their_arrays_are_sent(cluster, client):
    array = np.zeros(8_000_000)
    cluster.controller.signal(signal.SIGSTOP)
    try:
        direct = client[:].push({"a": array}, block=False)
        scattered = client.broadcast_view().scatter("b", array, block=False)
        again = client.get_result(direct.msg_ids[0])
        joined = polyxeus.AsyncResult.join(*direct.split())
        results = [direct, *direct.split(), joined, again, scattered, *scattered.split()]
        assert not any(result.sent for result in results)
    finally:
        cluster.controller.signal(signal.SIGCONT)
    for result in results:
        result.wait_for_send(20)
        assert result.sent
