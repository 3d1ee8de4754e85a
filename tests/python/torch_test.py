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
    with pytest.raises(RuntimeError, match=r"^rank 1, 3 of 4 did not come within 5 s: "):
        px_torch._meet(Store(2), 0, 4, 5)


def test_ranks_of_one_host_meet_where_nobody_else_can_and_nothing_listens():
    place, problem = px_torch._open_store("", 2)
    folder = os.path.dirname(place)
    assert problem is None and stat.S_IMODE(os.stat(folder).st_mode) == 0o700
    px_torch._leave()
    assert not os.path.exists(folder)


def test_the_store_listens_at_the_given_address_alone(torch):
    place, problem = px_torch._open_store("127.0.0.1", 2)
    assert problem is None and px_torch._store.listener.getsockname() == place


def test_a_torch_that_listens_everywhere_is_named(torch):
    torch.distributed.TCPStore = OldTcpStore
    place, problem = px_torch._open_store("127.0.0.1", 2)
    assert place == ("127.0.0.1", 1234)
    assert "port 1234" in problem and "is open on all addresses" in problem and "torch 2.1 or newer can" in problem


def test_an_address_of_another_host_is_refused(torch):
    with pytest.raises(RuntimeError, match="^rank 0 cannot listen at 192.0.2.1 on .*; name an address of that host"):
        px_torch._open_store("192.0.2.1", 2)
