"""Loads the parallel magics into an IPython shell, and unloads them."""

from IPython.display import JSON

from polyxeus.magics import debug_line
from polyxeus.magics.cell_routing import CellRouting
from polyxeus.magics.fresh_code import FreshCode
from polyxeus.magics.missing_names import show_advice
from polyxeus.magics.parallel_magics import ParallelMagics
from polyxeus.magics.remote_names import RemoteNames
from polyxeus.magics.session import Session

__all__ = ["activate", "adopt", "load", "unload"]

_ATTRIBUTE = "_polyxeus_magics"  # the attribute of the shell for the object that load() has made


class _Loaded:
    """The objects that load() has made for a shell."""

    def __init__(self, shell):
        self.shell = shell
        self.session = Session(shell)
        self.sets = {}  # suffix -> ParallelMagics
        self.routing = CellRouting(self.session, self.sets)
        self.names = RemoteNames(shell, self)
        self.fresh = FreshCode(shell, self.session)

    @property
    def mode(self):
        """The place where cells run, as text for the toolbar of JupyterLab."""
        return self.session.mode.text

    @property
    def cells(self):
        """The records of the latest cells that ran on engines, as JSON for JupyterLab."""
        return JSON({"cells": self.session.records.all()})

    def add(self, view=None, suffix=""):
        magics = ParallelMagics(self.shell, view, suffix, self.session)
        self.sets[suffix] = magics
        self.shell.register_magics(magics)

    def hook(self):
        self.routing.hook()
        self.shell.events.register("pre_run_cell", self._before_cell)
        self.shell.events.register("post_run_cell", self._after_cell)
        self.shell.register_magic_function(self.fresh.magic, "line", "pxautoreload")
        self.names.hook()
        self._restore_debugger = debug_line.replace_debugger(self.shell, lambda: self.sets.get(""))

    def unhook(self):
        self.routing.unhook()
        self.shell.events.unregister("pre_run_cell", self._before_cell)
        self.shell.events.unregister("post_run_cell", self._after_cell)
        self.shell.magics_manager.magics["line"].pop("pxautoreload", None)
        self.names.unhook()
        self._restore_debugger()
        for magics in self.sets.values():
            for kind, names in magics.magics.items():
                for name in names:
                    self.shell.magics_manager.magics[kind].pop(name, None)
        self.session.close()

    def _before_cell(self, info):
        code, magics = info.raw_cell or "", self.sets[""]._core
        self.session.before_cell(code, magics)
        self.fresh.before_cell(code, magics)

    def _after_cell(self, result):
        self.fresh.after_cell()
        show_advice(result.error_in_exec, result.info.raw_cell or "", self.shell.user_ns, self.fresh.folder)


def load(shell):
    """Implements `%load_ext polyxeus`."""
    loaded = getattr(shell, _ATTRIBUTE, None)
    if loaded is None:
        loaded = _Loaded(shell)
        setattr(shell, _ATTRIBUTE, loaded)
        loaded.hook()
    if "" not in loaded.sets:
        loaded.add()
    return loaded


def unload(shell):
    """Implements `%unload_ext polyxeus`."""
    loaded = getattr(shell, _ATTRIBUTE, None)
    if loaded is not None:
        loaded.unhook()
        delattr(shell, _ATTRIBUTE)


def adopt(shell, client):
    """Loads the magics for the first client of a shell. The magics use this client until the user defines a variable
    `rc`."""
    load(shell).session.adopt(client)


def activate(shell, view, suffix=""):
    """Defines a set of magics with this suffix for a view."""
    load(shell).add(view, suffix)
