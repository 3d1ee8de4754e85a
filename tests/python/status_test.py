"""What `rc.status()` and `rc.topology()` say of each engine."""

import json
import os
import signal
import socket
import subprocess
from pathlib import Path

import pytest
from deadlines import wait_until

from polyxeus import error
from polyxeus.client.topology import ClusterTopology


def until(is_met, what, seconds=20):
    wait_until(is_met, what, seconds)


def test_what_each_engine_is_and_does(rc):
    pids = rc[:].apply_sync(os.getpid)
    cell = rc[1].execute("\nimport time\ntime.sleep(600)", block=False)

    def slow_solver():
        import time

        time.sleep(600)

    call = rc[2].apply_async(slow_solver)
    waiting = rc[2].apply_async(abs, -1)
    try:
        until(lambda: [row["state"] for row in rc.status()] == ["idle", "busy", "busy", "idle"],
              "two busy engines")
        rows = rc.status()
        assert [row["engine"] for row in rows] == [0, 1, 2, 3]
        assert [row["pid"] for row in rows] == pids
        assert {row["host"] for row in rows} == {socket.gethostname()}
        assert {row["language"] for row in rows} == {"python"}
        assert [row["runs"] for row in rows] == [None, "import time", "slow_solver", None]
        assert [row["queue"] for row in rows] == [0, 0, 1, 0]
        assert rows[1]["runs_for"] >= 0 and rows[1]["msg_id"] == cell.msg_ids[0]
        assert all(row["memory"] > 1 << 20 and row["cpu"] > 0 for row in rows)
        lines = str(rows).splitlines()
        assert len(lines) == 5 and "RUNS" in lines[0] and lines[3].endswith("slow_solver")
        assert "<td>slow_solver</td>" in rc._repr_html_()
        assert "<td>slow_solver</td>" in rc[2]._repr_html_() and "slow_solver" not in rc[:2]._repr_html_()
        assert "1 unanswered request" not in rc.load_balanced_view()._repr_html_()
        assert "running for" in call._repr_mimebundle_()["text/html"]
        assert "waiting" in waiting._repr_mimebundle_()["text/html"]
        assert rc.outstanding == {*cell.msg_ids, *call.msg_ids, *waiting.msg_ids}
    finally:
        rc.interrupt(block=True)
        rc.wait([cell, call, waiting], timeout=20)


def test_an_engine_that_does_not_answer_is_shown_and_holds_nobody_up(own):
    rc = own(2)
    pid = rc[0].apply_sync(os.getpid)
    os.kill(pid, signal.SIGSTOP)
    try:
        until(lambda: Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T",
              "the engine is stopped")  # another thread may answer until the main one is
        rows = rc.status(timeout=0.3)
        assert [row["state"] for row in rows] == ["no answer", "idle"]
        assert rows[0]["pid"] == pid and rows[0]["silent_for"] > 0
        assert "no answer for" in str(rows)
        assert "no answer for" in rc._repr_html_() and "idle" in rc._repr_html_()
        assert rc.outstanding == set() and rc.wait(timeout=0)
    finally:
        os.kill(pid, signal.SIGCONT)


def test_a_controller_that_does_not_answer_holds_no_repr_up(own):
    rc = own(1)
    controller = json.loads(Path(rc._where).read_text())["process"]["pid"]
    os.kill(controller, signal.SIGSTOP)
    try:
        html = rc._repr_html_()
        assert "<td>0</td>" in html and "no answer" in html
    finally:
        os.kill(controller, signal.SIGCONT)
    rc.close()
    assert "closed" in rc._repr_html_() and "<table>" not in rc._repr_html_()


def test_the_same_table_from_the_shell(rc, running):
    place = [f"--profile-dir={running.profile_dir}", "--cluster-id="]
    told = subprocess.run(["pxcluster", "status", "--json", *place], capture_output=True, text=True)
    assert told.returncode == 0, told.stderr
    rows = json.loads(told.stdout)
    assert [set(row) for row in rows] == [set(row) for row in rc.status()]
    table = subprocess.run(["pxcluster", "status", "-t", "1:3", *place], capture_output=True, text=True)
    assert [line.split()[0] for line in table.stdout.splitlines()] == ["ENGINE", "1", "2"]


def test_what_the_controller_measures(rc):
    pids = rc[:].apply_sync(os.getpid)
    assert rc[0].apply_sync(abs, -3) == 3
    with pytest.raises(error.RemoteError, match="ZeroDivisionError"):
        rc[1].apply_sync(divmod, 1, 0)
    cell = rc[2].execute("\nimport time\nprint('hello')\ntime.sleep(600)", block=False)

    def seen():
        measures = rc.measures()
        rows = measures["engines"]
        is_whole = len(rows) == 4 and all(row.get("measured_ago") is not None and row.get("requests") for row in rows)
        states = [row["state"] for row in rows]
        is_told = is_whole and states == ["idle", "idle", "busy", "idle"] and rows[2].get("runs") and rows[1].get("errors")
        return measures if is_told and measures["cells"][-1]["parts"][0].get("output") else None

    try:
        measures = wait_until(seen, "measures of all engines", 20)
        rows = measures["engines"]
        assert [row["id"] for row in rows] == [0, 1, 2, 3] and measures["engine_count"] == 4
        assert [row["pid"] for row in rows] == pids
        assert rows[2]["runs"] == "import time" and rows[2]["line"] == "time.sleep(600)"
        assert rows[2]["msg_id"] == cell.msg_ids[0]
        assert all(row["process"]["memory"] > 1 << 20 and row["process"]["descriptors"] > 3 for row in rows)
        assert rows[1]["last_error"].startswith("ZeroDivisionError")
        [host] = measures["hosts"]
        assert host["name"] == socket.gethostname() and host["engines"] == 4 and host["busy"] == 1
        assert measures["durations_total"]["count"] > 0 and measures["work"]["direct"] == 1
        assert measures["cells"][-1]["parts"][0]["output"] == "hello\n"
        assert any(client.get("unfinished") == 1 for client in measures["clients"])
        assert [row["measures"]["id"] for row in rc.status()] == [0, 1, 2, 3]
    finally:
        rc.interrupt(block=True)
        rc.wait([cell], timeout=20)


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_cluster_that_does_not_run_has_no_status(folder, options):
    told = subprocess.run(["pxcluster", "status", "--profile=nothing", *options],
                          capture_output=True, text=True)
    assert told.returncode == 11
    assert bool(told.stdout) == bool(options)


RANK = {"host": "node1", "rank": 0, "pid": 71, "cores": "0-3,8", "sockets": "0", "numa_nodes": "0-1", "threads": "OMP=2 NUMBA=2"}
NODE2 = {"host": "node2", "rank": 1, "pid": 72, "cores": "0,2,4,...", "gpus": "0", "threads": "OMP=4 MKL=1"}


def test_each_engine_has_its_place_even_while_it_is_busy(rc):
    busy = rc[1].execute("import time; time.sleep(600)", block=False)
    try:
        until(lambda: rc.status()[1]["state"] == "busy", "a busy engine")
        rows = rc.topology()
    finally:
        rc.interrupt(block=True)
        rc.wait([busy], timeout=20)
    assert [row["engine"] for row in rows] == [0, 1, 2, 3]
    assert rows.hosts == {socket.gethostname(): [0, 1, 2, 3]}
    assert [row["pid"] for row in rows] == rc[:].apply_sync(os.getpid)
    assert [row["cores"] for row in rows] == rc[:].apply_sync(lambda: sorted(os.sched_getaffinity(0)))
    set_there = rc[:].apply_sync(lambda: os.environ.get("OMP_NUM_THREADS"))
    assert [row["threads"].get("OMP_NUM_THREADS") for row in rows] == set_there
    assert len(str(rows).splitlines()) == 5


def test_the_facts_of_engines_become_numbers():
    rows = ClusterTopology({0: RANK, 1: NODE2})
    assert rows[0]["cores"] == [0, 1, 2, 3, 8] and rows[0]["sockets"] == [0] and rows[0]["numa_nodes"] == [0, 1]
    assert rows[0]["threads"] == {"OMP_NUM_THREADS": "2", "NUMBA_NUM_THREADS": "2"} and rows[0]["gpus"] is None
    assert rows[1]["cores"] == [0, 2, 4] and rows[1]["gpus"] == "0"


def test_it_is_printed_as_a_table_host_by_host():
    rows = ClusterTopology({0: RANK, 1: NODE2, 2: {**RANK, "rank": 2, "cores": "4-7"}})
    assert str(rows) == (
        "ENGINE  HOST   RANK  PID  CORES      SOCKET  NUMA  GPU  THREADS\n"
        "0       node1  0     71   0-3,8      0       0,1   -    2\n"
        "2       node1  2     71   4-7        0       0,1   -    2\n"
        "1       node2  1     72   0,2,4,...  -       -     0    OMP=4 MKL=1"
    )
    assert rows.hosts == {"node1": [0, 2], "node2": [1]}
    assert rows._repr_html_().count("<tr>") == 4 and "<td>OMP=4 MKL=1</td>" in rows._repr_html_()


def test_an_engine_of_which_nothing_is_known_is_listed():
    rows = ClusterTopology({3: {}})
    assert rows[0]["cores"] == [] and rows[0]["threads"] == {} and rows.hosts == {None: [3]}
    assert str(rows).splitlines()[1].split() == ["3", *["-"] * 8]
