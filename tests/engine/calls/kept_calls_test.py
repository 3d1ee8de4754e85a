"""Calls that keep their result on the host, and calls that use it, in the engine's Python half."""

import json
import os
from types import SimpleNamespace

import numpy as np
import pytest

from polyxeus.serialize import ref_files, requests
from polyxeus.serialize.values import decode


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """That of the cluster, which this engine and a client have entered."""
    monkeypatch.setattr(ref_files, "_engine", "engine")
    monkeypatch.setattr(ref_files, "_room", SimpleNamespace(why_no_room=lambda *_: None, free_memory=lambda: 1 << 40))
    for process in ("client", "engine"):
        (tmp_path / f"{process}.process").touch()
    return str(tmp_path)


class Kept:
    """What a Ref is in a request."""

    def __init__(self, folder, number):
        self._key = folder, "client", number

    def __reduce__(self):
        return ref_files.value_of, self._key


def ask(backend, work):
    """(whether it went well, whether another engine is to try it, the content, the buffers)"""
    kind, content, buffers = work
    is_ok, is_unmet, content, buffers = backend.serve(kind.encode(), content.encode(), [bytes(each) for each in buffers])
    return is_ok, is_unmet, json.loads(content), buffers


def keep(backend, folder, number, function, *args):
    kept = {"folder": folder, "client": "client", "number": number, "memory": ref_files.identity_of(folder), "each": False}
    return ask(backend, requests.call(function, args, kept=kept))


def use(backend, function, *args):
    return ask(backend, requests.call(function, args))


def test_the_reply_describes_the_result_and_has_not_got_it(backend, folder):
    is_ok, _, content, buffers = keep(backend, folder, 1, np.arange, 1_000_000)
    assert is_ok and buffers == []
    info = decode(content["value"], [])
    assert info["bytes"] == os.path.getsize(f"{folder}/client.ref.1") > 8_000_000
    assert (info["kind"], info["owner"], info["engine"]) == ("ndarray", "client", "engine")


def test_a_later_call_has_the_value_at_any_depth(backend, folder):
    keep(backend, folder, 1, np.arange, 1_000_000)
    value = Kept(folder, 1)
    for argument in (value, [value], {"x": (value,)}):
        is_ok, _, content, _ = use(backend, lambda x: str(x)[:200], argument)
        assert is_ok
        assert "999999" in content["value"]["json"]


def test_what_is_not_on_this_host_is_for_another_engine(backend, folder):
    is_ok, is_unmet, content, _ = use(backend, abs, Kept(folder, 1))
    assert not is_ok and is_unmet
    assert content["ename"] == "UnmetDependency"
    assert "does not have the kept result" in content["evalue"]


def test_a_call_that_fails_keeps_nothing(backend, folder):
    is_ok, is_unmet, content, _ = keep(backend, folder, 1, divmod, 1, 0)
    assert not is_ok and not is_unmet
    assert content["ename"] == "ZeroDivisionError"
    assert [name for name in os.listdir(folder) if ".ref" in name] == []
