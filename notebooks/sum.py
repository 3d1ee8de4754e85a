"""The sum of an array that is spread over the ranks. Run in every engine: view.run("sum.py")."""

import numba
import numpy as np
from mpi4py import MPI


@numba.njit
def partial_sum(a):
    total = 0.0
    for x in a:
        total += x
    return total


def psum(a):
    """The sum of all ranks' pieces `a`, the same on every rank."""
    mine = np.array([partial_sum(np.asarray(a, dtype=np.float64))])
    total = np.zeros(1)
    MPI.COMM_WORLD.Allreduce(mine, total, op=MPI.SUM)
    return float(total[0])
