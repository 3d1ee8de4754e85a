"""The effect of an interrupt, as cells leave it."""

import contextlib
import signal
import sys
from _signal import getsignal  # signal's own makes an enum of it, which takes a hundred times longer


@contextlib.contextmanager
def undebugged():
    """Afterwards an interrupt does what it did before, though pdb's `continue` has taken it over."""
    before = getsignal(signal.SIGINT)
    try:
        yield
    finally:
        bdb = sys.modules.get("bdb")
        if bdb and isinstance(getattr(getsignal(signal.SIGINT), "__self__", None), bdb.Bdb):
            signal.signal(signal.SIGINT, before)
