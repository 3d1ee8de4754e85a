"""Configures training libraries on an engine that is a rank, when they are imported."""

import os


def _adopt_accelerate(module):
    """Without a GPU accelerate lets each rank train alone unless it is told, as it does under torchrun."""
    devices = getattr(module.torch, "accelerator", module.torch.cuda)
    if "LOCAL_RANK" in os.environ and not devices.is_available():
        os.environ.setdefault("ACCELERATE_USE_CPU", "true")


def _adopt_fabric(module):
    """Lightning refuses to work in an interactive Python, in which it could not start processes; ranks need none."""
    if "LOCAL_RANK" in os.environ:
        module._IS_INTERACTIVE = False


def _adopt_jax(module):
    """jax.distributed.initialize() asks these classes; ours comes first.

    Without it only engines under Open MPI or Slurm would be known, and each would take the GPU of the number
    of its local rank, even if it sees a single one.
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
    if Engines in known:  # jax has noted it when it was made
        known.remove(Engines)
        known.insert(0, Engines)


# What is done after the import of a module.
ACTIONS = {
    "accelerate.state": _adopt_accelerate,
    "jax._src.clusters": _adopt_jax,
    "lightning.fabric.utilities.imports": _adopt_fabric,
    "lightning_fabric.utilities.imports": _adopt_fabric,
}
