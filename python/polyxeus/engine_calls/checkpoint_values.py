"""The files of a checkpoint.

Each rank writes one file for each variable, or for each group of variables that share objects. Arrays
are written to .npy files, and values that JSON can represent to .json files. For all other values, a
file contains a pickle, followed by the buffers of the pickled values. Variables that share objects are
in one pickle, so that they share these objects again after they are read.
"""

import hashlib
import io
import json
import os
import sys

from polyxeus.engine_calls.direct_file import DirectFile
from polyxeus.engine_calls.kept_variables import groups, imported, is_plain_module, sentence, submodules
from polyxeus.serialize import functions, tensors
from polyxeus.serialize.values import is_text

__all__ = ["Progress", "Writer", "numpy_version", "read"]

_PIECE_BYTES = 8 << 20
_PROGRESS_BYTES = 64 << 20
_COMPARED_BYTES = 1 << 20
_MOST_JSON_ITEMS = 10000
_LONGEST_NAME = 100  # the longest name of a file without its ending, in bytes
_MIME = "application/vnd.polyxeus.checkpoint+json"


class DamagedFileError(Exception):
    """A file of a checkpoint is damaged: its checksum differs from the one in the manifest."""


class Progress:
    """Counts the bytes that were written, linked or read, and reports to the client how many bytes
    were written or read."""

    def __init__(self):
        self.written = 0
        self.linked = 0
        self._told = 0

    def add(self, count):
        self.written += count
        if self.written - self._told >= _PROGRESS_BYTES:
            self._told = self.written
            self._tell()

    def _tell(self):
        from IPython.display import display

        display({_MIME: {"bytes": self.written}}, raw=True)


def numpy_version():
    """Returns the version of NumPy; None if NumPy is not imported."""
    return getattr(sys.modules.get("numpy"), "__version__", None)


def _is_array(value):
    numpy = sys.modules.get("numpy")
    return numpy is not None and type(value) is numpy.ndarray and not value.dtype.hasobject


def _is_json(value, room):
    """Returns whether the value can be written as JSON text and read again as an equal value of the same types.

    room  a list with one number: how many further items the value may have
    """
    room[0] -= 1
    if room[0] < 0:
        return False
    kind = type(value)
    if kind is list:
        return all(_is_json(each, room) for each in value)
    if kind is dict:
        return all(type(key) is str and _is_json(each, room) for key, each in value.items())
    if kind is float:
        return value - value == 0  # False for NaN and infinite numbers
    if kind is int:
        return -(1 << 63) <= value < 1 << 63
    return value is None or kind is bool or (kind is str and is_text(value))


# ---------------------------------------------------------------- writing


class Writer:
    """Writes the variables of one rank into a folder.

    old  (the folder of the last checkpoint, the entries for this rank in the manifest of that
         checkpoint). If a file would have the same bytes as in the last checkpoint, a hard link to
         the old file is made instead of a new file
    """

    def __init__(self, folder, rank, old, progress):
        self._folder = folder
        self._rank = rank
        self._old_folder, entries = old
        self._old = {tuple(entry["names"]): entry for entry in entries}
        self._progress = progress
        self._files = set()

    def write(self, variables, left):
        """Writes the variables and returns their entries for the manifest.

        left  a dict {name: reason}, to which the method adds an entry for each variable that was not written
        """
        arrays = {name: value for name, value in variables.items() if _is_array(value)}
        others = {name: value for name, value in variables.items() if name not in arrays}
        entries = [self._write_array(name, value) for name, value in arrays.items()]
        for group in groups(others, left):
            try:
                entries.append(self._write_group({name: others[name] for name in group}))
            except OSError:
                raise
            except Exception as problem:
                left.update(dict.fromkeys(group, sentence(problem)))
        return entries

    def _write_array(self, name, array):
        import numpy

        is_fortran = array.flags.f_contiguous and not array.flags.c_contiguous
        header = io.BytesIO()
        about = numpy.lib.format.header_data_from_array_1_0(array)
        try:
            numpy.lib.format.write_array_header_1_0(header, about)
        except ValueError:  # the dtype has too many fields for version 1.0
            numpy.lib.format.write_array_header_2_0(header, about)
        entry = {
            "names": [name],
            "kind": "array",
            "types": ["numpy.ndarray"],
            "dtype": json.loads(json.dumps(numpy.lib.format.dtype_to_descr(array.dtype))),
            "shape": list(array.shape),
        }
        pieces = _ArrayPieces(header.getvalue(), array.T if is_fortran else array)
        return self._write_file(entry, ".npy", pieces, pieces.size)

    def _write_group(self, variables):
        names = list(variables)
        value = variables[names[0]]
        entry = {"names": names, "types": [_type_name(each) for each in variables.values()]}
        if len(names) == 1 and is_plain_module(value):
            return {**entry, "kind": "module", "module": value.__name__,
                    "submodules": submodules(value)}  # fmt: skip
        if len(names) == 1 and (type(value) in (list, tuple) or (tensors.is_tensor(value) and value.ndim)):
            entry["length"] = len(value)
        if len(names) == 1 and _is_json(value, [_MOST_JSON_ITEMS]):
            pieces = [json.dumps(value).encode()]
            return self._write_file({**entry, "kind": "json"}, ".json", pieces, len(pieces[0]))
        buffers = []
        pickled = functions.dumps(variables, buffers)
        pieces = [pickled, *(memoryview(buffer).cast("B") for buffer in buffers)]
        entry["kind"] = "pickle"
        entry["pickle"] = len(pickled)
        entry["buffers"] = [[buffer.nbytes, memoryview(buffer).readonly] for buffer in buffers]
        return self._write_file(entry, ".pickle", pieces, sum(memoryview(p).nbytes for p in pieces))

    def _write_file(self, entry, ending, pieces, size):
        """Writes one file, or makes a hard link to the old file if that file has the same bytes.

        pieces  the bytes of the file, as an iterable that can be read twice
        """
        entry["file"] = self._file_name(entry["names"], ending)
        entry["bytes"] = size
        path = os.path.join(self._folder, entry["file"])
        old = self._old.get(tuple(entry["names"]))
        is_alike = old is not None and all(
            old.get(key) == entry.get(key) for key in ("kind", "dtype", "shape", "bytes")
        )
        if is_alike and self._is_unchanged(old, pieces) and self._link(old, path):
            entry["sha256"] = old["sha256"]
            self._progress.linked += size
            return entry
        entry["sha256"] = self._write_pieces(path, pieces)
        return entry

    def _write_pieces(self, path, pieces):
        """Writes the file to disk and returns its checksum. The checksum matches the bytes in the file even if the
        user's threads change the pieces during the writing."""
        checksum = hashlib.sha256()
        with DirectFile(path, checksum) as file:
            for piece in _cut(pieces):
                file.write(piece)
                self._progress.add(piece.nbytes)
        return checksum.hexdigest()

    def _is_unchanged(self, old, pieces):
        return (
            _begins_alike(os.path.join(self._old_folder, old["file"]), pieces)
            and old["sha256"] == _checksum(pieces)
        )

    def _link(self, old, path):
        """Makes a hard link with a new name to the old file. Returns False if the old file no
        longer exists or the link cannot be made."""
        source = os.path.join(self._old_folder, old["file"])
        try:
            if os.path.getsize(source) != old["bytes"]:
                return False
            os.link(source, path)
            return True
        except OSError:
            return False

    def _file_name(self, names, ending):
        stem = names[0].encode()[:_LONGEST_NAME].decode(errors="ignore")
        name = f"{stem}.{self._rank}{ending}"
        while name in self._files:
            stem += "_"
            name = f"{stem}.{self._rank}{ending}"
        self._files.add(name)
        return name


class _ArrayPieces:
    """Yields the bytes of a .npy file in pieces, without copying the whole array."""

    def __init__(self, header, array):
        self._header = header
        self._array = array
        self.size = len(header) + array.nbytes

    def __iter__(self):
        import numpy

        yield memoryview(self._header)
        array = self._array
        if array.nbytes == 0:
            return
        if array.flags.c_contiguous:
            yield memoryview(array.reshape(-1).view(numpy.uint8))
            return
        rows = max(1, _PIECE_BYTES * len(array) // array.nbytes)
        for begin in range(0, len(array), rows):
            piece = numpy.ascontiguousarray(array[begin : begin + rows])
            yield memoryview(piece.reshape(-1).view(numpy.uint8))


def _type_name(value):
    kind = type(value)
    prefix = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    return prefix + kind.__qualname__


def _cut(pieces):
    for piece in pieces:
        view = memoryview(piece)
        for begin in range(0, view.nbytes, _PIECE_BYTES):
            yield view[begin : begin + _PIECE_BYTES]


def _begins_alike(path, pieces):
    """Returns whether a file begins with the same bytes as the pieces. The function compares at
    most the first 1 MiB. Most changed values differ there, so that the caller need not compute
    the checksums of these values."""
    left = _COMPARED_BYTES
    try:
        with open(path, "rb", buffering=0) as file:
            for piece in _cut(pieces):
                begin = piece[:left]
                if file.read(begin.nbytes) != begin:
                    return False
                left -= begin.nbytes
                if not left:
                    break
    except OSError:
        return False
    return True


def _checksum(pieces):
    checksum = hashlib.sha256()
    for piece in pieces:
        checksum.update(piece)
    return checksum.hexdigest()


# ---------------------------------------------------------------- reading


def read(folder, item, progress):
    """Reads one item of the argument `items` of checkpoint.load(); returns {name: value}."""
    parts = item["parts"]
    if len(parts) == 1 and "begin" not in parts[0]:
        return _read_whole(folder, parts[0]["entry"], item["names"], progress)
    blocks = [_read_block(folder, part, progress) for part in parts]
    return {item["names"][0]: _join(blocks)}


def _read_whole(folder, entry, names, progress):
    if entry["kind"] == "module":
        return dict.fromkeys(names, imported(entry))
    path = _check(folder, entry, progress)
    if entry["kind"] == "array":
        return dict.fromkeys(names, _load_array(path))
    if entry["kind"] == "bytes":
        with open(path, "rb") as file:
            return dict.fromkeys(names, file.read())
    if entry["kind"] == "json":
        with open(path, encoding="utf-8") as file:
            return dict.fromkeys(names, json.load(file))
    values = _unpickle(path, entry)
    return {name: values[name] for name in names}


def _read_block(folder, part, progress):
    """Reads the items [begin, end) of a value from one file. The engine that reads the first item
    also checks the whole file."""
    entry, begin, end = part["entry"], part["begin"], part["end"]
    path = os.path.join(folder, entry["file"])
    if begin == 0 and end > 0:
        _check(folder, entry, progress)
    if entry["kind"] == "array":
        return _load_array(path, mmap_mode="r")[begin:end]
    return _read_whole(folder, entry, entry["names"], progress)[entry["names"][0]][begin:end]


def _join(blocks):
    if isinstance(blocks[0], (list, tuple)):
        return type(blocks[0])(each for block in blocks for each in block)
    if tensors.is_tensor(blocks[0]):
        return tensors.concatenate(blocks)
    import numpy

    return numpy.concatenate(blocks)


def _load_array(path, mmap_mode=None):
    import numpy

    return numpy.load(path, mmap_mode=mmap_mode, allow_pickle=False)


def _check(folder, entry, progress):
    """Checks the checksum of the file of an entry, and returns the path of the file. Raises
    DamagedFileError if the checksum is wrong."""
    path = os.path.join(folder, entry["file"])
    checksum = hashlib.sha256()
    buffer = memoryview(bytearray(min(_PIECE_BYTES, max(1, entry["bytes"]))))
    with open(path, "rb", buffering=0) as file:
        while count := file.readinto(buffer):
            checksum.update(buffer[:count])
            progress.add(count)
    if checksum.hexdigest() != entry["sha256"]:
        raise DamagedFileError(f"{path} is damaged: its checksum is not that of the manifest")
    return path


def _unpickle(path, entry):
    with open(path, "rb") as file:
        pickled = file.read(entry["pickle"])
        buffers = []
        for size, is_readonly in entry["buffers"]:
            data = file.read(size)
            buffers.append(data if is_readonly else bytearray(data))
    return functions.loads(pickled, buffers)
