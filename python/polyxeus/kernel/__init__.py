"""The Python part of pxkernel: the user's IPython, which the C++ core (polyxeus._kernel) calls.

Magics in Python or in C++ call `current()` to get the running kernel. The kernel's methods
`write()` and `publish()` send output of the running cell.
"""

_current = None


def current():
    """Returns the polyxeus.kernel.core.Core of this process; None if the process is not a pxkernel."""
    return _current
