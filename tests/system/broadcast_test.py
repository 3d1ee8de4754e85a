"""One request for many engines, with the answers one by one or gathered on the way."""

import ipyparallel as ipp
import numpy as np
import pytest


@ipp.interactive
def pid():
    import os

    return os.getpid()


@pytest.fixture(params=[True, False], ids=["coalescing", "not-coalescing"])
def view(request, local_rc):
    return local_rc.broadcast_view(is_coalescing=request.param)


def test_a_broadcast_runs_once_on_every_engine(local_rc, view):
    assert sorted(view.apply_sync(pid)) == sorted(local_rc[:].apply_sync(pid))


def test_answers_come_with_the_engine_that_gave_them(local_rc, view):
    answer = view.apply_async(pid)
    values = answer.get(60)
    by_engine = dict(zip(local_rc.ids, local_rc[:].apply_sync(pid)))
    engines = answer.engine_id
    assert sorted(engines) == [0, 1, 2, 3]
    assert values == [by_engine[engine] for engine in engines]


@pytest.mark.better_than_reference(
    "gathered answers come in tree order, not in the order asked for"
)
def test_answers_come_in_the_order_of_the_engines(local_rc, view):
    assert view.apply_sync(pid) == local_rc[:].apply_sync(pid)


def test_values_are_pushed_to_and_pulled_from_all(view):
    array = np.arange(10_000.0)
    view.push({"array": array, "small": 5}, block=True)
    for copy in view.pull("array", block=True):
        assert np.array_equal(copy, array)
    assert view.pull("small", block=True) == [5] * 4


def test_a_broadcast_to_some_engines_reaches_only_them(local_rc, view):
    view.targets = [1, 2]
    assert sorted(view.apply_sync(pid)) == sorted(local_rc[[1, 2]].apply_sync(pid))


def test_a_cell_is_executed_everywhere_with_its_output(local_rc):
    view = local_rc.broadcast_view(is_coalescing=False)
    answer = view.execute("print('here'); there = 7")
    answer.get(60)
    assert local_rc[:]["there"] == [7] * 4
    assert answer.wait_for_output(20)
    assert answer.stdout == ["here\n"] * 4


def test_an_error_everywhere_is_raised(view):
    with pytest.raises(ipp.RemoteError, match="ZeroDivisionError"):
        view.apply_async(ipp.interactive(lambda: 1 / 0)).get(30)


@pytest.mark.better_than_reference("the error of one engine vanishes unless its answer came last")
def test_the_error_of_one_engine_is_not_lost(local_rc, view):
    local_rc[:].scatter("number", range(4), flatten=True, block=True)
    for _ in range(5):
        with pytest.raises(ipp.RemoteError, match="ZeroDivisionError"):
            view.apply_async(ipp.interactive(lambda: 1 / number)).get(30)  # noqa: F821


def test_a_map_over_a_broadcast_view_keeps_the_order(local_rc):
    view = local_rc.broadcast_view()
    assert list(view.map_sync(ipp.interactive(lambda x: -x), range(101))) == [
        -x for x in range(101)
    ]


def test_many_broadcasts_in_flight_do_not_mix(view):
    echo = ipp.interactive(lambda x: x)
    answers = [view.apply_async(echo, n) for n in range(100)]
    assert [answer.get(60) for answer in answers] == [[n] * 4 for n in range(100)]
