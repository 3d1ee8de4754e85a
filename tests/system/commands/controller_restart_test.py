"""The controller is started again on the same ports, with the same key."""

import signal

import ipyparallel as ipp
import pytest
from programs import wait_until


@ipp.interactive
def pid():
    import os

    return os.getpid()


def test_a_reused_connection_file_is_kept_and_taken_up_again(own_cluster):
    cluster = own_cluster()
    controller = cluster.start_controller("--reuse")
    first = {side: cluster.connection(side) for side in ("client", "engine")}
    controller.stop()
    assert cluster.connection_file("client").exists()
    controller = cluster.start_controller("--reuse")
    second = {side: cluster.connection(side) for side in ("client", "engine")}
    assert second == first
    cluster.start_engines(1)
    assert cluster.client(engines=1)[0].apply_sync(len, "abc") == 3


@pytest.mark.better_than_reference("it fails where a key is missing")
def test_connection_files_that_do_not_belong_together_are_not_reused(own_cluster):
    cluster = own_cluster()
    cluster.start_controller("--reuse").stop()
    cluster.connection_file("engine").write_text('{"key": "another"}')
    cluster.start_controller("--reuse", wait=False)
    wait_until(lambda: cluster.connection("engine")["key"] != "another", "a fresh file is written")
    assert cluster.connection("engine")["key"] == cluster.connection("client")["key"]
    cluster.start_engines(1)
    assert cluster.client(engines=1)[0].apply_sync(len, "abc") == 3


def test_a_restored_controller_finds_its_engines_and_their_names_again(own_cluster):
    cluster = own_cluster()
    cluster.start_controller("--reuse", "--ping=500")
    cluster.start_engines(2)
    rc = cluster.client(engines=2)
    rc[:].push({"kept": 42}, block=True)
    pids = rc[:].apply_sync(pid)
    state = cluster.profile_dir / "log" / "engines.json"
    wait_until(state.exists, "the engine table is on disk")
    rc.close()
    cluster.controller.signal(signal.SIGTERM)
    cluster.controller.wait(60)
    assert state.exists() and cluster.connection_file("engine").exists()
    cluster.start_controller("--restore", "--ping=500")
    rc = cluster.client(engines=2)
    assert rc.ids == [0, 1]
    assert rc[:].apply_async(pid).get(60) == pids
    assert rc[:].pull("kept").get(60) == [42, 42]
    cluster.start_engines(1)
    cluster.wait_for_engines(rc, 3)
    assert rc.ids == [0, 1, 2]
