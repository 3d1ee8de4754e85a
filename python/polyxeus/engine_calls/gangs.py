"""Communicators of gangs: some ranks of an MPI world make a communicator without the other ranks.

px_gangs.hpp has the same functions for C++ engines.
"""

import os
import sys

from polyxeus.serialize import functions

__all__ = ["join", "look"]

# Of the calls that make communicators; MPI allows tags up to 32767 everywhere.
_FIRST_TAG = 21000
_TAG_COUNT = 1000
# How launchers name one of their runs, as in engine/mpi/world.cpp.
_RUN_NAMES = ("PMIX_NAMESPACE", "OMPI_MCA_orte_ess_jobid", "SLURM_STEP_ID")

_made = {}  # (number, communicator), by the ranks in the world


def look(ranks):
    """Returns (rank, size of the world, number, name of the launcher's run) of this engine.

    number  that of the last communicator that this engine has made for a gang of these ranks; 0: none.
    """
    if "mpi4py.MPI" not in sys.modules:  # importing it would make a world of this process alone
        return 0, 1, 0, ""
    from mpi4py import MPI

    world = MPI.COMM_WORLD
    run = next((os.environ[name] for name in _RUN_NAMES if os.environ.get(name)), "")
    number, _ = _made.get(tuple(ranks), (0, None))
    return world.Get_rank(), world.Get_size(), number, run


def join(ranks, number, name):
    """Defines the communicator of a gang as a variable in the user's namespace.

    ranks   the ranks in the world, in the order of the gang. All of them call this function.
    number  the same on all of these ranks. If it differs from the last one, a new communicator is made.
    """
    from mpi4py import MPI

    key = tuple(ranks)
    made, communicator = _made.get(key, (0, None))
    if made != number:
        world = MPI.COMM_WORLD.Get_group()
        group = world.Incl(ranks)
        try:
            communicator = MPI.COMM_WORLD.Create_group(group, _FIRST_TAG + number % _TAG_COUNT)
        finally:
            group.Free()
            world.Free()
        _made[key] = number, communicator
    functions.forget_carried([name])
    functions.namespace()[name] = communicator
