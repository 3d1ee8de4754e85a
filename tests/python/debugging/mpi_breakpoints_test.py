"""breakpoint() on one rank of an MPI world, whose other ranks wait for it in collective calls."""

import polyxeus
import pytest
from deadlines import wait_until
from polyxeus.results.debugging import prompts

CODE = """\
from mpi4py import MPI
part = MPI.COMM_WORLD.rank + 1
if part == 2 or both:
    breakpoint()
MPI.COMM_WORLD.Barrier()
whole = MPI.COMM_WORLD.allreduce(part)
is_done = True
"""


@pytest.fixture(scope="module")
def world(folder):
    """A client of two ranks."""
    cluster = polyxeus.Cluster(n=2, profile="mpi_debug", cluster_id="", engines="mpi")
    client = cluster.start_and_connect_sync()
    client.wait_for_engines(2, timeout=60)
    yield client
    client.close()
    cluster.stop_cluster_sync()


@pytest.fixture
def user(monkeypatch):
    """The lines that the user will type."""
    lines = []
    monkeypatch.setattr(prompts, "why_no_answers", lambda is_in_cell=False: None)
    monkeypatch.setattr("builtins.input", lambda prompt: lines.pop(0))
    return lines


def test_ranks_wait_for_the_one_at_a_breakpoint(world, user):
    world[:]["both"] = False
    pending = world[:].execute(CODE)
    wait_until(lambda: world._comms.prompts.stopped() == [1], "rank 1 asks", 30)
    try:
        wait_until(lambda: str(world.where(0)).startswith("0 in MPI_Barrier for "), "rank 0 waits", 30)
        assert str(world.where(1)).startswith("1 at a breakpoint in cell line 4 for ")
        user += ["!part = 40", "c"]
        pending.get(timeout=60)
        assert world[:]["whole"] == [41, 41]
    finally:
        world.interrupt(block=True)


def test_a_shared_prompt_steps_all_ranks_through_a_collective_call(world, user, capsys):
    world[:]["both"] = True
    user += ["n", "n", "n", "p whole", "c"]
    world[:].execute(CODE).get(timeout=60)
    said = capsys.readouterr().out
    assert "Engines 0,1 stopped at a breakpoint in cell line 4;" in said and "[0,1] 3\n" in said
