"""How the ranks of polyxeus.torch meet; torch itself is not needed: a stand-in takes its calls."""

import os
import socket
import stat
import sys
import types

import pytest

from polyxeus import torch as px_torch


class Store:
    """Holds what is set; wait() does not wait."""

    def __init__(self, *here):
        self.here = {f"polyxeus/{rank}" for rank in here}
        self.waited = []

    def set(self, key, value):
        self.here.add(key)

    def wait(self, keys, timeout):
        self.waited.append(timeout.total_seconds())
        if not self.here >= set(keys):
            raise RuntimeError("Wait timeout")


class TcpStore:
    def __init__(self, *given, **named):
        self.given, self.named = given, named
        self.listener = socket.socket(fileno=os.dup(named["master_listen_fd"]))
        self.port = given[1]


class OldTcpStore:
    def __init__(self, host, port, size, is_master, wait_for_workers):
        self.port = 1234


@pytest.fixture
def torch(monkeypatch):
    """A torch without anything but a store."""
    torch = types.ModuleType("torch")
    torch.distributed = types.ModuleType("torch.distributed")
    torch.__version__ = "1.13"
    torch.distributed.TCPStore = TcpStore
    torch.distributed.is_available = lambda: False
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(sys.modules, "torch.distributed", torch.distributed)
    yield torch
    px_torch._leave()


def test_all_ranks_meet():
    store = Store(0, 1)
    px_torch._meet(store, 2, 3, 60)
    assert store.waited == [60]


def test_ranks_that_do_not_come_are_named():
    with pytest.raises(RuntimeError, match=r"^rank 1, 3 of 4 did not join within 5 s: "):
        px_torch._meet(Store(2), 0, 4, 5)


def test_the_store_listens_at_the_given_address_alone(torch):
    place, problem = px_torch._open_store("127.0.0.1", 2)
    assert problem is None and px_torch._store.listener.getsockname() == place


def test_a_torch_that_listens_everywhere_is_named(torch):
    torch.distributed.TCPStore = OldTcpStore
    place, problem = px_torch._open_store("127.0.0.1", 2)
    assert place == ("127.0.0.1", 1234)
    assert "port 1234" in problem and "is open on all addresses" in problem and "torch 2.1 or newer can" in problem


def test_ranks_of_one_host_meet_in_a_private_folder_where_torch_would_listen_everywhere(torch):
    torch.distributed.TCPStore = OldTcpStore
    place, problem = px_torch._open_store("127.0.0.1", 2, True)
    folder = os.path.dirname(place)
    assert problem is None and stat.S_IMODE(os.stat(folder).st_mode) == 0o700
    px_torch._leave()
    assert not os.path.exists(folder)


def test_an_address_of_another_host_is_refused(torch):
    with pytest.raises(RuntimeError, match="^rank 0 cannot listen at 192.0.2.1 on .*; name an address of that host"):
        px_torch._open_store("192.0.2.1", 2)


# ---------------------------------------------------------------- who becomes which rank

STORE = ("127.0.0.1", 2000)


def engine(rank=None, host="a", gpus=(), size=3, **more):
    """What _describe() tells of an engine, of a rank of a group or of none."""
    group = None
    if rank is not None:
        group = {"rank": rank, "size": size, "place": STORE, "backend": "gloo", "is_renewable": True, **more}
    return {"host": host, "gpus": list(gpus), "group": group}


def test_a_new_engine_takes_the_place_of_the_rank_that_has_ended():
    assert px_torch._places_to_take([engine(0), engine(2), engine()], "gloo") == {2: 1}
    assert px_torch._places_to_take([engine(0), engine(), engine()], "gloo") == {1: 1, 2: 2}


@pytest.mark.parametrize("engines", [
    [engine(), engine(), engine()],
    [engine(), engine(1), engine(2)],  # rank 0 has the store
    [engine(0), engine(2)],  # of another size
    [engine(0), engine(1, is_renewable=False), engine()],  # of an older torch
    [engine(0), engine(1, place=("127.0.0.1", 3000)), engine()],  # of another group
    [engine(0), engine(0), engine()],
    [engine(0), engine(1, backend="nccl"), engine()],
])
def test_otherwise_all_join_a_new_group(engines):
    assert px_torch._places_to_take(engines, "gloo") is None


def test_a_group_whose_ranks_are_all_there_stays():
    assert px_torch._places_to_take([engine(0), engine(1), engine(2)], "gloo") == {}


def test_ranks_are_numbered_on_each_host():
    hosts = [engine(host=host) for host in "aabb"] + [engine(host="a")]
    assert px_torch._local_ranks(hosts) == [(0, 3, 0), (1, 3, 0), (0, 2, 1), (1, 2, 1), (2, 3, 0)]


@pytest.mark.parametrize("engines, backend", [
    ([engine(), engine()], "gloo"),
    ([engine(gpus=["x"]), engine(gpus=["y"])], "cpu:gloo,cuda:nccl"),
    ([engine(gpus=["x", "y"]), engine(gpus=["x", "y"])], "cpu:gloo,cuda:nccl"),
    ([engine(gpus=["x"]), engine(gpus=["x"])], "gloo"),  # nccl refuses two ranks on one GPU
    ([engine(gpus=["x"]), engine()], "gloo"),
    ([engine(gpus=["x"]), engine(host="b", gpus=["x"])], "cpu:gloo,cuda:nccl"),  # of two hosts
])
def test_nccl_is_chosen_where_each_rank_has_a_gpu_of_its_own(engines, backend):
    assert px_torch._choose_backend(engines) == backend
