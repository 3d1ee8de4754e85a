"""The launcher plug-ins: ipyparallel's own starter starts our programs by one word."""

import os

import ipyparallel as ipp
import programs
import pytest
from programs import PATIENCE, wait_until


@pytest.fixture
def environment(stage, monkeypatch):
    """Cluster starts children with this process's environment: make it that of the tests."""
    for name, value in stage.environment().items():
        monkeypatch.setenv(name, value)
    return stage


def executables(stage):
    """The program names of all processes of this test."""
    names = []
    for process in programs.processes_tagged(stage.tag):
        names.append(" ".join(process.cmdline()))
    return names


@pytest.mark.parametrize("engines", ["polyxeus", "polyxeus-mpi"])
def test_one_word_makes_ipyparallel_start_our_controller_and_engines(
    environment, engines, tmp_path
):
    cluster = ipp.Cluster(
        controller="polyxeus",
        engines=engines,
        n=4,
        profile_dir=str(tmp_path / "profile"),
        log_level=20,
    )
    with cluster as rc:
        rc.wait_for_engines(4, timeout=PATIENCE)
        assert rc.ids == [0, 1, 2, 3]
        assert rc[:].apply_sync(len, "abc") == [3] * 4
        running = executables(environment)
        assert any("pxcontroller" in name for name in running)
        assert not any("ipyparallel.controller" in name for name in running)
        if engines == "polyxeus-mpi":
            rc[:].execute("from mpi4py import MPI; rank = MPI.COMM_WORLD.rank", block=True)
            assert rc[:]["rank"] == [0, 1, 2, 3]
    wait_until(lambda: not executables(environment), "the cluster's processes end", 20)


def test_the_drop_in_interrupts_engines_and_restarts_them(environment, tmp_path):
    cluster = ipp.Cluster(
        controller="polyxeus",
        engines="polyxeus",
        n=2,
        profile_dir=str(tmp_path / "profile"),
        log_level=20,
    )
    with cluster as rc:
        rc.wait_for_engines(2, timeout=PATIENCE)
        before = rc[:].apply_sync(os.getpid)
        busy = rc[:].apply_async(__import__("time").sleep, 30)
        with pytest.raises(TimeoutError):
            busy.get(0.5)
        cluster.signal_engines_sync(2)
        with pytest.raises(ipp.CompositeError, match="KeyboardInterrupt"):
            busy.get(20)
        cluster.restart_engines_sync()
        rc.wait_for_engines(2, timeout=PATIENCE)
        assert not set(rc[:].apply_sync(os.getpid)) & set(before)


def test_ipcluster_starts_our_programs_by_options(stage, tmp_path):
    cluster = stage.start(
        [
            *(programs.sys.executable, "-m", "ipyparallel.cluster", "start", "-n", 2),
            *("--controller=polyxeus", "--engines=polyxeus-mpi", f"--profile-dir={tmp_path / 'p'}"),
        ],
        "ipcluster",
    )
    file = tmp_path / "p" / "security" / "ipcontroller-client.json"
    wait_until(lambda: file.exists() or not cluster.is_running(), "ipcluster starts a controller")
    rc = ipp.Client(str(file), timeout=PATIENCE)
    wait_until(lambda: len(rc.ids) == 2, "two engines register")
    assert rc[:].apply_sync(len, "abc") == [3, 3]
    assert any("pxcontroller" in name for name in executables(stage))
    rc.close()
    cluster.stop()
