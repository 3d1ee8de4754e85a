"""Traces of ranks: MPI calls with their peers and bytes, and the rank that kept the others waiting."""

import json

import pytest
from running_cluster import connect

SLOW_RANK = """
import time
import numpy as np
from mpi4py import MPI
comm = MPI.COMM_WORLD
mine, total = np.full(10, comm.rank, "d"), np.empty(10)
if comm.rank == 2:
    time.sleep(1)
comm.Allreduce(mine, total)
"""

RING = """
import numpy as np
from mpi4py import MPI
comm = MPI.COMM_WORLD
got = np.empty(100_000)
if comm.rank == 0:
    comm.Send(np.arange(100_000.0), dest=3, tag=7)
elif comm.rank == 3:
    comm.Recv(got, source=0, tag=7)
comm.Barrier()
"""


FROM_ANY = """
import numpy as np
from mpi4py import MPI
comm = MPI.COMM_WORLD
got = np.empty(10)
if comm.rank == 0:
    for _ in range(2):
        comm.Recv(got, source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG)
elif comm.rank in (1, 2):
    comm.Send(got, dest=0, tag=comm.rank)
comm.Barrier()
if comm.rank == 0:
    assert comm.recv() == "pickled"
elif comm.rank == 3:
    comm.send("pickled", dest=0)
"""

RING_OF_SENDRECV = """
import numpy as np
from mpi4py import MPI
comm = MPI.COMM_WORLD
comm.Sendrecv(np.empty(10), (comm.rank + 1) % 4, 3, np.empty(10), MPI.ANY_SOURCE, 3)
"""


@pytest.fixture
def ours(mpi_cluster):
    """Our own client of the four MPI engines."""
    with connect(mpi_cluster.connection_file("client"), 4, timeout=20) as client:
        yield client


def traced(client, code, folder):
    """(the Trace, {rank: its MPI calls as slices of Chrome's JSON, by their beginnings}, all events)"""
    path = folder / "run.json"
    client[:].execute("from mpi4py import MPI; MPI.COMM_WORLD.Barrier()", block=True)
    with client.trace(path) as trace:
        client[:].execute(code, block=True).get()
    events = json.loads(path.read_text())["traceEvents"]
    ranks = {each["pid"]: int(each["args"]["name"].split()[1]) for each in events
             if each["name"] == "process_name" and each["args"]["name"].startswith("engine ")}  # fmt: skip
    calls = {rank: [] for rank in range(4)}
    for each in sorted((each for each in events if each["ph"] == "X" and each["cat"] == "mpi"), key=lambda e: e["ts"]):
        calls[ranks[each["pid"]]].append(each)
    return trace, calls, events


def test_the_trace_of_a_cell_with_a_slow_rank_names_it(ours, tmp_path):
    trace, calls, _ = traced(ours, SLOW_RANK, tmp_path)
    assert trace.late.rank == 2 and trace.late.calls >= 1
    assert trace.late.waited >= 0.5e9
    assert "rank 2 was late: it was the last to reach " in repr(trace)
    for rank in range(4):
        (call,) = [each for each in calls[rank] if each["name"] == "MPI_Allreduce"]
        told = call["args"]
        assert (told["size"], told["bytes"], told["last_to_come"]) == (4, 80, "rank 2")
        assert (told["late_ms"] > 500) == (rank == 2)
        assert (call["dur"] > 500_000) == (rank != 2)
        assert (told["waited_ms"] > 500) == (rank != 2)
        assert any(each["name"] == "wait for other ranks" and each["ts"] == call["ts"] for each in calls[rank])
    assert len({each["args"]["communicator"] for rank in calls.values() for each in rank if each["name"] == "MPI_Allreduce"}) == 1


def test_a_message_is_shown_with_its_peer_and_bytes_and_a_flow(ours, tmp_path):
    _, calls, events = traced(ours, RING, tmp_path)
    (send,) = [each for each in calls[0] if each["name"] == "MPI_Send"]
    (receive,) = [each for each in calls[3] if each["name"] == "MPI_Recv"]
    assert (send["args"]["peer"], send["args"]["tag"], send["args"]["bytes"]) == (3, 7, 800_000)
    assert (receive["args"]["peer"], receive["args"]["tag"], receive["args"]["bytes"]) == (0, 7, 800_000)
    begins = [each["id"] for each in events if each["ph"] == "s" and each["ts"] == send["ts"]]
    ends = [each["id"] for each in events if each["ph"] == "f" and each["pid"] == receive["pid"]]
    assert len(begins) == 1 and begins[0] in ends


def flows(calls, events):
    """[(rank that sent, rank that received), ...] of messages, sorted."""
    rank_of = {each["pid"]: rank for rank, found in calls.items() for each in found}
    begins = {each["id"]: rank_of.get(each["pid"]) for each in events if each["ph"] == "s"}
    ends = [(begins[each["id"]], rank_of.get(each["pid"])) for each in events if each["ph"] == "f"]
    return sorted(each for each in ends if each[0] is not None)


def test_receives_from_any_rank_tell_whose_message_came(ours, tmp_path):
    _, calls, events = traced(ours, FROM_ANY, tmp_path)
    told = [each["args"] for each in calls[0] if each["name"] == "MPI_Recv"]
    assert sorted((each["peer"], each["tag"]) for each in told) == [(1, 1), (2, 2)]
    assert flows(calls, events) == [(1, 0), (2, 0), (3, 0)]


def test_calls_that_send_and_receive_have_both_flows(ours, tmp_path):
    _, calls, events = traced(ours, RING_OF_SENDRECV, tmp_path)
    assert [len([each for each in calls[rank] if each["name"] == "MPI_Sendrecv"]) for rank in range(4)] == [1] * 4
    assert flows(calls, events) == [(rank, (rank + 1) % 4) for rank in range(4)]


def test_calls_after_a_trace_are_not_recorded(ours, tmp_path):
    traced(ours, "pass", tmp_path)
    ours[:].execute(SLOW_RANK, block=True)
    _, calls, _ = traced(ours, "pass", tmp_path)
    assert calls == {rank: [] for rank in range(4)}
