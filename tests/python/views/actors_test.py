"""Objects on engines: calls, streams, lost and freed objects, on a cluster of four engines."""

import _thread
import asyncio
import gc
import os
import pickle
import signal
import sys
import threading
import types

import cloudpickle
import pytest
from deadlines import wait_until

import polyxeus as px
from polyxeus.serialize.values import NO_PICKLE
from polyxeus.views import actor_home, actors
from polyxeus.views.actor_home import Places, least_busy

PATIENCE = 30  # seconds


class Counter:
    """It travels by value: this module is not importable on the engines."""

    def __init__(self, n, step=1):
        self.n = n
        self.step = step
        self.ended = []

    def add(self, k):
        self.n += k
        return self.n

    async def add_later(self, k):
        import asyncio

        await asyncio.sleep(0)
        return self.add(k)

    def fail(self):
        raise ValueError(f"at {self.n}")

    def items(self, count):
        try:
            yield from range(self.n, self.n + count)
        finally:
            self.ended.append(count)

    async def later_items(self, count):
        for n in range(count):
            yield await self.add_later(n)

    def failing_items(self):
        yield 1
        raise KeyError("second")

    def gated_items(self, gate):
        import os
        import time

        yield "first"
        while not os.path.exists(gate):
            time.sleep(0.002)
        yield "second"

    def slow(self, gate):
        import os
        import time

        while not os.path.exists(gate):
            time.sleep(0.002)

    @property
    def double(self):
        return 2 * self.n


@pytest.fixture(autouse=True)
def by_value():
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    yield
    cloudpickle.unregister_pickle_by_value(sys.modules[__name__])


def objects_on(view):
    """How many objects the engines of a view have."""
    def count():
        from polyxeus.engine_calls import actors

        return len(actors._homes)

    return view.apply_sync(count)


# ---- which engine gets an object, and which has lost one


def test_the_engine_with_the_fewest_requests_gets_the_object():
    status = {0: {"queue": 1, "tasks": 0}, 1: {"queue": 0, "tasks": 2}, 2: {"queue": 0, "tasks": 1}, "unassigned": 0}
    assert least_busy([0, 1, 2], status, {}) == 0
    assert least_busy([0, 1, 2], status, {0: 1}) == 2
    assert least_busy([1], status, {}) == 1


def test_of_restarted_engines_those_make_objects_again_that_are_called():
    places = Places("Counter", {0: "a", 1: "b", 2: "c"}, is_respawned=True)
    engines = {0: "a", 1: "new", 2: "newer"}
    assert places.to_make_again([0, 1], engines) == [1]
    assert places.living(engines) == [0]


@pytest.mark.parametrize("respawned, engines, text", [
    (True, {0: "a"}, r"\[1:apply\] EngineError: the Counter of engine 1 is lost: the process has ended; restart the engine by"),
    (False, {0: "a"}, "the process has ended; spawn the object again, or make it with"),
    (False, {0: "a", 1: "new"}, "of engine 1 is lost: the engine was started again; spawn the object again"),
    (False, {}, "the Counter of engines 0, 1 is lost"),
])  # fmt: skip
def test_a_lost_object_is_named(respawned, engines, text):
    with pytest.raises(px.EngineError, match=text) as caught:
        Places("Counter", {0: "a", 1: "b"}, respawned).to_make_again([0, 1], engines)
    assert isinstance(caught.value, px.RemoteError)


# ---- calls


def test_a_call_is_one_on_each_engine_of_the_proxy(rc):
    counter = rc[:].spawn(Counter, 0)
    assert counter.add(3).get(PATIENCE) == [3, 3, 3, 3]
    assert counter[2].add(3).get(PATIENCE) == 6
    assert counter[1:3].call("add", 1).get_dict(PATIENCE) == {1: 4, 2: 7}
    assert counter[-1].attribute("n").get(PATIENCE) == 3
    assert [each.add(0).get(PATIENCE) for each in counter] == [3, 4, 7, 3]
    assert (len(counter), counter.targets, counter[2].targets) == (4, [0, 1, 2, 3], 2)
    assert repr(counter[0:2]) == "<Actor(Counter): engines 0, 1>"
    assert "items" in dir(counter) and "add" in dir(counter)


def test_the_flag_of_the_view_says_whether_calls_wait(rc):
    view = rc[1]
    counter = view.spawn(Counter, 1, step=5)
    view.block = True
    assert counter.add(1) == 2
    assert counter.attribute("step") == 5
    assert counter.attribute("double") == 4
    assert rc.history[-1] == view.history[-1]


def test_calls_run_in_the_order_in_which_they_are_made(rc, tmp_path):
    counter = rc[:2].spawn(list)
    gate = tmp_path / "gate"
    rc[0].apply_async(Counter.slow, None, str(gate))
    for n in range(50):
        counter.append(n)
    last = counter.copy()
    gate.touch()
    assert last.get(PATIENCE) == [list(range(50))] * 2


def test_an_error_is_of_both_classes_and_names_its_engine(rc):
    counter = rc[:].spawn(Counter, 7)
    with pytest.raises(ValueError, match=r"\[2:apply\] ValueError: at 7") as caught:
        counter[2].fail().get(PATIENCE)
    assert isinstance(caught.value, px.RemoteError) and "fail(self" in caught.value.__cause__.tb
    with pytest.raises(px.CompositeError, match=r"raised in: Counter.fail\n\[0-3:apply\]ValueError: at 7"):
        counter.fail().get(PATIENCE)
    with pytest.raises(AttributeError, match="'Counter' object has no attribute 'ad'"):
        counter[0].ad(1).get(PATIENCE)
    with pytest.raises(TypeError, match="'n' of Counter is not a method: its type is int; use attribute"):
        counter[0].n().get(PATIENCE)
    with pytest.raises(AttributeError, match="property of Counter: use attribute"):
        counter.double
    with pytest.raises(AttributeError, match="private"):
        counter._private


def test_an_error_of_the_constructor_is_that_of_each_call(rc):
    counter = rc[:2].spawn(Counter)
    for call in (counter.spawned, counter.add(1), counter[0].add(1)):
        with pytest.raises(TypeError, match="missing 1 required positional argument: 'n'"):
            call.get(PATIENCE)
    waiting = rc[0]
    waiting.block = True
    with pytest.raises(TypeError, match="missing 1 required"):
        waiting.spawn(Counter)


def test_a_coroutine_is_awaited_on_the_engine(rc):
    counter = rc[:].spawn(Counter, 0)
    assert counter.add_later(2).get(PATIENCE) == [2] * 4

    async def here():
        return await counter[1].add_later(1)

    assert asyncio.run(here()) == 3


def test_a_broadcast_view_and_a_balanced_view_make_objects_too(rc):
    assert rc.broadcast_view().spawn(Counter, 1).add(1).get(PATIENCE) == [2] * 4
    balanced = rc.load_balanced_view([2, 3])
    balanced.block = True
    counters = []
    for n in range(4):
        wait_until(lambda: all(rc.queue_status()[each]["queue"] == 0 for each in (2, 3)), "objects of before are freed", PATIENCE)
        counters.append(balanced.spawn(Counter, n))
    assert [each.add(0) for each in counters] == [0, 1, 2, 3]
    assert sorted(each.targets for each in counters) == [2, 2, 3, 3]


def test_a_busy_engine_gets_no_object(rc, tmp_path):
    gate = tmp_path / "gate"
    rc[[0, 1, 3]].apply_async(Counter.slow, None, str(gate))
    wait_until(lambda: all(rc.queue_status([0, 1, 3])[each]["queue"] for each in (0, 1, 3)), "they are busy", PATIENCE)
    counter = rc.load_balanced_view().spawn(Counter, 5)
    gate.touch()
    assert counter.targets == 2


def test_what_cannot_work_is_refused(rc):
    with pytest.raises(TypeError, match="spawn.. needs a class"):
        rc[:].spawn(5)
    counter = rc[0].spawn(Counter, 0)
    for wrong in (lambda: counter[0], lambda: len(counter), lambda: rc[:].spawn(Counter, 0)["x"]):
        with pytest.raises(TypeError):
            wrong()
    with pytest.warns(RuntimeWarning, match="1 method of File can only be called by actor.call.'close'"):
        rc[0].spawn(type("File", (), {"close": lambda self: 1}))


def test_engines_get_no_object_of_another_language():
    client = types.SimpleNamespace(_addressed=lambda targets: (["a"], [1], NO_PICKLE), languages={1: "cpp"})
    view = types.SimpleNamespace(client=client, targets=[1])
    with pytest.raises(TypeError, match="Python classes need engines that run Python"):
        actors.spawn(view, view, Counter, (0,), {}, False)
    with pytest.raises(TypeError, match="no engine of this view does"):
        actors.view_of_least_busy(view, Counter)
    client.languages = {}
    with pytest.raises(TypeError, match="the C.. class 'Counter' need engines that run C"):
        actors.spawn(view, view, "Counter", (0,), {}, False)


# ---- streams


def test_a_stream_gives_the_items_in_order(rc):
    counter = rc[:].spawn(Counter, 5)
    assert list(counter[0].items.stream(100)) == list(range(5, 105))
    pairs = list(counter.stream("items", count=20))
    assert len(pairs) == 80
    for engine in range(4):
        assert [item for each, item in pairs if each == engine] == list(range(5, 25))
    assert list(counter[1].later_items.stream(4)) == [5, 6, 8, 11]
    assert list(rc[0].spawn(dict, a=1).items.stream()) == [("a", 1)]


def test_items_come_before_the_generator_has_ended(rc, tmp_path):
    gate = tmp_path / "gate"
    stream = rc[0].spawn(Counter, 0).gated_items.stream(str(gate))
    assert next(stream) == "first"
    gate.touch()
    assert list(stream) == ["second"]
    assert "ended" in repr(stream)


def test_leaving_the_loop_ends_the_generators(rc):
    counter = rc[:].spawn(Counter, 0)
    for _ in counter.items.stream(10**9):
        break
    wait_until(lambda: counter.attribute("ended").get(PATIENCE) == [[10**9]] * 4, "their finally blocks run", PATIENCE)
    with counter[0].items.stream(8) as items:
        assert next(items) == 0
    assert counter[0].attribute("ended").get(PATIENCE) == [10**9, 8]
    assert list(items) == []


def test_an_error_ends_a_stream(rc):
    stream = rc[:].spawn(Counter, 0).failing_items.stream()
    with pytest.raises(KeyError, match="second"):
        list(stream)
    assert list(stream) == []
    with pytest.raises(TypeError, match=r"add\(\) returns a value of type int, which has no items"):
        next(rc[0].spawn(Counter, 0).add.stream(1))
    with pytest.raises(TypeError, match="is a generator: use stream"):
        rc[0].spawn(Counter, 0).items(1).get(PATIENCE)


def test_async_for_takes_items(rc):
    counter = rc[:2].spawn(Counter, 0)

    async def here():
        found = [pair async for pair in counter.later_items.stream(3)]
        items = counter[0].items.stream(10**9)
        found.append(await items.__anext__())
        await items.aclose()
        return found

    found = asyncio.run(here())
    assert [item for engine, item in found[:-1] if engine == 1] == [0, 1, 3]
    assert found[-1] == 3
    assert counter[0].attribute("ended").get(PATIENCE) == [10**9]


def test_other_calls_run_between_the_items(rc):
    counter = rc[0].spawn(Counter, 0)
    with counter.items.stream(10**9) as items:
        next(items)
        assert counter.add(5).get(PATIENCE) == 5


def test_an_interrupt_in_the_loop_interrupts_the_generators(rc, tmp_path):
    counter = rc[0].spawn(Counter, 0)
    stream = counter.gated_items.stream(str(tmp_path / "never"))
    assert next(stream) == "first"

    def interrupt():
        wait_until(lambda: rc.status()[0]["state"] == "busy", "it computes the second item", PATIENCE)
        _thread.interrupt_main()

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        next(stream)
    thread.join()
    assert counter.add(1).get(PATIENCE) == 1
    assert list(stream) == []


# ---- proxies as values, and the end


def test_a_proxy_in_the_arguments_becomes_the_object(rc):
    counter = rc[[1, 2]].spawn(Counter, 4)
    assert rc[1].apply_sync(lambda objects: objects["at"].n, {"at": counter}) == 4
    assert rc.load_balanced_view().apply_sync(lambda counter: counter.add(1), counter) == 5
    rc[1]["counter"] = counter
    assert rc[1].pull("counter.n").get(PATIENCE) in (4, 5)
    with pytest.raises(px.UnmetDependency, match="this engine does not have the Counter"):
        rc[0].apply_sync(repr, counter)
    with pytest.raises(px.ImpossibleDependency):
        rc.load_balanced_view([0, 3]).apply_sync(repr, counter)


def test_objects_live_until_the_calls_that_have_them_as_arguments_are_answered(rc, tmp_path):
    gate = tmp_path / "gate"
    rc[1].apply_async(Counter.slow, None, str(gate))
    balanced = rc.load_balanced_view([1])
    threading.Timer(0.05, gate.touch).start()  # the task waits for the constructor in this process
    result = balanced.apply_async(lambda counter: counter.n, rc[1].spawn(Counter, 4))
    gc.collect()
    assert result.get(PATIENCE) == 4


def test_a_proxy_can_be_pickled(rc, running):
    counter = rc[:].spawn(Counter, 4)
    assert pickle.loads(pickle.dumps(counter[3])).add(1).get(PATIENCE) == 5
    data = pickle.dumps(counter)
    kept = dict(actor_home._homes)
    actor_home._homes.clear()  # as in another process
    try:
        far = pickle.loads(data)
    finally:
        actor_home._homes.update(kept)
    for use, text in ((lambda: far.add(1), "comes from another process: use its bind"), (lambda: far.spawned, "another process")):
        with pytest.raises(RuntimeError, match=text):
            use()
    with running.connect_client_sync() as other:
        other.wait_for_engines(4, timeout=PATIENCE)
        assert far.bind(other).add(1).get(PATIENCE) == [5, 5, 5, 6]
    assert counter.add(0).get(PATIENCE) == [5, 5, 5, 6]  # a bound proxy does not own the objects


def test_objects_are_freed_with_their_last_proxy(rc):
    view = rc[:]
    counter = view.spawn(Counter, 4)
    one = counter[2]
    del counter
    assert one.add(1).get(PATIENCE) == 5
    before = objects_on(view)[2]
    del one
    gc.collect()
    wait_until(lambda: objects_on(view)[2] < before, "it is freed", PATIENCE)


def test_a_closed_proxy_refuses_calls_and_runs_those_before(rc):
    counter = rc[0].spawn(Counter, 4)
    with counter:
        last = counter.add(1)
    assert last.get(PATIENCE) == 5
    for use in (lambda: counter.add(1), lambda: counter.items.stream(1)):
        with pytest.raises(RuntimeError, match="the Counter was freed by close"):
            use()


def test_a_client_that_closes_frees_its_objects(rc, running):
    view = rc[:]
    gc.collect()
    wait_until(lambda: objects_on(view) == [0] * 4, "earlier ones are freed", PATIENCE)
    with running.connect_client_sync() as other:
        other.wait_for_engines(4, timeout=PATIENCE)
        counter = other[:].spawn(Counter, 4)
        assert counter.add(1).get(PATIENCE) == [5] * 4
        assert objects_on(view) == [1] * 4
    wait_until(lambda: objects_on(view) == [0] * 4, "they are freed", PATIENCE)


def test_several_threads_call_one_object(rc):
    counter = rc[0].spawn(Counter, 0)

    def work():
        for _ in range(25):
            counter.add(1).get(PATIENCE)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert counter.add(0).get(PATIENCE) == 100


# ---- death of an engine


def test_objects_of_an_engine_that_is_killed_and_restarted(own, tmp_path):
    rc = own(2)
    saved, fresh = rc[:].spawn(Counter, 1, respawn=True), rc[1].spawn(Counter, 1, respawn=True)
    gone = rc[:].spawn(Counter, 1)
    assert [each.add(1).get(PATIENCE) for each in (saved, fresh, gone)] == [[2, 2], 2, [2, 2]]
    saved.checkpoint(tmp_path)
    assert saved.add(5).get(PATIENCE) == [7, 7]
    for _ in range(2):
        folder = saved[0].checkpoint(tmp_path, keep_last=1)
    assert os.listdir(tmp_path) == [os.path.basename(folder)]
    saved[1].checkpoint(tmp_path)
    assert saved.add(1).get(PATIENCE) == [8, 8]
    stream = saved[1].items.stream(100)
    assert next(stream) == 8
    wait_until(lambda: all(each.ready() for each in stream._items.pending[1]), "the next items are there", PATIENCE)
    running = fresh.call("slow", str(tmp_path / "never"))

    os.kill(rc.status()[1]["pid"], signal.SIGKILL)
    with pytest.raises(px.EngineError, match="Engine 1"):
        running.get(PATIENCE)
    wait_until(lambda: 1 not in rc.ids, "engine 1 leaves", PATIENCE)
    with pytest.raises(px.EngineError, match="the Counter of engine 1 is lost: the process has ended; restart"):
        saved.add(1)
    assert saved[0].add(1).get(PATIENCE) == 9

    rc.restart_engines(1)
    with pytest.raises(px.EngineError, match="the stream of Counter.items on engine 1 is lost: the engine was started again"):
        list(stream)
    assert saved.add(1).get(PATIENCE) == [10, 8]  # from the checkpoint
    assert fresh.add(1).get(PATIENCE) == 2  # by the constructor
    with pytest.raises(px.EngineError, match="the Counter of engine 1 is lost: the engine was started again"):
        gone.add(1)
    assert gone[0].add(1).get(PATIENCE) == 3
