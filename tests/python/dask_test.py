"""Engines as workers of dask."""

import sys

import pytest

import polyxeus as ipp


def test_engines_become_dask_workers_and_stay_engines(rc):
    rc[:].push({"kept": 5}, block=True)
    client = rc.become_dask(targets=[0, 1], nthreads=2)
    try:
        client.wait_for_workers(2, timeout=30)
        found = client.scheduler_info()["workers"].values()
        assert [each["nthreads"] for each in found] == [2, 2]
        assert client.submit(sum, client.map(lambda x: x * x, range(10))).result(30) == 285
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


def test_without_dask_it_says_what_to_install(rc, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match="pip install distributed"):
        rc.become_dask()


def test_arguments_of_the_scheduler_are_refused(rc):
    with pytest.raises(NotImplementedError, match="dask scheduler"):
        rc.become_dask(scheduler_args={"port": 5})
