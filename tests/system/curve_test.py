"""The core of the stories once more, where encryption is asked for as in ipyparallel."""

import ipyparallel as ipp
import numpy as np
import pytest
import zmq
from programs import wait_until

CURVE = {"IPP_ENABLE_CURVE": "1"}


@pytest.fixture(scope="module")
def curve_cluster(new_cluster, mpiexec):
    cluster = new_cluster("curve", **CURVE)
    cluster.start_controller()
    cluster.start_mpi_engines(4)
    cluster.client(engines=4)
    return cluster


@pytest.fixture
def rc(curve_cluster):
    client = curve_cluster.client(engines=4)
    client.clear(block=True)
    yield client
    client.close()


def test_each_connection_file_holds_the_public_key_of_its_side(curve_cluster):
    keys = {curve_cluster.connection(side)["curve_serverkey"] for side in ("client", "engine")}
    assert [len(key) for key in keys] == [40, 40]
    assert curve_cluster.connection("client")["key"] == ""


def test_a_parallel_sum_is_right(rc):
    rc[:].execute("from mpi4py import MPI", block=True)
    rc[:].scatter("a", np.arange(1000.0), block=True)
    rc[:].execute("total = MPI.COMM_WORLD.allreduce(a.sum())", block=True)
    assert rc[:]["total"] == [499_500.0] * 4


def test_work_of_every_kind_gets_through(rc):
    assert list(rc.load_balanced_view().map_sync(ipp.interactive(lambda x: x * x), range(50))) == [
        x * x for x in range(50)
    ]
    assert rc.broadcast_view(is_coalescing=True).apply_sync(len, "abc") == [3] * 4
    array = np.arange(2**20)
    rc[0].push({"array": array}, block=True)
    assert np.array_equal(rc[0].pull("array", block=True), array)
    answer = rc[1].execute("print('hello')")
    answer.get(60)
    assert answer.wait_for_output(20) and answer.stdout == "hello\n"
    rc.send_signal("SIGINT", targets=2, block=True)
    assert set(rc.queue_status()) == {0, 1, 2, 3, "unassigned"}


def test_a_peer_without_the_servers_key_is_not_let_in(curve_cluster, rc):
    """In the clear, or with another server's key, there is no connection at all."""
    connection = curve_cluster.connection()
    address = f"{connection['interface']}:{connection['registration']}"
    context = zmq.Context()
    try:
        for server_key in (None, zmq.curve_keypair()[0]):
            socket = context.socket(zmq.DEALER)
            socket.linger = 0
            if server_key:
                socket.curve_publickey, socket.curve_secretkey = zmq.curve_keypair()
                socket.curve_serverkey = server_key
            monitor = socket.get_monitor_socket()
            socket.connect(address)
            refused = {zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL, zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL,
                       zmq.EVENT_HANDSHAKE_FAILED_AUTH, zmq.EVENT_DISCONNECTED,
                       zmq.EVENT_CLOSED}  # fmt: skip
            seen = set()

            def is_refused():
                while monitor.poll(20):
                    event = monitor.recv_multipart()[0]
                    seen.add(int.from_bytes(event[:2], "little"))
                return seen & refused

            wait_until(is_refused, f"the handshake is refused (seen {seen})", 20)
            assert zmq.EVENT_HANDSHAKE_SUCCEEDED not in seen
            socket.disable_monitor()
            socket.close()
    finally:
        context.destroy(linger=0)
    assert rc[:].apply_sync(len, "unharmed") == [8] * 4


def test_curve_is_switched_on_by_an_option_too(own_cluster):
    cluster = own_cluster()
    cluster.start_controller("--IPController.enable_curve=True")
    assert len(cluster.connection()["curve_serverkey"]) == 40
    cluster.start_engines(1)
    assert cluster.client(engines=1)[0].apply_sync(len, "abc") == 3


def test_encryption_is_on_by_default_beside_signatures_and_can_be_turned_off(own_cluster):
    cluster = own_cluster()
    cluster.start_controller()
    assert len(cluster.connection("client.tcp")["curve_serverkey"]) == 40
    assert len(cluster.connection("engine")["curve_serverkey"]) == 40
    assert len(cluster.connection()["key"]) >= 32
    for options, environment in ((["--no-curve"], {}), ([], {"IPP_ENABLE_CURVE": "0"})):
        cluster = own_cluster(**environment)
        cluster.start_controller(*options)
        assert cluster.connection()["curve_serverkey"] is None
        assert len(cluster.connection()["key"]) >= 32


def test_the_secret_keys_of_a_controller_that_is_to_come_back_are_its_owners_alone(own_cluster):
    cluster = own_cluster()
    cluster.start_controller("--reuse")
    secrets = cluster.connection_file("client").with_suffix(".secret.json")
    assert secrets.stat().st_mode & 0o777 == 0o600
    cluster = own_cluster()
    cluster.start_controller()
    assert not cluster.connection_file("client").with_suffix(".secret.json").exists()
