"""Makes communicators of gangs. Some ranks of an MPI world make a communicator, and the other ranks do not take part.

px_gangs.hpp has the same functions for C++ engines.
"""

import os
import sys

from polyxeus.serialize import communicators, functions

__all__ = ["join", "look"]

# The environment variables in which launchers pass the id of a run, as in engine/mpi/world.cpp.
_RUN_NAMES = ("PMIX_NAMESPACE", "OMPI_MCA_orte_ess_jobid", "SLURM_STEP_ID")


def look(ranks):
    """Returns "RANK SIZE NUMBER RUN" of this engine: its rank in the world, and the size of the world.

    number  the number of the last communicator that this engine has made for a gang of these ranks;
            0 if the engine has made no such communicator.
    run     the id of the run in which the MPI launcher started the engine; "" if it is not known.
    """
    if "mpi4py.MPI" not in sys.modules:  # importing it would make a world that contains only this process
        return "0 1 0 "
    from mpi4py import MPI

    world = MPI.COMM_WORLD
    run = next((os.environ[name] for name in _RUN_NAMES if os.environ.get(name)), "")
    number = communicators.number_of(tuple(ranks))
    return f"{world.Get_rank()} {world.Get_size()} {number} {run}"


def join(ranks, number, name):
    """Defines the communicator of a gang as a variable in the user's namespace.

    ranks   the ranks in the world, in the order of the gang. All of these ranks call this function.
    number  the number of the communicator, the same on all of these ranks. If the number differs
            from that of the last communicator of these ranks, the ranks make a new communicator.
    """
    made = communicators.made_for(tuple(ranks), ranks, number)
    functions.forget_carried([name])
    functions.namespace()[name] = made
