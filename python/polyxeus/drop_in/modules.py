"""Lets `import ipyparallel` find polyxeus, in programs that know nothing of it."""

import importlib
import importlib.machinery
import sys
import types

__all__ = ["install_as_ipyparallel"]

_VERSION = (9, 2, 0)  # of ipyparallel, whose names these are

# Modules of ipyparallel, and the modules of polyxeus that have what is in them.
_HOMES = {
    "": ["", "drop_in.canning"],
    "client": [],
    "client.asyncresult": ["results.async_result", "results.map_result", "client.hub_queries", ""],
    "client.client": ["client.client", ""],
    "client.magics": ["magics.parallel_magics"],
    "client.map": ["views.partition"],
    "client.remotefunction": ["views.remote_functions", ""],
    "client.view": ["views.balanced_view", "views.direct_view", "views.executor", ""],
    "cluster": ["cluster.cluster", "cluster.manager"],
    "cluster.cluster": ["cluster.cluster", "cluster.manager"],
    "cluster.launcher": ["cluster.launcher"],
    "controller": [],
    "controller.dependency": ["views.dependency", "engine_calls.functional_dependency", ""],
    "error": ["error"],
    "joblib": ["joblib_backend"],
    "serialize": ["drop_in.canning", "serialize.reference"],
    "serialize.canning": ["drop_in.canning", "serialize.reference"],
    "serialize.serialize": ["drop_in.canning"],
    "util": ["drop_in.util"],
}
_OTHER_NAMES = {
    "IPythonParallelBackend": ("joblib_backend", "PolyxeusBackend"),
    "register_joblib_backend": ("drop_in.modules", "_register_joblib_backend"),
}


def _module(name):
    return importlib.import_module(f"polyxeus.{name}" if name else "polyxeus")


def _register_joblib_backend(name="ipyparallel", make_default=False):
    return _module("").register_joblib_backend(name, make_default=make_default)


class _StandIn(types.ModuleType):
    """A module of ipyparallel's name; what it has is in modules of polyxeus."""

    def __init__(self, name, homes):
        super().__init__(name, f"polyxeus in place of {name}.")
        self.__path__ = []
        self.__spec__ = importlib.machinery.ModuleSpec(name, None, is_package=True)
        self.__version__ = ".".join(map(str, _VERSION))
        self.version_info = _VERSION
        self._homes = homes

    def __getattr__(self, name):
        if not name.startswith("__"):
            for home, own in [*[(each, name) for each in self._homes], _OTHER_NAMES.get(name, ("", ""))]:
                if own and hasattr(_module(home), own):
                    return getattr(_module(home), own)
        raise AttributeError(f"module {self.__name__!r}, which is polyxeus here, has no {name!r}")

    def __dir__(self):
        found = {name for home in self._homes for name in getattr(_module(home), "__all__", ())}
        return sorted(found | set(vars(self)))


def install_as_ipyparallel():
    """Lets all that is imported from now on have polyxeus for ipyparallel, also where that is not
    installed: packages that drive ipyparallel then run on polyxeus unchanged.

    RuntimeError where ipyparallel is imported already.
    """
    there = sys.modules.get("ipyparallel")
    if isinstance(there, _StandIn):
        return
    if there is not None:
        raise RuntimeError(
            "ipyparallel is imported already: call polyxeus.install_as_ipyparallel() before anything "
            "imports it"
        )
    for child, homes in _HOMES.items():
        name = f"ipyparallel.{child}" if child else "ipyparallel"
        sys.modules[name] = _StandIn(name, homes)
        parent, _, own = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], own, sys.modules[name])
