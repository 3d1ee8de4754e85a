"""dill for what the pickles of polyxeus do not take, where use_dill() was called: open files, for instance."""

import importlib
import pickle

__all__ = ["dump", "load", "use"]

_module = None


def use(name):
    """The module whose dumps() and loads() are tried last: "dill"; None: none.

    errors  ImportError: it is not installed
    """
    global _module
    _module = None if name is None else importlib.import_module(name)


def dump(value):
    """A pickle of the value by this module; None if there is no such module.

    errors  those of the module
    """
    return None if _module is None else pickle.dumps(_Dumped(_module.__name__, _module.dumps(value)), 5)


class _Dumped:
    def __init__(self, name, data):
        self._arguments = name, data

    def __reduce__(self):
        return load, self._arguments


def load(name, data):
    """The value of a dump."""
    return importlib.import_module(name).loads(data)
