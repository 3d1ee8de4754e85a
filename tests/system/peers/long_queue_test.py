"""Many small tasks wait for an engine: they take little memory and keep their order.

PX_QUEUED=50000 queues so many of them, and looks at the memory.
"""

import os
import time

import psutil
import pytest
import zmq
from programs import PATIENCE, wait_until
from raw_peer import DELIMITER, RawPeer
from running_cluster import connect

pytestmark = pytest.mark.better_than_reference("it takes kilobytes for each task")

QUEUED = int(os.environ.get("PX_QUEUED", 1000))
BYTES_OF_ONE = 200
MOST_BYTES = 1500  # of the controller's memory for each task, its header and signature included


def test_tasks_that_wait_take_little_memory_and_keep_their_order(own_cluster):
    cluster = own_cluster()
    cluster.start_controller("--nodb")
    controller = psutil.Process(cluster.controller.pid)
    with (
        RawPeer(cluster.connection("client")) as peer,
        connect(cluster.connection_file("client"), 0, timeout=PATIENCE) as client,
    ):
        tasks = peer.dealer("task", b"many")
        before = controller.memory_info().rss
        for number in range(QUEUED):
            code = f"order.append({number})" if number else "order = [0]"
            content = {"code": code, "silent": True}
            frames = peer.message("execute_request", content)
            padding = BYTES_OF_ONE - len(frames[-1])
            tasks.send_multipart([*frames, b"x" * max(0, padding)])
        wait_until(
            lambda: client.queue_status()["unassigned"] == QUEUED, "all have arrived", 600
        )
        most = controller.memory_info().rss
        print(f"{QUEUED} tasks: {(most - before) / 1e6:.1f} MB, {(most - before) / QUEUED:.0f} each")
        cluster.start_engines(1)
        client.wait_for_engines(1, timeout=PATIENCE)
        begun = time.monotonic()
        for _ in range(QUEUED):
            assert tasks.poll(PATIENCE * 1000, zmq.POLLIN)
            reply = tasks.recv_multipart()
            assert DELIMITER in reply
        print(f"all done after {time.monotonic() - begun:.1f} s")
        assert client[0].pull("order", block=True) == list(range(QUEUED))
    if QUEUED >= 50_000:
        assert (most - before) / QUEUED <= MOST_BYTES
