"""The bytes that cells move by MPI are among what the controller measures."""

import pytest
from programs import wait_until
from running_cluster import connect

pytestmark = pytest.mark.mpi

CELL = """
import numpy as np
from mpi4py import MPI
comm = MPI.COMM_WORLD
data = np.zeros(1000)                             # 8000 bytes
comm.Allreduce(MPI.IN_PLACE, data)                # given and got by each rank
comm.Bcast(data, root=1)
comm.Alltoall(np.zeros(4), np.zeros(4))           # 32 bytes given and got
if comm.rank == 0:
    comm.Send(data[:10], 2)
elif comm.rank == 2:
    comm.Recv(data, 0)                            # there is room for more
comm.Barrier()
"""


def test_what_each_rank_sends_and_receives_is_counted(mpi_cluster):
    received = {0: 16032, 1: 8032, 2: 16032 + 80, 3: 16032}
    sent = {0: 8032 + 80, 1: 16032, 2: 8032, 3: 8032}
    with connect(mpi_cluster.connection_file("client"), 4) as rc:
        rc[:].execute(CELL, block=True)

        def counted(way):
            return {row["id"]: row.get(way, {}).get("mpi", 0) for row in rc.measures()["engines"]}

        wait_until(lambda: counted("in") == received and counted("out") == sent,
                   f"in: {received}, out: {sent}; there are in: {counted('in')}, out: {counted('out')}", timeout=20)
