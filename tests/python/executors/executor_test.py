"""Executors of views as those of concurrent.futures: maps with limits, cancelling, initializers, shutdown, asyncio."""

import asyncio
import concurrent.futures
import itertools
import os
import pickle
import threading
import time

import pytest
from deadlines import wait_until

import polyxeus as px


@pytest.fixture(params=["balanced", "direct"])
def pool(request, rc):
    with rc.executor([0, 1]) if request.param == "balanced" else rc[:2].executor as made:
        yield made


@pytest.fixture
def gate(tmp_path):
    """A function that waits on engines until its file is there, and the file."""
    path = tmp_path / "gate"

    def wait(path=str(path)):
        import os
        import time

        while not os.path.exists(path):
            time.sleep(0.01)

    yield wait, path
    path.touch()


def _make_fail():
    def fail(n):  # a function in a function travels as it is: the engines lack this module
        if n == 2:
            raise ValueError(f"no {n}")
        return n

    return fail


fail = _make_fail()


def test_a_map_gives_its_items_in_order_in_calls_of_any_size(pool):
    for options in ({}, {"chunksize": 3}, {"buffersize": 2}, {"buffersize": 2, "chunksize": 3}, {"chunksize": 100}):
        assert list(pool.map(pow, range(10), itertools.repeat(2), **options)) == [n * n for n in range(10)]
        assert sorted(pool.map(abs, range(-5, 0), ordered=False, **options)) == [1, 2, 3, 4, 5]
    assert list(pool.map(abs, [])) == []


@pytest.mark.parametrize("options, kind", [
    ({"chunksize": 0}, ValueError), ({"buffersize": 0}, ValueError), ({"buffersize": "x"}, TypeError)])  # fmt: skip
def test_wrong_sizes_are_refused(pool, options, kind):
    with pytest.raises(kind, match=next(iter(options))):
        pool.map(abs, [1], **options)


def test_a_direct_map_gives_its_items_to_the_engines_in_turn(rc):
    pids = rc[:].apply_sync(os.getpid)
    assert list(rc[:].executor.map(lambda _: os.getpid(), range(6))) == (2 * pids)[:6]
    assert rc[:].executor.submit(abs, -1).result() == [1] * 4


def test_a_map_with_a_buffer_reads_no_further_than_its_results_are_taken(pool):
    numbers = itertools.count()
    results = pool.map(abs, numbers, buffersize=3)
    assert next(numbers) == 3  # what has not been read
    assert next(results) == 0
    assert list(itertools.islice(results, 2)) == [1, 2]


def test_a_shutdown_ends_a_map_with_a_buffer_at_its_first_unread_item(rc):
    with rc.executor() as pool:
        cut, whole = pool.map(abs, itertools.count(), buffersize=2), pool.map(abs, range(2), buffersize=2)
    assert list(whole) == [0, 1]
    assert [next(cut), next(cut)] == [0, 1]
    with pytest.raises(RuntimeError, match="cannot schedule new futures after shutdown"):
        next(cut)


def test_the_items_of_a_map_have_a_time_limit(pool, gate):
    wait, _ = gate
    results = pool.map(lambda f: f(), [os.getpid, wait], timeout=0.5)
    assert next(results) > 0
    with pytest.raises(concurrent.futures.TimeoutError):
        next(results)
    with pytest.raises(StopIteration):
        next(results)


def test_after_a_failure_the_rest_of_a_map_does_not_run(rc, tmp_path):
    def note(n, folder=str(tmp_path)):
        if n == 0:
            raise KeyError("first")
        open(f"{folder}/{n}", "w").close()

    results = rc[0].executor.map(lambda f, n: f(n), [lambda _: __import__("time").sleep(0.3), *[note] * 30], [-1, *range(30)])
    next(results)
    with pytest.raises(KeyError, match="first"):
        list(results)
    rc[0].executor.shutdown()
    assert len(list(tmp_path.iterdir())) < 30


def test_futures_raise_the_exception_of_the_call(pool):
    future = pool.submit(fail, 2)
    if isinstance(pool.view, px.DirectView):
        with pytest.raises(px.CompositeError):
            future.result()
    with pytest.raises(ValueError, match="no 2"):
        future.result()
    assert isinstance(future.exception(), ValueError) and not future.cancelled()
    with pytest.raises(ValueError, match="no 2"):
        list(pool.map(fail, range(4)))
    results = list(pool.map(fail, range(4), return_exceptions=True))
    assert isinstance(results[2], ValueError) and results[:2] == [0, 1] and results[3] == 3


def test_a_call_that_has_not_begun_is_cancelled(rc, gate):
    wait, path = gate
    for pool in (rc.executor([0]), rc[0].executor):
        path.unlink(missing_ok=True)
        running, waiting = pool.submit(wait), pool.submit(abs, -1)
        told = threading.Event()
        waiting.add_done_callback(lambda _: told.set())
        wait_until(running.running, "the call runs", 20)
        assert not waiting.running() and not waiting.done()
        assert not running.cancel() and not running.cancelled()
        assert waiting.cancel() and waiting.cancelled() and waiting.done() and not waiting.running()
        assert waiting.cancel() and told.wait(60)
        assert concurrent.futures.wait([waiting, running], 20, "FIRST_COMPLETED").done == {waiting}
        assert list(concurrent.futures.as_completed([waiting])) == [waiting]
        for ask in (waiting.result, waiting.exception, waiting.get):
            with pytest.raises(concurrent.futures.CancelledError):
                ask() if ask == waiting.get else ask(0)
        with pytest.raises(px.TaskAborted):
            waiting.result()
        path.touch()
        assert running.result(60) is None and not running.cancel()
        pool.shutdown()
        assert waiting.cancelled() and waiting._state == "CANCELLED_AND_NOTIFIED"


def test_a_time_limit_below_zero_is_over_at_once(pool, gate):
    future = pool.submit(gate[0])
    for ask in (future.result, future.exception):
        with pytest.raises(concurrent.futures.TimeoutError):
            ask(-1)
    gate[1].touch()
    future.result(60)


def test_a_shutdown_cancels_what_has_not_begun(rc, gate):
    wait, path = gate
    for pool in (rc.executor([0]), rc[0].executor):
        path.unlink(missing_ok=True)
        futures = [pool.submit(wait), *[pool.submit(abs, -n) for n in range(20)]]
        wait_until(futures[0].running, "the first call runs", 20)
        pool.shutdown(wait=False, cancel_futures=True)
        path.touch()
        pool.shutdown()
        assert [each.cancelled() for each in futures] == [False, *[True] * 20]
        assert futures[0].result(0) is None


def test_a_view_has_a_new_executor_after_a_shutdown(rc):
    view = rc.load_balanced_view()
    with view.executor as pool:
        assert view.executor is pool
    for call in (lambda: pool.submit(abs, 1), lambda: pool.map(abs, [1])):
        with pytest.raises(RuntimeError, match="^cannot schedule new futures after shutdown$"):
            call()
    assert view.executor is not pool and view.executor.submit(abs, -1).result(60) == 1


def test_an_initializer_runs_once_in_each_engine(rc):
    def begin(text):
        import builtins

        builtins.begun = [*getattr(builtins, "begun", []), text]

    def state():
        import builtins

        return builtins.begun

    rc[:].execute("import builtins; vars(builtins).pop('begun', None)", block=True)
    with rc.executor(initializer=begin, initargs=("a",)) as pool:
        assert [each.result(60) for each in [pool.submit(state) for _ in range(12)]] == [["a"]] * 12
        assert list(pool.map(lambda _: state(), range(12), chunksize=2)) == [["a"]] * 12
    with px.ViewExecutor(rc[:], begin, ("b",)) as pool:
        assert all(each[-1] == "b" for each in pool.submit(state).result(60))
    with pytest.raises(TypeError, match="initializer must be a callable"):
        rc.executor(initializer=5)


def test_an_initializer_that_fails_breaks_the_executor(rc, caplog):
    def begin():
        raise OSError("no licence")

    pool = rc.executor(initializer=begin)
    future = pool.submit(abs, -1)
    with pytest.raises(concurrent.futures.BrokenExecutor, match="OSError: no licence"):
        future.result(20)
    wait_until(lambda: pool._broken, "the executor is told", 20)
    for call in (lambda: pool.submit(abs, 1), lambda: pool.map(abs, [1])):
        with pytest.raises(concurrent.futures.BrokenExecutor, match="initializer"):
            call()
    assert "no licence" in caplog.text
    pool.shutdown()


def test_asyncio_runs_calls_in_it(pool, gate):
    async def compute():
        loop = asyncio.get_running_loop()
        value = await loop.run_in_executor(pool, abs, -3)
        with pytest.raises(ValueError, match="no 2"):
            await loop.run_in_executor(pool, fail, 2)
        running = loop.run_in_executor(pool, gate[0])
        others = [loop.run_in_executor(pool, abs, -1) for _ in range(30)]
        others[-1].cancel()
        gate[1].touch()
        await running
        await asyncio.wait(others)
        return value, others[-1].cancelled()

    assert asyncio.run(asyncio.wait_for(compute(), 40)) in [(3, True), ([3, 3], True)]


@pytest.mark.parametrize("ordered", [True, False])
def test_a_coroutine_takes_the_items_of_a_map_as_they_come(rc, gate, ordered):
    wait, path = gate
    balanced = rc.load_balanced_view()

    async def compute():
        first = []
        calls = [lambda: 5, wait] if ordered else [wait, lambda: 5]
        async for each in balanced.map_async(lambda f: f(), calls, ordered=ordered, chunksize=1):
            first.append(each)
            path.touch()
        done = balanced.map_async(abs, range(-3, 0))
        await asyncio.to_thread(done.wait, 20)
        direct = [each async for each in rc[:].map_async(abs, range(-9, 0))]
        with pytest.raises(ValueError, match="no 2"):
            async for _ in balanced.map_async(fail, range(4)):
                pass
        return first, [each async for each in done], direct

    assert asyncio.run(asyncio.wait_for(compute(), 40)) == ([5, None], [3, 2, 1], list(range(9, 0, -1)))


def test_a_future_can_be_forgotten_before_it_is_done(pool):
    for n in range(100):
        pool.submit(abs, -n)
    future = pool.submit(abs, -1)
    concurrent.futures.wait([future], 20)
    assert future.done() and not future.running() and pickle.dumps(future.result(0))


def test_a_map_can_be_used_while_the_input_is_slow(pool):
    def slow():
        yield 1
        time.sleep(0.3)
        yield 2

    assert list(pool.map(abs, slow())) == [1, 2]
