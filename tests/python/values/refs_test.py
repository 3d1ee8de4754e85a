"""Results by reference: what stays on the engines, what it becomes in arguments, when it is freed."""

import dataclasses
import gc
import os
import random
import time

import numpy
import pytest

import polyxeus as px

PATIENCE = 30  # seconds


@px.interactive
def wait_at(gate, value=None):
    """The value, once there is a file `gate`."""
    import os
    import time

    while not os.path.exists(gate):
        time.sleep(0.005)
    return value


def files_of(rc):
    """The files of kept results, all clients' together."""
    return {name for name in os.listdir(rc._kept_results.folder) if ".ref" in name}


def wait_until(is_true, what):
    end = time.monotonic() + PATIENCE
    while not is_true():
        assert time.monotonic() < end, what
        time.sleep(0.01)


def test_a_result_goes_from_engine_to_engine_and_not_to_the_client(rc, view, tmp_path):
    path = str(tmp_path / "pids")

    def make(path):
        class Noted:
            """Writes down which processes unpickle it."""

            def __reduce__(self):
                return note, (path,)

        def note(path):
            import os

            with open(path, "a") as file:
                file.write(f"{os.getpid()}\n")
            return Noted()

        return Noted()

    def use(noted):
        import os

        return os.getpid(), type(noted).__name__

    made = view.submit(make, path, keep=True)
    pid, kind = view.submit(use, made.ref).get(PATIENCE)
    assert kind == "Noted"
    assert (tmp_path / "pids").read_text() == f"{pid}\n"
    assert made.get() is made.ref
    assert pid in rc[:].apply_sync(os.getpid)


def test_a_ref_is_an_argument_at_any_depth(view):
    @dataclasses.dataclass
    class Pair:
        first: object
        second: object

    one, two = view.apply_ref(pow, 2, 3), view.apply_ref(list, "ab")

    def show(*args, **kwargs):
        pair = args[1]["pair"]
        return args[0], pair.first, pair.second, kwargs["named"]

    shown = view.apply_sync(show, [one, (two, one)], {"pair": Pair(two, 5)}, named={1: {2: one}})
    assert shown == ([8, (["a", "b"], 8)], ["a", "b"], 5, {1: {2: 8}})


def test_a_function_may_use_a_ref(view):
    eight = view.apply_ref(pow, 2, 3)
    assert view.apply_sync(lambda: eight + 1) == 9


def test_the_result_of_a_call_that_keeps_it_is_an_argument_too(view):
    eight = view.submit(pow, 2, 3, keep=True)
    assert view.submit(sum, [eight, 1]).get(PATIENCE) == 9
    with pytest.raises(ValueError, match="does not keep its result"):
        view.submit(pow, 2, 3).ref


def test_a_map_keeps_each_of_its_results(view):
    lists = view.map(list, ["ab", "cde"], keep=True)
    assert [type(each) for each in lists] == [px.Ref] * 2
    assert view.map(len, lists, block=True) == [2, 3]
    sums = view.map(lambda first, second: [*first, second], lists, "xyz", keep=True, label="sums")
    assert [each.get(PATIENCE) for each in sums] == [["a", "b", "x"], ["c", "d", "e", "y"]]
    assert view.map(abs, [], keep=True) == []
    for wrong in ({"block": True}, {"chunksize": 2}, {"ordered": False}, {"return_exceptions": True}):
        with pytest.raises(TypeError, match="one Ref for each item"):
            view.map(abs, [1], keep=True, **wrong)
    with pytest.raises(TypeError, match="needs a sequence"):
        view.map(abs, keep=True)


def test_a_call_of_a_map_that_keeps_results_waits_only_for_its_own_refs(rc, tmp_path):
    gate = str(tmp_path / "gate")
    late = rc.load_balanced_view([0]).apply_ref(wait_at, gate, 5)
    view = rc.load_balanced_view([1, 2])
    first, second = view.map(abs, [late, -1], keep=True)
    assert second.get(PATIENCE) == 1
    assert not first.ready()
    open(gate, "w").close()
    assert first.get(PATIENCE) == 5


def test_a_task_waits_for_its_refs(rc, tmp_path):
    gate = str(tmp_path / "gate")
    late = rc.load_balanced_view([0]).apply_ref(wait_at, gate, 5)
    view = rc.load_balanced_view([1, 2])
    results = [view.submit(pow, late, 2), view.submit(sum, [late, late]), view.map_async(abs, [late, -1])]
    behind = view.submit(abs, view.apply_ref(pow, late, 3))
    assert view.apply_sync(abs, -1) == 1  # engines are free
    assert not any(each.ready() for each in [late, *results, behind])
    assert repr(late) == "<Ref(wait_at): pending>"
    open(gate, "w").close()
    assert [each.get(PATIENCE) for each in [*results, behind]] == [25, 10, [5, 1], 125]


def test_a_graph_of_calls_gives_what_they_give_here(view):
    choose = random.Random(7)
    here, there = [1, 2, 3], [view.apply_ref(abs, n) for n in (1, 2, 3)]
    for _ in range(200):
        chosen = [choose.randrange(max(0, len(here) - 20), len(here)) for _ in range(choose.randint(1, 4))]
        here.append(sum(here[n] for n in chosen) % 1009)
        there.append(view.apply_ref(lambda values: sum(values) % 1009, [there[n] for n in chosen]))
    assert [each.get(PATIENCE) for each in there] == here


def test_direct_views_keep_and_take_results(rc):
    one = rc[0].apply_ref(list, range(3))
    assert one.wait(PATIENCE)
    assert isinstance(one, px.Ref) and one.engine_id == 0
    assert rc[1].apply_sync(sum, one) == 3
    assert rc[1:3].apply_sync(sum, one) == [3, 3]
    each = rc[:].apply_ref(os.getpid)
    assert rc[2].apply_sync(list, each) == rc[:].apply_sync(os.getpid) == [ref.get() for ref in each]
    assert [ref.engine_id for ref in each] == rc.ids
    assert rc.broadcast_view().apply_sync(sum, one) == [3] * 4
    ids = rc.broadcast_view().apply_ref(os.getpid)
    assert rc[3].apply_sync(list, ids) == rc[:].apply_sync(os.getpid)
    assert rc.load_balanced_view().apply_sync(sum, one) == 3
    assert rc[:].map_sync(abs, [one.get()[1], rc[0].apply_ref(abs, -7)]) == [1, 7]


def test_arrays_are_mapped_and_each_call_has_its_own(view):
    array = view.apply_ref(numpy.arange, 1_000_000)

    def change(values):
        values += 1
        return int(values[-1]), "polyxeus-arrays" in open("/proc/self/maps").read()

    assert view.map_sync(change, [array] * 4, chunksize=1) == [(1_000_000, True)] * 4
    assert array.get()[-1] == 999_999
    assert 8_000_000 <= array.nbytes < 8_001_000
    assert repr(array).startswith(f"<Ref(arange): ndarray, {array.nbytes} bytes on ")


def test_a_failure_is_that_of_the_first_call(view):
    failed = view.apply_ref(lambda: 1 / 0)
    middle = view.apply_ref(abs, failed)
    last = view.submit(abs, [middle])
    in_map = view.map_async(abs, [middle, 1])
    for result in (failed, middle, last, in_map):
        with pytest.raises(px.RemoteError) as caught:
            result.get(PATIENCE)
        assert "ZeroDivisionError" in str(caught.value)
    assert middle._call.exception() is failed._call.exception()
    with pytest.raises(px.RemoteError, match="ZeroDivisionError"):
        view.submit(abs, failed).get(PATIENCE)  # which is known to have failed
    assert repr(failed) == "<Ref(<lambda>): failed>"


def test_a_direct_call_says_at_once_that_its_argument_failed(rc, view):
    failed = view.apply_ref(lambda: 1 / 0)
    with pytest.raises(px.RemoteError, match="ZeroDivisionError"):
        rc[0].apply_async(abs, failed)


def test_a_cancelled_call_cancels_those_behind_it(rc, view, tmp_path):
    gate = str(tmp_path / "gate")
    busy = [view.submit(wait_at, gate) for _ in rc.ids]
    kept = view.submit(pow, 2, 3, keep=True)
    behind = view.submit(abs, kept)
    kept.abort()
    open(gate, "w").close()
    with pytest.raises(px.TaskAborted):
        behind.get(PATIENCE)
    rc.wait(busy, PATIENCE)


def test_a_result_is_freed_with_its_last_ref(rc, view):
    before = files_of(rc)
    ref = view.apply_ref(pow, 2, 3)
    copied = [ref]
    assert ref.get(PATIENCE) == 8
    assert len(files_of(rc) - before) == 1
    del ref
    assert len(files_of(rc) - before) == 1
    copied.clear()
    wait_until(lambda: not files_of(rc) - before, "the result is freed")


def test_a_result_stays_while_a_call_needs_it(rc, view, tmp_path):
    before = files_of(rc)
    gate = str(tmp_path / "gate")
    result = view.submit(wait_at, gate, view.apply_ref(pow, 2, 3))
    wait_until(lambda: len(files_of(rc) - before) == 1, "the argument is there")
    open(gate, "w").close()
    assert result.get(PATIENCE) == 8
    wait_until(lambda: not files_of(rc) - before, "the argument is freed")


def test_a_result_that_nobody_wants_when_it_comes_is_freed(rc, view, tmp_path):
    before = files_of(rc)
    gate = str(tmp_path / "gate")
    pending = view.apply_ref(wait_at, gate, 5)
    behind = view.submit(abs, pending)
    del pending
    dropped = view.submit(wait_at, gate, 6, keep=True).msg_id
    open(gate, "w").close()
    assert behind.get(PATIENCE) == 5
    assert rc.wait(dropped, PATIENCE)
    wait_until(lambda: not files_of(rc) - before, "both are freed")


def test_refs_of_failed_calls_are_freed_too(rc, view):
    before = files_of(rc)
    argument = view.apply_ref(pow, 2, 3)
    failed = view.submit(lambda number: number / 0, argument)
    assert failed.wait(PATIENCE)
    assert not failed.successful()
    del argument
    wait_until(lambda: not files_of(rc) - before, "the argument is freed")


def test_a_result_that_cannot_be_pickled_fails_its_call(view):
    def make():
        import threading

        return threading.Lock()

    with pytest.raises(px.RemoteError, match="cannot be pickled"):
        view.apply_ref(make).get(PATIENCE)


def test_after_and_refs_hold_together(view, tmp_path):
    gate, other_gate = str(tmp_path / "gate"), str(tmp_path / "other")
    late, first = view.apply_ref(wait_at, gate, 5), view.submit(wait_at, other_gate)
    with view.temp_flags(after=first):
        result = view.submit(abs, late)
    with view.temp_flags(after=px.Dependency(first, failure=True)):
        with pytest.raises(ValueError, match="wait for these Refs first"):
            view.submit(abs, late)
    open(gate, "w").close()
    assert late.get(PATIENCE) == 5
    assert not result.ready()
    open(other_gate, "w").close()
    assert result.get(PATIENCE) == 5
    with view.temp_flags(after=px.Dependency(first, failure=True)):
        assert view.submit(abs, late).get(PATIENCE) == 5  # it is there


def test_a_map_waits_for_what_is_named_after(view, tmp_path):
    gate = str(tmp_path / "gate")
    first = view.submit(wait_at, gate)
    behind = view.map_async(abs, [-1, -2], after=first)
    free = view.map_async(abs, [-3])
    assert free.get(PATIENCE) == [3]
    assert not behind.ready() and view.after is None
    open(gate, "w").close()
    assert behind.get(PATIENCE) == [1, 2]
    with pytest.raises(ValueError, match="after and follow take"):
        view.map(abs, [1], after=3)


def test_a_call_with_retries_may_have_objects_beside_results(view):
    class Counter:
        def __init__(self, count):
            self.count = count

        def add(self, number):
            self.count += number
            return self.count

    counter = view.spawn(Counter, 5)
    with view.temp_flags(retries=1):
        kept = view.apply_ref(lambda counter, number: number + 1, counter, view.apply_ref(pow, 2, 3))
        assert kept.get(PATIENCE) == 9


def test_retries_keep_the_result_of_the_attempt_that_succeeds(view, tmp_path):
    counter = str(tmp_path / "attempts")

    def second_time():
        with open(counter, "a") as file:
            file.write(".")
        if len(open(counter).read()) < 2:
            raise OSError("not yet")
        return "done"

    with view.temp_flags(retries=3):
        ref = view.apply_ref(second_time)
    assert view.apply_sync(str.upper, ref) == "DONE"


def test_no_ref_is_in_a_cycle(view):
    """It is freed when it is deleted, not when Python looks for cycles."""
    gc.collect()
    gc.disable()
    try:
        made = []
        for keep in (lambda: view.apply_ref(abs, 1), lambda: view.submit(abs, 1, keep=True), lambda: view.client[0].apply_ref(abs, 1)):
            result = keep()
            result.wait(PATIENCE)
            made.append((result if isinstance(result, px.Ref) else result.ref)._key)
            del result
        folder = view.client._kept_results.folder
        numbers = {str(key.number) for key in made}
        left = [name for name in files_of(view.client) if name.split(".")[0] == made[0].client and name.split(".")[2] in numbers]
        assert left == [], folder
    finally:
        gc.enable()
