"""Kept results: results that stay on the host of their engine, as files in shared memory.

The files are in the cluster's folder in shared memory. file_name() makes the name of a file before
the result exists. The first part of the name identifies the owner of the file: a client or an
engine. The processes that clean the cluster's folder remove files whose owner has ended.

When a large result is freed, its file becomes a spare file. The next large result is written into
the spare file, because writing into existing pages takes a third of the time that writing into new
pages takes. A spare file has no owner, so an unused spare file is removed 5 to 15 s after it was
written.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import functools
import itertools
import mmap
import os
import signal
import struct
from typing import TYPE_CHECKING, Any, NamedTuple

from polyxeus.error import UnmetDependency
from polyxeus.serialize.compact_json import dump, load
from polyxeus.serialize.values import FORMS, decode, encode

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "Key", "copies", "engine", "facts", "facts_of", "file_name", "find", "free_memory", "has", "has_entered", "identity_of",
    "keep", "let_go", "let_stay", "read", "receive", "remove", "remove_named", "set_engine", "value_of"
]  # fmt: skip

_HEAD = struct.Struct("<8sQ")
_MAGIC = b"px-ref1\n"
_ALIGNMENT = 64
_MAPPED_FROM = 64 << 10  # smaller files are read, because a mapping costs more
_CHUNK = 1 << 20
_SPARE = "spare"  # in the place of the owner: no process has this name
_SPARE_FROM = 1 << 20  # smaller files are removed when they are freed
_SPARE_PART = 16  # spares take at most this fraction (1/16) of the file system and of the available memory

_engine = ""  # the uuid of this engine
_room: Any = None  # see set_engine()
_counter = itertools.count(1)
copies: dict[Key, str] = {}  # fetched files with results of other hosts, while calls of this process use them


class Key(NamedTuple):
    """Identifies a kept result in requests."""

    folder: str
    client: str
    """The session of the client that has the Ref."""
    number: int
    engine: str = ""
    """The engine, if each engine of a direct call keeps its own result."""


def set_engine(uuid, room):
    """Sets the engine uuid of this process, and the module polyxeus._engine, whose functions return
    how much free space the memory and the disks have."""
    global _engine, _room
    _engine = uuid
    _room = room


def engine():
    """Returns the uuid of this engine; "" in a process that is not an engine."""
    return _engine


def identity_of(folder):
    """Returns a string that is the same in all processes that see this folder, and that differs for other folders.
    Returns "" if the folder does not exist."""
    try:
        found = os.stat(folder)
        return f"{_boot_id()}:{found.st_dev}:{found.st_ino}"
    except OSError:
        return ""


@functools.lru_cache(maxsize=None)
def _boot_id():
    with open("/proc/sys/kernel/random/boot_id") as file:
        return file.read().strip()


def has_entered(folder, process):
    """Returns whether a process is registered in this folder, and so shares memory through this folder."""
    return os.path.exists(os.path.join(folder, f"{process}.process"))


def file_name(key, owner):
    """Returns the name of the file of a kept result. `owner` is key.client or the uuid of an
    engine."""
    if owner != key.client:
        return f"{owner}.ref-{key.client}.{key.number}"
    maker = f"ref-{key.engine}" if key.engine else "ref"
    return f"{owner}.{maker}.{key.number}"


# ---------------------------------------------------------------- writing


def keep(key, sharing, is_own, value):
    """Keeps a result in a file on this host. Returns the facts about the result that the client
    needs.

    key      the Key of the result; its member `engine` is not set yet.
    sharing  the identity of the client's folder. If this engine's folder has the same identity, the client owns the
             file.
    is_own   whether other engines also keep results under this number.
    errors   RuntimeError: this engine shares no memory; MemoryError: there is not enough memory; TypeError: the value
             cannot be pickled.
    """
    if not has_entered(key.folder, _engine):
        raise RuntimeError(
            f"engine {_engine[:8]} on {os.uname().nodename} shares no memory with other engines, so it cannot keep results"
        )
    if is_own:
        key = key._replace(engine=_engine)
    identity = identity_of(key.folder)
    owner = key.client if sharing == identity and not _outlived(key) else _engine
    buffers = []
    described = encode(value, FORMS, buffers)
    sizes = [memoryview(each).nbytes for each in buffers]
    kind = type(value).__name__
    head = dump({"value": described, "sizes": sizes, "kind": kind}).encode()
    place = _roomy(key.folder, owner, len(head) + sum(sizes))
    size = write(place, file_name(key, owner), head, buffers)
    if owner != _engine and os.path.exists(_mark(key)):  # after the file was written: see let_stay()
        _give(key, [_engine])
    return _facts(identity, _engine, size, kind, owner)


def _facts(identity, maker, size, kind, owner):
    return {
        "bytes": size,
        "engine": maker,
        "host": os.uname().nodename,
        "kind": kind,
        "memory": identity,
        "owner": owner,
    }


# ---------------------------------------------------------------- results that outlive their client


def let_stay(key, engines):
    """Lets a result stay when the client that owns its file ends: an engine gets a second link to
    the file. If the file does not exist yet, the engine that writes the file makes this link.
    Returns False if none of these engines can own the file, or if the cluster has ended.

    engines  the uuids of registered engines, in the order of preference.
    """
    try:
        with open(_mark(key), "a", opener=_private):  # before it looks for the file; engines write the file first
            pass
    except FileNotFoundError:
        return False
    return _give(key, [each for each in engines if not key.engine or each == key.engine])


def let_go(key: Any) -> bool:
    """Undoes let_stay() on this host. The result stays as long as its client has a Ref to it.

    Parameters
    ----------
    key : Any
        The fields of a Key.

    Returns
    -------
    bool
        Whether this host had the result, or a mark that the result must stay.
    """
    key = Key(*key)
    own = file_name(key, key.client)
    paths = [os.path.join(folder, name) for name in _names(key) if name != own for folder in _folders(key)]
    return any([_unlink(path) for path in [_mark(key), *paths]])


def _mark(key):
    """Returns the path of the empty file whose existence means that a result outlives its client.
    The file does not have the name of a segment, so it stays when the client ends."""
    return os.path.join(key.folder, f"{key.client}.{key.number}.stays{key.engine}")


def _outlived(key):
    """Returns whether the client has ended, but the result must stay."""
    return not has_entered(key.folder, key.client) and os.path.exists(_mark(key))


def _give(key, engines):
    """Gives one of these engines a link to a file of the client. Returns False if the file is on
    this host, but none of the engines runs on this host."""
    for folder in _folders(key):
        path = os.path.join(folder, file_name(key, key.client))
        if os.path.exists(path):
            owner = next((each for each in engines if has_entered(folder, each)), None)
            if owner is None:
                return False
            with contextlib.suppress(FileExistsError):
                os.link(path, os.path.join(folder, file_name(key, owner)))
    return True


def _folders(key):
    return key.folder, os.path.join(key.folder, "disk")


def _roomy(folder, owner, wanted):
    """Returns a folder that has space for this many bytes: in memory, or else on the disk."""
    if not _room.why_no_room(folder, wanted):
        return folder
    for _, path in _spares(folder):
        _unlink(path)
    why = _room.why_no_room(folder, wanted)
    if not why:
        return folder
    disk = os.path.join(folder, "disk")
    if has_entered(disk, owner) and has_entered(disk, _engine) and _room.has_disk_room(disk, wanted):
        return disk
    raise MemoryError(
        f"{os.uname().nodename} has no room to keep the result: {why}; it has no room on the disk, either. Delete Refs that "
        "you do not need"
    )


def free_memory():
    """Returns the number of bytes of memory that this process can get without swapping. The number
    is what the host has left, or what the control group of the process (a batch job or a container)
    has left, whichever is smaller."""
    if _room:
        return _room.free_memory()
    from polyxeus import _client

    return _client.free_memory()


def write(folder, name, head, buffers):
    """Writes a file, and returns its size in bytes. The file gets its name only when it is complete."""
    views = [memoryview(each).cast("B") for each in buffers]
    young = os.path.join(folder, f"{_engine or os.getpid()}.refnew.{next(_counter)}")
    file = _open_new(folder, young, len(head) + sum(view.nbytes for view in views))
    try:
        _write_all(file, _padded(_HEAD.pack(_MAGIC, len(head)) + head))
        for view in views:
            if view.nbytes < _MAPPED_FROM:
                _write_all(file, _padded(bytes(view)))
            else:
                _write_all(file, view)
                _write_all(file, bytes(-view.nbytes % _ALIGNMENT))
        size = os.lseek(file, 0, os.SEEK_CUR)
        os.ftruncate(file, size)  # a spare may have been longer
        os.rename(young, os.path.join(folder, name))
    except BaseException as problem:
        os.unlink(young)
        if isinstance(problem, OSError) and problem.errno == errno.ENOSPC:
            raise MemoryError(f"{folder} is full: delete Refs that you do not need") from None
        raise
    finally:
        os.close(file)
    return size


def _open_new(folder, path, wanted):
    """Opens a file with this path for a result of about this many bytes: a renamed spare file, if
    there is one, or else a new file."""
    flags = os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW
    for _, spare in sorted(_spares(folder), key=lambda each: abs(each[0] - wanted)) if wanted >= _SPARE_FROM else ():
        try:
            os.rename(spare, path)
        except FileNotFoundError:
            continue  # another process took it
        file = os.open(path, flags)
        if _is_unused(file):
            return file
        os.close(file)
        os.unlink(path)
    return os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o600)


def _is_unused(file):
    """Returns whether no process has mapped or opened this file, except through this descriptor.
    The kernel grants a write lease only for a file that is unused in this sense."""
    try:
        fcntl.fcntl(file, fcntl.F_SETSIG, signal.SIGURG)  # not SIGIO, which would end this process, if another one opens it
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except OSError:
        return False
    return True


def _spares(folder):
    """Returns the sizes and paths of the spare files in this folder."""
    names = [name for name in os.listdir(folder) if name.startswith(_SPARE + ".")]
    return [(int(name.rpartition(".")[2]), os.path.join(folder, name)) for name in names]


def receive(key, size, read_into):
    """Receives a result from another host into a file of this engine. Returns the path of the file.

    read_into  a function that reads into a buffer and returns the number of bytes that it has read; 0 means the end.
    errors     MemoryError: there is not enough memory; ConnectionError: the connection ended before all bytes arrived.
    """
    folder = _roomy(key.folder, _engine, size)
    young = os.path.join(folder, f"{_engine}.refnew.{next(_counter)}")
    try:
        with open(young, "xb", opener=_private, buffering=0) as file:
            chunk = memoryview(bytearray(min(size, _CHUNK)))
            while size:
                count = read_into(chunk[: min(size, _CHUNK)])
                if not count:
                    raise ConnectionError("the connection ended in the middle of a result")
                _write_all(file.fileno(), chunk[:count])
                size -= count
        path = os.path.join(folder, f"{_engine}.refcopy.{next(_counter)}")
        os.rename(young, path)
        return path
    except BaseException:
        os.unlink(young)
        raise


def _private(path, flags):
    return os.open(path, flags | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)


def _padded(data):
    return data + bytes(-len(data) % _ALIGNMENT)


def _write_all(file, data):
    view = memoryview(data)
    while view.nbytes:
        view = view[os.write(file, view) :]


# ---------------------------------------------------------------- reading


def _names(key):
    """Yields the names that the file of a kept result may have on this host."""
    yield file_name(key, key.client)
    if key.engine:
        yield file_name(key, key.engine)
        return
    end = ".process"
    try:
        entered = os.listdir(key.folder)
    except OSError:
        return
    for name in entered:
        if name.endswith(end) and name != key.client + end:
            yield file_name(key, name[: -len(end)])


def find(key):
    """Returns the path of a kept result; None if this host does not have it."""
    copy = copies.get(key)
    if copy is not None:
        return copy
    for name in _names(key):
        for folder in _folders(key):
            path = os.path.join(folder, name)
            if os.path.exists(path):
                return path
    return None


def read(path):
    """Returns the value in a file. The value shares the memory of the file, but changes to the value stay in this
    process."""
    with open(path, "rb", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        if size < _MAPPED_FROM:
            data = memoryview(bytearray(file.read()))
        else:
            data = memoryview(mmap.mmap(file.fileno(), size, access=mmap.ACCESS_COPY))
    head, end = _read_head(data, path)
    buffers = []
    for size in head["sizes"]:
        begin = end + -end % _ALIGNMENT
        end = begin + size
        buffers.append(data[begin:end])
    return decode(head["value"], buffers)


def _read_head(data, path):
    """Returns the head of a file (a dict that describes the value), and the position at which the head ends."""
    magic, length = _HEAD.unpack(data[: _HEAD.size])
    if magic != _MAGIC:
        raise ValueError(f"{path} is not a kept result")
    end = _HEAD.size + length
    return load(bytes(data[_HEAD.size : end]).decode()), end


def facts(key: Any) -> dict[str, Any] | None:
    """Returns, on an engine, the facts that keep() returned for a result. In these facts, this
    engine replaces the engine that made the result.

    Parameters
    ----------
    key : Any
        The fields of a Key.

    Returns
    -------
    dict or None
        The facts; None if this host does not have the result.
    """
    path = find(Key(*key))
    return None if path is None else facts_of(key[0], path)


def facts_of(folder, path):
    """Returns, on an engine, the facts that keep() returned for this file. In these facts, this
    engine replaces the engine that made the result."""
    with open(path, "rb", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        with mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ) as data:
            head = _read_head(data, path)[0]
    owner = os.path.basename(path).partition(".")[0]
    return _facts(identity_of(folder), _engine, size, head["kind"], owner)


def value_of(*key: Any) -> Any:
    """Returns, on an engine, the value of a kept result. This value replaces a Ref in the arguments of a call.

    Parameters
    ----------
    *key : Any
        The fields of a Key.

    Returns
    -------
    Any
        The value.

    Raises
    ------
    UnmetDependency
        This host does not have the result. The controller then sends the task to another engine.
    """
    path = find(Key(*key))
    if path is not None:
        try:
            return read(path)
        except FileNotFoundError:
            pass
    raise UnmetDependency(f"{os.uname().nodename} does not have the kept result that the call uses")


def has(*key: Any) -> bool:
    """Returns whether this host has a kept result.

    Parameters
    ----------
    *key : Any
        The fields of a Key.

    Returns
    -------
    bool
        Whether this host has the result.
    """
    return find(Key(*key)) is not None


def remove(keys: Iterable[Any]) -> None:
    """Frees kept results of this host.

    Parameters
    ----------
    keys : iterable
        The Keys of the results.
    """
    for key in keys:
        for owner in (key[1], _engine):  # other engines may have computed a lost result again
            remove_named(Key(*key), owner)


def remove_named(key, owner):
    """Frees a kept result whose owner is known and whose file is on this host."""
    name = file_name(key, owner)
    path = os.path.join(key.folder, name)
    if not _leave_spare(key.folder, path) and not _unlink(path):
        _unlink(os.path.join(key.folder, "disk", name))


def _leave_spare(folder, path):
    """Makes this file a spare file, unless the file is small or memory is short. Returns whether
    the file has become a spare file."""
    try:
        found = os.stat(path)
        size = found.st_size
        if size < _SPARE_FROM or found.st_nlink > 1:  # a published result has a second name
            return False
        system = os.statvfs(folder)
        most = min(system.f_blocks * system.f_frsize, free_memory()) // _SPARE_PART
        if size + sum(each for each, _ in _spares(folder)) > most:
            return False
        os.rename(path, os.path.join(folder, f"{_SPARE}.{os.getpid()}-{next(_counter)}.{size}"))
        return True
    except OSError:
        return False


def _unlink(path):
    """Removes a file; returns whether the file existed."""
    try:
        os.unlink(path)
    except OSError:
        return False
    return True
