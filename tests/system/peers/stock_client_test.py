"""How the connection files lead an unmodified ipyparallel client: see decision 24."""

import os
import socket
from unittest import mock

import ipyparallel as ipp
import numpy as np
import pytest
import zmq
from programs import PATIENCE, wait_until
from raw_peer import RawPeer, channels

import polyxeus

pytestmark = pytest.mark.better_than_reference("its files lead to TCP alone")


@pytest.fixture(scope="module")
def cluster(new_cluster):
    cluster = new_cluster("stock_client")
    cluster.start_controller()
    cluster.start_engines(2)
    cluster.client(engines=2)
    return cluster


def sockets_of(client):
    return [client._query_socket, client._mux_socket, client._task_socket, client._control_socket,
            client._broadcast_socket, client._iopub_socket, client._notification_socket]  # fmt: skip


def transports(client):
    """{"ipc"}, {"tcp"} ...: of the sockets of an ipyparallel client."""
    return {each.get_string(zmq.LAST_ENDPOINT).split(":")[0] for each in sockets_of(client)}


def use_all_sockets(client):
    assert client[:].apply_sync(len, "abc") == [3, 3]
    assert client.load_balanced_view().map_sync(len, ["ab"] * 10) == [2] * 10
    assert client.broadcast_view().apply_sync(len, "abcd") == [4, 4]
    array = np.arange(2**20)
    client[0].push({"array": array}, block=True)
    assert np.array_equal(client[0].pull("array", block=True), array)
    answer = client[1].execute("print('hello')")
    answer.get(PATIENCE)
    assert answer.wait_for_output(PATIENCE) and answer.stdout == "hello\n"
    client.send_signal(0, targets=0, block=True)
    assert {0, 1, "unassigned"} <= set(client.queue_status())


def test_the_file_of_a_cluster_for_one_host_leads_it_to_unix_sockets(cluster):
    client = cluster.client(engines=2)
    assert transports(client) == {"ipc"}
    assert not client.curve_serverkey
    use_all_sockets(client)


def test_it_hears_of_engines_that_come_and_go(cluster):
    client = cluster.client(engines=2)
    (engine,) = cluster.start_engines(1)
    cluster.wait_for_engines(client, 3)
    engine.stop()
    cluster.engines.remove(engine)
    wait_until(lambda: client.ids == [0, 1], "the client hears that the engine left")


def test_a_plain_subscriber_sees_the_output(cluster):
    """As programs do that open the ports by hand, with what the file says."""
    with RawPeer(cluster.connection()) as watcher:
        subscriber = watcher.socket(zmq.SUB)
        subscriber.subscribe(b"")
        subscriber.connect(watcher.address("iopub"))
        client = cluster.client(engines=2)

        def is_seen():
            # With block=True it would wait for the output, and for ever if it has not subscribed in time.
            client[0].execute("print('seen by all')", block=False).get(PATIENCE)
            while subscriber.poll(200):
                if any(b"seen by all" in frame for frame in subscriber.recv_multipart()):
                    return True
            return False

        wait_until(is_seen, "the subscriber sees what is printed", PATIENCE)


def test_the_file_beside_it_leads_by_tcp_encrypted(cluster):
    client = ipp.Client(str(cluster.connection_file("client.tcp")), timeout=PATIENCE)
    try:
        assert transports(client) == {"tcp"}
        assert client.curve_serverkey
        use_all_sockets(client)
    finally:
        client.close()


def test_by_tcp_it_warns_of_a_loopback_address_that_is_not_its_own(cluster):
    """By Unix sockets it says nothing: there is no address that it could hold against its own."""
    with mock.patch("ipyparallel.client.client.is_local_ip", lambda _: False):
        with mock.patch("socket.gethostname", lambda: "elsewhere"):
            with pytest.warns(RuntimeWarning, match="not on this machine"):
                ipp.Client(str(cluster.connection_file("client.tcp")), timeout=PATIENCE).close()


@pytest.mark.parametrize("file", ["client", "client.tcp"])
def test_our_own_client_takes_unix_sockets_by_either_file_and_tcp_without_them(cluster, file, tmp_path):
    with polyxeus.Client(str(cluster.connection_file(file)), timeout=PATIENCE) as client:
        assert client.controller_address.startswith("ipc://")
    # as in a container that has a temporary folder of its own
    folder = cluster.connection()["local"]["interface"].removeprefix("ipc://")
    copied = tmp_path / "copied.json"
    copied.touch(0o600)
    copied.write_text(cluster.connection_file(file).read_text().replace(folder, str(tmp_path / "none")))
    with polyxeus.Client(str(copied), timeout=PATIENCE) as client:
        assert client.controller_address == "tcp://127.0.0.1"
        assert client[:].apply_sync(len, "abc") == [3, 3]


def test_a_cluster_for_other_hosts_keeps_tcp_and_has_a_file_for_its_own_host(own_cluster):
    cluster = own_cluster()
    cluster.start_controller("--ip=0.0.0.0", "--location=127.0.0.1")
    cluster.start_engines(2)
    client = cluster.client(engines=2)
    assert transports(client) == {"tcp"}
    assert client.curve_serverkey
    near = ipp.Client(str(cluster.connection_file("client.ipc")), timeout=PATIENCE)
    try:
        assert transports(near) == {"ipc"}
        use_all_sockets(near)
    finally:
        near.close()


@pytest.mark.parametrize("option", ["--no-ipc", "--no-curve", "--enable-curve", "--ssh=gate"])
def test_who_chooses_otherwise_gets_tcp(own_cluster, option):
    cluster = own_cluster()
    cluster.start_controller(option)
    assert cluster.connection()["interface"] == "tcp://127.0.0.1"
    assert cluster.connection_file("client.ipc").exists() == (option != "--no-ipc")
    assert not cluster.connection_file("client.tcp").exists()


def test_all_files_are_private_and_go_with_the_controller(own_cluster):
    cluster = own_cluster()
    cluster.start_controller()
    files = [cluster.connection_file(side) for side in ("client", "client.tcp", "engine")]
    assert [file.stat().st_mode & 0o777 for file in files] == [0o600] * 3
    cluster.controller.stop()
    assert [file for file in files if file.exists()] == []


def test_a_controller_that_comes_back_leads_it_the_same_way(own_cluster):
    cluster = own_cluster()
    cluster.start_controller("--reuse")
    before = cluster.connection()
    assert before["interface"].startswith("ipc://")
    cluster.controller.stop()
    cluster.start_controller("--reuse")
    assert cluster.connection() == before
    cluster.start_engines(1)
    assert cluster.client(engines=1)[0].apply_sync(len, "abc") == 3


def test_the_sockets_are_all_in_the_folder_that_only_their_owner_enters(cluster):
    info = cluster.connection()
    folder = info["interface"].removeprefix("ipc://")
    assert os.stat(folder).st_mode & 0o777 == 0o700
    for channel in set(channels(info)) - {"stream"}:
        with socket.socket(socket.AF_UNIX) as peer:
            peer.connect(f"{folder}:{info[channel]}")
