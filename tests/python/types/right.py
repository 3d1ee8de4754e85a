"""Uses of the public API that type checkers must accept: those of docs/ and notebooks."""

from __future__ import annotations

import asyncio
import concurrent.futures
import math
import time
from datetime import datetime
from typing import Any

import polyxeus as ipp


def square(n: int) -> int:
    return n * n


def test_calls(rc: ipp.Client) -> None:
    view = rc[:]
    view["x"] = 21
    print(view["x"], view.apply_sync(lambda: 42), rc[0].apply_sync(math.hypot, 3.0, 4.0))
    result = view.execute("print(x)", block=True)
    print(result.stdout, result.metadata, result.engine_id)
    view.push({"a": 5}, block=True)
    view.pull("a", block=True)
    view.scatter("parts", range(8), dist="r")
    view.gather("parts").get(timeout=5)
    view.apply_async(square, ipp.Reference("x")).get()
    with view.sync_imports():
        import os  # noqa: F401
    with view.temp_flags(block=True):
        view.run("script.py")
    view.set_flags(block=True, targets=[0, 1]).apply(time.sleep, 1)
    rc.broadcast_view().apply_sync(square, 2)
    rc[[0, 1]].interrupt(block=False)
    kept = rc.restart_engines([0, 1], keep=["x", "parts"])
    print([row["kept"] for row in kept or ()], rc.restart_engines(keep=True))
    rc[::2].activate("_even")


class Counter:
    def __init__(self, n: int) -> None:
        self.n = n


def test_objects(rc: ipp.Client) -> None:
    counter: ipp.Actor = rc[:].spawn(Counter, 0, respawn=True)
    print(counter.add(3).get(), counter[2].add(1), counter[0:2].call("add", 1), counter.attribute("n").get(), counter.targets)
    for engine, item in counter.items.stream(2):
        print(engine, item)
    for each in counter:
        print(list(each.stream("items")), each.checkpoint("/tmp/counter"))
    counter.spawned.wait(5)
    with rc.load_balanced_view().spawn(Counter, 1) as other:
        other.bind(rc).close()


def test_tasks(rc: ipp.Client) -> None:
    balanced = rc.load_balanced_view()
    total: int = sum(balanced.map_sync(square, range(100_000)))
    first: int = balanced.apply_sync(square, 2)
    later: ipp.AsyncResult[int] = balanced.apply_async(square, total + first)
    with balanced.temp_flags(after=[later], retries=2):
        balanced.apply_async(square, 4)
    mapped: ipp.AsyncMapResult[int] = balanced.map_async(square, [1, 2], ordered=False)
    for each in mapped:
        print(each + 1)
    numbers: list[int] = mapped.get()
    print(numbers)
    for number in balanced.imap(square, iter(int, 1), max_outstanding=8):
        print(number + 1)
    with balanced.executor as pool:
        power: int = pool.submit(square, 2).result()
        print(power)
    done, pending = later.wait(return_when=ipp.FIRST_COMPLETED)
    print(len(done), len(pending), later.wait(1.0) is True)
    concurrent.futures.wait([later], 5)


def test_functions(rc: ipp.Client) -> None:
    @rc[:].remote(block=True)
    def remotely(n: int) -> int:
        return n

    @rc[:].parallel()
    def in_parts(part: list[int]) -> list[int]:
        return part

    @ipp.require("numpy")
    def with_numpy(n: int) -> int:
        return n

    remotely(5)
    in_parts.map(range(4))
    rc.load_balanced_view().apply_sync(with_numpy, 5)
    rc[0].apply_async(ipp.interactive(square), 3)


async def test_awaiting(rc: ipp.Client) -> int:
    number = await rc.load_balanced_view().apply_async(square, 2)
    return await asyncio.wrap_future(rc.load_balanced_view().apply_async(square, number))


def test_errors(rc: ipp.Client) -> None:
    try:
        rc[0].apply_sync(square, 1)
    except ipp.CompositeError as problem:
        problem.print_traceback(0)
        print([name for name, _, _, _ in problem.elist])
    except ipp.RemoteError as problem:
        print(problem.ename.upper(), problem.engine_info["engine_id"])
    except ipp.error.TaskAborted:
        pass


def test_clusters() -> None:
    with ipp.Cluster(n=4, language="python:2,cpp:2") as rc:
        print(rc.ids[0] + 1, rc.controller_address, rc.queue_status())
        record = rc.db_query({"completed": {"$ne": None}}, keys="msg_id")[0]
        print(record["msg_id"])
        rc.wait_for_engines(4, timeout=60)
        print(rc.where([0, 1], timeout=2)[0]["mpi"], rc.where())
        print(rc.stacks([0, 1], timeout=2, libraries=True)[0]["threads"], rc.stacks())
        started: datetime | None = rc.metadata["id"].started
        print(started)
    cluster = ipp.Cluster.from_file(profile="default")
    cluster.start_cluster_sync().connect_client_sync().close()


async def test_clusters_of_coroutines() -> Any:
    async with ipp.Cluster(n=2) as rc:
        return rc[:].apply_sync(square, 2)
