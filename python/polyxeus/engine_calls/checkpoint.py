"""The engine's part of a checkpoint: writes the engine's variables to files and reads them again.

The checkpoint folder contains a numbered folder for each checkpoint. A new checkpoint is first written to a folder
`.new-TOKEN` in the checkpoint folder. That folder gets its number when all engines have written and all data is on
disk, so a numbered folder is complete. In the client, views/checkpoints.py decides which engine
calls which of these functions. docs/checkpoints.md describes the files.
"""

import json
import os
import platform
import re
import shutil
import socket

from polyxeus.engine_calls import checkpoint_values as values
from polyxeus.engine_calls.direct_file import DirectFile
from polyxeus.engine_calls.kept_variables import users_names
from polyxeus.serialize import functions, scattered as scatter_notes

__all__ = ["abort", "begin", "commit", "define", "find", "forget", "load", "write"]

_MANIFEST = "manifest.json"
_NUMBER = re.compile(r"\d{6,}$")
_loaded = {}  # token -> name -> value


class CheckpointError(Exception):
    """A checkpoint cannot be written or read. The text of the exception gives the reason."""


class CheckpointFileError(CheckpointError):
    """A checkpoint cannot be written or read because of the file system."""


def _host():
    return socket.gethostname()


# ---------------------------------------------------------------- folders


def _numbered(path):
    """Returns the names of the complete checkpoints, the oldest first."""
    found = [each for each in os.listdir(path) if _NUMBER.fullmatch(each)]
    found = [each for each in found if os.path.exists(os.path.join(path, each, _MANIFEST))]
    return sorted(found, key=int)


def _remove(path, name):
    """Removes a folder. The folder is renamed before its files are deleted, so that a folder with the old name is
    always complete."""
    aside = os.path.join(path, f".old-{os.urandom(6).hex()}")
    try:
        os.rename(os.path.join(path, name), aside)
    except FileNotFoundError:
        return
    shutil.rmtree(aside, ignore_errors=True)


def _sync_folder(path):
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def begin(path, token):
    """Makes the folder of a new checkpoint, and removes the folders of unfinished checkpoints.

    result  {"folder": the path of the new folder, "previous": the name of the last complete
            checkpoint or None}
    """
    try:
        os.makedirs(path, exist_ok=True)
        for name in os.listdir(path):
            if name.startswith((".new-", ".old-")):
                _remove(path, name)
        previous = _numbered(path)
        folder = os.path.join(path, f".new-{token}")
        os.mkdir(folder)
    except OSError as problem:
        raise CheckpointFileError(
            f"cannot write a checkpoint into {path} on host {_host()}: {problem.strerror}"
        ) from None
    return {"folder": folder, "previous": previous[-1] if previous else None}


def abort(path, token):
    """Removes an unfinished checkpoint."""
    _remove(path, f".new-{token}")


def commit(path, token, manifest, keep=0):
    """Checks that the files of a new checkpoint are complete, and gives the checkpoint its number.

    manifest  the manifest, as text, which names the files.
    keep      the number of checkpoints with the same label that are kept; 0 keeps all.
    result    {"name": the number as text, "removed": names of older checkpoints that were removed}
    """
    folder = os.path.join(path, f".new-{token}")
    described = json.loads(manifest)
    try:
        _check_files(folder, described)
        with DirectFile(os.path.join(folder, _MANIFEST)) as file:
            file.write(memoryview(manifest.encode()))
        _sync_folder(folder)
        name = _rename(path, folder)
        _sync_folder(path)
    except OSError as problem:
        raise CheckpointFileError(_why_not_written(problem, folder)) from None
    return {"name": name, "removed": _remove_old(path, described.get("label"), keep)}


def _check_files(folder, manifest):
    """Raises an error if a file of the manifest is missing or incomplete on this host. In this
    case, the engine that wrote the file uses another file system for this folder."""
    for rank in manifest["ranks"]:
        for entry in rank["variables"]:
            if "file" not in entry:
                continue
            path = os.path.join(folder, entry["file"])
            if not os.path.exists(path) or os.path.getsize(path) != entry["bytes"]:
                raise CheckpointFileError(
                    f"host {_host()} does not see the file {entry['file']} that engine "
                    f"{rank['engine']} wrote on host {rank['host']}: use a folder that all hosts share"
                )


def _rename(path, folder):
    last = _numbered(path)
    number = int(last[-1]) + 1 if last else 1
    while True:
        name = f"{number:06d}"
        try:
            os.rename(folder, os.path.join(path, name))
            return name
        except OSError:
            if not os.path.exists(os.path.join(path, name)):
                raise
        number += 1


def _remove_old(path, label, keep):
    """Removes all checkpoints with this label except the last `keep` checkpoints, and returns the
    names of the removed checkpoints. A checkpoint that cannot be read or removed stays and causes
    no error, because the new checkpoint is complete."""
    if not keep:
        return []
    alike = [name for name in _numbered(path) if _has_label(path, name, label)]
    return [name for name in alike[:-keep] if _is_removed(path, name)]


def _has_label(path, name, label):
    try:
        return _read_manifest(path, name).get("label") == label
    except (OSError, CheckpointError):
        return False


def _is_removed(path, name):
    try:
        _remove(path, name)
        return True
    except OSError:
        return False


def _read_manifest(path, name):
    """Returns the contents of a manifest. Raises CheckpointFileError if the manifest is malformed."""
    file_name = os.path.join(path, name, _MANIFEST)
    try:
        with open(file_name, encoding="utf-8") as file:
            manifest = json.load(file)
    except (ValueError, RecursionError):
        manifest = None
    if not isinstance(manifest, dict):
        raise CheckpointFileError(
            f"{file_name} is malformed on host {_host()}: remove its folder, or name the folder of another checkpoint"
        )
    return manifest


# ---------------------------------------------------------------- writing


def write(path, token, previous, rank, names=None, scattered=()):
    """Writes variables to files of the new checkpoint.

    previous   the name of the previous checkpoint. If a file would have the same bytes as in that
               checkpoint, a hard link to the old file is made instead of a new file. If `previous` is
               None, no links are made.
    rank       the number in the names of the files.
    names      the names of the variables; None means all variables of the user that can be written.
    scattered  names of variables that are blocks of one array, in addition to those of scatter().
    result     the entry of this rank for the manifest
    """
    known = functions.namespace()
    if names is None:
        wanted = users_names(known)
    else:
        wanted = list(names)
        missing = [name for name in wanted if name not in known]
        if missing:
            raise CheckpointError(f"no variable {' and no variable '.join(missing)} is defined there")
    told = write_values(path, token, previous, rank, {name: known[name] for name in wanted}, leaves_out=names is None)
    blocks = scatter_notes.noted(known) | set(scattered)
    for entry in told["variables"]:
        entry["scattered"] = any(name in blocks for name in entry["names"])
    return told


def write_values(path, token, previous, rank, wanted, leaves_out):
    """Writes values to files of the new checkpoint, as write() does. The entries of the result do not say which values
    are scattered.

    wanted      {name: value}
    leaves_out  whether values that cannot be written are left out. If False, such values cause an
                error
    """
    folder = os.path.join(path, f".new-{token}")
    left = {}
    progress = values.Progress()
    writer = values.Writer(folder, rank, _old_entries(path, previous, rank), progress)
    try:
        if not os.path.isdir(folder):
            raise CheckpointFileError(_why_no_folder(path, folder))
        entries = writer.write(wanted, left)
    except OSError as problem:
        raise CheckpointFileError(_why_not_written(problem, folder)) from None
    if left and not leaves_out:
        raise CheckpointError("cannot write " + ", ".join(f"{n} ({why})" for n, why in left.items()))
    return {
        "host": _host(),
        "python": platform.python_version(),
        "numpy": values.numpy_version(),
        "variables": entries,
        "left": left,
        "written": progress.written,
        "linked": progress.linked,
    }


def _old_entries(path, previous, rank):
    """Returns (the folder of the last checkpoint, the entries of this rank in it)."""
    if previous is None:
        return None, []
    try:
        ranks = _read_manifest(path, previous)["ranks"]
    except (OSError, CheckpointError, KeyError):
        return None, []
    return os.path.join(path, previous), ranks[rank]["variables"] if rank < len(ranks) else []


def _why_no_folder(path, folder):
    if not os.path.isdir(path):
        return (
            f"host {_host()} does not see {path}, which the first engine has made: use a folder that "
            "all hosts share"
        )
    return f"{folder} was removed: another checkpoint into {path} began in the meantime"


def _why_not_written(problem, folder):
    if isinstance(problem, FileNotFoundError):
        return _why_no_folder(os.path.dirname(folder), folder)
    return f"cannot write into {os.path.dirname(folder)} on host {_host()}: {problem.strerror}"


# ---------------------------------------------------------------- reading


def find(path, label=None):
    """Returns the last complete checkpoint. If `label` is not None, returns the last complete
    checkpoint with this label.

    path    the checkpoint folder, or the folder of one checkpoint.
    result  {"folder": the path of the checkpoint, "manifest": the manifest, as text}
    """
    path = path.rstrip("/") or path
    try:
        if os.path.exists(os.path.join(path, _MANIFEST)):
            path, names = os.path.split(path)[0], [os.path.split(path)[1]]
        else:
            names = _numbered(path)
    except OSError as problem:
        raise CheckpointFileError(
            f"cannot read a checkpoint from {path} on host {_host()}: {problem.strerror}"
        ) from None
    for name in reversed(names):
        manifest = _read_manifest(path, name)
        if label is None or manifest.get("label") == label:
            return {"folder": os.path.join(path, name), "manifest": json.dumps(manifest)}
    which = "" if label is None else f" with the label {json.dumps(label)}"
    raise CheckpointFileError(f"there is no complete checkpoint{which} in {path} on host {_host()}")


def load(folder, token, items):
    """Reads variables and stores them for define().

    items   [{"names": [...], "parts": [{"entry": the manifest's entry, "begin": i, "end": j}]}].
            The parts are consecutive blocks of a value. A part without begin and end is the whole
            value.
    result  {"read": the number of bytes that were read}
    """
    _loaded[token], count = read_values(folder, items)
    return {"read": count}


def read_values(folder, items):
    """Reads values from the folder of a checkpoint. Returns ({name: value}, number of bytes).

    items  the same as for load()
    """
    progress = values.Progress()
    found = {}
    try:
        for item in items:
            found.update(values.read(folder, item, progress))
    except FileNotFoundError as problem:
        raise CheckpointFileError(
            f"host {_host()} does not see {problem.filename}: use a folder that all hosts share"
        ) from None
    except OSError as problem:
        raise CheckpointFileError(f"cannot read {folder} on host {_host()}: {problem.strerror}") from None
    return found, progress.written


def define(token, scattered=()):
    """Defines the values that load() has read as variables of the user."""
    found = _loaded.pop(token)
    functions.forget_carried(found)
    functions.namespace().update(found)
    scatter_notes.note(found, False)
    scatter_notes.note([name for name in scattered if name in found], True)
    return sorted(found)


def forget(token):
    """Drops the values that load() has read, without defining them."""
    _loaded.pop(token, None)
