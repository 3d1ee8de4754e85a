"""Passes variables of an engine to the engine that replaces it, for `pxcluster restart --keep`.

The old engine writes the variables to files on its host. The new engine reads and removes the
files. Variables that share objects (a model and its optimizer) are written together, as a group, so
that they share these objects again in the new engine. If one group cannot be written or read, the
other groups are not affected. Buffers of arrays are copied twice: from the array to the file, and
from the file to the new array. If the engine's host has none of the folders for these files, the
engine sends the same bytes to pxcluster instead, with pack(), packed() and unpack().
"""

import errno
import importlib
import io
import json
import mmap
import os
import socket
import sys
import types

from polyxeus.serialize import functions, ref_files

__all__ = [
    "groups", "imported", "is_plain_module", "offer", "pack", "packed", "restore", "save", "sentence", "submodules",
    "unpack", "users_names"
]  # fmt: skip

_GIVEN = frozenset({"mpi_rank", "mpi_size"})  # the new engine has its own values
_LEAST_MAPPED_BYTES = 1 << 20
_MOST_WRITTEN_BYTES = 1 << 30  # the largest number of bytes of one write


_packed = []  # the bytes that pack() has made for packed()


class _NoRoom(Exception):
    pass


def save(folders, engine, names=None, share=1):
    """Writes variables to the first of the folders that has enough free space.

    folders  paths of folders. Folders that do not exist on this host, or to which other users can write, are not used.
    names    the names of the variables; None means all variables that the user has defined.
    share    the number of engines that write at the same time.
    result   {"kept": names, "lost": {name: reason}}; or {"is_far": True} if this host has none of the folders
    """
    present = [folder for folder in folders if _is_ours(folder)]
    if not present:
        return {"is_far": True}
    index, lost = _write_groups(
        names, lambda values, number: _write(values, present, f"{engine}-{number}", share)
    )
    with _create(os.path.join(present[-1], f"{engine}.json")) as file:
        file.write(json.dumps(index).encode())
    return {"kept": _names(index), "lost": lost}


def pack(names=None):
    """Pickles variables as save() does, but stores the bytes in memory. packed() returns these
    bytes.

    result  the same as for save(), with the additional key "bytes": the number of bytes that packed() will return
    """
    pieces = []

    def write(values, _number):
        part, own = _describe(values)
        pieces.extend(own)
        return part

    index, lost = _write_groups(names, write)
    head = json.dumps(index).encode()
    _packed[:] = [len(head).to_bytes(8, "little"), head, *pieces]
    return {"kept": _names(index), "lost": lost, "bytes": sum(memoryview(each).nbytes for each in _packed)}


def packed():
    """Returns the bytes that pack() has stored, and removes them from memory. Another engine passes
    these bytes to unpack()."""
    pieces = list(_packed)
    _packed.clear()
    return b"".join(pieces)


def unpack(data):
    """Defines the variables that another engine has packed.

    result  the same as for save()
    """
    stream = io.BytesIO(data)
    head = int.from_bytes(stream.read(8), "little")
    return _read_groups(json.loads(stream.read(head)), lambda part: _read(part, stream))


def offer(folders, names):
    """Returns which of these variables this engine could pass to another engine.

    result  {"defined": names, "sees_folders": whether save() and restore() can use the folders on this host}
    """
    known = functions.namespace()
    return {
        "defined": [name for name in names if name in known],
        "sees_folders": any(_is_ours(folder) for folder in folders),
    }


def _write_groups(names, write):
    """Returns (the index for _read_groups(), {name: the reason why the variable was not written}).
    The function write(values, number) writes a group and returns the group's entry for the
    index."""
    known = functions.namespace()
    lost = {name: "not defined there" for name in names or () if name not in known}
    wanted = users_names(known) if names is None else [name for name in names if name in known]
    parts = []
    for group in groups({name: known[name] for name in wanted}, lost):
        try:
            parts.append(write({name: known[name] for name in group}, len(parts)))
        except Exception as problem:
            lost.update(dict.fromkeys(group, sentence(problem)))
    return {"parts": parts, "path": [os.path.abspath(each) for each in sys.path]}, lost


def _names(index):
    return [name for part in index["parts"] for name in part["names"]]


def restore(folders, engine, removes=True):
    """Defines the variables that save() has written for the engine with this id.

    removes  whether to remove the files: True if no other engine needs the files
    result   the same as for save()
    """
    found = [os.path.join(folder, f"{engine}.json") for folder in folders if _is_ours(folder)]
    found = [path for path in found if os.path.exists(path)]
    if not found:
        raise FileNotFoundError(f"its files are on another host than {socket.gethostname()}")
    with open(found[0], "rb") as file:
        index = json.load(file)
    try:
        return _read_groups(index, lambda part: _read_file(part, removes))
    finally:
        if removes:
            _remove(found[0])


def _read_groups(index, read):
    kept, lost = [], {}
    path = list(sys.path)
    sys.path += [each for each in index["path"] if each not in path]
    try:
        for part in index["parts"]:
            try:
                _define(read(part))
                kept += part["names"]
            except Exception as problem:
                lost.update(dict.fromkeys(part["names"], sentence(problem)))
    finally:
        sys.path[:] = path
    return {"kept": kept, "lost": lost}


def sentence(problem):
    """Returns the reason why a value could not be pickled or unpickled, as a sentence."""
    text = str(problem).strip().splitlines()
    return text[0] if text else type(problem).__name__


def _define(values):
    functions.forget_carried(values)
    functions.namespace().update(values)


def _remove(path):
    try:
        if path:
            os.unlink(path)
    except FileNotFoundError:
        pass


# ---------------------------------------------------------------- which variables


def users_names(known):
    """Returns the names that the user, or a library on behalf of the user, has defined."""
    shell = known.get("get_ipython")
    hidden = getattr(shell() if callable(shell) else None, "user_ns_hidden", {})
    return [
        name
        for name, value in list(known.items())
        if not name.startswith("_") and name not in _GIVEN and hidden.get(name, functions) is not value
        and name not in ("In", "Out", "get_ipython", "exit", "quit")
    ]


def is_plain_module(value):
    """Returns whether the value is a module that can be imported by its name."""
    return isinstance(value, types.ModuleType) and sys.modules.get(value.__name__) is value


def groups(values, lost):
    """Groups the names in such a way that values of different groups share no objects. Names whose values cannot be
    pickled are added to `lost`, with the reason."""
    group_of, owner = {}, {}
    for name, value in values.items():
        try:
            ids = () if is_plain_module(value) else functions.ids_in(value)
        except Exception as problem:
            lost[name] = sentence(problem)
            continue
        group = group_of[name] = [name]
        for other in {owner.setdefault(each, name) for each in ids} - {name}:
            if group_of[other] is not group:
                joined = group_of[other]
                joined += group
                group_of.update(dict.fromkeys(group, joined))
                group = joined
    unlike = {id(group): group for group in group_of.values()}
    return [sorted(group, key=list(values).index) for group in unlike.values()]


# ---------------------------------------------------------------- files


def _is_ours(folder):
    """Returns whether the folder exists, and only this user can write to it."""
    try:
        about = os.stat(folder)
    except OSError:
        return False
    return about.st_uid == os.geteuid() and about.st_mode & 0o077 == 0


def _create(path):
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    return os.fdopen(descriptor, "wb", buffering=0)


def _describe(values):
    """Returns (the data that _read() needs to find the values in a stream, the pieces of the stream)."""
    if len(values) == 1 and is_plain_module(*values.values()):
        ((variable, module),) = values.items()
        return {"names": [variable], "module": module.__name__, "submodules": submodules(module)}, []
    buffers = []
    pickled = functions.dumps(values, buffers)
    described = [[buffer.nbytes, buffer.readonly] for buffer in buffers]
    return {"names": list(values), "pickle": len(pickled), "buffers": described}, [pickled, *buffers]


def _write(values, folders, name, share):
    """Writes the values of a group to a file in one of the folders. Returns the group's entry for the index: the data
    from _describe(), and the path of the file. No file is written for a module."""
    part, pieces = _describe(values)
    if not pieces:
        return part
    size = sum(memoryview(piece).nbytes for piece in pieces)
    for folder in folders:
        path = os.path.join(folder, name)
        if size > _room(folder, share):
            continue
        try:
            with _create(path) as file:
                for piece in pieces:
                    _write_whole(file, piece)
        except OSError as problem:
            _remove(path)
            if problem.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            continue
        return {**part, "file": path}
    raise _NoRoom(f"{size / 1e6:.1f} MB do not fit into {' or '.join(map(os.path.dirname, folders))}")


def submodules(module):
    """Returns the names of the imported submodules of a module. The engine that reads the module's variable imports
    these submodules, too. For example, `import scipy.linalg` defines only the variable scipy, which does not show that
    scipy.linalg was imported."""
    names = (f"{module.__name__}.{name}" for name in vars(module) if not name.startswith("_"))
    return [name for name in names if name in sys.modules]


def imported(entry):
    """Imports a module again, and returns it.

    entry  a dict with the keys module (the name of the module) and submodules (the result of submodules() for the
           module); submodules that this engine does not have are left out
    """
    for name in entry["submodules"]:
        try:
            importlib.import_module(name)
        except ImportError:
            pass
    return importlib.import_module(entry["module"])


def _write_whole(file, piece):
    view = memoryview(piece)
    while view:
        view = view[file.write(view[:_MOST_WRITTEN_BYTES]) :]


def _room(folder, share):
    """Returns the number of bytes that this engine may use in the folder."""
    about = os.statvfs(folder)
    room = about.f_bavail * about.f_frsize
    if folder.startswith("/dev/shm/"):
        room = min(room, ref_files.free_memory())
    return room // share


def _read_file(part, removes):
    """Reads the values of one group from its file. `part` is the entry of the group in the index."""
    if "file" not in part:
        return _read(part, None)
    try:
        with open(part["file"], "rb", buffering=0) as file:
            return _read(part, file)
    finally:
        if removes:
            _remove(part["file"])


def _read(part, stream):
    """Reads the values of a group from a stream; returns {name: value}."""
    if "module" in part:
        return {part["names"][0]: imported(part)}
    pickled = _read_piece(stream, part["pickle"])
    buffers = []
    for size, is_readonly in part["buffers"]:
        piece = memoryview(_read_piece(stream, size))
        buffers.append(piece.toreadonly() if is_readonly else piece)
    return functions.loads(bytes(pickled) if len(pickled) < _LEAST_MAPPED_BYTES else pickled, buffers)


def _read_piece(file, size):
    memory = _map(size) if size >= _LEAST_MAPPED_BYTES else bytearray(size)
    view = memoryview(memory)
    while view:
        count = file.readinto(view[:_MOST_WRITTEN_BYTES])
        if not count:
            raise EOFError("the file with the kept variables is incomplete")
        view = view[count:]
    return memory


def _map(size):
    """Returns anonymous memory, which Python does not clear first. The memory is private, so that a
    forked process does not write to it. Like NumPy's arrays, the memory uses large pages, which the
    system provides in less than half of the time that small pages take."""
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    try:
        memory.madvise(mmap.MADV_HUGEPAGE)
    except (AttributeError, OSError):  # the system has no large pages
        pass
    return memory
