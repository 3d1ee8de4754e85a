"""Modules of ipyparallel's names that are views of polyxeus, for ipyparallel's own tests."""

import importlib
import importlib.util
import sys
import types
from pathlib import Path

import polyxeus
from polyxeus import error
from polyxeus.results import metadata
from polyxeus.serialize import reference
from reference import processes


class _View(types.ModuleType):
    """A module that has what it is given, then what another one has."""

    def __init__(self, name, other=None, **names):
        super().__init__(name)
        self.__dict__.update(names)
        self._other = other
        self.__path__ = []

    def __getattr__(self, name):
        if name.startswith("__") or self._other is None:
            raise AttributeError(name)
        return getattr(self._other, name)


def _launchers():
    return _View(
        "ipyparallel.cluster.launcher",
        importlib.import_module("polyxeus.cluster.launcher"),
        # Classes that the tests only compare with what runs.
        find_launcher_class=lambda *_: object,
        LocalProcessLauncher=type("LocalProcessLauncher", (), {}),
    )


def _home_of_reference():
    spec = importlib.util.find_spec("ipyparallel")
    if spec is None:
        raise ImportError("ipyparallel's tests are needed: pip install ipyparallel")
    return Path(spec.origin).parent


def install():
    """Puts the views into sys.modules."""
    home = _home_of_reference()
    tests = _View(
        "ipyparallel.tests",
        setup=processes.setup,
        teardown=processes.teardown,
        add_engines=processes.add_engines,
        launchers=processes.launchers,
    )
    tests.__path__ = [str(home / "tests")]
    client = importlib.import_module("polyxeus.client.client")
    views = importlib.import_module("polyxeus.views.balanced_view")
    joblib_backend = importlib.import_module("polyxeus.joblib_backend")
    cluster = importlib.import_module("polyxeus.cluster.cluster")
    modules = [
        _View(
            "ipyparallel",
            polyxeus,
            register_joblib_backend=lambda name="ipyparallel", **kw: (
                polyxeus.register_joblib_backend(name, **kw)
            ),
        ),
        error,
        _View("ipyparallel.util", reference, utc=metadata.utc),
        _View("ipyparallel.client"),
        _View("ipyparallel.client.client", client, is_local_ip=lambda _: True),
        _View("ipyparallel.client.view", views),
        _View(
            "ipyparallel.client._joblib", IPythonParallelBackend=joblib_backend.PolyxeusBackend
        ),
        _View("ipyparallel.serialize", can=lambda thing: thing, uncan=lambda thing, _names: thing),
        _View(
            "ipyparallel.cluster",
            cluster,
            launcher=_launchers(),
            ClusterManager=polyxeus.ClusterManager,
        ),
        _launchers(),
        tests,
    ]
    names = [getattr(module, "__name__") for module in modules]
    names[1] = "ipyparallel.error"
    for name, module in zip(names, modules):
        sys.modules[name] = module
        parent, _, child = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], child, module)
