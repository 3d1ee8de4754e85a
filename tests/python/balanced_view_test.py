"""Tasks for whichever engine is free."""

import itertools
import os
import time

import pytest

import polyxeus as ipp
from polyxeus.views.partition import chunks


@pytest.fixture
def view(rc):
    return rc.load_balanced_view()


def test_a_task_runs_somewhere(view, rc):
    result = view.apply_async(os.getpid)
    assert result.get(60) in rc[:].apply_sync(os.getpid)
    assert result.engine_id in rc.ids


def test_many_tiny_calls_are_few_messages(view):
    result = view.map_async(lambda n: n + 1, range(20_000))
    assert len(result) == 20_000
    assert result.get(60) == list(range(1, 20_001))
    assert len(result.msg_ids) < 2_000


def test_few_calls_are_a_message_each(view):
    assert len(view.map_async(abs, range(100)).msg_ids) == 100
    assert len(view.map_async(abs, range(100), chunksize=30).msg_ids) == 4


def test_chunks_cover_all_items_and_end_small():
    for count in (0, 1, 7, 255, 256, 5_000, 100_000):
        bounds = chunks(count, 4)
        assert [n for first, behind in bounds for n in range(first, behind)] == list(range(count))
    assert bounds[-1][1] - bounds[-1][0] == 1


def test_results_come_in_order_or_as_they_are_ready(view, tmp_path):
    def wait(gate, number):
        import os
        import time

        while number == 0 and not os.path.exists(gate):
            time.sleep(0.01)
        return number

    gates = [str(tmp_path / "gate")] * 4
    in_order, as_ready = view.map_async(wait, gates, range(4)), view.map_async(wait, gates, range(4), ordered=False)
    as_they_come = iter(as_ready)
    assert sorted(itertools.islice(as_they_come, 3)) == [1, 2, 3]
    (tmp_path / "gate").touch()
    assert list(as_they_come) == [0]
    assert list(in_order) == [0, 1, 2, 3]


def test_failures_are_raised_or_stand_among_the_results(view):
    with pytest.raises(ipp.RemoteError, match="ZeroDivisionError"):
        view.map_sync(lambda n: 1 / n, [1, 0, 2])
    results = view.map_sync(lambda n: 1 / n, [1, 0, 2], return_exceptions=True)
    assert results[0] == 1 and results[2] == 0.5
    assert results[1].ename == "ZeroDivisionError"


def test_lazy_maps_read_endless_input(view):
    results = view.imap(lambda n: 2 * n, itertools.count(), max_outstanding=3)
    assert list(itertools.islice(results, 5)) == [0, 2, 4, 6, 8]
    results.cancel()
    with pytest.raises(ValueError, match="broken"):
        list(view.imap(abs, _broken_input()))


def _broken_input():
    yield 1
    raise ValueError("broken")


def test_tasks_follow_and_come_after_others(view):
    first = view.apply_async(time.sleep, 0.2)
    with view.temp_flags(after=first):
        second = view.apply_async(os.getpid)
    with view.temp_flags(follow=second):
        third = view.apply_async(os.getpid)
    assert third.get(60) == second.get(60)
    assert second.started >= first.completed
    with view.temp_flags(after="nobody"), pytest.raises(ipp.RemoteError) as caught:
        view.apply_sync(abs, 1)
    assert caught.value.ename == "InvalidDependency"


def test_targets_retries_and_labels(view, rc):
    with view.temp_flags(targets=[1], label="only one"):
        assert view.apply_async(abs, 1).get_dict(20) == {1: 1}
    assert rc.db_query({"label": "only one"}, keys=["label"])[0]["label"] == "only one"
    with view.temp_flags(retries=2), pytest.raises(ipp.RemoteError, match="nope"):
        view.apply_sync(exec, "raise ValueError('nope')")


def test_dependencies_on_the_engine_choose_it(view, rc):
    rc[:].scatter("rank", rc.ids, flatten=True, block=True)

    @ipp.depend(ipp.interactive(lambda wanted: rank == wanted), 2)  # noqa: F821
    @ipp.interactive
    def where():
        return rank  # noqa: F821

    @ipp.require("math", helper=3)
    @ipp.interactive
    def uses():
        return math.floor(2.5) + helper  # noqa: F821

    assert view.apply_sync(where) == 2
    assert view.apply_sync(ipp.interactive(lambda f: f()), uses) == 5


def test_executors_of_concurrent_futures(rc):
    with rc.executor() as pool:
        assert pool.submit(pow, 2, 10).result(60) == 1024
        results = pool.map(lambda n: n + 1, range(5))
    assert list(results) == [1, 2, 3, 4, 5]


def test_joblib_runs_on_the_view(view):
    import joblib
    view.register_joblib_backend("px")
    with joblib.parallel_config(backend="px"):
        results = joblib.Parallel()(joblib.delayed(abs)(-n) for n in range(20))
    assert results == list(range(20))


@pytest.fixture
def on_engines(view):
    """joblib, whose calls run on the view."""
    import joblib

    view.register_joblib_backend("px")
    with joblib.parallel_config(backend="px"):
        yield joblib


@pytest.mark.parametrize("kind", ["generator", "generator_unordered"])
def test_joblib_yields_results_as_they_come(on_engines, kind):
    results = on_engines.Parallel(return_as=kind)(on_engines.delayed(abs)(-n) for n in range(20))
    assert sorted([next(results), *results]) == list(range(20))


def test_joblib_raises_the_error_of_a_batch(on_engines):
    with pytest.raises(ZeroDivisionError):
        on_engines.Parallel()(on_engines.delayed(divmod)(1, n) for n in range(5, -5, -1))
    assert on_engines.Parallel()(on_engines.delayed(abs)(-n) for n in range(3)) == [0, 1, 2]


def test_joblib_waits_no_longer_than_it_was_told(on_engines):
    with pytest.raises(TimeoutError):
        on_engines.Parallel(timeout=0.2)(on_engines.delayed(time.sleep)(n) for n in (3, 0, 0, 0))
