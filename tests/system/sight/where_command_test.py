"""Who waits where: what rc.where() and pxcluster where say of ranks that run Python."""

import json
import os
import signal
import subprocess

import pytest
from deadlines import wait_until
from running_cluster import connect

BARRIER = """from mpi4py import MPI
comm = MPI.COMM_WORLD
if comm.rank == 2: raise ValueError("no luck")
comm.Barrier()"""

LATE = "MPI.COMM_WORLD.Barrier()"


@pytest.fixture
def ours(mpi_cluster):
    """Our own client of the four MPI engines."""
    with connect(mpi_cluster.connection_file("client"), 4, timeout=20) as client:
        yield client


def until(client, is_met):
    """The first of the answers of where() that is met."""

    def ask():
        places = client.where()
        print(places)  # shown where it fails
        return places if is_met(places) else None

    return wait_until(ask, "where() says it", 30)


def hold(client, code, **options):
    return client[:].execute(code, block=False, **options)


def test_ranks_that_wait_for_one_that_failed_are_told_with_their_line(ours, cluster_cmd, mpi_cluster):
    cell = hold(ours, BARRIER)
    try:
        places = until(ours, lambda rows: [row["line"] for row in rows] == [4, 4, None, 4]
                       and rows[2]["last_error"])  # fmt: skip
        assert [row["state"] for row in places] == ["busy", "busy", "idle", "busy"]
        assert {row["source"] for row in places if row["line"]} == {"comm.Barrier()"}
        assert all(row["msg_id"] == cell.msg_ids[row["engine"]] for row in places if row["line"])
        first, second, interrupts = str(places).splitlines()
        assert interrupts.startswith("0-3: interrupts of MPI calls: on (Open MPI v4")
        assert first.startswith("0, 1 and 3 ") and "cell line 4" in first
        assert "comm.Barrier()" in first and " s" in first
        assert second == "2 idle (its last cell raised ValueError)"
        assert "<div>2 idle" in places._repr_html_()

        where = [*cluster_cmd, "where", f"--profile-dir={mpi_cluster.profile_dir}"]
        told = subprocess.run(where, capture_output=True, text=True, timeout=60)
        assert told.stdout.splitlines()[1] == second, told.stderr
        told = subprocess.run([*where, "--json", "-t", "2,3"], capture_output=True, text=True, timeout=60)
        rows = json.loads(told.stdout)
        assert [row["engine"] for row in rows] == [2, 3] and set(rows[0]) == set(places[0])
        assert ours.where([2])[0]["engine"] == 2
    finally:
        ours[2].execute(LATE)
        cell.wait(60)
    assert until(ours, lambda rows: {row["state"] for row in rows} == {"idle"})


def test_the_line_in_a_function_is_told_with_its_name(ours):
    cell = hold(ours, "import time\ndef slow():\n    time.sleep(600)\n")
    cell.get(timeout=60)
    cell = hold(ours, "slow()")
    try:
        places = until(ours, lambda rows: {row["function"] for row in rows} == {"slow"})
        assert "0-3 at line 3 of slow() for " in str(places)
        assert str(places).splitlines()[0].endswith(": time.sleep(600)")
    finally:
        ours.interrupt(block=True)
        cell.wait(60)


def test_c_code_that_keeps_pythons_lock_holds_no_answer_up(ours, tmp_path):
    end = tmp_path / "end"
    os.mkfifo(end)
    # Whoever reads a pipe through PyDLL keeps the lock until somebody writes.
    cell = ours[1].execute(f"import ctypes, os\nend = os.open({str(end)!r}, os.O_RDWR)\n"
                           "ctypes.PyDLL(None).read(end, ctypes.create_string_buffer(1), 1)",
                           block=False)  # fmt: skip
    try:
        places = until(ours, lambda rows: rows[1]["holds_lock"])
        assert places[1]["state"] == "busy" and places[1]["line"] is None
        assert "1 in C code that holds Python's lock for " in str(places)
        assert {row["state"] for row in places if row["engine"] != 1} == {"idle"}
    finally:
        with open(end, "w") as writer:
            writer.write("x")
        cell.get(timeout=60)


def test_an_engine_that_does_not_answer_is_named(ours):
    pid = ours[3].apply_sync(os.getpid)
    os.kill(pid, signal.SIGSTOP)
    try:
        places = until(ours, lambda rows: rows[3]["state"] == "no answer")
        assert "3 did not answer within 1 s" in str(places).splitlines()
    finally:
        os.kill(pid, signal.SIGCONT)
