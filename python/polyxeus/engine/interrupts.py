"""Restores the handling of interrupts after cells that have changed it, and forgets interrupts that have been handled."""

import contextlib
import os
import signal
import sys
from _signal import getsignal  # signal.getsignal() converts the result to an enum, which takes much longer


@contextlib.contextmanager
def undebugged():
    """A context manager. After its block, an interrupt has the same effect as before the block, even if pdb's
    `continue` has changed this effect."""
    before = getsignal(signal.SIGINT)
    try:
        yield
    finally:
        bdb = sys.modules.get("bdb")
        if bdb and isinstance(getattr(getsignal(signal.SIGINT), "__self__", None), bdb.Bdb):
            signal.signal(signal.SIGINT, before)


def read_away(reading):
    """Reads from the pipe of signal.set_wakeup_fd() the numbers of the signals that have come so far. Does nothing if the
    descriptor `reading` is not open yet (-1)."""
    try:
        while os.read(reading, 512):
            pass
    except OSError:
        pass
