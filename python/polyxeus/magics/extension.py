"""Loads the parallel magics into an IPython shell, and unloads them."""

import re

from polyxeus.magics.parallel_magics import ParallelMagics
from polyxeus.magics.remote_names import RemoteNames
from polyxeus.magics.session import Session

__all__ = ["activate", "adopt", "load", "unload"]

_OURS = re.compile(r"\s*%{1,2}(auto)?px")
_ATTRIBUTE = "_polyxeus_magics"  # of the shell: what load() has made


class _Loaded:
    """The hooks in a shell."""

    def __init__(self, shell):
        self.shell = shell
        self.session = Session(shell)
        self.sets = {}  # suffix -> ParallelMagics
        self.names = RemoteNames(shell, self)

    def add(self, view=None, suffix=""):
        magics = ParallelMagics(self.shell, view, suffix, self.session)
        self.sets[suffix] = magics
        self.shell.register_magics(magics)

    def hook(self):
        self._transform.__func__.has_side_effects = True  # not while a cell is typed
        self.shell.input_transformer_manager.cleanup_transforms.insert(0, self._transform)
        self.shell.events.register("pre_run_cell", self._before_cell)
        self.names.hook()

    def unhook(self):
        self.shell.input_transformer_manager.cleanup_transforms.remove(self._transform)
        self.shell.events.unregister("pre_run_cell", self._before_cell)
        self.names.unhook()
        for magics in self.sets.values():
            for kind, names in magics.magics.items():
                for name in names:
                    self.shell.magics_manager.magics[kind].pop(name, None)
        self.session.close()

    def _transform(self, lines):
        """In %autopx mode a cell becomes one for the engines."""
        auto = next((each for each in self.sets.values() if each.is_auto), None)
        cell = "".join(lines)
        if auto is None or not cell.strip() or _OURS.match(cell):
            return lines
        if "run_cell_magic('autopx_cell" in cell:  # done already
            return lines
        return [f"get_ipython().run_cell_magic('autopx_cell{auto.suffix}', '', {cell!r})\n"]

    def _before_cell(self, info):
        self.session.before_cell(info.raw_cell or "", self.sets[""]._core)


def load(shell):
    """`%load_ext polyxeus`."""
    loaded = getattr(shell, _ATTRIBUTE, None)
    if loaded is None:
        loaded = _Loaded(shell)
        setattr(shell, _ATTRIBUTE, loaded)
        loaded.hook()
    if "" not in loaded.sets:
        loaded.add()
    return loaded


def unload(shell):
    """`%unload_ext polyxeus`."""
    loaded = getattr(shell, _ATTRIBUTE, None)
    if loaded is not None:
        loaded.unhook()
        delattr(shell, _ATTRIBUTE)


def adopt(shell, client):
    """Loads the magics for the first client of a shell: they use this client as long as the user defines no `rc`."""
    load(shell).session.adopt(client)


def activate(shell, view, suffix=""):
    """Defines magics with this suffix, which have a view of their own."""
    load(shell).add(view, suffix)
