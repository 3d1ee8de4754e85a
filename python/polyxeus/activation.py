"""Sets the view that the magics in IPython use.

Views and clients call this module, and the magics import views and clients, so this module imports none of them. The
package polyxeus registers a function that loads the magics.
"""

import sys

__all__ = ["activate", "activate_first", "register_magics"]

_import_magics = None


def register_magics(import_magics):
    """Registers the function that loads the magics.

    import_magics  a function that is called when magics are first needed. This function returns the module with
                   activate(shell, view, suffix) and adopt(shell, client), or raises an ImportError.
    """
    global _import_magics
    _import_magics = import_magics


def _shell():
    if "IPython" not in sys.modules:
        return None
    from IPython import get_ipython

    return get_ipython()


def activate(view, suffix=""):
    """Defines %px, %%px, %autopx and the other magics for this view. `suffix` is appended to their names."""
    shell = _shell()
    if shell is None:
        import warnings

        warnings.warn("the magics %px, %%px ... need IPython, which is not running", stacklevel=3)
        return
    _import_magics().activate(shell, view, suffix)


def activate_first(client):
    """Defines the magics for this client, unless IPython has the magics already."""
    shell = _shell()
    if shell is None or "px" in shell.magics_manager.magics["line"]:
        return
    try:
        magics = _import_magics()
    except ImportError:
        return
    magics.adopt(shell, client)
