"""Waits in Python that an interrupt always ends."""

from __future__ import annotations

import concurrent.futures
import time
from queue import Empty

from polyxeus.results.callers_traceback import ends_at_caller

__all__ = ["as_completed", "slices", "take"]

# Seconds. Python looks for signals before a wait begins; one that comes right after that look does
# not end the wait.
_LONGEST = 0.1


def slices(seconds: float | None):
    """Divides `seconds` (None: no limit) into short timeouts, between which an interrupt takes effect."""
    end = None if seconds is None else time.monotonic() + seconds
    while end is None or end - time.monotonic() > _LONGEST:
        yield _LONGEST
    yield max(0.0, end - time.monotonic())


def take(queue):
    """The next item of a queue."""
    for seconds in slices(None):
        try:
            with ends_at_caller:
                return queue.get(timeout=seconds)
        except Empty:
            pass


def as_completed(futures):
    """Yields the futures in the order in which they are done."""
    left = set(futures)
    while left:
        try:
            with ends_at_caller:
                for future in concurrent.futures.as_completed(left, _LONGEST):
                    left.discard(future)
                    yield future
        except concurrent.futures.TimeoutError:
            pass
