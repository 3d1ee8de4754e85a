"""A controller in a control group of little memory, and an engine or a client that reads slowly or nothing: what it
cannot take is refused by name, all requests are answered, and the controller is not killed.

PX_MEMORY_GROUPS=256,800 tries groups of so many MiB. The smallest one costs the least processor time.
"""

import contextlib
import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

import deadlines
import polyxeus
import pytest
import zmq
from programs import PATIENCE, wait_until
from raw_peer import DELIMITER, RawPeer
from running_cluster import connect

CLIENT = Path(__file__).parent / "slow_client.py"
MIB = 1 << 20
SIZES = [int(size) for size in os.environ.get("PX_MEMORY_GROUPS", "128").split(",")]
LONG = max(256, *SIZES)  # seconds for so many MiB
in_each_group = pytest.mark.parametrize("limited", [size * MIB for size in SIZES], indirect=True)


@pytest.fixture(autouse=True)
def time_limit():
    with deadlines.time_limit(90 + LONG):
        yield


@pytest.fixture
def twice_its_memory(request):
    """How many MiB are twice what the controller may have."""
    return 2 * request.node.callspec.params["limited"] // MIB


@contextlib.contextmanager
def stopped(program, *, is_slow=False):
    """While it lasts the program is stopped; a slow one runs 5 ms of each 50."""
    is_over = threading.Event()

    def run_at_times():
        while not is_over.wait(0.045):
            program.signal(signal.SIGCONT)
            time.sleep(0.005)
            program.signal(signal.SIGSTOP)

    program.signal(signal.SIGSTOP)
    thread = threading.Thread(target=run_at_times)
    if is_slow:
        thread.start()
    yield
    is_over.set()
    if is_slow:
        thread.join()
    program.signal(signal.SIGCONT)


def is_done(call):
    """Whether the engine has made this call of 1 MiB; else it was refused."""
    try:
        assert call.get(PATIENCE) in (MIB, [MIB])
    except polyxeus.RemoteError as refusal:
        assert "Overloaded: " in str(refusal)
        assert "MiB of requests wait in the controller for engine" in str(refusal)
        return False
    return True


REQUESTS = {
    "direct": lambda rc: rc[0].apply_async(len, bytes(MIB)),
    "broadcast": lambda rc: rc.broadcast_view().apply_async(len, bytes(MIB)),
}


@in_each_group
@pytest.mark.parametrize("is_slow", [False, True])
@pytest.mark.parametrize("way", REQUESTS)
def test_requests_for_an_engine_that_hardly_reads(little_cluster, twice_its_memory, way, is_slow):
    (engine,) = little_cluster.engines
    with connect(little_cluster.connection_file("client"), 1, timeout=PATIENCE) as rc:
        with stopped(engine, is_slow=is_slow):
            calls = [REQUESTS[way](rc) for _ in range(twice_its_memory)]
            wait_until(calls[-1].ready, "the last one is refused or done")
        done = [is_done(call) for call in calls]
        assert done[0]
        if not is_slow:
            refused = done.index(False)
            assert refused <= twice_its_memory / 2 and not any(done[refused:])
            assert rc.get_result(calls[-1].msg_ids, block=True).status == ["error"]
        assert rc[0].apply_sync(len, bytes(MIB)) == MIB


@in_each_group
@pytest.mark.parametrize("is_slow", [False, True])
@pytest.mark.parametrize("way", ["direct", "broadcast", "tasks", "output"])
def test_results_for_a_client_that_hardly_reads(little_cluster, stage, twice_its_memory, way, is_slow):
    file = little_cluster.connection_file("client")
    with connect(file, 1, timeout=PATIENCE) as rc:
        client = stage.start([sys.executable, CLIENT, file, way, twice_its_memory], "slow-client",
                             **little_cluster.environment)  # fmt: skip
        wait_until(lambda: "asked" in client.output() or not client.is_running(), "it has asked")
        with stopped(client, is_slow=is_slow):
            rc[0].apply_async(abs, 0).get(LONG)  # the engine has made what came before
            wait_until(lambda: rc.queue_status()["unassigned"] == 0, "all tasks are done", LONG)
        assert client.wait(LONG) == 0, client.output()
        outcomes = json.loads(client.output().splitlines()[-1])
        assert sum(outcomes.values()) == twice_its_memory, outcomes
        assert outcomes["ok"] > 0 and outcomes.keys() <= {"ok", "ResultLost"}, outcomes
        assert rc[0].apply_sync(len, bytes(MIB)) == MIB


@in_each_group
def test_more_tasks_than_there_is_memory_for(little_cluster, twice_its_memory, tmp_path):
    gate = tmp_path / "gate"
    with connect(little_cluster.connection_file("client"), 1, timeout=PATIENCE) as rc:
        wait = f"import os, time\nwhile not os.path.exists({str(gate)!r}): time.sleep(0.05)"
        busy = rc[:].execute(wait, block=False)
        view = rc.load_balanced_view()
        tasks = [view.apply_async(len, bytes(MIB)) for _ in range(twice_its_memory)]
        with pytest.raises(polyxeus.RemoteError, match="too many unfinished tasks"):
            tasks[-1].get(PATIENCE)
        calls = [rc[0].apply_async(len, bytes(MIB)) for _ in range(twice_its_memory)]
        gate.touch()
        busy.get(PATIENCE)
        assert is_done(calls[0])
        assert all(is_done(call) in (True, False) for call in calls)
        assert tasks[0].get(PATIENCE) == MIB


def reply(dealer, longer_than=0):
    """The next reply: the name of the error that it says; None: it says none, and is longer than so many bytes."""
    assert dealer.poll(PATIENCE * 1000)
    frames = dealer.recv_multipart()
    name = json.loads(frames[frames.index(DELIMITER) + 5]).get("ename")
    assert name or sum(map(len, frames)) > longer_than
    return name


@in_each_group
def test_control_requests_for_an_engine_that_does_not_read(little_cluster, twice_its_memory):
    (engine,) = little_cluster.engines
    file = little_cluster.connection_file("client")
    with connect(file, 1, timeout=PATIENCE) as rc, RawPeer(json.loads(file.read_text())) as peer:
        (uuid,), _ = rc._build_targets("all")
        control = peer.dealer("control")
        with stopped(engine):
            for _ in range(twice_its_memory):
                request = peer.message("abort_request", {"msg_ids": []}, buffers=[bytes(MIB)])
                control.send_multipart([uuid.encode(), *request])
            replies = [reply(control)]
            while replies[-1] != "Overloaded":  # it may have answered the first ones before it stopped
                replies.append(reply(control))
        replies += [reply(control) for _ in range(twice_its_memory - len(replies))]
        assert set(replies) == {None, "Overloaded"}
        assert rc[0].apply_sync(abs, -1) == 1


@in_each_group
@pytest.mark.parametrize("kind", ["db_request", "result_request"])
def test_records_for_a_client_that_does_not_read(little_cluster, twice_its_memory, kind):
    file = little_cluster.connection_file("client")
    with connect(file, 1, timeout=PATIENCE) as rc, RawPeer(json.loads(file.read_text())) as peer:
        (msg_id,) = rc[0].apply_async(bytes, MIB).msg_ids
        rc.wait(timeout=PATIENCE)
        content = {"msg_ids": [msg_id], "status_only": False}
        if kind == "db_request":
            content = {"query": {"msg_id": msg_id}, "keys": ["result_buffers"]}
        registration = peer.socket(zmq.DEALER)
        registration.rcvhwm, registration.rcvbuf = 1, 1 << 16
        registration.connect(peer.address("registration"))
        for _ in range(twice_its_memory):
            registration.send_multipart(peer.message(kind, content))
        wait_until(lambda: rc.queue_status() is not None, "others are answered")
        replies = [reply(registration, longer_than=MIB) for _ in range(twice_its_memory)]
        assert set(replies) <= {None, "ResultLost"}
        assert rc[0].apply_sync(abs, -1) == 1


@in_each_group
def test_output_for_a_subscriber_of_one_topic_that_does_not_read(little_cluster, twice_its_memory):
    file = little_cluster.connection_file("client")
    with connect(file, 1, timeout=PATIENCE) as rc, RawPeer(json.loads(file.read_text())) as peer:
        output = peer.socket(zmq.SUB)
        output.rcvhwm, output.rcvbuf = 1, 1 << 16
        output.subscribe(b"engine.0.stdout")
        output.connect(peer.address("iopub"))

        def is_subscribed():
            rc[0].execute("print('x')", silent=False).get(PATIENCE)
            return output.poll(10)

        wait_until(is_subscribed, "it is subscribed")
        rc[0].execute(f"for _ in range({twice_its_memory}): print('x' * {MIB})", silent=False).get(LONG)
        assert rc[0].apply_sync(len, bytes(MIB)) == MIB
