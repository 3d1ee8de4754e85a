"""Gangs: some ranks of a world with a communicator of their own."""

import operator
import time

import polyxeus as px
import pytest
from programs import wait_until
from running_cluster import connect


@px.interactive
def allreduce_ids():
    return comm.allreduce(own_id)  # noqa: F821


@px.interactive
def place():
    return comm.rank, comm.size  # noqa: F821


@px.interactive
def both():
    return in_row, in_column  # noqa: F821


def sum_of(gang):
    """What an allreduce of the engine ids gives on each rank of the gang."""
    gang.scatter("own_id", gang.targets, flatten=True, block=True)
    return gang.apply_sync(allreduce_ids)


def test_the_ranks_of_a_gang_have_the_order_in_which_it_names_its_engines(own):
    gang = own.gang([3, 0, 1])
    assert gang.apply_sync(place) == [(0, 3), (1, 3), (2, 3)]
    assert sum_of(gang) == [4, 4, 4]


def test_functions_of_modules_get_the_communicator_as_an_argument(own):
    gang = own.gang([1, 2])
    size = operator.attrgetter("size")
    assert gang.apply_sync(size, px.Reference("comm")) == [2, 2]


def test_cells_of_a_gang_use_its_communicator(own):
    gang = own.gang([1, 3], name="pair")
    gang.execute("total = pair.allreduce(pair.rank + 1)", block=True)
    assert gang["total"] == [3, 3]


def test_a_gang_is_made_while_other_ranks_compute(own, tmp_path):
    marker = tmp_path / "busy"
    marker.touch()
    code = f"import os, time\nwhile os.path.exists({str(marker)!r}): time.sleep(0.01)"
    busy = own[[1, 2]].execute(code, block=False)
    try:
        assert sum_of(own.gang([0, 3])) == [3, 3]
        assert not busy.ready()
    finally:
        marker.unlink()
    busy.get(60)


def test_gangs_work_at_the_same_time(own):
    gangs = own[:].split(["a", "a", "b", "b"])
    code = "for i in range(200): total = comm.allreduce(comm.size)"
    results = [gang.execute(code, block=False) for gang in gangs.values()]
    for result in results:
        result.get(60)
    assert own[:]["total"] == [4, 4, 4, 4]


def test_split_leaves_engines_without_a_color_alone(own):
    gangs = own[:].split(lambda engine: "odd" if engine % 2 else None)
    assert list(gangs) == ["odd"]
    assert gangs["odd"].targets == [1, 3]
    assert sum_of(gangs["odd"]) == [4, 4]


def test_an_engine_may_be_in_several_gangs(own):
    row, column = own.gang([0, 1], name="row"), own.gang([0, 2], name="column")
    row.execute("in_row = row.allreduce(1)", block=True)
    column.execute("in_column = column.allreduce(10)", block=True)
    assert own[0].apply_sync(both) == (2, 20)


def test_a_gang_of_the_same_engines_has_the_same_communicator(own):
    handle = "from mpi4py import MPI; handle = MPI._handleof(comm)"
    first = own.gang([0, 2])
    first.execute(handle, block=True)
    handles = first["handle"]
    second = own.gang([0, 2])
    second.execute(handle, block=True)
    assert second["handle"] == handles
    second.renew()
    second.execute(handle, block=True)
    assert second["handle"] != handles
    assert sum_of(second) == [2, 2]


def test_a_failure_in_one_gang_leaves_the_other_one_alone(own, tmp_path):
    marker = tmp_path / "go"
    failing, working = own[:].split(["f", "f", "w", "w"]).values()
    code = f"""
import os
while not comm.allreduce(int(os.path.exists({str(marker)!r}))): pass
total = comm.allreduce(1)
"""
    working_result = working.execute(code, block=False)
    failed = failing.execute("if comm.rank == 0: raise ValueError('no data')\ncomm.barrier()", block=False)
    with pytest.raises(px.CompositeError, match="no data"):
        failed.get(20)
    assert not working_result.ready()
    marker.touch()
    working_result.get(60)
    assert working["total"] == [2, 2]
    assert sum_of(failing) == [1, 1]


def test_a_stop_ends_the_wait_for_a_member_that_does_not_come(own):
    made = """
from mpi4py import MPI
world = MPI.COMM_WORLD
group = world.Get_group().Incl([0, 1, 2])
began = True
part = world.Create_group(group, 3)
"""
    waiting = own[[0, 1]].execute(made, block=False)
    time.sleep(0.5)  # rank 2 does not come
    assert not waiting.ready()
    own.interrupt([0, 1], block=True)
    with pytest.raises(px.CompositeError, match="KeyboardInterrupt"):
        waiting.get(20)
    own[[0, 1, 2]].execute(f"{made}\ntotal = part.allreduce(1)", block=True)
    assert own[[0, 1, 2]]["total"] == [3, 3, 3]


def test_the_stop_of_one_member_frees_the_others(own):
    made = "from mpi4py import MPI; w = MPI.COMM_WORLD; p = w.Create_group(w.Get_group().Incl([0, 1, 2]), 4)"
    waiting = own[[0, 1]].execute(made, block=False)
    time.sleep(0.5)
    own.interrupt([1], block=True)
    with pytest.raises(px.CompositeError, match="cannot end: rank 1 was interrupted"):
        waiting.get(20)


@pytest.mark.parametrize("engines, message", [([], "at least one"), ([0, 1, 0], "twice")])
def test_a_gang_names_each_engine_once(own, engines, message):
    with pytest.raises(ValueError, match=message):
        own.gang(engines)


def test_a_gang_of_engines_that_are_not_there_is_refused(own):
    with pytest.raises(IndexError, match="there is no engine 9"):
        own.gang([0, 9])


def test_engines_without_mpi_form_no_gang(local_cluster):
    with connect(local_cluster.connection_file("client"), 4) as client:
        with pytest.raises(RuntimeError, match="--engines=mpi"):
            client.gang([0, 1])


def test_engines_whose_ids_are_not_their_ranks_form_a_gang(own_cluster, mpiexec):
    cluster = own_cluster()
    cluster.start_controller()
    cluster.start_mpi_engines(2)
    with connect(cluster.connection_file("client"), 2) as client:
        cluster.start_mpi_engines(2)
        client.wait_for_engines(4, timeout=60)
        gang = client.gang([3, 2])
        assert gang.apply_sync(place) == [(0, 2), (1, 2)]
        assert sum_of(gang) == [5, 5]
        assert sum_of(client.gang([3, 2])) == [5, 5]
        assert sum_of(client.gang([1, 0])) == [1, 1]
        with pytest.raises(RuntimeError, match=r"engines \[1, 2\] are of several"):
            client.gang([1, 2])


def test_a_gang_waits_for_engines_that_are_busy(own, tmp_path):
    marker = tmp_path / "began"
    busy = own[2].execute(f"import time; open({str(marker)!r}, 'w').close(); time.sleep(1)", block=False)
    wait_until(marker.exists, "rank 2 is busy")
    assert sum_of(own.gang([1, 2])) == [3, 3]
    assert busy.ready()
