"""Large arrays between processes of one host lie in shared memory: docs/decisions/0016."""

import json
import os
from pathlib import Path

import ipyparallel as ipp
import numpy as np
import polyxeus
import pytest
from programs import PATIENCE, wait_until
from running_cluster import connect

ARRAY = np.arange(3_000_001, dtype="<i4")
LEAST = 256 << 10


@pytest.fixture(scope="module", params=["json", "msgpack"])
def cluster(new_cluster, request):
    cluster = new_cluster(f"memory-{request.param}")
    cluster.start_controller(f"--Session.packer={request.param}")
    cluster.start_engines(2)
    return cluster


@pytest.fixture
def client(cluster):
    with connect(cluster.connection_file("client"), 2, timeout=PATIENCE) as client:
        yield client


@pytest.fixture
def far_client(cluster, tmp_path):
    """A client as on another host: it does not see the folder of the engines."""
    info = cluster.connection()
    info["memory"]["identity"] = "elsewhere"
    file = tmp_path / "client.json"
    file.touch(0o600)
    file.write_text(json.dumps(info))
    with connect(file, 2, timeout=PATIENCE) as client:
        yield client


def folder_of(cluster):
    return Path(cluster.connection()["memory"]["folder"])


def segments(cluster):
    """Their names without those of processes."""
    return {name for name in os.listdir(folder_of(cluster)) if name.count(".") == 2}


def segments_made_by(cluster, client):
    return {name for name in segments(cluster) if name.split(".")[1] == client._connection.session_id}


def equal(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and bool((a == b).all())


def memory_of(process):
    """The bytes of a process that lie in physical memory, of the files that it has mapped too."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) << 10


def test_what_an_engine_gets_lies_in_shared_memory_and_is_its_own(cluster, client):
    def look(a):
        maps = open("/proc/self/maps").read()
        before = a[0]
        a[0] = 7
        return "polyxeus-" in maps, before, a.flags.writeable

    view = client[:]
    assert view.apply_sync(look, ARRAY) == [(True, 0, True)] * 2
    view.push({"x": ARRAY}, block=True)
    client[0].execute("x[:] = 5", block=True)
    assert equal(client[1].pull("x", block=True), ARRAY)
    assert equal(client[0].pull("x", block=True), np.full_like(ARRAY, 5))


def test_a_sender_may_change_its_array_when_the_call_returns(client):
    mine = ARRAY.copy()
    sent = client[:].push({"x": mine})
    mine[:] = 0
    sent.get(PATIENCE)
    for there in client[:].pull("x", block=True):
        assert equal(there, ARRAY)


def test_an_engine_may_change_its_array_after_a_pull(client):
    client[0].execute("import numpy; x = numpy.arange(3_000_001, dtype='<i4')", block=True)
    pulled = client[0].pull("x")
    client[0].execute("x[:] = 0", block=True)
    assert equal(pulled.get(PATIENCE), ARRAY)


def test_what_a_client_gets_is_its_own_and_leaves_nothing_behind(cluster, client):
    client[0].push({"x": ARRAY}, block=True)
    first, second = (client[0].pull("x", block=True) for _ in range(2))
    first[:] = 0
    assert equal(second, ARRAY)
    assert equal(client[0].pull("x", block=True), ARRAY)
    session = client._connection.session_id
    owners_and_makers = {tuple(name.split(".")[:2]) for name in segments(cluster)}
    # What it sent, and under no name of its own what it got.
    assert all(maker == session for owner, maker in owners_and_makers if owner == session)


def test_results_that_their_client_has_no_more_are_written_again(cluster, client):
    client[0].execute("import numpy; x = numpy.zeros(64 << 20, 'u1')", block=True)
    inodes = []
    for number in range(12):
        client[0].execute(f"x[:] = {number}", block=True)
        pulled = client[0].pull("x", block=True)
        assert pulled[0] == pulled[-1] == number
        assert pulled.all() if number else not pulled.any()
        del pulled
        files = [os.stat(folder_of(cluster) / name) for name in segments(cluster)]
        inodes.append({file.st_ino for file in files if file.st_size == 64 << 20})
    assert 0 < len(set.union(*inodes)) < 4, inodes  # the records keep 64 MiB of them


def test_no_result_that_somebody_has_is_written_again(client):
    client[0].execute("import numpy; x = numpy.zeros(1 << 20, 'u1')", block=True)
    pulled = []
    for number in range(1, 101):
        client[0].execute(f"x[:] = {number}", block=True)
        pulled.append(client[0].pull("x", block=True))
        if number % 3 == 0:
            del pulled[len(pulled) // 2]
    for array in pulled:
        assert (array == array[0]).all()
    assert len({array[0] for array in pulled}) == len(pulled)


@pytest.mark.parametrize("size", [LEAST - 8, LEAST, LEAST + 8, 4 * LEAST])
def test_sizes_around_the_least_one(client, size):
    array = np.arange(size // 8, dtype="<f8")
    view = client[:]
    view.push({"x": array, "y": array[::2]}, block=True)
    for x, y in view.pull(["x", "y"], block=True):
        assert equal(x, array) and equal(y, array[::2].copy())


def test_an_array_is_scattered_and_gathered(client):
    view = client[:]
    for length in (1_048_576, 1_048_577, 999_999):
        array = np.arange(length, dtype="<f8").reshape(-1, 1)
        view.scatter("part", array, block=True)
        gathered = view.gather("part", block=True)
        assert equal(gathered, array)
        gathered[:] = -1
        assert equal(view.gather("part", block=True), array)


def test_what_was_changed_between_arrival_and_joining_is_joined(client):
    view = client[:]
    view.scatter("part", np.zeros(1 << 20), block=True)
    gathered = view.gather("part", block=False)
    gathered.wait(PATIENCE)
    gathered._raw_results[1][:] = 1
    assert gathered.get().sum() == 1 << 19


def test_arguments_and_results_of_tasks(client):
    view = client.load_balanced_view()
    assert equal(view.apply_sync(lambda a, b: a[::-1] + len(b), ARRAY, b"b" * LEAST),
                 ARRAY[::-1] + LEAST)  # fmt: skip
    assert all(equal(result, ARRAY * 2) for result in view.map_sync(lambda a: a * 2, [ARRAY] * 6))
    broadcast = client.broadcast_view()
    for result in broadcast.apply_sync(lambda a: a + 1, ARRAY):
        assert equal(result, ARRAY + 1)


def test_buffers_of_pickles(client):
    value = {"a": ARRAY, "b": [ARRAY * 2, bytearray(b"c" * LEAST)]}
    client[0].push({"x": value}, block=True)
    got = client[0].pull("x", block=True)
    assert equal(got["a"], ARRAY) and equal(got["b"][0], ARRAY * 2) and got["b"][1] == b"c" * LEAST


def test_another_client_gets_a_result_from_the_hub(cluster, client):
    sent = client[0].apply_async(lambda a: a + 1, ARRAY)
    assert equal(sent.get(PATIENCE), ARRAY + 1)
    task = client.load_balanced_view().apply_async(lambda a: a + 2, ARRAY)
    assert equal(task.get(PATIENCE), ARRAY + 2)
    with polyxeus.Client(str(cluster.connection_file("client")), timeout=PATIENCE) as other:
        assert equal(other.get_result(sent.msg_ids[0]).get(PATIENCE), ARRAY + 1)
        assert equal(other.get_result(task.msg_ids[0]).get(PATIENCE), ARRAY + 2)


def test_a_task_is_submitted_again_with_its_arrays(client):
    task = client.load_balanced_view().apply_async(lambda a: int(a.sum()), ARRAY)
    total = task.get(PATIENCE)
    assert client.resubmit(task.msg_ids).get(PATIENCE) == total == int(ARRAY.sum())


def test_a_direct_call_with_arrays_is_not_submitted_again(client):
    sent = client[0].apply_async(lambda a: int(a.sum()), ARRAY)
    sent.get(PATIENCE)
    with pytest.raises(polyxeus.error.RemoteError, match="shared memory: call the function again"):
        client.resubmit(sent.msg_ids)


@ipp.interactive
def wait_for_file(path):
    import os
    import time

    while not os.path.exists(path):
        time.sleep(0.01)


def test_a_task_outlives_the_client_that_sent_it(cluster, client, tmp_path):
    gate = tmp_path / "gate"
    busy = client[:].apply_async(wait_for_file, str(gate))
    with polyxeus.Client(str(cluster.connection_file("client")), timeout=PATIENCE) as sender:
        view = sender.load_balanced_view()
        ids = [view.apply_async(lambda a: int(a.sum()), ARRAY).msg_ids[0] for _ in range(4)]
        wait_until(lambda: set(ids) <= set(client.hub_history()), "the tasks wait")
    gate.touch()
    busy.get(PATIENCE)
    assert client.get_result(ids, owner=False).get(PATIENCE) == [int(ARRAY.sum())] * 4


# On an engine: the inode of the segment in which x lies, or None.
FIND_SEGMENT = """
found = None
for line in open("/proc/self/maps"):
    first, last = (int(end, 16) for end in line.split()[0].split("-"))
    if first <= x.ctypes.data < last and "polyxeus-arrays" in line:
        found = line.split()[4]
"""


def test_a_client_elsewhere_sends_an_array_once_and_the_engines_share_it(cluster, far_client):
    view = far_client[:]
    view.push({"x": ARRAY, "small": 7, "z": ARRAY * 2}, block=True)
    view.execute(FIND_SEGMENT, block=True)
    inodes = view["found"]
    assert inodes[0] and inodes[0] == inodes[1]
    far_client[0].execute("x[:] = 5", block=True)
    assert equal(far_client[1].pull("x", block=True), ARRAY)
    assert equal(far_client[0].pull("z", block=True), ARRAY * 2)
    assert view["small"] == [7, 7]
    wait_until(lambda: not segments_made_by(cluster, far_client), "the segment is released")


def test_a_client_elsewhere_scatters_calls_and_keeps_the_order(cluster, far_client):
    view = far_client[:]
    array = np.arange(1 << 21, dtype="<f8")
    sent = [view.scatter("part", array, block=False)]
    for number in range(5):
        sent.append(view.push({"x": array + number}, block=False))
        sent.append(view.execute(f"seen_{number} = float(x[0])", block=False))
    assert view.apply_sync(lambda a: float(a.sum()), array) == [float(array.sum())] * 2
    for each in sent:
        each.get(PATIENCE)
    assert equal(view.gather("part", block=True), array)
    assert view.pull([f"seen_{number}" for number in range(5)], block=True) == [[0, 1, 2, 3, 4]] * 2
    wait_until(lambda: not segments_made_by(cluster, far_client), "the segments are released")


def test_a_client_elsewhere_broadcasts_an_array_once_and_keeps_the_order(cluster, far_client):
    view = far_client.broadcast_view()
    sent = []
    for number in range(3):
        sent.append(view.push({"x": ARRAY + number}, block=False))
        sent.append(view.execute(f"seen_{number} = int(x[0])", block=False))
    for each in sent:
        each.get(PATIENCE)
    view.execute(FIND_SEGMENT, block=True)
    inodes = far_client[:]["found"]
    assert inodes[0] and inodes[0] == inodes[1]
    assert far_client[:].pull([f"seen_{number}" for number in range(3)], block=True) == [[0, 1, 2]] * 2
    assert all(equal(array, ARRAY * 2) for array in view.apply_sync(lambda a: a * 2, ARRAY))
    wait_until(lambda: not segments_made_by(cluster, far_client), "the segments are released")


def test_the_client_tells_who_holds_how_much_of_shared_memory(client):
    view = client[:]
    view.clear(block=True)
    before = client.memory()[0]["bytes"] if client.memory() else 0
    view.push({"x": ARRAY}, block=True)
    pulled = client[1].pull("x", block=True)
    [host] = client.memory()
    assert host["bytes"] - before == 2 * ARRAY.nbytes and host["free"] < host["size"]
    assert {"bytes": ARRAY.nbytes, "engines": [0, 1], "client": False} in host["segments"]
    assert {"bytes": ARRAY.nbytes, "engines": [], "client": True} in host["segments"]
    assert "engines 0 and 1: 12.0 MB" in str(client.memory())
    assert str(client.memory()).splitlines()[0] not in str(client.status())  # without the client
    assert "shared memory of" in str(client.status())
    assert equal(pulled, ARRAY)


def test_the_controller_keeps_no_pieces_of_arrays(cluster, far_client):
    before = set(far_client.hub_history())
    sent = far_client[:].push({"x": ARRAY}, block=False)
    sent.get(PATIENCE)
    assert set(far_client.hub_history()) - before == set(sent.msg_ids)


def test_clients_of_ipyparallel_get_and_send_bytes(cluster, client):
    theirs = cluster.client(engines=2)
    theirs[0].push({"z": ARRAY}, block=True)
    assert equal(client[0].pull("z", block=True), ARRAY)
    client[0].push({"z": ARRAY * 2}, block=True)
    assert equal(theirs[0].pull("z", block=True), ARRAY * 2)
    assert equal(theirs[0].apply_sync(ipp.interactive(lambda a: a + 1), ARRAY), ARRAY + 1)


def test_the_controller_does_not_grow_with_the_arrays(cluster, client):
    array = np.ones(8 << 20)
    view = client[:]

    def move():
        view.push({"x": array}, block=True)
        client[0].pull("x", block=True)
        view.scatter("y", array, block=True)
        view.gather("y", block=True)

    move()
    before = memory_of(cluster.controller)
    for _ in range(4):
        move()
    assert memory_of(cluster.controller) < before + array.nbytes / 8


def test_nothing_is_left_after_the_end_of_the_cluster(own_cluster):
    cluster = own_cluster()
    cluster.start_controller()
    cluster.start_engines(1)
    folder = folder_of(cluster)
    with connect(cluster.connection_file("client"), 1) as client:
        client[0].push({"x": ARRAY}, block=True)
        kept = client[0].pull("x", block=True)
        disk = (folder / "disk").readlink()
        for each in (folder, disk):
            assert each.stat().st_mode & 0o777 == 0o700
            files = [path for path in each.iterdir() if not path.is_symlink()]
            assert {path.stat().st_mode & 0o777 for path in files} == {0o600}
    cluster.stop()
    assert not folder.exists() and not disk.exists()
    assert equal(kept, ARRAY)


@pytest.mark.parametrize("who", ["controller", "engine", "client"])
def test_one_variable_turns_it_off(own_cluster, monkeypatch, who):
    cluster = own_cluster()
    cluster.environment = {"POLYXEUS_SHARED_MEMORY": "0"} if who == "controller" else {}
    cluster.start_controller()
    cluster.environment = {}
    cluster.start_engines(1, **({"POLYXEUS_SHARED_MEMORY": "0"} if who == "engine" else {}))
    if who == "client":
        monkeypatch.setenv("POLYXEUS_SHARED_MEMORY", "0")
    with connect(cluster.connection_file("client"), 1) as client:
        client[0].push({"x": ARRAY}, block=True)
        assert equal(client[0].pull("x", block=True), ARRAY)
        assert ("memory" in cluster.connection()) == (who != "controller")
        if who != "controller":
            assert segments(cluster) == set()


def test_engines_with_and_without_shared_memory_in_one_view(own_cluster):
    cluster = own_cluster()
    cluster.start_controller()
    cluster.start_engines(1)
    cluster.start_engines(1, POLYXEUS_SHARED_MEMORY="0")
    with connect(cluster.connection_file("client"), 2) as client:
        view = client[:]
        view.push({"x": ARRAY}, block=True)
        assert all(equal(each, ARRAY) for each in view.pull("x", block=True))
        view.scatter("y", ARRAY, block=True)
        assert equal(view.gather("y", block=True), ARRAY)
        tasks = client.load_balanced_view().map_sync(lambda a: a + 1, [ARRAY] * 4)
        copies = client.broadcast_view().apply_sync(lambda a: a + 1, ARRAY)
        assert all(equal(each, ARRAY + 1) for each in [*tasks, *copies])


def test_a_task_goes_as_bytes_to_an_engine_that_came_later_and_shares_no_memory(
    own_cluster, tmp_path
):
    cluster = own_cluster()
    cluster.start_controller()
    cluster.start_engines(1)
    with connect(cluster.connection_file("client"), 1) as client:
        gate = tmp_path / "gate"
        busy = client[0].apply_async(wait_for_file, str(gate))
        view = client.load_balanced_view()
        blocker = view.apply_async(wait_for_file, str(gate))
        sent = view.apply_async(lambda a: int(a.sum()), ARRAY)
        cluster.start_engines(1, POLYXEUS_SHARED_MEMORY="0")
        assert sent.get(PATIENCE) == int(ARRAY.sum())
        assert sent.engine_id == 1
        gate.touch()
        busy.get(PATIENCE)
        blocker.get(PATIENCE)


def test_an_array_without_room_takes_the_old_way(own_cluster):
    """Files of these processes may not be as large as the array, as in a full file system."""
    import resource

    cluster = own_cluster()
    cluster.start_controller()
    cluster.start_engines(1)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with connect(cluster.connection_file("client"), 1) as client:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, hard))
        try:
            with pytest.warns(RuntimeWarning, match="slower way.*ulimit -f") as told:
                for _ in range(2):
                    client[0].push({"x": ARRAY}, block=True)
            assert len(told) == 1
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert equal(client[0].pull("x", block=True), ARRAY)
