"""In which calls engines are: what rc.stacks() and pxcluster stacks say of ranks that run Python."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import programs
import pytest
from c_loops import CLoop
from deadlines import wait_until
from running_cluster import connect

SVG = {"svg": "http://www.w3.org/2000/svg"}
BARRIER = "from mpi4py import MPI\nMPI.COMM_WORLD.Barrier()"
WITHOUT_PTRACE = [sys.executable, str(Path(__file__).with_name("without_ptrace.py"))]
ATTACH = "import ctypes; ctypes.CDLL(None).ptrace(0, 0, None, None)"
STACKS_OF_FOUR = (
    "\n0 at cell line 3 for ",
    "\n1 in C code that holds Python's lock for ",
    "\n2 and 3 in MPI_Barrier for ",
    "\n    nap                               cell line 3\n",
    "\n    inner_loop                        libspin.so\n",
    "\n    hang                              cell line 5\n",
)  # a stack while a cell begins can be of another line
SLEEP = "import time\ndef nap():\n    time.sleep(600)\nnap()"


@pytest.fixture
def ours(mpi_cluster):
    """Our own client of the four MPI engines."""
    with connect(mpi_cluster.connection_file("client"), 4, timeout=20) as client:
        yield client


@pytest.fixture
def spinning(tmp_path):
    """A cell that hangs in C code which keeps Python's lock."""
    loop = CLoop(tmp_path)
    yield loop
    loop.stop()


def until(client, is_met, **options):
    """The first of the answers of stacks() that is met."""

    def ask():
        stacks = client.stacks(**options)
        print(stacks)  # shown where it fails
        return stacks if is_met(stacks) else None

    return wait_until(ask, "stacks() says it", 30)


def functions(row):
    """Of the main thread of an engine, innermost first."""
    threads = [thread for thread in row["threads"] if thread["is_main"]]
    return [frame["function"] for thread in threads for frame in thread["frames"]]


def test_each_rank_is_told_with_its_calls_and_equal_ones_once(ours, spinning, cluster_cmd, mpi_cluster):
    cells = [ours[0].execute(SLEEP, block=False), ours[1].execute(spinning.code, block=False),
             ours[[2, 3]].execute(BARRIER, block=False)]  # fmt: skip
    try:
        stacks = until(ours, lambda rows: all(each in f"\n{rows}" for each in STACKS_OF_FOUR))
        hanging = functions(stacks[1])
        assert hanging[:2] == ["inner_loop", "spin_until"] and "hang" in hanging
        assert stacks[1]["holds_lock"]
        assert any(name and name.endswith("MPI_Barrier") for name in functions(stacks[2]))
        lines = str(stacks).splitlines()
        heads = [line for line in lines if not line.startswith(" ")]
        assert [head[:2] for head in heads[:3]] == ["0 ", "1 ", "2 "], heads
        assert not any("interactiveshell" in line for line in lines)
        assert "<pre>0 at " in stacks._repr_html_()

        command = [*cluster_cmd, "stacks", f"--profile-dir={mpi_cluster.profile_dir}"]
        told = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert "    inner_loop                        libspin.so" in told.stdout.splitlines(), told.stderr
        told = subprocess.run([*command, "--json", "-t", "1"], capture_output=True, text=True, timeout=60)
        (row,) = json.loads(told.stdout)
        assert set(row) == set(stacks[1]) and functions(row) == hanging
        assert cells[0].ready() is False  # to look has woken nobody
    finally:
        spinning.stop()
        ours.interrupt(0, block=True)
        ours[[0, 1]].execute(BARRIER, block=False).wait(60)
        for cell in cells:
            cell.wait(60)
    assert until(ours, lambda rows: {row["state"] for row in rows} == {"idle"})
    assert str(ours.stacks()).splitlines()[0] == "0-3 idle"


def test_threads_of_the_user_are_told_beside_the_main_thread(ours):
    ours[2].execute("import threading\ngoes_on = threading.Event()\ndef work():\n    goes_on.wait(600)\n"
                    "thread = threading.Thread(target=work)\nthread.start()").get(timeout=60)  # fmt: skip
    try:
        text = str(until(ours, lambda rows: "work" in str(rows)))
        assert "2: 1 thread besides the main thread" in text.splitlines()
        assert "    work                              line 4 of an earlier cell" in text or "cell line 4" in text
    finally:
        ours[2].execute("goes_on.set(); thread.join()").get(timeout=60)


def test_an_engine_that_does_not_answer_has_a_row_of_its_own(ours):
    pid = ours[3].apply_sync(os.getpid)
    os.kill(pid, signal.SIGSTOP)
    try:
        stacks = ours.stacks(timeout=2)
        assert "3 did not answer within 2 s" in str(stacks).splitlines()
        assert [row["state"] for row in stacks] == ["idle", "idle", "idle", "no answer"]
        assert stacks[3]["threads"] == []
    finally:
        os.kill(pid, signal.SIGCONT)


def test_a_flame_graph_has_the_odd_engine_first(ours, spinning, cluster_cmd, mpi_cluster, tmp_path):
    cells = [ours[[0, 2, 3]].execute(SLEEP, block=False), ours[1].execute(spinning.code, block=False)]
    file = tmp_path / "run.svg"
    try:
        until(ours, lambda rows: "inner_loop" in functions(rows[1])
              and all("nap" in functions(rows[each]) for each in (0, 2, 3)))  # fmt: skip
        command = [*cluster_cmd, "stacks", f"--profile-dir={mpi_cluster.profile_dir}", "--sample", "1", "-o", file]
        told = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert told.returncode == 0 and f"wrote {file}: open it in a browser" in told.stderr
        picture = ElementTree.parse(file).getroot()
        assert [each.text for each in picture.findall("svg:text", SVG)] == ["stacks of engines", "engine 1", "engines 0, 2 and 3"]
        titles = [each.text for each in picture.findall("svg:g/svg:title", SVG)]
        assert any(each.startswith("inner_loop (libspin.so): ") for each in titles)
        assert any(each.startswith("nap (cell line 3): ") for each in titles)
    finally:
        spinning.stop()
        ours.interrupt(block=True)
        for cell in cells:
            cell.wait(60)


def test_a_profile_has_the_functions_of_all_engines(ours, spinning, cluster_cmd, mpi_cluster, tmp_path):
    cells = [ours[0].execute(SLEEP, block=False), ours[1].execute(spinning.code, block=False)]
    file = tmp_path / "run.json"
    try:
        until(ours, lambda rows: "nap" in functions(rows[0]) and "inner_loop" in functions(rows[1]))
        command = [*cluster_cmd, "stacks", f"--profile-dir={mpi_cluster.profile_dir}", "--sample", "1", "-o", file]
        told = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert told.returncode == 0, told.stderr
        made = json.loads(file.read_text())
        names = {frame["name"] for frame in made["shared"]["frames"]}
        assert {"nap", "hang", "inner_loop", "idle"} <= names
        assert [profile["name"] for profile in made["profiles"]] == [
            "all engines", "engine 0", "engine 1", "engine 2", "engine 3"]  # fmt: skip
        for profile in made["profiles"]:
            assert len(profile["samples"]) == len(profile["weights"])
            assert all(0 <= each < len(made["shared"]["frames"]) for stack in profile["samples"] for each in stack)
    finally:
        spinning.stop()
        ours.interrupt(0, block=True)
        for cell in cells:
            cell.wait(60)


def test_stacks_are_told_where_no_process_may_look_at_another(own_cluster, spinning, cluster_cmd, monkeypatch):
    attached = subprocess.run([*WITHOUT_PTRACE, sys.executable, "-c", ATTACH], timeout=60)
    assert attached.returncode == -signal.SIGSYS
    for program in ("CONTROLLER", "ENGINE"):
        monkeypatch.setattr(programs, program, [*WITHOUT_PTRACE, *getattr(programs, program)])
    cluster = own_cluster()
    cluster.start_controller()
    cluster.start_engines(3)
    with connect(cluster.connection_file("client"), 3) as client:
        for pid in client[:].apply_sync(os.getpid):
            assert "Seccomp:\t2" in Path(f"/proc/{pid}/status").read_text()
        cells = [client[[0, 2]].execute(SLEEP, block=False), client[1].execute(spinning.code, block=False)]
        try:
            until(client, lambda rows: "inner_loop" in functions(rows[1])
                  and all("nap" in functions(rows[each]) for each in (0, 2)))  # fmt: skip
            command = [*WITHOUT_PTRACE, *cluster_cmd, "stacks", f"--profile-dir={cluster.profile_dir}"]
            told = subprocess.run(command, capture_output=True, text=True, timeout=60)
            heads = [line for line in told.stdout.splitlines() if not line.startswith(" ")]
            assert heads[0].startswith("1 in C code that holds Python's lock for "), told.stderr
            assert heads[1].startswith("0 and 2 at ")
            assert "    inner_loop                        libspin.so" in told.stdout.splitlines()
        finally:
            spinning.stop()
            client.interrupt(block=True)
            for cell in cells:
                cell.wait(60)
