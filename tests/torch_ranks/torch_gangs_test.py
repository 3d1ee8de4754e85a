"""Torch groups of gangs: of the default group, without the other ranks, or a default group of the gang alone."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import ranks  # noqa: E402
from deadlines import wait_until  # noqa: E402

import polyxeus as px  # noqa: E402
import polyxeus.torch  # noqa: E402

pytestmark = pytest.mark.usefixtures("time_limit")

LOOP = """
import os
while True:
    go = torch.tensor([float(os.path.exists({marker!r}))])
    dist.all_reduce(go)
    if go.item() < 2: break
    if comm.rank == 0: open({marker!r} + ".began", "w").close()
"""


@pytest.fixture(scope="module")
def rc(ipython_dir):
    client = px.Cluster(n=4, engines="mpi").start_and_connect_sync()
    client[:].execute("import torch, torch.distributed as dist", block=True)
    yield client
    client.cluster.stop_cluster_sync()


@pytest.fixture
def gangs(rc):
    yield [rc.gang([0, 1]), rc.gang([2, 3])]
    px.torch.finalize(rc[:])


def sums(gang, group=""):
    gang.execute(f"total = torch.ones(2) * (comm.rank + 1)\ndist.all_reduce(total{group})\ntotal = total.tolist()", block=False).get(60)
    return gang["total"]


def test_each_gang_has_a_group_of_its_own_and_a_failure_leaves_the_other_one_alone(gangs, tmp_path):
    for gang in gangs:
        assert px.torch.init(gang).size == 2
    assert [sums(gang) for gang in gangs] == [[[3.0, 3.0]] * 2] * 2
    marker = tmp_path / "go"
    marker.touch()
    busy = gangs[1].execute(LOOP.format(marker=str(marker)), block=False)
    try:
        wait_until(Path(f"{marker}.began").exists, "the other gang is at work", 60)
        failing = gangs[0].execute("if comm.rank == 0: raise ValueError('no data')\ndist.barrier()", block=False)
        found = ranks.errors(failing)
        assert found[0] == "ValueError: no data" and "rank 0 raised ValueError: no data" in found[1]
        assert sums(gangs[0]) == [[3.0, 3.0]] * 2
        assert not busy.ready()
    finally:
        marker.unlink()
    busy.get(60)
    assert sums(gangs[1]) == [[3.0, 3.0]] * 2


def test_a_gang_makes_a_group_of_the_world_without_the_other_ranks(rc, gangs, tmp_path):
    """The other ranks run other code meanwhile."""
    assert px.torch.init(rc[:]).size == 4
    marker = tmp_path / "busy"
    marker.touch()
    busy = gangs[1].execute(f"import os, time\nwhile os.path.exists({str(marker)!r}): time.sleep(0.01)", block=False)
    make = "group = dist.new_group(comm.allgather(dist.get_rank()), use_local_synchronization=True)"
    try:
        gangs[0].execute(make, block=False).get(60)
        assert sums(gangs[0], ", group=group") == [[3.0, 3.0]] * 2
        assert not busy.ready()
    finally:
        marker.unlink()
    busy.get(60)
    gangs[1].execute(make, block=False).get(60)
    assert sums(gangs[1], ", group=group") == [[3.0, 3.0]] * 2
    failing = gangs[0].execute("if comm.rank == 0: raise ValueError('no data')\ndist.barrier(group=group)", block=False)
    assert "rank 0 raised ValueError: no data" in ranks.errors(failing)[1]
    assert [sums(gang, ", group=group") for gang in gangs] == [[[3.0, 3.0]] * 2] * 2
    rc[:].execute("total = torch.ones(1)\ndist.all_reduce(total)\ntotal = total.tolist()", block=False).get(60)
    assert rc[:]["total"] == [[4.0]] * 4
