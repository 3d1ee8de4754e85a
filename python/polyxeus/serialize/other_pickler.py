"""Uses dill for objects that polyxeus cannot pickle, such as open files, if use_dill() was called."""

import importlib
import pickle

__all__ = ["dump", "load", "use"]

_module = None


def use(name):
    """Selects the module whose dumps() and loads() are tried last: "dill", or None for no module.

    errors  ImportError: the module is not installed
    """
    global _module
    _module = None if name is None else importlib.import_module(name)


def dump(value):
    """Returns a pickle of the value, made by the selected module; None if no module is selected.

    errors  the errors that the module raises
    """
    return None if _module is None else pickle.dumps(_Dumped(_module.__name__, _module.dumps(value)), 5)


class _Dumped:
    def __init__(self, name, data):
        self._arguments = name, data

    def __reduce__(self):
        return load, self._arguments


def load(name, data):
    """Returns the value of a pickle that dump() has made with the module `name`."""
    return importlib.import_module(name).loads(data)
