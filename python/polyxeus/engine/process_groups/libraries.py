"""Configures training libraries when they are imported on an engine that is a rank."""

import os


def _adopt_accelerate(module):
    """Makes accelerate use all ranks even if there is no GPU. Without this setting and without a
    GPU, accelerate would train on each rank alone; it does the same under torchrun."""
    devices = getattr(module.torch, "accelerator", module.torch.cuda)
    if "LOCAL_RANK" in os.environ and not devices.is_available():
        os.environ.setdefault("ACCELERATE_USE_CPU", "true")


def _adopt_fabric(module):
    """Makes Lightning accept an interactive Python. Lightning does not have to start processes on
    an engine, because the ranks exist already."""
    if "LOCAL_RANK" in os.environ:
        module._IS_INTERACTIVE = False


def _adopt_jax(module):
    """Registers polyxeus's class with JAX, so that jax.distributed.initialize() asks this class
    first for the rank and the number of ranks.

    Without this class, JAX would find the ranks only under Open MPI or Slurm. Each engine would
    then use the GPU whose number is the engine's local rank, even if the engine sees only one GPU.
    """
    base = module.ClusterEnv

    class Engines(base):
        name = "polyxeus"

        @classmethod
        def is_env_present(cls):
            return all(name in os.environ for name in ("JAX_COORDINATOR_ADDRESS", "RANK", "WORLD_SIZE"))

        @classmethod
        def get_coordinator_address(cls, *args, **kwargs):
            return os.environ["JAX_COORDINATOR_ADDRESS"]

        @classmethod
        def get_process_count(cls):
            return int(os.environ["WORLD_SIZE"])

        @classmethod
        def get_process_id(cls):
            return int(os.environ["RANK"])

    known = getattr(base, "_cluster_types", [])
    if Engines in known:  # JAX has registered the class when the class was defined
        known.remove(Engines)
        known.insert(0, Engines)


# The functions to call after the import of a module.
ACTIONS = {
    "accelerate.state": _adopt_accelerate,
    "jax._src.clusters": _adopt_jax,
    "lightning.fabric.utilities.imports": _adopt_fabric,
    "lightning_fabric.utilities.imports": _adopt_fabric,
}
