"""AsyncResult.retry(): only failed requests run again, and all results are joined in order."""

import polyxeus as px
import pytest


@px.interactive
def fail_once(path, item):
    """Notes that it ran, and fails the first time for odd items."""
    import os

    with open(os.path.join(path, f"{item}"), "a") as file:
        file.write("x")
    if item % 2 and os.path.getsize(os.path.join(path, f"{item}")) == 1:
        raise ValueError(f"item {item}")
    return 10 * item


def runs(path):
    return [len((path / str(item)).read_text()) for item in range(6)]


def test_failed_items_of_a_map_run_again_and_the_results_keep_their_order(rc, tmp_path):
    balanced = rc.load_balanced_view()
    first = balanced.map_async(fail_once, [str(tmp_path)] * 6, range(6), chunksize=1)
    assert [entry[0] for entry in first.exception(30).elist] == ["ValueError"] * 3
    again = first.retry()
    assert again.get(60) == [0, 10, 20, 30, 40, 50]
    assert type(again) is type(first) and list(again) == again.get() and len(again) == 6
    assert runs(tmp_path) == [1, 2, 1, 2, 1, 2]
    assert not first.successful()  # it stays as it was
    assert again.retry() is again


def test_parts_of_several_items_run_again_as_a_whole(rc, tmp_path):
    first = rc.load_balanced_view().map_async(fail_once, [str(tmp_path)] * 6, range(6), chunksize=3)
    first.wait(60)
    again = first.retry()
    again.wait(60)  # the second odd item of a part fails at the second try
    assert again.retry().get(60) == [0, 10, 20, 30, 40, 50]


def test_a_direct_call_runs_again_on_its_engine(rc):
    for engine, divisor in enumerate([0, 1, 0, 2]):
        rc[engine].push({"divisor": divisor, "runs": 0, "number": engine}, block=True)
    code = "runs += 1; value = number, 10 / divisor"
    first = rc[:].execute(code, silent=False)
    assert [entry[3]["engine_id"] for entry in first.exception(30).elist] == [0, 2]
    rc[:].push({"divisor": 5}, block=True)
    again = first.retry()
    assert again.wait(60) and again.successful()
    assert again.engine_id == [0, 1, 2, 3]
    assert rc[:].pull("value", block=True) == [(0, 2.0), (1, 10.0), (2, 2.0), (3, 5.0)]
    assert rc[:].pull("runs", block=True) == [2, 1, 2, 1]


def test_a_map_of_a_direct_view_and_a_single_call_run_again(rc, tmp_path):
    first = rc[:2].map_async(fail_once, [str(tmp_path)] * 2, range(2))
    first.wait(60)
    assert first.retry().get(60) == [0, 10]
    one = rc[1].apply_async(fail_once, str(tmp_path), 5)
    assert one.exception(30).ename == "ValueError"
    assert one.retry().get(60) == 50
    for view in (rc.broadcast_view(), rc.broadcast_view(is_coalescing=True)):
        rc[:].push({"divisor": 0}, block=True)
        rc[1].push({"divisor": 5}, block=True)
        everywhere = view.apply_async(lambda number: 10 / number, px.Reference("divisor"))
        everywhere.wait(60)
        rc[:].push({"divisor": 2}, block=True)
        assert everywhere.retry().get(60) == [5.0, 2.0, 5.0, 5.0]
    task = rc.load_balanced_view().apply_async(fail_once, str(tmp_path), 3)
    assert task.exception(30).ename == "ValueError"
    assert task.retry().get(60) == 30


def test_what_cannot_run_again_is_said(rc):
    import numpy

    pending = rc[0].apply_async(__import__("time").sleep, 0.5)
    with pytest.raises(RuntimeError, match="wait for it before retry"):
        pending.retry()
    pending.get(60)
    large = rc[0].apply_async(lambda array: 1 / 0, numpy.zeros(1 << 20))
    large.wait(60)
    with pytest.raises(ValueError, match="call the function again"):
        large.retry()
    failed = rc[0].apply_async(lambda: 1 / 0)
    failed.wait(60)
    rc.purge_hub_results(failed)
    with pytest.raises(ValueError, match="no record of 1 failed request"):
        failed.retry()
    assert isinstance(failed.exception(), px.RemoteError)
