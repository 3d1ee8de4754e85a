"""jax.distributed.initialize() without arguments: jax finds the engines by a class of ours. A package stands for jax."""

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


@pytest.fixture
def clusters(tmp_path, monkeypatch):
    package = tmp_path / "jax" / "_src" / "clusters"
    package.mkdir(parents=True)
    for folder in (package, package.parent, package.parent.parent):
        (folder / "__init__.py").write_text(CLUSTERS if folder is package else "")
    for name in [name for name in sys.modules if name.partition(".")[0] == "jax"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.syspath_prepend(str(tmp_path))
    import_hooks.install(None, None, None)
    yield importlib.import_module("jax._src.clusters")
    for name in [name for name in sys.modules if name.partition(".")[0] == "jax"]:
        del sys.modules[name]


def test_engines_come_before_the_launchers_that_jax_knows(clusters, monkeypatch):
    ours, other = clusters.ClusterEnv._cluster_types
    assert other is clusters.OmpiCluster
    for name in ("RANK", "WORLD_SIZE", "JAX_COORDINATOR_ADDRESS"):
        monkeypatch.delenv(name, raising=False)
    assert not ours.is_env_present()
    for name, value in {"RANK": "1", "WORLD_SIZE": "2", "JAX_COORDINATOR_ADDRESS": "127.0.0.1:20002"}.items():
        monkeypatch.setenv(name, value)
    assert ours.is_env_present()
    assert (ours.get_coordinator_address(30, None), ours.get_process_count(), ours.get_process_id()) == (
        "127.0.0.1:20002", 2, 1)
    assert ours.get_local_process_id() is None  # each sees its own GPU only
