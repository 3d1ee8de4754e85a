"""Makes `import ipyparallel` find polyxeus, so that programs for ipyparallel run unchanged."""

import importlib
import importlib.machinery
import importlib.metadata
import sys
import types

__all__ = ["install_as_ipyparallel"]

_VERSION = (9, 2, 0)  # the version of ipyparallel that has these names

# {module of ipyparallel: the modules of polyxeus that have its members}.
_HOMES = {
    "": ["", "drop_in.canning"],
    "client": [],
    "client._joblib": ["joblib_backend"],
    "client.asyncresult": ["results.async_result", "results.map_result", ""],
    "client.client": ["client.client", ""],
    "client.magics": ["magics.parallel_magics"],
    "client.map": ["views.partition"],
    "client.remotefunction": ["views.remote_functions", ""],
    "client.view": ["views.balanced_view", "views.direct_view", "views.executor", "views.view", "results.lazy_map", ""],
    "cluster": ["cluster.cluster", "cluster.manager"],
    "cluster.cluster": ["cluster.cluster", "cluster.manager"],
    "cluster.launcher": ["cluster.launcher"],
    "controller": [],
    "controller.dependency": ["views.dependency", "engine_calls.functional_dependency", ""],
    "datapub": ["drop_in.datapub"],
    "engine": [],
    "engine.log": ["drop_in.engine_log"],
    "error": ["error"],
    "joblib": ["joblib_backend"],
    "serialize": ["drop_in.canning", "serialize.reference"],
    "serialize.canning": ["drop_in.canning", "serialize.reference"],
    "serialize.serialize": ["drop_in.canning"],
    "util": ["drop_in.util"],
}
_OTHER_NAMES = {
    "IPythonParallelBackend": ("joblib_backend", "PolyxeusBackend"),
}


def _module(name):
    return importlib.import_module(f"polyxeus.{name}" if name else "polyxeus")


class _Finder:
    """Finds and loads the modules that replace ipyparallel's modules, so that these modules can be found and reloaded
    like other modules."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        return _spec(name) if isinstance(sys.modules.get(name), _StandIn) else None

    @staticmethod
    def create_module(spec):
        return sys.modules.get(spec.name)

    @staticmethod
    def exec_module(module):
        """Does nothing, because the module that create_module() returns is complete already."""


def _spec(name):
    spec = importlib.machinery.ModuleSpec(name, _Finder, origin=__file__, is_package=True)
    spec.has_location = True
    return spec


class _StandIn(types.ModuleType):
    """A module with the name of an ipyparallel module, and with the members of polyxeus modules."""

    is_polyxeus = True

    def __init__(self, name, homes):
        super().__init__(name, f"polyxeus in place of {name}.")
        self.__path__ = []
        self.__file__ = __file__
        self.__spec__ = _spec(name)
        self.__version__ = ".".join(map(str, _VERSION))
        self.version_info = _VERSION
        self._homes = homes

    def __getattr__(self, name):
        if not name.startswith("__"):
            for home, own in [*[(each, name) for each in self._homes], _OTHER_NAMES.get(name, ("", ""))]:
                if own and hasattr(_module(home), own):
                    return getattr(_module(home), own)
        raise AttributeError(f"module {self.__name__!r}, which polyxeus replaces, has no {name!r}")

    def __dir__(self):
        found = {name for home in self._homes for name in getattr(_module(home), "__all__", ())}
        return sorted(found | set(vars(self)))


class _Distribution(importlib.metadata.Distribution):
    """Describes the package ipyparallel to importlib.metadata if ipyparallel is not installed."""

    def read_text(self, filename):
        version = ".".join(map(str, _VERSION))
        is_known = filename == "METADATA"
        return f"Metadata-Version: 2.1\nName: ipyparallel\nVersion: {version}\n" if is_known else None

    def locate_file(self, path):
        return path


class _Distributions:
    """Gives the version of ipyparallel to packages that request it; importlib.metadata asks this finder last."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        return None

    @staticmethod
    def find_distributions(context):
        return [_Distribution()] if context.name == "ipyparallel" else []


def install_as_ipyparallel() -> None:
    """Makes each later ``import ipyparallel`` import polyxeus, even if ipyparallel is not installed.

    Packages that use ipyparallel then run on polyxeus unchanged.

    Raises
    ------
    RuntimeError
        ipyparallel is imported already.

    Examples
    --------
    >>> px.install_as_ipyparallel()      # doctest: +SKIP
    >>> import ipyparallel               # doctest: +SKIP
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
    sys.meta_path.insert(0, _Finder)  # takes precedence over an installed ipyparallel
    sys.meta_path.append(_Distributions)
