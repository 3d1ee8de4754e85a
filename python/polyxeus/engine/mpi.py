"""The MPI world of an engine that was started with --mpi."""

import logging


class WorldMismatch(Exception):
    """MPI says another world than the launcher: the wrong MPI was loaded."""


def initialize(world, user_ns):
    """Defines mpi_rank and mpi_size.

    world  (rank, size) by the launcher's environment, or None without --mpi.

    MPI is initialized here, on all ranks together: MPI_Init waits for all of them, so that code
    which imports mpi4py on one engine alone would wait for ever.
    """
    if world is None:
        return
    rank, size = world
    user_ns["mpi_rank"], user_ns["mpi_size"] = rank, size
    if size == 1:
        return
    try:
        from mpi4py import MPI
    except ImportError as missing:
        logging.getLogger("polyxeus").warning("MPI is not initialized: %s", missing)
        return
    found = MPI.COMM_WORLD.Get_size()
    if found != size:
        library = MPI.Get_library_version().split(",")[0].strip()
        raise WorldMismatch(
            f"the launcher made a world of {size} ranks, but mpi4py sees {found}: it has loaded "
            f"{library}; set MPI4PY_MPIABI, or install the mpi4py of this launcher's MPI"
        )
    user_ns["mpi_rank"] = MPI.COMM_WORLD.Get_rank()
