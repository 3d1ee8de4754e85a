"""The Python half of pxkernel: the user's IPython behind the C++ core (polyxeus._kernel).

Magics, in Python or in C++, find the running kernel by `current()`: its `write()` and `publish()`
send output that belongs to the cell that runs.
"""

_current = None


def current():
    """The polyxeus.kernel.core.Core of this process; None if it is no pxkernel."""
    return _current
