"""Which id an engine gets under mpiexec, and what it says about its world."""

import numpy as np
import polyxeus
import pytest
from programs import wait_until
from running_cluster import connect

WORLD = "from mpi4py import MPI; where = (MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size)"


@pytest.mark.parametrize("ranks, start", [(4, 1), (4, 2), (4, 3), (8, 1)])
def test_the_engine_id_is_the_mpi_rank_at_every_start(own_cluster, mpiexec, ranks, start):
    cluster = own_cluster()
    cluster.start_controller()
    cluster.start_mpi_engines(ranks)
    rc = cluster.client(engines=ranks)
    assert rc.ids == list(range(ranks))
    rc[:].execute(WORLD, block=True)
    assert rc[:]["where"] == [(rank, ranks) for rank in range(ranks)]


def test_mpi_engines_know_mpi_rank_and_mpi_size_and_say_that_they_registered(own_cluster, mpiexec):
    cluster = own_cluster()
    cluster.start_controller()
    engines = cluster.start_mpi_engines(2)
    rc = cluster.client(engines=2)
    assert rc[:]["mpi_rank"] == [0, 1]
    assert rc[:]["mpi_size"] == [2, 2]
    wait_until(
        lambda: engines.output().count("Completed registration with id") == 2,
        "both ranks say that they registered",
    )


def test_a_set_of_ranks_that_comes_after_another_ended_has_its_ranks_as_ids_again(
    own_cluster, mpiexec
):
    cluster = own_cluster()
    cluster.start_controller()
    first = cluster.start_mpi_engines(3)
    rc = cluster.client(engines=3)
    first.stop()
    cluster.engines.clear()
    wait_until(lambda: not rc.ids, "the first set is unregistered")
    cluster.start_mpi_engines(3)
    cluster.wait_for_engines(rc, 3)
    assert rc.ids == [0, 1, 2]
    rc[:].execute(WORLD, block=True)
    assert rc[:]["where"] == [(0, 3), (1, 3), (2, 3)]


def test_under_mpich_the_engine_id_is_the_rank_and_collectives_work(own_cluster, mpich):
    cluster = own_cluster()
    cluster.start_controller()
    cluster.start_mpi_engines(3, mpiexec=mpich)
    rc = cluster.client(engines=3)
    assert rc.ids == [0, 1, 2]
    rc[:].execute(WORLD, block=True)
    assert rc[:]["where"] == [(0, 3), (1, 3), (2, 3)]
    rc[:].execute("library = MPI.Get_library_version(); s = MPI.COMM_WORLD.allreduce(2)", block=True)
    assert rc[:]["s"] == [6, 6, 6]
    assert all(library.startswith("MPICH") for library in rc[:]["library"])


def test_under_mpich_communicators_are_made_of_groups(own_cluster, mpich):
    cluster = own_cluster()
    cluster.start_controller()
    cluster.start_mpi_engines(3, mpiexec=mpich)
    rc = cluster.client(engines=3)
    made = "group = MPI.COMM_WORLD.Get_group().Incl([2, 0]); part = MPI.COMM_WORLD.Create_group(group)"
    rc[[0, 2]].execute(f"from mpi4py import MPI; {made}; s = part.allreduce(part.rank)", block=True)
    assert rc[[0, 2]]["s"] == [1, 1]


def test_under_mpich_receives_leave_the_error_of_the_status_alone(own_cluster, mpich):
    cluster = own_cluster()
    cluster.start_controller()
    cluster.start_mpi_engines(2, mpiexec=mpich)
    rc = cluster.client(engines=2)
    cell = """
from mpi4py import MPI
status, got, other = MPI.Status(), bytearray(1), 1 - MPI.COMM_WORLD.rank
status.error = 7
MPI.COMM_WORLD.Sendrecv(b"x", other, 0, got, other, 0, status)
s = [(status.error, status.source == other, bytes(got))]
sending = MPI.COMM_WORLD.Isend(b"y", other)
MPI.COMM_WORLD.Recv(got, MPI.ANY_SOURCE, 0, status)
sending.Wait()
s.append((status.error, status.source == other, bytes(got)))
"""
    rc[:].execute(cell, block=True)
    assert rc[:]["s"] == [[(7, True, b"x"), (7, True, b"y")]] * 2


def test_engines_with_another_mpi_than_their_launcher_refuse(own_cluster, mpich):
    """mpi4py loads Open MPI although MPICH has started them: two worlds of one rank each."""
    cluster = own_cluster()
    cluster.start_controller()
    engines = cluster.start_mpi_engines(2, mpiexec=mpich, MPI4PY_MPIABI="openmpi")
    wait_until(lambda: not engines.is_running(), "the engines give up")
    said = [line for line in engines.output().splitlines() if line.startswith("pxengine:") and "cores" not in line]
    assert said and all("started 2 ranks, but mpi4py finds 1" in line for line in said)
    assert all("MPI4PY_MPIABI" in line for line in said), "the fix"
    assert not cluster.client().ids


def test_an_array_is_exchanged_in_a_whole_world_and_in_a_part_of_it(own_cluster, mpiexec):
    cluster = own_cluster()
    cluster.start_controller()
    cluster.start_mpi_engines(4)
    values = np.arange(300_000.0).reshape(3, -1)
    with connect(cluster.connection_file("client"), 4) as client:
        client[2].push({"x": values, "before": None}, block=True)
        client[2].execute("before = x", block=True)
        client[:].exchange("x", source=2)
        assert all(np.array_equal(each, values) for each in client[:].pull("x", block=True))
        client[2].execute("is_same = before is x", block=True)
        assert client[2].pull("is_same", block=True)
        client[1].execute("x = x[:, ::2] + 1", block=True)
        client[[0, 3]].exchange("x", source=1)
        client[:].execute("seen = x.shape, float(x[0, 1])", block=True)
        assert client[:].pull("seen", block=True) == [((3, 50_000), 3.0)] * 2 + [((3, 100_000), 1.0)] + [((3, 50_000), 3.0)]


def test_ranks_that_wait_for_one_that_failed_are_interrupted(own_cluster, mpiexec):
    cluster = own_cluster()
    cluster.start_controller()
    cluster.start_mpi_engines(3)
    with connect(cluster.connection_file("client"), 3) as client:
        client[0].push({"x": np.ones(1_000_000)}, block=True)
        client[1].execute(
            "import polyxeus.engine.exchange as exchange\n"
            "def fail(*_): raise MemoryError('no room for x')\n"
            "exchange.broadcast = fail",
            block=True,
        )
        with pytest.raises(polyxeus.error.CompositeError, match="no room for x"):
            client[:].exchange("x", source=0)
        assert client[:].apply_sync(lambda: 1) == [1] * 3
