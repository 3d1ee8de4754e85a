"""What torch.distributed, JAX and their kin find in the environment of engines: their place among them."""

import os
import socket
import stat
import sys

import pytest

import polyxeus as px

NAMES = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK", "MASTER_ADDR", "MASTER_PORT",
         "TORCHELASTIC_RUN_ID", "JAX_COORDINATOR_ADDRESS")
# Of the shell of a program that torchrun has started.
OUTER = {"RANK": "3", "WORLD_SIZE": "4", "MASTER_ADDR": "10.0.0.1", "MASTER_PORT": "29500",
         "TORCHELASTIC_USE_AGENT_STORE": "True"}

# Stands in for ssh: runs what it is given, for the host, on this one.
SSH = """#!/bin/sh
while case "$1" in -*) true;; *) false;; esac; do case "$1" in -o|-i|-p) shift;; esac; shift; done
shift
exec sh -c "$*"
"""


@pytest.fixture
def start(tmp_path, monkeypatch):
    """Starts a cluster; returns its client."""
    for name in (*NAMES, "TORCHELASTIC_USE_AGENT_STORE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("PATH", f"{os.path.dirname(sys.executable)}{os.pathsep}{os.environ['PATH']}")
    clusters, clients = [], []

    def start(n=2, **options):
        clusters.append(px.Cluster(n=n, profile=f"ranks{len(clusters)}", **options))
        clients.append(clusters[-1].start_and_connect_sync())
        return clients[-1]

    start.clusters = clusters
    yield start
    for client in clients:
        client.close()
    for cluster in clusters[:len(clients)]:  # of the last one the start may have failed
        cluster.stop_cluster_sync()


def told(client, names=NAMES):
    """The variables of each engine, in the order of the ids."""
    return client[:].apply_sync(
        lambda names: {name: os.environ[name] for name in names if name in os.environ}, names)


def check_world(found, port=None):
    assert [each["RANK"] for each in found] == [each["LOCAL_RANK"] for each in found] == ["0", "1"]
    shared = [{name: value for name, value in each.items() if not name.endswith("RANK")} for each in found]
    assert shared[0] == shared[1]
    assert shared[0]["WORLD_SIZE"] == shared[0]["LOCAL_WORLD_SIZE"] == "2"
    assert shared[0]["MASTER_ADDR"] == "127.0.0.1"
    host, _, jax_port = shared[0]["JAX_COORDINATOR_ADDRESS"].partition(":")
    assert host == "127.0.0.1" and jax_port != shared[0]["MASTER_PORT"]
    assert port is None or shared[0]["MASTER_PORT"] == port


@pytest.mark.parametrize("engines", ["local", pytest.param("mpi", marks=pytest.mark.mpi)])
def test_two_engines_know_their_place_in_one_world(start, engines):
    client = start(engines=engines)
    assert client.ids == [0, 1]
    check_world(told(client))
    first = told(client)[0]["MASTER_PORT"]
    client.restart_engines()
    client.wait_for_engines(2, timeout=60)
    after = told(client)
    check_world(after)
    assert after[0]["MASTER_PORT"] != first


def test_variables_of_the_shell_of_another_launcher_are_not_passed_on(start, monkeypatch):
    for name, value in OUTER.items():
        monkeypatch.setenv(name, value)
    client = start()
    check_world(told(client))
    assert told(client, ["TORCHELASTIC_USE_AGENT_STORE"]) == [{}, {}]


def test_variables_that_the_user_sets_stay(start, monkeypatch):
    monkeypatch.setenv("MASTER_PORT", "29511")
    check_world(told(start()), "29511")
    assert told(start(n=1, environment={"POLYXEUS_RANK_VARIABLES": "0"})) == [{"MASTER_PORT": "29511"}]


def test_engines_that_are_added_to_others_get_no_place(start):
    client = start(n=1)
    start.clusters[0].start_engines_sync(n=1)
    client.wait_for_engines(2, timeout=60)
    first, second = told(client)
    assert first["WORLD_SIZE"] == "1" and "RANK" not in second


def test_engines_on_two_hosts_that_ssh_reaches_know_their_host(start, tmp_path):
    ssh = tmp_path / "ssh-stand-in"
    ssh.write_text(SSH)
    ssh.chmod(ssh.stat().st_mode | stat.S_IXUSR)
    client = start(n=3, engines="ssh", hosts="127.0.0.1:2,localhost:1", ssh_cmd=[str(ssh)])
    found = told(client)
    assert [tuple(each[name] for name in ("RANK", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK")) for each in found] == [
        ("0", "0", "2", "0"), ("1", "1", "2", "0"), ("2", "0", "1", "1")]
    assert {each["MASTER_ADDR"] for each in found} == {socket.gethostname()}


def test_more_gpus_than_the_host_has_are_refused_by_a_sentence(start):
    with pytest.raises(Exception, match="--gpus=1024 needs 2048 GPUs for the 2 engines of this host, which has"):
        start(gpus=1024)


def test_no_library_is_imported_for_it(start):
    names = ("torch", "jax", "numpy.distutils", "accelerate", "lightning")
    loaded = start()[:].apply_sync(lambda names: [name for name in names if name in sys.modules], names)
    assert loaded == [[], []]
