"""A stop or a failure in one gang: the other gangs and their communicators are left alone, and the gang goes on at
once."""

import contextlib
import time

import polyxeus as px
import pytest
from programs import wait_until

MPIS = ("openmpi", "mpich")
FAILING = "if comm.rank == 0: raise ValueError('no data')\ncomm.barrier()"
PATIENCE = 40


@pytest.fixture(scope="module", params=MPIS)
def four_ranks(ranks_under, request):
    """Four engines under the mpiexec of an MPI."""
    mpiexec = request.getfixturevalue("mpich" if request.param == "mpich" else "mpiexec")
    with ranks_under(f"gang_stops_{request.param}", mpiexec) as cluster:
        yield cluster


@pytest.fixture
def gangs(own):
    return own[:].split(["a", "a", "b", "b"]).values()


@contextlib.contextmanager
def long_cell(gang, tmp_path, before="comm.barrier()"):
    """A cell of the gang that ends when this block does. It does not call MPI meanwhile."""
    marker, begun = tmp_path / "busy", tmp_path / "begun"
    marker.touch()
    code = f"""
import os, time
{before}
open({str(begun)!r} + str(comm.rank), "w").close()
while os.path.exists({str(marker)!r}): time.sleep(0.01)
after = comm.allreduce(comm.rank + 1)
"""
    result = gang.execute(code, block=False)
    wait_until(lambda: all(begun.with_name(f"begun{rank}").exists() for rank in range(2)), "the long cell runs")
    try:
        yield result
        assert not result.ready()
    finally:
        marker.unlink()
    result.get(PATIENCE)
    assert gang["after"] == [3, 3]


def fail(gang):
    with pytest.raises(px.CompositeError, match="no data"):
        gang.execute(FAILING, block=False).get(PATIENCE)


def total(gang, comm="comm"):
    """Returns the result of an allreduce on each rank of the gang."""
    gang.execute(f"total = {comm}.allreduce({comm}.rank + 1)", block=False).get(PATIENCE)
    return gang["total"]


def test_a_gang_goes_on_after_a_failure_while_another_one_is_busy(gangs, tmp_path):
    failing, busy = gangs
    with long_cell(busy, tmp_path):
        for _ in range(2):
            fail(failing)
            assert total(failing) == [3, 3]


def test_a_gang_goes_on_after_a_stop_while_another_one_is_busy(own, gangs, tmp_path):
    stopped, busy = gangs
    with long_cell(busy, tmp_path):
        begun = tmp_path / "stops"
        waiting = stopped.execute(f"if comm.rank: open({str(begun)!r}, 'w').close(); comm.recv(source=0)", block=False)
        wait_until(begun.exists, "rank 1 waits")
        own.interrupt([0, 1], block=True)
        with pytest.raises(px.CompositeError, match="KeyboardInterrupt"):
            waiting.get(PATIENCE)
        assert total(stopped) == [3, 3]


def test_a_message_of_the_failed_cell_reaches_no_later_one(gangs, tmp_path):
    failing, busy = gangs
    with long_cell(busy, tmp_path):
        for value in range(3):
            cell = f"comm.barrier()\nif comm.rank == 0: comm.send({value}, 1); raise ValueError('no data')\ncomm.barrier()"
            with pytest.raises(px.CompositeError, match="no data"):
                failing.execute(cell, block=False).get(PATIENCE)
            failing.execute(
                f"if comm.rank == 0: comm.send({10 + value}, 1)\nelse: got = comm.recv(source=0)", block=False
            ).get(PATIENCE)
            assert failing.client[1]["got"] == 10 + value


def test_communicators_that_a_gang_has_made_go_on_with_it(gangs, tmp_path):
    failing, busy = gangs
    failing.execute("copy = comm.Dup(); part = comm.Split(0, -comm.rank)", block=True)
    with long_cell(busy, tmp_path):
        fail(failing)
        assert total(failing, "copy") == [3, 3]
        assert total(failing, "part") == [3, 3]
        failing.execute("more = comm.Dup()", block=False).get(PATIENCE)
        assert total(failing, "more") == [3, 3]


def test_a_gang_is_made_after_a_failure_while_another_one_is_busy(own, gangs, tmp_path):
    failing, busy = gangs
    with long_cell(busy, tmp_path):
        fail(failing)
        assert total(own.gang([1, 0], name="turned"), "turned") == [3, 3]
        failing.renew()
        assert total(failing) == [3, 3]


def test_a_receive_that_one_cell_begins_and_the_next_one_completes_survives_the_failure_of_another_gang(gangs):
    failing, working = gangs
    cell = "import numpy; got = numpy.zeros(1); request = comm.Irecv(got, source=1) if comm.rank == 0 else None"
    working.execute(cell, block=True)
    fail(failing)
    working.execute("if comm.rank: comm.Send(numpy.full(1, 7.0), 0)\nelse: request.Wait()", block=False).get(PATIENCE)
    assert working.client[2]["got"][0] == 7
    assert total(failing) == [3, 3]


def test_a_failure_of_the_world_ends_what_the_world_has_begun(own, gangs):
    first, second = gangs
    everyone = own[:]
    cell = "from mpi4py import MPI; world = MPI.COMM_WORLD\nif world.rank == 3: raise ValueError('no data')\nworld.barrier()"
    with pytest.raises(px.CompositeError, match="no data"):
        everyone.execute(cell, block=False).get(PATIENCE)
    assert total(first) == total(second) == [3, 3]
    everyone.execute("total = world.allreduce(1)", block=False).get(PATIENCE)
    assert everyone["total"] == [4] * 4


def test_gangs_with_common_ranks_go_on_after_failures_of_both(own):
    gangs = [own.gang(ranks, name=name) for ranks, name in (([0, 1], "x"), ([1, 2], "y"), ([2, 0], "z"))]
    for gang in gangs:
        with pytest.raises(px.CompositeError, match="no data"):
            gang.execute(FAILING.replace("comm", gang.name), block=False).get(PATIENCE)
    own[[0, 1, 2]].execute("sums = []", block=True)
    for gang in gangs:
        gang.execute(f"sums.append({gang.name}.allreduce(1))", block=False)
    own[[0, 1, 2]].execute("pass", block=False).get(PATIENCE)
    assert own[[0, 1, 2]]["sums"] == [[2, 2]] * 3


def test_a_gang_is_stopped_many_times_while_another_one_works(own, gangs, tmp_path):
    stopped, working = gangs
    marker = tmp_path / "go"
    marker.touch()
    counting = working.execute(
        f"import os\nrounds = 0\nwhile comm.allreduce(int(os.path.exists({str(marker)!r}))) == 2: rounds += 1", block=False
    )
    try:
        for round_ in range(10):
            call = "while True: comm.allreduce(1)" if round_ % 2 else "comm.recv()"
            begun = tmp_path / f"round{round_}_"
            waiting = stopped.execute(f"open({str(begun)!r} + str(comm.rank), 'w').close()\n{call}", block=False)
            wait_until(lambda: all(begun.with_name(f"{begun.name}{rank}").exists() for rank in range(2)), "both run")
            time.sleep(0.01 * round_)  # stops at different moments
            own.interrupt([0, 1], block=True)
            with contextlib.suppress(px.CompositeError):
                waiting.get(PATIENCE)
            assert total(stopped) == [3, 3]
            assert not counting.ready()
    finally:
        marker.unlink()
    counting.get(PATIENCE)


@px.interactive
def fail_on_one(comm):
    if comm.rank == 0:
        raise ValueError("no data")
    comm.barrier()


@px.interactive
def sum_of(comm):
    return comm.allreduce(comm.rank + 1)


def test_tasks_of_several_ranks_go_on_after_a_failed_one_while_engines_are_busy(own, tmp_path):
    balanced = own.load_balanced_view()
    marker, begun = tmp_path / "busy", tmp_path / "begun"
    marker.touch()

    def be_busy(comm):
        import os
        import time

        open(begun, "w").close()
        while os.path.exists(marker):
            time.sleep(0.01)
        return comm.allreduce(1)

    busy = balanced.submit(be_busy, px.Ranks(2))
    try:
        wait_until(begun.exists, "the long task runs")
        for _ in range(2):
            with pytest.raises(px.RemoteError, match="no data"):
                balanced.submit(fail_on_one, px.Ranks(2)).get(PATIENCE)
            assert balanced.submit(sum_of, px.Ranks(2)).get(PATIENCE) == 3
        assert not busy.ready()
    finally:
        marker.unlink()
    assert busy.get(PATIENCE) == 2


@pytest.mark.parametrize("of_gang", [False, True], ids=["world", "gang"])
def test_a_rank_that_begins_the_cell_after_the_failure_hears_of_it(own, tmp_path, of_gang):
    """The failed rank has called MPI, so it is in its next epoch by then. The ranks before rank 3 have begun
    the cell before: else they would wait until rank 3 has left the old epoch, too."""
    marker = tmp_path / "busy"
    marker.touch()
    view = own.gang([0, 1, 3]) if of_gang else own[:]
    get = "" if of_gang else "from mpi4py import MPI; comm = MPI.COMM_WORLD"
    view.execute(f"{get}\ncomm.barrier()", block=True)
    busy = own[3].execute(f"import os, time\nwhile os.path.exists({str(marker)!r}): time.sleep(0.01)", block=False)
    cell = """
if comm.rank == 0:
    for rank in range(1, comm.size - 1): comm.ssend(1, rank)
    raise ValueError('no data')
if comm.rank < comm.size - 1: comm.recv(source=0)
comm.barrier()
"""
    failing = view.execute(cell, block=False)
    try:
        wait_until(lambda: failing.progress == len(view) - 1, "the other ranks have replied")
    finally:
        marker.unlink()
    busy.get(PATIENCE)
    with pytest.raises(px.CompositeError) as caught:
        failing.get(PATIENCE)
    errors = dict(zip(view.targets, (str(each[1]) for each in caught.value.elist)))
    assert "no data" in errors[3] and "cannot" in errors[3], errors
    view.execute("total = comm.allreduce(1)", block=False).get(PATIENCE)
    assert view["total"] == [len(view)] * len(view)
