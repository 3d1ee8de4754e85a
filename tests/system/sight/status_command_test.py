"""What pxcluster status says to scripts: all that is measured, of each engine and of the whole cluster."""

import json
import subprocess

import pytest
from deadlines import wait_until
from running_cluster import connect

BARRIER = "from mpi4py import MPI\nMPI.COMM_WORLD.Barrier()"


@pytest.fixture
def ours(mpi_cluster):
    """Our own client of the four MPI engines."""
    with connect(mpi_cluster.connection_file("client"), 4, timeout=20) as client:
        yield client


def test_scripts_get_all_that_is_measured(ours, cluster_cmd, mpi_cluster):
    def told(*options):
        command = [*cluster_cmd, "status", f"--profile-dir={mpi_cluster.profile_dir}", *options]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def of_engines():
        """Once each engine has told what it does now."""
        rows = [row["measures"] or {} for row in told("--json")]
        whole = rows[0].get("mpi") and rows[0].get("queued") and rows[2].get("line") and rows[3].get("errors")
        whole = whole and rows[0].get("state_seconds")  # none yet if this very question found it busy
        return rows if whole else None

    assert ours.load_balanced_view().map_sync(abs, range(-8, 0)) == list(range(8, 0, -1))
    ours[3].execute("1/0", block=False).wait(60)
    work = [ours[[0, 1]].execute(BARRIER, block=False), ours[0].apply_async(abs, -1),
            ours[2].execute("import time\ntime.sleep(600)", block=False)]  # fmt: skip
    try:
        rows = wait_until(of_engines, "each engine tells what it does", 30, 0.2)
        assert [row["state"] for row in rows] == ["busy", "busy", "busy", "idle"]
        assert rows[0]["queued"] == 1
        assert rows[0]["mpi"]["call"] == "MPI_Barrier" and rows[0]["mpi"]["seconds"] > 0
        assert rows[2]["line"] == "time.sleep(600)" and rows[2]["runs"] == "import time"
        assert rows[3]["last_error"].startswith("ZeroDivisionError")
        for row in rows:
            assert set(row["process"]) == {"memory", "cpu", "threads", "descriptors"}
            assert row["in"]["socket"] > 0 and row["out"]["socket"] > 0 and row["requests"] > 0
        whole = told("--measures")
        assert set(whole) == set(ours.measures())
        assert whole["durations_total"]["count"] >= 8 and whole["queueing_total"]["count"] >= 8
        assert any(client.get("unfinished") == 4 for client in whole["clients"])
        assert {"memory", "cpu", "cpu_share", "threads"} <= set(whole["controller"])
        (host,) = whole["hosts"]
        assert (host["engines"], host["busy"]) == (4, 3)
    finally:
        ours.interrupt(2, block=True)
        ours[[2, 3]].execute(BARRIER, block=False).wait(60)
        for each in work:
            each.wait(60)


def test_one_engine_alone_has_no_measures_of_the_cluster(cluster_cmd, mpi_cluster):
    command = [*cluster_cmd, "status", f"--profile-dir={mpi_cluster.profile_dir}", "--measures", "-t", "1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "--targets" in done.stderr


def test_a_request_that_goes_on_is_told_of_before_the_next_heartbeat(own_cluster):
    cluster = own_cluster()
    cluster.start_controller("--ping=600000")
    cluster.start_engines(1)
    with connect(cluster.connection_file("client"), 1) as rc:
        cell = rc[0].execute("import time\ntime.sleep(600)", block=False)
        (row,) = wait_until(lambda: [row for row in rc.measures()["engines"] if row.get("line")], "its line is told", 30)
        assert row["line"] == "time.sleep(600)" and row["state"] == "busy"
        rc.interrupt(0, block=True)
        cell.wait(60)
