"""DirectFile, which checkpoints are written with."""

import errno
import hashlib
import os
import tempfile

import numpy
import pytest

from polyxeus.engine_calls import checkpoint_values, direct_file
from polyxeus.engine_calls.direct_file import DirectFile

BUFFER = direct_file._BUFFER_BYTES
SIZES = [0, 1, 4095, 4096, 4097, BUFFER - 1, BUFFER, BUFFER + 1, 2 * BUFFER + 4096, 3 * BUFFER + 5]


@pytest.fixture(params=["disk", "memory"])
def path(request, tmp_path):
    if request.param == "disk":
        yield tmp_path / "file"
        return
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        yield os.path.join(folder, "file")


def write(path, data, piece):
    with DirectFile(path) as file:
        for begin in range(0, len(data), piece):
            file.write(memoryview(data)[begin : begin + piece])


def assert_holds(path, data):
    with open(path, "rb") as file:
        assert file.read() == data


@pytest.mark.parametrize("size", SIZES)
def test_the_file_holds_what_was_written(path, size):
    data = os.urandom(size)
    write(path, data, 3 << 20)
    assert_holds(path, data)


@pytest.mark.parametrize("size", [5, BUFFER + 4096 + 7])
def test_the_checksum_is_that_of_the_file_although_what_is_written_changes(path, size):
    data, checksum = bytearray(os.urandom(size)), hashlib.sha256()
    with DirectFile(path, checksum) as file:
        for begin in range(0, size, 1 << 20):
            file.write(memoryview(data)[begin : begin + (1 << 20)])
            data[begin] ^= 1  # as a thread does it, right after the copy
    with open(path, "rb") as written:
        assert hashlib.sha256(written.read()).hexdigest() == checksum.hexdigest()


def test_a_checkpoint_has_the_checksum_of_its_files(tmp_path, monkeypatch):
    array = numpy.zeros(1000)

    class Changing(DirectFile):
        def write(self, view):
            super().write(view)
            array[:] += 1

    monkeypatch.setattr(checkpoint_values, "DirectFile", Changing)
    progress = checkpoint_values.Progress()
    (entry,) = checkpoint_values.Writer(tmp_path, 0, (None, []), progress).write({"a": array}, {})
    assert entry["sha256"] == hashlib.sha256((tmp_path / "a.0.npy").read_bytes()).hexdigest()


def test_one_piece_may_be_larger_than_the_buffers(path):
    data = os.urandom(3 * BUFFER + 100)
    write(path, data, len(data))
    assert_holds(path, data)


def without_direct(monkeypatch):
    """A file system that refuses to be asked for it."""
    plain = direct_file.fcntl.fcntl

    def refusing(descriptor, what, flags=0):
        if what == direct_file.fcntl.F_SETFL and flags & os.O_DIRECT:
            raise OSError(errno.EINVAL, "no such way")
        return plain(descriptor, what, flags)

    monkeypatch.setattr(direct_file.fcntl, "fcntl", refusing)


def refused_late(monkeypatch):
    """One that says it when the first bytes are written."""
    plain = os.write

    def refusing(descriptor, view):
        if direct_file.fcntl.fcntl(descriptor, direct_file.fcntl.F_GETFL) & os.O_DIRECT:
            raise OSError(errno.EINVAL, "no such way")
        return plain(descriptor, view)

    monkeypatch.setattr(direct_file.os, "write", refusing)


def parts_of_blocks(monkeypatch):
    """One that writes less than it was given."""
    plain = os.write
    monkeypatch.setattr(direct_file.os, "write", lambda file, view: plain(file, view[: 4096 + 100]))


@pytest.mark.parametrize("trouble", [without_direct, refused_late, parts_of_blocks])
def test_a_file_system_may_be_unable_to_do_without_the_page_cache(path, monkeypatch, trouble):
    trouble(monkeypatch)
    data = os.urandom(BUFFER + 5000)
    write(path, data, 1 << 20)
    monkeypatch.undo()
    assert_holds(path, data)


@pytest.mark.parametrize("size", [100, 3 * BUFFER])
def test_a_full_disk_is_an_error(path, monkeypatch, size):
    def full(descriptor, view):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(direct_file.os, "write", full)
    with pytest.raises(OSError, match="No space left"):
        write(path, bytes(size), 1 << 20)


def test_a_file_that_is_there_stays(path):
    write(path, b"first", 5)
    with pytest.raises(FileExistsError):
        DirectFile(path)
    assert_holds(path, b"first")
