"""Balanced tasks of several ranks."""

import operator
import os
import signal

import numpy as np
import polyxeus as px
import pytest
from programs import wait_until
from running_cluster import connect


@pytest.fixture
def balanced(own):
    return own.load_balanced_view()


@px.interactive
def total(item, comm):
    """The sum of item + rank over all ranks."""
    return comm.size, comm.allreduce(item + comm.rank)


def total_of(item, ranks):
    return ranks, sum(item + rank for rank in range(ranks))


@px.interactive
def own_rank():
    import polyxeus

    return polyxeus.mpi.comm().rank


@px.interactive
def fail_on(rank, comm):
    if comm.rank == rank:
        raise ValueError(f"no data on rank {rank}")
    comm.barrier()


def test_tasks_of_one_two_and_four_ranks_give_the_right_sums(balanced):
    counts = [1, 2, 4, 1, 1, 2, 4, 2, 1, 4] * 4
    results = [balanced.submit(total, item, px.Ranks(ranks)) for item, ranks in enumerate(counts)]
    assert [each.get(60) for each in results] == [total_of(item, ranks) for item, ranks in enumerate(counts)]


def test_a_map_runs_each_call_on_all_ranks(balanced):
    assert balanced.map(total, range(6), ranks=2, block=True) == [total_of(item, 2) for item in range(6)]


def test_functions_of_modules_get_the_communicator_as_an_argument(balanced):
    assert balanced.apply_sync(operator.attrgetter("size"), px.Ranks(4)) == 4


def test_a_function_finds_its_communicator_itself(own, balanced):
    with balanced.temp_flags(ranks=3):
        assert balanced.apply_sync(own_rank) == 0  # the result is that of the first rank
    with own.executor() as executor:
        assert executor.submit(total, 5, px.Ranks(2)).result(60) == total_of(5, 2)


def test_imap_and_executors_take_the_number_of_ranks(own, balanced):
    assert list(balanced.imap(total, iter(range(5)), ranks=2)) == [total_of(item, 2) for item in range(5)]
    with own.executor(ranks=3) as executor:
        assert executor.submit(total, 5).result(60) == total_of(5, 3)
        assert executor.submit(total, 5, px.Ranks(2)).result(60) == total_of(5, 2)
        assert list(executor.map(total, [1, 2])) == [total_of(1, 3), total_of(2, 3)]


def test_a_gang_runs_after_another_one(balanced):
    first = balanced.submit(total, 1, px.Ranks(2))
    with balanced.temp_flags(after=first):
        second = balanced.submit(total, 2, px.Ranks(4))
    assert second.get(60) == total_of(2, 4)
    assert first.ready()


def test_a_task_gets_further_ranks_that_nothing_else_needs(balanced):
    assert balanced.apply_sync(operator.attrgetter("size"), px.Ranks(2, 8)) == 4


def test_other_tasks_have_no_communicator(balanced):
    with pytest.raises(px.RemoteError, match="not a task of several ranks"):
        balanced.apply_sync(own_rank)


def test_large_arguments_and_results(balanced):
    numbers = np.arange(1_000_000.0)

    @px.interactive
    def doubled(values, comm):
        return values * comm.allreduce(1)

    result = balanced.submit(doubled, numbers, comm=px.Ranks(2)).get(60)
    assert np.array_equal(result, numbers * 2)


def test_the_error_is_that_of_the_rank_that_failed(balanced):
    with pytest.raises(px.RemoteError, match="no data on rank 1"):
        balanced.submit(fail_on, 1, px.Ranks(3)).get(20)
    assert balanced.submit(total, 1, px.Ranks(3)).get(60) == total_of(1, 3)


def test_a_retry_takes_a_whole_gang_again(balanced, tmp_path):
    @px.interactive
    def succeed_later(folder, comm):
        import os

        if comm.rank == 1 and not os.path.exists(folder + "/tried"):
            open(folder + "/tried", "w").close()
            raise ValueError("the first attempt fails")
        return comm.allreduce(1)

    with balanced.temp_flags(retries=1, ranks=2):
        assert balanced.apply(succeed_later, str(tmp_path)).get(60) == 2


def test_a_retry_also_runs_on_a_rank_that_was_interrupted(own_cluster, mpiexec, tmp_path):
    cluster = own_cluster()
    cluster.start_controller()
    cluster.start_mpi_engines(2)

    @px.interactive
    def succeed_later(folder, comm):
        import os
        import time

        is_first = not os.path.exists(folder + "/tried")
        comm.barrier()
        if is_first and comm.rank == 1:
            open(folder + "/tried", "w").close()
            raise ValueError("the first attempt fails")
        if is_first:
            time.sleep(60)
        return comm.allreduce(1)

    with connect(cluster.connection_file("client"), 2) as client:
        balanced = client.load_balanced_view(retries=1, ranks=2)
        assert balanced.apply(succeed_later, str(tmp_path)).get(60) == 2


def test_a_failure_in_one_gang_leaves_the_other_one_alone(balanced, tmp_path):
    marker = str(tmp_path / "go")

    @px.interactive
    def turn_until(path, comm):
        import os

        while not comm.bcast(os.path.exists(path)):
            pass
        return comm.size

    working = balanced.submit(turn_until, marker, px.Ranks(2))
    with pytest.raises(px.RemoteError, match="no data on rank 0"):
        balanced.submit(fail_on, 0, px.Ranks(2)).get(20)
    assert not working.ready()
    open(marker, "w").close()
    assert working.get(60) == 2


def test_a_stop_of_one_gang_of_three_leaves_two(own_cluster, mpiexec, tmp_path):
    cluster = own_cluster()
    cluster.start_controller()
    cluster.start_mpi_engines(6)
    with connect(cluster.connection_file("client"), 6) as client:
        balanced = client.load_balanced_view()

        @px.interactive
        def add_until_told(folder, name, comm):
            import os

            open(f"{folder}/{name}-{comm.rank}-{mpi_rank}", "w").close()  # noqa: F821
            turns, total = 0, 0
            while not comm.bcast(os.path.exists(folder + "/go")):
                turns, total = turns + 1, total + comm.allreduce(1)
            return total == turns * comm.size

        gangs = [balanced.submit(add_until_told, str(tmp_path), name, px.Ranks(2)) for name in "abc"]
        wait_until(lambda: len(list(tmp_path.iterdir())) == 6, "three gangs run")
        client.interrupt([int(path.name.split("-")[2]) for path in tmp_path.glob("b-*")], block=True)
        with pytest.raises(px.RemoteError, match="KeyboardInterrupt"):
            gangs[1].get(20)
        assert not gangs[0].ready() and not gangs[2].ready()
        (tmp_path / "go").touch()
        assert gangs[0].get(60) and gangs[2].get(60)
        assert balanced.submit(total, 1, px.Ranks(6)).get(60) == total_of(1, 6)


def test_tasks_of_one_rank_use_the_engines_that_are_left(balanced, tmp_path):
    marker = str(tmp_path / "go")

    @px.interactive
    def wait_for(path, comm=None):
        import os
        import time

        while not os.path.exists(path):
            time.sleep(0.01)

    large = balanced.submit(wait_for, marker, px.Ranks(3))
    waiting = balanced.submit(wait_for, marker, px.Ranks(4))
    assert balanced.apply_sync(abs, -3) == 3
    assert not large.ready() and not waiting.ready()
    open(marker, "w").close()
    large.get(60), waiting.get(60)


def test_a_task_that_no_world_can_run_is_refused(balanced):
    with pytest.raises(px.ImpossibleDependency, match="needs 5 ranks of one MPI world, and the largest world has 4"):
        balanced.submit(total, 1, px.Ranks(5)).get(20)


def test_engines_without_mpi_run_no_task_of_several_ranks(local_cluster):
    with connect(local_cluster.connection_file("client"), 4) as client:
        with pytest.raises(px.ImpossibleDependency, match="--engines=mpi"):
            client.load_balanced_view().submit(total, 1, px.Ranks(2)).get(20)


def test_an_interrupt_stops_all_ranks(own, balanced, tmp_path):
    @px.interactive
    def wait_in_mpi(path, comm):
        if comm.rank == 0:
            open(path, "w").close()
            while True:
                pass
        comm.barrier()

    marker = tmp_path / "began"
    result = balanced.submit(wait_in_mpi, str(marker), px.Ranks(2))
    wait_until(marker.exists, "the task has begun")
    own.interrupt(block=True)
    with pytest.raises(px.RemoteError, match="KeyboardInterrupt"):
        result.get(20)
    assert balanced.submit(total, 1, px.Ranks(4)).get(60) == total_of(1, 4)


def test_the_death_of_a_rank_ends_the_task(own_cluster, mpiexec, tmp_path):
    cluster = own_cluster()
    cluster.start_controller()
    cluster.start_mpi_engines(3)
    with connect(cluster.connection_file("client"), 3) as client:
        balanced = client.load_balanced_view()
        pids = client[:].apply_sync(os.getpid)
        assert balanced.submit(total, 1, px.Ranks(3)).get(60) == total_of(1, 3)

        @px.interactive
        def sleep(path, comm):
            import time

            open(path, "w").close()
            time.sleep(60)

        marker = tmp_path / "began"
        waiting = balanced.submit(sleep, str(marker), px.Ranks(3))
        wait_until(marker.exists, "the task runs")
        os.kill(pids[1], signal.SIGKILL)
        with pytest.raises(px.EngineError):
            waiting.get(30)


@px.interactive
def count_and_wait(folder, comm):
    """The number of ranks, once there is a file `go`."""
    import os
    import tempfile

    tempfile.mkstemp(dir=folder, prefix="run")
    while not os.path.exists(folder + "/go"):
        pass
    return comm.allreduce(1)


def test_each_of_its_engines_names_its_ranks(own, tmp_path):
    result = own.load_balanced_view(targets=[0, 2, 3]).submit(count_and_wait, str(tmp_path), px.Ranks(3))
    wait_until(lambda: len(list(tmp_path.glob("run*"))) == 3, "all ranks run")
    assert [row["runs"] for row in own.where([0, 2])] == ["count_and_wait on ranks 0, 2, 3"] * 2
    (tmp_path / "go").touch()
    assert result.get(60) == 3


def kill_and_restart_controller(cluster, *options):
    cluster.controller.signal(signal.SIGKILL)
    cluster.controller.wait(60)
    cluster.start_controller("--ping=500", "--restore", *options)


@pytest.mark.parametrize("journal", ["off", "process"])
def test_a_task_goes_on_when_the_controller_is_killed_and_restarted(own_cluster, mpiexec, tmp_path, journal):
    cluster = own_cluster()
    cluster.start_controller("--reuse", "--ping=500", f"--journal={journal}")
    cluster.start_mpi_engines(3)
    with connect(cluster.connection_file("client"), 3) as client:
        balanced = client.load_balanced_view()
        result = balanced.submit(count_and_wait, str(tmp_path), px.Ranks(2))
        wait_until(lambda: len(list(tmp_path.glob("run*"))) == 2, "both ranks run")
        for _ in range(2):
            kill_and_restart_controller(cluster, f"--journal={journal}")
            assert balanced.submit(os.getpid).get(60)  # where no rank runs
            assert not result.ready()
        (tmp_path / "go").touch()
        assert result.get(60) == 2
        assert balanced.submit(total, 1, px.Ranks(3)).get(60) == total_of(1, 3)
        assert len(list(tmp_path.glob("run*"))) == 2


def test_a_task_fails_if_one_of_its_ranks_dies_while_there_is_no_controller(own_cluster, mpiexec, tmp_path):
    cluster = own_cluster()
    cluster.start_controller("--reuse", "--ping=500")
    cluster.start_mpi_engines(3)
    with connect(cluster.connection_file("client"), 3) as client:
        balanced = client.load_balanced_view()
        pids = client[:].apply_sync(os.getpid)
        result = balanced.submit(count_and_wait, str(tmp_path), px.Ranks(3))
        wait_until(lambda: len(list(tmp_path.glob("run*"))) == 3, "all ranks run")
        cluster.controller.signal(signal.SIGKILL)
        cluster.controller.wait(60)
        os.kill(pids[1], signal.SIGKILL)
        cluster.start_controller("--ping=500", "--restore")
        with pytest.raises(px.EngineError, match="did not come back with it|died|was ended by SIGKILL"):
            result.get(60)
        assert client[0].apply(os.getpid).get(30) == pids[0]  # its rank was stopped


def test_a_restart_also_stops_a_task_whose_client_has_left(own_cluster, mpiexec, tmp_path):
    cluster = own_cluster()
    cluster.start_controller("--reuse", "--ping=500", "--journal=off")
    cluster.start_mpi_engines(2)
    with connect(cluster.connection_file("client"), 2) as other:
        with connect(cluster.connection_file("client"), 2) as client:
            client.load_balanced_view().submit(count_and_wait, str(tmp_path), px.Ranks(2))
            wait_until(lambda: len(list(tmp_path.glob("run*"))) == 2, "both ranks run")
        kill_and_restart_controller(cluster, "--journal=off")
        assert other.load_balanced_view().submit(total, 1, px.Ranks(2)).get(60) == total_of(1, 2)
