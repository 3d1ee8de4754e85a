"""The Python half of pxkernel: the user's IPython, which the C++ core (polyxeus._kernel) calls.

Magics, in Python or in C++, find the running kernel by `current()`: its `write()` and `publish()` send output of the
running cell.
"""

_current = None


def current():
    """The polyxeus.kernel.core.Core of this process; None if the process is not a pxkernel."""
    return _current
