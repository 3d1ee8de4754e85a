"""Kept results as files: their names, who owns them, what comes back."""

import os
import threading

import numpy
import pytest
from polyxeus.error import UnmetDependency
from polyxeus.serialize import ref_files
from polyxeus.serialize.ref_files import Key


class Room:
    """Stands in for polyxeus._engine, which knows how much room memory and disks have."""

    free, why = 1 << 40, None

    def free_memory(self):
        return self.free

    def why_no_room(self, folder, wanted):
        return self.why

    def has_disk_room(self, folder, wanted):
        return True


@pytest.fixture
def room(folder):
    return ref_files._room


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """That of a cluster, which a client and the engine that this process is have entered."""
    monkeypatch.setattr(ref_files, "_engine", "engine")
    monkeypatch.setattr(ref_files, "_room", Room())
    for process in ("client", "engine", "other-engine"):
        (tmp_path / f"{process}.process").touch()
    return str(tmp_path)


@pytest.fixture
def here(folder):
    """What a client says that shares memory with the engine."""
    return ref_files.identity_of(folder)


def files_in(folder):
    return {name for name in os.listdir(folder) if not name.endswith(".process")}


VALUES = [
    3, None, "text", b"bytes", [1, {"a": (2, 3)}], numpy.arange(5), numpy.arange(100_000.0), numpy.zeros((3, 0)),
    {"large": numpy.ones(50_000), "small": numpy.ones(3)}, float("nan")
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=[str(number) for number in range(len(VALUES))])
def test_a_value_comes_back(folder, here, value):
    info = ref_files.keep(Key(folder, "client", 1), here, False, value)
    assert files_in(folder) == {"client.ref.1"}
    assert info["bytes"] == os.path.getsize(f"{folder}/client.ref.1")
    numpy.testing.assert_equal(ref_files.value_of(folder, "client", 1), value)


def test_what_one_changes_in_a_value_no_other_sees(folder, here):
    ref_files.keep(Key(folder, "client", 1), here, False, numpy.zeros(100_000))
    first = ref_files.value_of(folder, "client", 1)
    first[:] = 1
    assert ref_files.value_of(folder, "client", 1).sum() == 0
    assert first.sum() == 100_000


def test_a_value_outlives_its_file(folder, here):
    key = Key(folder, "client", 1)
    ref_files.keep(key, here, False, numpy.arange(100_000))
    value = ref_files.value_of(*key)
    ref_files.remove([key])
    assert files_in(folder) == set()
    assert value[-1] == 99_999
    with pytest.raises(UnmetDependency, match="does not have the kept result"):
        ref_files.value_of(*key)
    ref_files.remove([key])  # no error


@pytest.mark.parametrize(
    "sharing, is_own, name",
    [(True, False, "client.ref.7"), (True, True, "client.ref-engine.7"), (False, False, "engine.ref-client.7"),
     (False, True, "engine.ref-client.7")],
)  # fmt: skip
def test_a_file_belongs_to_the_client_that_shares_memory_else_to_the_engine(folder, here, sharing, is_own, name):
    info = ref_files.keep(Key(folder, "client", 7), here if sharing else "elsewhere", is_own, 3)
    assert files_in(folder) == {name}
    assert info["owner"] == name.split(".")[0]
    key = Key(folder, "client", 7, "engine" if is_own else "")
    assert ref_files.value_of(*key) == 3
    ref_files.remove_named(key, info["owner"])
    assert files_in(folder) == set()


def test_another_number_or_client_has_another_value(folder, here):
    ref_files.keep(Key(folder, "client", 1), here, False, 3)
    for other in (Key(folder, "client", 2), Key(folder, "klient", 1), Key(folder, "client", 1, "engine")):
        assert ref_files.find(other) is None


def test_a_later_result_replaces_one_of_the_same_name(folder, here):
    for value in (3, 4):
        ref_files.keep(Key(folder, "client", 1), here, False, value)
    assert ref_files.value_of(folder, "client", 1) == 4
    assert files_in(folder) == {"client.ref.1"}


def test_a_result_that_cannot_be_pickled_leaves_nothing(folder, here):
    with pytest.raises(TypeError, match="cannot be pickled"):
        ref_files.keep(Key(folder, "client", 1), here, False, threading.Lock())
    assert files_in(folder) == set()


def test_without_shared_memory_nothing_is_kept(folder, here):
    os.unlink(f"{folder}/engine.process")
    with pytest.raises(RuntimeError, match="shares no memory"):
        ref_files.keep(Key(folder, "client", 1), here, False, 3)


def test_what_memory_has_no_room_for_goes_to_the_disk(folder, here, room):
    os.mkdir(f"{folder}/disk")
    for process in ("client", "engine"):
        open(f"{folder}/disk/{process}.process", "w").close()
    room.why = "the memory is full"
    key, large = Key(folder, "client", 1), bytes(400 << 10)
    ref_files.keep(key, here, False, large)
    assert os.listdir(f"{folder}/disk").count("client.ref.1") == 1
    assert ref_files.value_of(*key) == large
    ref_files.remove([key])
    assert ref_files.find(key) is None
    os.unlink(f"{folder}/disk/client.process")  # the client cannot look there
    with pytest.raises(MemoryError, match="no room to keep the result: the memory is full; it has no room on"):
        ref_files.keep(key, here, False, large)
    assert files_in(folder) == {"disk"}


# ---------------------------------------------------------------- spares

LARGE = 2 << 20  # bytes


def keep_large(folder, here, number, item):
    key = Key(folder, "client", number)
    ref_files.keep(key, here, False, numpy.full(LARGE // 8, float(item)))
    return key


def free(*keys):
    for key in keys:
        ref_files.remove_named(key, "client")


def inode(key):
    return os.stat(ref_files.find(key)).st_ino


def spares_in(folder):
    return [name for name in files_in(folder) if name.startswith("spare.")]


def test_a_large_result_is_written_into_a_freed_file(folder, here):
    first = keep_large(folder, here, 1, 1)
    before = inode(first)
    free(first)
    assert ref_files.find(first) is None
    second = keep_large(folder, here, 2, 2)
    assert inode(second) == before
    assert files_in(folder) == {"client.ref.2"}
    assert set(ref_files.value_of(*second)) == {2.0}


def test_a_freed_file_is_not_used_again_while_a_value_is_mapped(folder, here):
    first = keep_large(folder, here, 1, 1)
    before = inode(first)
    value = ref_files.value_of(*first)
    free(first)
    second = keep_large(folder, here, 2, 2)
    assert inode(second) != before
    assert (set(value), set(ref_files.value_of(*second))) == ({1.0}, {2.0})
    assert files_in(folder) == {"client.ref.2"}


@pytest.mark.parametrize("length", [1 << 20, 5 << 20])
def test_a_freed_file_of_another_length_is_used(folder, here, length):
    free(keep_large(folder, here, 1, 1))
    info = ref_files.keep(Key(folder, "client", 2), here, False, b"x" * length)
    assert os.path.getsize(f"{folder}/client.ref.2") == info["bytes"] < length + 1000
    assert ref_files.value_of(folder, "client", 2) == b"x" * length
    assert files_in(folder) == {"client.ref.2"}


def test_small_files_are_removed(folder, here):
    key = Key(folder, "client", 1)
    ref_files.keep(key, here, False, bytes(100_000))
    free(key)
    assert files_in(folder) == set()


def test_freed_files_take_a_sixteenth_of_the_memory_at_most(folder, here, room):
    room.free = 16 * 5 << 20
    free(*[keep_large(folder, here, number, number) for number in range(4)])
    assert len(spares_in(folder)) == 2
    assert files_in(folder) == set(spares_in(folder))


def test_freed_files_go_if_their_room_is_needed(folder, here, room, monkeypatch):
    free(keep_large(folder, here, 1, 1))
    monkeypatch.setattr(room, "why_no_room", lambda place, wanted: "full" if spares_in(folder) else None)
    ref_files.keep(Key(folder, "client", 2), here, False, bytes(4 << 20))
    assert files_in(folder) == {"client.ref.2"}


def test_the_name_of_a_freed_file_is_that_of_a_segment_without_an_owner(folder, here):
    free(keep_large(folder, here, 1, 1))
    (name,) = spares_in(folder)  # the controller removes such files: see is_segment_name() in os/segments
    owner, maker, size = name.split(".")
    assert (owner, maker.replace("-", "").isalnum(), int(size) > LARGE) == ("spare", True, True)


@pytest.mark.parametrize("maker", ["", "engine"], ids=["of a task", "of a direct call"])
@pytest.mark.parametrize("is_first", [True, False], ids=["before its call has ended", "afterwards"])
def test_a_result_that_is_to_stay_gets_an_engine_as_second_owner(folder, here, maker, is_first):
    key = Key(folder, "client", 1, maker)
    if is_first:
        assert ref_files.let_stay(key, ["other-engine", "engine"])
    info = ref_files.keep(key._replace(engine=""), here, bool(maker), "value")
    if not is_first:
        assert ref_files.let_stay(key, ["engine", "other-engine"])
    assert info["owner"] == "client"
    ref_files.remove_named(key, "client")
    assert {name for name in files_in(folder) if ".ref" in name} == {"engine.ref-client.1"}
    assert ref_files.value_of(*key) == "value"
    assert ref_files.facts(key) == {**info, "owner": "engine"}
    assert ref_files.let_go(key)
    assert (files_in(folder), ref_files.facts(key), ref_files.let_go(key)) == (set(), None, False)


def test_a_result_that_is_to_stay_goes_to_the_engine_if_the_client_has_ended(folder, here):
    key = Key(folder, "client", 1)
    assert ref_files.let_stay(key, ["engine"])
    os.unlink(f"{folder}/client.process")
    assert ref_files.keep(key, here, False, "value")["owner"] == "engine"
    assert ref_files.keep(key._replace(number=2), here, False, "value")["owner"] == "client"  # it is not to stay


def test_a_result_on_the_disk_stays_there(folder, here, room):
    os.mkdir(f"{folder}/disk")
    for process in ("client", "engine"):
        open(f"{folder}/disk/{process}.process", "w").close()
    room.why = "it is full"
    key = Key(folder, "client", 1)
    ref_files.keep(key, here, False, "value")
    assert ref_files.let_stay(key, ["other-engine", "engine"])  # the other engine does not use this disk
    assert {name for name in os.listdir(f"{folder}/disk") if ".ref" in name} == {"client.ref.1", "engine.ref-client.1"}


def test_a_result_cannot_stay_without_an_engine(folder, here):
    key = Key(folder, "client", 1)
    ref_files.keep(key, here, False, "value")
    assert not ref_files.let_stay(key, ["ended"])
    ref_files.keep(key, here, True, "value")
    assert not ref_files.let_stay(key._replace(engine="engine"), ["other-engine"])
    assert not ref_files.let_stay(Key(f"{folder}/gone", "client", 1), ["engine"])
