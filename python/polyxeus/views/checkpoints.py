"""Implements DirectView.checkpoint() and restore(): engines write their variables to files, without the controller."""

from __future__ import annotations

import os
import re
import sys
import threading
import warnings
from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from polyxeus.counted import counted
from polyxeus.serialize import requests

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing_extensions import Self

__all__ = ["Checkpoint", "CheckpointTimer", "checkpoint", "duration_seconds", "restore", "variable_names"]


class Checkpoint(Mapping[str, Any]):
    """The description of a checkpoint that was written or restored: a read-only dict, which is printed as text.

    After checkpoint() the keys are path, name, label, time, size, ranks, written, linked and
    removed. `size` is the number of ranks, and `ranks` is the list of the ranks' entries in the
    manifest. `written` and `linked` are numbers of bytes. `removed` has the names of the older
    checkpoints that were removed. After restore() the keys are path, label, time, ranks, engines,
    names, scattered and bytes.

    Parameters
    ----------
    told : str
        The contents as JSON text.
    text : str
        The text that is printed.
    """

    def __init__(self, told: str, text: str) -> None:
        self._told = requests.load(told)
        self._text = text

    def __getitem__(self, key: str) -> Any:
        return self._told[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._told)

    def __len__(self) -> int:
        return len(self._told)

    def __repr__(self):
        return self._text.rstrip("\n")

    def _ipython_key_completions_(self):
        return list(self._told)


class CheckpointTimer:
    """Writes checkpoints at regular intervals, in a thread, until the timer is stopped.

    ``view.checkpoint(every=...)`` returns it.

    A checkpoint waits until the engines are idle. If a checkpoint fails, the timer issues a warning, and writes the
    next checkpoint at its usual time. As a context manager, the timer stops at the end of the `with` block.

    Parameters
    ----------
    seconds : float
        The time between two checkpoints.
    make : callable
        A function that writes a checkpoint.

    Attributes
    ----------
    last : Checkpoint or None
        The latest checkpoint; None if there is none yet.
    error : Exception or None
        The exception of the latest attempt; None if it succeeded.
    """

    def __init__(self, seconds: float, make: Callable[[], Checkpoint]) -> None:
        self.last: Checkpoint | None = None
        self.error: Exception | None = None
        self._seconds = seconds
        self._make = make
        self._is_stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="checkpoints", daemon=True)
        self._thread.start()

    def __repr__(self):
        state = "stopped" if self._is_stopped.is_set() else f"every {self._seconds:g} s"
        return f"<CheckpointTimer {state}, last: {self.last['path'] if self.last else None}>"

    def _run(self):
        while not self._is_stopped.wait(self._seconds):
            try:
                self.last, self.error = self._make(), None
            except Exception as problem:
                self.error = problem
                warnings.warn(f"{problem}", RuntimeWarning, stacklevel=1)

    def stop(self) -> None:
        """Stops the timer. If a checkpoint is being written, the call waits until this checkpoint is complete."""
        self._is_stopped.set()
        if self._thread is not threading.current_thread():
            self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self.stop()


class _ProgressLine:
    """Shows the number of written bytes on stderr, if stderr is a terminal."""

    def __init__(self, verb):
        self._verb = verb
        self._is_shown = False
        self._is_terminal = getattr(sys.stderr, "isatty", bool)()

    def __call__(self, count, ready, engines):
        if count and self._is_terminal:
            self._is_shown = True
            sys.stderr.write(f"\r{self._verb} {count / 1e6:.0f} MB, {ready} of {counted(engines, 'engine')} ready ")
            sys.stderr.flush()

    def end(self):
        if self._is_shown:
            sys.stderr.write("\r\x1b[K")


def variable_names(what, names):
    """Returns the names as a list; None if `names` is None. Raises a ValueError, with a message
    that begins with `what`, if a name cannot be the name of a variable."""
    if names is None:
        return None
    names = [names] if isinstance(names, str) else list(names)
    for name in names:
        if not isinstance(name, str) or not name.isidentifier():
            raise ValueError(f"{what} must be names of variables, not {name!r:.80}")
    return names


def _path(path):
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"the path of a checkpoint must be text or a path, not {path!r:.80}")
    return os.path.abspath(os.path.expanduser(os.fspath(path)))


_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def duration_seconds(duration):
    """Converts a string like "10m" or a timedelta to seconds; returns 0 for other values."""
    if isinstance(duration, timedelta):
        return duration.total_seconds()
    found = re.fullmatch(r"(\d+\.?\d*)([smhd])", duration) if isinstance(duration, str) else None
    return float(found[1]) * _UNITS[found[2]] if found else 0


def _seconds(every):
    """Converts `every` to a number of seconds. `every` is a string like "10m", a timedelta or, with a
    DeprecationWarning, a number of minutes."""
    if isinstance(every, (str, timedelta)):
        seconds = duration_seconds(every)
    else:
        seconds = 60 * every
        warnings.warn(f'every={every!r} means minutes; write for example every="10m"', DeprecationWarning, stacklevel=4)
    if not seconds > 0:
        raise ValueError(f'every must be a duration above 0 such as "90s", "10m" or "2h", not {every!r}')
    return seconds


def checkpoint(view, path, names, label, scattered, keep_last, every, targets, keep):
    """See DirectView.checkpoint()."""
    seconds = None if every is None else _seconds(every)
    if keep is not None:
        warnings.warn("keep= is an old spelling; write keep_last=", DeprecationWarning, stacklevel=3)
        keep_last = keep or "all"
    if keep_last is None:
        keep_last = "all" if every is None else 2
    if keep_last != "all" and (not isinstance(keep_last, int) or keep_last < 1):
        raise ValueError(f'keep_last must be a number of checkpoints from 1 on, or "all", not {keep_last!r}')
    wish = requests.dump({
        "path": _path(path),
        "names": variable_names("names", names),
        "scattered": variable_names("scattered", scattered) or [],
        "label": label,
        "keep": 0 if keep_last == "all" else keep_last,
    })  # fmt: skip

    def make(watch=None):
        ids, _ = view._engines(targets)
        return Checkpoint(*view.client._connection.write_checkpoint(ids, wish, watch))

    return _watched("wrote", make) if seconds is None else CheckpointTimer(seconds, make)


def restore(view, path, names, label, scattered, targets):
    """See DirectView.restore()."""
    wish = requests.dump({
        "path": _path(path),
        "names": variable_names("names", names),
        "scattered": variable_names("scattered", scattered) or [],
        "label": label,
    })  # fmt: skip
    ids, _ = view._engines(targets)
    connection = view.client._connection
    return _watched("read", lambda watch: Checkpoint(*connection.restore_checkpoint(ids, wish, watch)))


def _watched(verb, action):
    line = _ProgressLine(verb)
    try:
        return action(line)
    finally:
        line.end()
