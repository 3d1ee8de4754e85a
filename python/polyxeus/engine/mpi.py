"""The MPI world of an engine that was started with --mpi."""

import importlib.util
import logging


class WorldMismatch(Exception):
    """MPI says another world than the launcher: the wrong MPI was loaded, or none."""


def _load():
    """mpi4py.MPI, which initializes MPI; None where mpi4py is not installed."""
    if importlib.util.find_spec("mpi4py") is None:
        logging.getLogger("polyxeus").warning(
            "MPI is not initialized: mpi4py is not installed (`pip install mpi4py`)"
        )
        return None
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as failure:
        raise WorldMismatch(f"mpi4py cannot load the launcher's MPI: {failure}") from failure
    return MPI


def _library(MPI):
    """ "Open MPI v4.1.4" """
    text = MPI.Get_library_version().strip("\0 \n").split(",")[0].split("\n")[0]
    return " ".join(text.replace("Version:", " ").split())


def give_from_rank_0(world, find):
    """On all ranks: what `find()` returns on rank 0. Its failure there is one everywhere.

    MPI is initialized here.
    """
    MPI = _load()
    if MPI is None:
        raise WorldMismatch("--file-from-rank-0 needs mpi4py: `pip install mpi4py`")
    text, failure = None, None
    if world[0] == 0:
        try:
            text = find()
        except Exception as problem:
            failure = problem
    text, why = MPI.COMM_WORLD.bcast((text, failure and str(failure)), root=0)
    if why:
        raise WorldMismatch(why if world[0] == 0 else f"rank 0 has no connection info: {why}")
    return text


def initialize(world, user_ns):
    """Defines mpi_rank and mpi_size.

    world  (rank, size) by the launcher's environment, or None without --mpi.

    MPI is initialized here, on all ranks together: MPI_Init waits for all of them, so that code
    which imports mpi4py on one engine alone would wait for ever.

    Returns the name and version of the MPI; "" where none was loaded.
    """
    if world is None:
        return ""
    rank, size = world
    user_ns["mpi_rank"], user_ns["mpi_size"] = rank, size
    MPI = _load() if size > 1 else None
    if MPI is None:
        return ""
    found = MPI.COMM_WORLD.Get_size()
    if found != size:
        library = _library(MPI)
        raise WorldMismatch(
            f"the launcher made a world of {size} ranks, but mpi4py sees {found}: it has loaded "
            f"{library}; set MPI4PY_MPIABI, or install the mpi4py of this launcher's MPI"
        )
    user_ns["mpi_rank"] = MPI.COMM_WORLD.Get_rank()
    return _library(MPI)
