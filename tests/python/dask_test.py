"""Engines as workers of dask."""

import sys

import pytest

import polyxeus as ipp
from polyxeus.engine_calls.dask_node import TupleNode
from polyxeus.views import dask_graph


def test_engines_become_dask_workers_and_stay_engines(rc):
    rc[:].push({"kept": 5}, block=True)
    client = rc.become_dask(targets=[0, 1], nthreads=2)
    try:
        client.wait_for_workers(2, timeout=30)
        found = client.scheduler_info()["workers"].values()
        assert [each["nthreads"] for each in found] == [2, 2]
        assert client.submit(sum, client.map(lambda x: x * x, range(10))).result(60) == 285
        assert rc[:]["kept"] == [5] * 4
        worker = ipp.Reference("distributed_worker")
        assert rc[:2].apply_sync(lambda each: each.status.name, worker) == ["running"] * 2
        again = rc.become_dask(targets=[0])
        assert len(again.scheduler_info()["workers"]) == 2, "those that run go on"
        again.close()
    finally:
        client.close()
        rc.stop_dask()
    with pytest.raises(Exception, match="NameError"):
        rc[0]["distributed_worker"]
    assert rc[:]["kept"] == [5] * 4
    rc.stop_dask()


def test_graphs_are_computed_on_the_engines(rc):
    import dask
    import dask.array
    import dask.bag

    numbers = dask.array.random.default_rng(1).integers(0, 100, (300, 300), chunks=100)
    product = (numbers @ numbers.T).sum(axis=0)
    assert (product.compute(scheduler=rc) == product.compute(scheduler="sync")).all()

    def here():
        import os

        return os.getpid()

    pid, total, parts = dask.compute(
        dask.delayed(here)(), dask.delayed(sum)([dask.delayed(abs)(n) for n in range(-9, 0)]),
        dask.bag.from_sequence(range(20), npartitions=4).map(lambda n: n * n), scheduler=rc)  # fmt: skip
    assert pid in rc[:].apply_sync(here)
    assert total == 45
    assert parts == [n * n for n in range(20)]


@pytest.mark.parametrize("optimize_graph", [True, False])
def test_storing_into_an_array_of_the_client_is_refused(rc, optimize_graph):
    import dask.array
    import numpy

    target = numpy.zeros((6, 6))
    with pytest.raises(ValueError, match="use compute"):
        dask.array.store(dask.array.ones((6, 6), chunks=3) + 1, target, scheduler=rc, optimize_graph=optimize_graph)


def test_a_target_that_writes_elsewhere_is_stored_into(rc, tmp_path):
    import dask.array
    import numpy

    class Folder:
        def __init__(self, path):
            self.path, self.shape, self.dtype = path, (6, 6), numpy.dtype(float)

        def __setitem__(self, place, values):
            numpy.save(f"{self.path}/{place[0].start}-{place[1].start}.npy", values)

    numbers = dask.array.from_array(numpy.arange(36.0).reshape(6, 6), chunks=3)
    dask.array.store(numbers, Folder(str(tmp_path)), lock=False, scheduler=rc)
    assert numpy.load(tmp_path / "3-0.npy").tolist() == [[18, 19, 20], [24, 25, 26], [30, 31, 32]]


def test_graphs_of_older_versions_of_dask_are_computed(rc, monkeypatch):
    from dask.core import get_dependencies

    monkeypatch.setattr(dask_graph, "_nodes", lambda graph: {
        key: TupleNode(task, get_dependencies(graph, key)) for key, task in graph.items()})  # fmt: skip
    graph = {"one": 1, "name": "one", "two": (abs, (int, -2)), ("three", 0): (sum, ["one", "two"]), "text": "no key"}
    assert dask_graph.compute(rc.load_balanced_view(), graph, [["name", ("three", 0)], "text"]) == ((1, 3), "no key")


def test_a_node_that_fails_fails_the_graph(rc):
    import dask

    bad = dask.delayed(lambda: 1 / 0)()
    with pytest.raises(ipp.RemoteError, match="ZeroDivisionError"):
        dask.delayed(sum)([bad, 1]).compute(scheduler=rc)


def test_without_dask_it_says_what_to_install(rc, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match="pip install distributed"):
        rc.become_dask()


def test_arguments_of_the_scheduler_are_refused(rc):
    with pytest.raises(NotImplementedError, match="dask scheduler"):
        rc.become_dask(scheduler_args={"port": 5})
