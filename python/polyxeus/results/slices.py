"""Functions that wait in short intervals, so that a KeyboardInterrupt can always end them."""

from __future__ import annotations

import concurrent.futures
import time
from queue import Empty

from polyxeus import original_types
from polyxeus.results.callers_traceback import ends_at_caller

__all__ = ["TimedOut", "as_completed", "left", "slices", "take"]

# Seconds. Python checks for signals before a wait begins. A signal that arrives right after this check does not end the
# wait.
_LONGEST = 0.1
# Up to Python 3.10, concurrent.futures has its own TimeoutError. This class is a subclass of both errors.
TimedOut = original_types.of_both(TimeoutError, concurrent.futures.TimeoutError)  # type: ignore[arg-type]


def slices(seconds: float | None):
    """Yields short timeouts until `seconds` have passed; if `seconds` is None, yields timeouts
    without end. An interrupt takes effect between two timeouts."""
    end = None if seconds is None else time.monotonic() + seconds
    while end is None or end - time.monotonic() > _LONGEST:
        yield _LONGEST
    yield max(0.0, end - time.monotonic())


def left(end: float | None):
    """Returns the number of seconds until `end` (a value of time.monotonic()), at least 0; None if `end` is None (no
    limit)."""
    return None if end is None else max(0.0, end - time.monotonic())


def take(queue, end: float | None = None):
    """Returns the next item of a queue. Raises a TimeoutError if no item arrives before `end`."""
    for seconds in slices(left(end)):
        try:
            with ends_at_caller:
                return queue.get(timeout=seconds)
        except Empty:
            pass
    raise TimedOut("the next result of the map did not arrive in time")


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
