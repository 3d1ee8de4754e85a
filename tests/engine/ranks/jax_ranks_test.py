"""JAX takes its place among engines from the environment. A package of the test stands for it."""

import importlib
import sys

import pytest

from polyxeus.engine import import_hooks

CLUSTERS = """
class ClusterEnv:
    _cluster_types = []

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        cls._cluster_types.append(cls)

    @classmethod
    def get_local_process_id(cls):
        return None

class OmpiCluster(ClusterEnv):
    pass
"""
VARIABLES = {"RANK": "1", "WORLD_SIZE": "2", "JAX_COORDINATOR_ADDRESS": "127.0.0.1:20002"}


@pytest.fixture
def import_module(tmp_path, monkeypatch):
    """Imports a module with this source on an engine."""
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.syspath_prepend(str(tmp_path))
    import_hooks.install(None, None, None)
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    packages = set()

    def import_module(name, source):
        folder = tmp_path
        for part in name.split("."):
            folder = folder / part
            folder.mkdir()
            (folder / "__init__.py").touch()
        (folder / "__init__.py").write_text(source)
        packages.add(name.partition(".")[0])
        for known in [known for known in sys.modules if known.partition(".")[0] in packages]:
            monkeypatch.delitem(sys.modules, known)
        return importlib.import_module(name)

    yield import_module
    for known in [known for known in sys.modules if known.partition(".")[0] in packages]:
        del sys.modules[known]


def set_variables(monkeypatch):
    for name, value in VARIABLES.items():
        monkeypatch.setenv(name, value)


def test_jax_asks_engines_before_the_launchers_that_it_knows(import_module, monkeypatch):
    clusters = import_module("jax._src.clusters", CLUSTERS)
    ours, other = clusters.ClusterEnv._cluster_types
    assert other is clusters.OmpiCluster and not ours.is_env_present()
    set_variables(monkeypatch)
    assert ours.is_env_present()
    assert (ours.get_coordinator_address(30, None), ours.get_process_count(), ours.get_process_id()) == (
        "127.0.0.1:20002", 2, 1)
    assert ours.get_local_process_id() is None  # each sees its own GPU only
