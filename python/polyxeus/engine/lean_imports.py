"""Imports IPython without the modules that an engine rarely needs. This import takes half the time and half the memory
of `import IPython`.

`import IPython` imports prompt_toolkit for IPython's terminal, and jedi for completion. Both
packages can still be imported later.
"""

import importlib
import sys
import types

_TERMINAL = "IPython.terminal.embed"


def _lazy_terminal():
    module = types.ModuleType(_TERMINAL)

    def embed(**kwargs):
        return importlib.import_module(_TERMINAL).embed(**kwargs)

    module.embed = embed
    return module


def import_interactive_shell():
    """Returns the class IPython.core.interactiveshell.InteractiveShell."""
    hidden = {}
    if _TERMINAL not in sys.modules:
        hidden[_TERMINAL] = _lazy_terminal()
    if "jedi" not in sys.modules:
        hidden["jedi"] = None  # importing it raises ImportError, which IPython handles
    sys.modules.update(hidden)
    try:
        from IPython.core.interactiveshell import InteractiveShell
    finally:
        for name in hidden:
            sys.modules.pop(name, None)
    return InteractiveShell
