"""Makes the calls of a client wait while the variables of its engines are saved and the engines are restarted."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Gate"]


class Gate:
    """Lets calls pass while the gate is open, and makes calls wait while the gate is closed. The
    thread that has closed the gate can still make calls."""

    def __init__(self):
        self._changed = threading.Condition()
        self._owner: threading.Thread | None = None  # the thread that has closed the gate
        self._passing = 0

    @contextmanager
    def passing(self) -> Iterator[None]:
        """A context manager for a call: waits until the gate is open before the `with` block
        begins. closed() waits until this block has ended."""
        with self._changed:
            self._wait()
            self._passing += 1
        try:
            yield
        finally:
            with self._changed:
                self._passing -= 1
                self._changed.notify_all()

    def wait(self) -> None:
        """Waits until the gate is open."""
        with self._changed:
            self._wait()

    def _wait(self):
        while self._owner not in (None, threading.current_thread()):
            self._changed.wait()

    @contextmanager
    def closed(self) -> Iterator[None]:
        """A context manager that keeps the gate closed during its `with` block. The block begins
        when all `with` blocks of passing() have ended."""
        with self._changed:
            self._owner = threading.current_thread()
            while self._passing:
                self._changed.wait()
        try:
            yield
        finally:
            with self._changed:
                self._owner = None
                self._changed.notify_all()
