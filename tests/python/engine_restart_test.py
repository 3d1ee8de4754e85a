"""Engines that end and start again while the controller and the clients stay."""

import os
import signal

import pytest
from deadlines import wait_until

import polyxeus as ipp


def test_engines_that_hang_come_back_with_their_ids_and_the_client_goes_on(own):
    rc = own(2)
    pids = dict(zip(rc.ids, rc[:].apply_sync(os.getpid)))
    rc[:].push({"kept": 1}, block=True)
    os.kill(pids[1], signal.SIGSTOP)
    waiting = rc[1].apply_async(os.getpid)
    rc.restart_engines()
    assert rc.ids == [0, 1]
    assert not set(rc[:].apply_sync(os.getpid)) & set(pids.values())
    with pytest.raises(ipp.RemoteError, match="Engine 1"):
        waiting.get(20)
    with pytest.raises(ipp.RemoteError, match="NameError"):
        rc[0].execute("kept", block=True)


def test_tasks_with_retries_run_again_after_a_restart(own):
    rc = own(2)
    view = rc.load_balanced_view()
    view.retries = 2

    def first_time_slow(started):
        import os
        import time

        if os.path.exists(started):
            return "again"
        open(started, "w").close()
        time.sleep(600)

    started = os.path.join(rc.cluster.profile_dir, "started")
    result = view.apply_async(first_time_slow, started)
    wait_until(lambda: os.path.exists(started), "the call runs", 30)
    rc.restart_engines()
    assert result.get(30) == "again"


def test_a_client_without_its_cluster_object_restarts_the_engines_too(own):
    rc = own(1)
    before = rc[0].apply_sync(os.getpid)
    with ipp.Client(profile="own", cluster_id=rc.cluster.cluster_id) as other:
        other.restart_engines()
        assert other.ids == [0]
        assert other[0].apply_sync(os.getpid) != before


def test_who_waits_for_engines_after_a_restart_gets_the_new_ones(own):
    rc = own(2)
    with ipp.Client(profile="own", cluster_id=rc.cluster.cluster_id) as other:
        for _ in range(2):
            before = other[:].apply_sync(os.getpid)
            rc.cluster.restart_engines_sync()
            other.wait_for_engines(2, timeout=30)
            assert not set(other[:].apply_sync(os.getpid)) & set(before)


def test_a_client_of_a_file_elsewhere_says_how_to_restart(own, tmp_path):
    rc = own(1)
    copy = tmp_path / "copied.json"
    copy.write_bytes(open(rc.cluster.connection_file, "rb").read())
    copy.chmod(0o600)
    with ipp.Client(str(copy)) as other:
        with pytest.raises(RuntimeError, match="use `pxcluster` with --profile"):
            other.restart_engines()
