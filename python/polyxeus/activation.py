"""Gives the magics of IPython their view."""

import sys
import warnings

__all__ = ["activate", "activate_first"]


def _shell():
    if "IPython" not in sys.modules:
        return None
    from IPython import get_ipython

    return get_ipython()


def activate(view, suffix=""):
    """Defines %px, %%px, %autopx ... for this view; `suffix` is appended to their names."""
    shell = _shell()
    if shell is None:
        warnings.warn("the magics %px, %%px ... are for IPython, which does not run", stacklevel=3)
        return
    from polyxeus import magics

    magics.activate(shell, view, suffix)


def activate_first(client):
    """The first client in IPython gets them without being asked."""
    shell = _shell()
    if shell is None or "px" in shell.magics_manager.magics["line"]:
        return
    try:
        from polyxeus import magics
    except ImportError:
        return
    view = client.direct_view("all")
    view.block = True
    magics.activate(shell, view, "")
