"""Kept results that one engine fetches from another one, here both in this process."""

import os
from types import SimpleNamespace

import pytest

from polyxeus.error import UnmetDependency
from polyxeus.serialize import ref_files, ref_streams


@pytest.fixture
def hosts(tmp_path, monkeypatch):
    """The Key of a result on another host, where it is to be had, and the folder of this host.

    The server finds the file in the other host's folder: the Keys that it gets are turned to that folder.
    """
    monkeypatch.setattr(ref_files, "_engine", "engine")
    monkeypatch.setattr(ref_files, "_room", SimpleNamespace(why_no_room=lambda *_: None, free_memory=lambda: 1 << 40))
    for host in ("here", "there"):
        (tmp_path / host).mkdir()
        (tmp_path / host / "engine.process").touch()
    there = ref_files.Key(str(tmp_path / "there"), "client", 1)
    ref_files.keep(there, "", False, list(range(300_000)))
    key = there._replace(folder=str(tmp_path / "here"))
    find = ref_files.find
    server = ref_streams._Server("127.0.0.1")

    def send(stream, path):
        given = find(key._replace(folder=there.folder)) if path is None else path
        return original(stream, given)

    original = ref_streams._Server._send
    monkeypatch.setattr(ref_streams._Server, "_send", staticmethod(send))
    return key, server.place, tmp_path / "here"


def test_a_result_is_here_while_a_call_needs_it(hosts):
    key, place, here = hosts
    with ref_streams.brought([[list(key), place]]):
        assert ref_files.value_of(*key) == list(range(300_000))
    assert os.listdir(here) == ["engine.process"]
    with pytest.raises(UnmetDependency):
        ref_files.value_of(*key)


def test_who_does_not_know_the_secret_gets_nothing(hosts):
    key, place, here = hosts
    with pytest.raises(UnmetDependency, match="could not fetch a kept result from 127.0.0.1"):
        with ref_streams.brought([[list(key), {**place, "secret": "00" * 32}]]):
            pass
    assert os.listdir(here) == ["engine.process"]


def test_a_result_that_is_not_there_is_named(hosts, tmp_path):
    key, place, _ = hosts
    ref_files.remove([key._replace(folder=str(tmp_path / "there"))])
    with pytest.raises(UnmetDependency, match="it does not have the result any more"):
        with ref_streams.brought([[list(key), place]]):
            pass
