"""asyncio in engines: tasks go on while nothing is asked of the engine."""

import os
import socket

import ipyparallel as ipp
import pytest


@pytest.fixture
def listener():
    """Where a task of an engine reports that it has ticked."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(30)
        yield server


TICKING = """
import asyncio
async def tick(port):
    for _ in range(20):
        await asyncio.sleep(0.001)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"ticked")
    writer.close()
"""


@pytest.mark.parametrize("start", ["asyncio.create_task(tick({port}))",
                                   "task = asyncio.create_task(tick({port})); await asyncio.sleep(0)"])
def test_a_task_of_a_cell_ticks_while_nothing_is_asked_of_the_engine(rc, listener, start):
    port = listener.getsockname()[1]
    rc[0].execute(TICKING).get(60)
    rc[0].execute(start.format(port=port)).get(60)
    connection, _ = listener.accept()  # no request wakes the engine meanwhile
    with connection:
        assert connection.recv(99) == b"ticked"


def test_a_task_of_a_function_ticks_too(rc, listener):
    port = listener.getsockname()[1]
    rc[0].execute(TICKING).get(60)

    @ipp.interactive
    def start(port):
        import asyncio

        asyncio.ensure_future(get_ipython().user_ns["tick"](port))  # noqa: F821

    rc[0].apply_sync(start, port)
    connection, _ = listener.accept()
    connection.close()


def test_requests_are_served_while_a_task_waits(rc):
    rc[0].execute("import asyncio; waiting = asyncio.create_task(asyncio.sleep(3600))").get(60)
    assert rc[0].apply_sync(os.getpid) == rc[0].apply_sync(os.getpid)
    rc[0].execute("assert not waiting.done(); waiting.cancel()").get(60)


def test_become_dask_of_an_unmodified_client(rc):
    pytest.importorskip("distributed")

    def square(x):
        return x * x

    dask_client = rc.become_dask()
    try:
        dask_client.wait_for_workers(len(rc), timeout=60)
        squares = dask_client.map(square, range(1000))
        assert dask_client.submit(sum, squares).result(60) == sum(x * x for x in range(1000))
    finally:
        dask_client.close()
        rc.stop_dask()
