"""Gives the magics of IPython their view.

Views and clients call this, but the magics are made of views and clients. So this module imports
neither: the package polyxeus, which knows both, registers how the magics are loaded.
"""

import sys

__all__ = ["activate", "activate_first", "register_magics"]

_import_magics = None


def register_magics(import_magics):
    """import_magics  called when magics are needed first; gives the module that has
    activate(shell, view, suffix) and adopt(shell, client), or raises ImportError."""
    global _import_magics
    _import_magics = import_magics


def _shell():
    if "IPython" not in sys.modules:
        return None
    from IPython import get_ipython

    return get_ipython()


def activate(view, suffix=""):
    """Defines %px, %%px, %autopx ... for this view; `suffix` is appended to their names."""
    shell = _shell()
    if shell is None:
        import warnings

        warnings.warn("the magics %px, %%px ... need IPython, which is not running", stacklevel=3)
        return
    _import_magics().activate(shell, view, suffix)


def activate_first(client):
    """The first client in IPython gets them without being asked."""
    shell = _shell()
    if shell is None or "px" in shell.magics_manager.magics["line"]:
        return
    try:
        magics = _import_magics()
    except ImportError:
        return
    magics.adopt(shell, client)
