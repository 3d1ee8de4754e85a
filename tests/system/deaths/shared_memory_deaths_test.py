"""Processes are killed while large arrays are on their way: no wrong byte arrives, nothing is left."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import ipyparallel as ipp
import numpy as np
import polyxeus
import pytest
from programs import PATIENCE, wait_until
from running_cluster import connect

pytestmark = pytest.mark.better_than_reference("it has no shared memory")

COUNT = 1 << 19  # 4 MiB of float64


def folder_of(cluster):
    return Path(cluster.connection()["memory"]["folder"])


def is_whole(array):
    """Each array of these tests has one value everywhere."""
    return array.shape == (COUNT,) and bool((array == array[0]).all())


@ipp.interactive
def check(array):
    """On an engine: the sum, after a look at every byte."""
    first = array[0]
    assert array.shape == (1 << 19,) and (array == first).all()
    return float(first)


@pytest.fixture
def cluster(own_cluster):
    cluster = own_cluster()
    cluster.start_controller("--reuse", "--ping=500")
    cluster.start_engines(3)
    return cluster


CLIENT = """
import sys, numpy as np, polyxeus
client = polyxeus.Client(sys.argv[1], timeout=60)
client.wait_for_engines(3, timeout=60)
for number in range(100_000):
    array = np.full(1 << 19, float(number))
    client[:].push({"pushed": array}, block=False)
    client[0].pull("kept", block=False)
    client.load_balanced_view().apply_async(len, array)
    print(number, flush=True)
"""


def test_a_client_is_killed_in_the_midst_of_pushes(cluster):
    folder = folder_of(cluster)
    with connect(cluster.connection_file("client"), 3) as client:
        client[:].push({"kept": np.full(COUNT, 7.0), "pushed": np.zeros(COUNT)}, block=True)
        for rounds in (1, 3, 20):
            killed = subprocess.Popen(
                [sys.executable, "-c", CLIENT, str(cluster.connection_file("client"))],
                stdout=subprocess.PIPE,
            )
            for number in range(rounds):
                assert killed.stdout.readline() == b"%d\n" % number
            killed.kill()
            killed.wait(PATIENCE)
            killed.stdout.close()
            for array in client[:].pull("pushed", block=True):
                assert is_whole(array)
        mine = client._connection.session_id

        def only_mine():
            return all(name.split(".")[0] == mine for name in os.listdir(folder)
                       if name.count(".") == 2)  # fmt: skip

        client[:].push({"pushed": None}, block=True)  # the engines let go
        client.purge_everything()  # and the records of tasks
        wait_until(only_mine, "the segments of the killed clients are removed", 60)
    cluster.stop()
    assert not folder.exists()


def test_an_engine_dies_that_takes_an_array_for_others(cluster, tmp_path):
    info = cluster.connection()
    info["memory"]["identity"] = "elsewhere"  # as on another host
    file = tmp_path / "client.json"
    file.touch(0o600)
    file.write_text(json.dumps(info))
    with connect(file, 3) as client:
        pid = client[0].apply_sync(os.getpid)
        os.kill(pid, signal.SIGSTOP)
        sent = client[:].push({"pushed": np.full(COUNT, 3.0)}, block=False)
        looked = client[1:].pull("pushed", block=False)
        os.kill(pid, signal.SIGKILL)
        for array in looked.get(PATIENCE):
            assert is_whole(array) and array[0] == 3.0
        with pytest.raises(polyxeus.error.CompositeError, match="Engine 0 .* died"):
            sent.get(PATIENCE)
    wait_until(
        lambda: not [n for n in os.listdir(folder_of(cluster)) if n.count(".") == 2],
        "nothing is left",
        60,
    )


def test_an_engine_is_killed_in_the_midst_of_transfers(cluster):
    folder = folder_of(cluster)
    with connect(cluster.connection_file("client"), 3) as client:
        client[:].push({"kept": np.full(COUNT, 7.0)}, block=True)
        pid = client[2].apply_sync(os.getpid)
        sent = []
        for number in range(60):
            if number == 30:
                os.kill(pid, signal.SIGKILL)
            try:
                array = np.full(COUNT, float(number))
                sent.append((number, client[:2].apply_async(check, array)))
                sent.append((None, client[2].apply_async(check, array)))
                sent.append((None, client[2].pull("kept", block=False)))
            except (polyxeus.error.NoEnginesRegistered, IndexError, ValueError):
                pass  # it has left
        for number, result in sent:
            try:
                got = result.get(PATIENCE)
            except (polyxeus.error.RemoteError, polyxeus.error.EngineError) as problem:
                assert number is None, problem
                continue
            if number is not None:
                assert got == [float(number)] * 2
            elif isinstance(got, np.ndarray):
                assert is_whole(got) and got[0] == 7.0
    cluster.stop()
    assert not folder.exists()


def test_the_controller_is_killed_in_the_midst_of_transfers(cluster):
    folder = folder_of(cluster)
    with connect(cluster.connection_file("client"), 3) as client:
        client[:].push({"kept": np.full(COUNT, 7.0)}, block=True)
        sent = []
        for number in range(60):
            if number == 30:
                cluster.controller.signal(signal.SIGKILL)
                cluster.controller.wait(60)
                cluster.start_controller("--ping=500", "--restore")
            array = np.full(COUNT, float(number))
            sent.append((float(number), client[number % 3].apply_async(check, array)))
            sent.append((float(number), client.load_balanced_view().apply_async(check, array)))
            sent.append((7.0, client[number % 3].pull("kept", block=False)))
        for value, result in sent:
            got = result.get(PATIENCE)
            if isinstance(got, np.ndarray):
                assert is_whole(got)
                got = got[0]
            assert got == value
        assert folder_of(cluster) == folder
    cluster.stop()
    assert not folder.exists()


def test_all_are_killed_and_the_next_controller_cleans_up(cluster, own_cluster):
    folder = folder_of(cluster)
    with connect(cluster.connection_file("client"), 3) as client:
        client[:].push({"kept": np.full(COUNT, 7.0)}, block=True)
        for program in (cluster.controller, *cluster.engines):
            program.signal(signal.SIGKILL)
        for program in (cluster.controller, *cluster.engines):
            program.wait(60)
        next_one = own_cluster()
        next_one.start_controller()
        assert folder.exists()  # this client still uses it
    assert not folder.exists()  # and was the last
    assert folder_of(next_one).exists()
