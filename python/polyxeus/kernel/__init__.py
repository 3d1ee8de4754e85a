"""The Python half of pxkernel: the user's IPython, which the C++ core (polyxeus._kernel) calls.

`current()` returns the running kernel, for magics in Python or in C++. Its methods `write()` and `publish()` send
output of the running cell.
"""

_current = None


def current():
    """Returns the polyxeus.kernel.core.Core of this process; None if the process is not a pxkernel."""
    return _current
