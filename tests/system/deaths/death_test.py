"""A rank dies: everybody who must know hears of it at once, and the others go on."""

import signal

import ipyparallel as ipp
import pytest
from programs import wait_until

NOT_BY_HEARTBEATS = "--HeartMonitor.max_heartmonitor_misses=1000"  # by these alone it would take very long


@ipp.interactive
def exit_at_once():
    import os

    os._exit(3)


@ipp.interactive
def kill_self():
    import os
    import signal

    os.kill(os.getpid(), signal.SIGKILL)


@ipp.interactive
def segfault():
    import ctypes

    ctypes.string_at(0)


@ipp.interactive
def pid():
    import os

    return os.getpid()


DEATHS = [exit_at_once, kill_self, segfault]


@pytest.fixture
def pair(own_cluster):
    """Two engines without MPI."""
    cluster = own_cluster()
    cluster.start_controller(NOT_BY_HEARTBEATS)
    cluster.start_engines(2)
    return cluster, cluster.client(engines=2)


@pytest.mark.parametrize("die", DEATHS, ids=lambda die: die.__name__)
def test_the_client_hears_of_it_at_once_and_the_other_engine_goes_on(pair, die):
    cluster, rc = pair
    rc[:].push({"kept": 42}, block=True)
    answer = rc[0].apply_async(die)
    with pytest.raises(ipp.RemoteError, match="EngineError.*died while running"):
        answer.get(20)
    assert rc.ids == [1]
    assert rc[1]["kept"] == 42
    cluster.engines = [engine for engine in cluster.engines if engine.is_running()]
    assert len(cluster.engines) == 1


def test_an_idle_engine_killed_from_outside_is_gone_at_once(pair):
    cluster, rc = pair
    victim = rc[1].apply_sync(pid)
    import os

    os.kill(victim, signal.SIGKILL)
    wait_until(lambda: rc.ids == [0], "the client hears of the death")


def test_a_task_with_retries_runs_on_another_engine_after_its_engine_died(pair, tmp_path):
    _, rc = pair
    view = rc.load_balanced_view()

    @ipp.interactive
    def die_once(marker):
        import os

        try:
            os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return "survived"
        os._exit(1)

    with view.temp_flags(retries=1):
        answer = view.apply_async(die_once, str(tmp_path / "marker"))
    assert answer.get(60) == "survived"
    assert len(rc.ids) == 1


def test_a_task_without_retries_whose_engine_died_is_an_error_for_the_client(pair):
    _, rc = pair
    with pytest.raises(ipp.RemoteError, match="EngineError.*died while running task"):
        rc.load_balanced_view().apply_async(exit_at_once).get(30)
    assert rc.load_balanced_view().apply_sync(len, "abc") == 3


def test_a_dead_rank_leaves_engines_outside_of_its_mpi_world_alone(own_cluster, mpiexec):
    cluster = own_cluster()
    cluster.start_controller(NOT_BY_HEARTBEATS)
    cluster.start_mpi_engines(3)
    rc = cluster.client(engines=3)
    cluster.start_engines(1)
    cluster.wait_for_engines(rc, 4)
    single = rc.ids[-1]
    rc[single].push({"kept": 42}, block=True)
    answer = rc[1].apply_async(kill_self)
    with pytest.raises(ipp.RemoteError, match="EngineError"):
        answer.get(20)
    wait_until(lambda: 1 not in rc.ids, "the rank is unregistered")
    assert rc[single]["kept"] == 42


def test_an_engine_that_ends_on_sigterm_is_unregistered_at_once(pair):
    cluster, rc = pair
    cluster.engines[0].signal(signal.SIGTERM)
    wait_until(lambda: len(rc.ids) == 1, "the client hears of the end")
    cluster.engines[0].wait(60)
    del cluster.engines[0]


def test_engines_that_the_client_shuts_down_end(pair):
    cluster, rc = pair
    rc.shutdown(targets=[0], block=True)
    wait_until(lambda: rc.ids == [1], "the client hears of the end")
    rc.shutdown(targets="all", block=True)
    wait_until(lambda: not rc.ids, "the client hears of the end")
    for engine in cluster.engines:
        engine.wait(60)
    cluster.engines.clear()


def test_hub_shutdown_ends_engines_and_controller_and_removes_the_files(pair):
    cluster, rc = pair
    rc.shutdown(hub=True, block=True)
    assert cluster.controller.wait(60) == 0
    for engine in cluster.engines:
        engine.wait(60)
    cluster.engines.clear()
    assert not cluster.connection_file("client").exists()
    assert not cluster.connection_file("engine").exists()
