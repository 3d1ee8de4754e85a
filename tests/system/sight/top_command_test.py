"""pxcluster top: the live table of engines, on a terminal and for scripts."""

import json
import os
import pty
import signal
import subprocess
import time

import pytest
from deadlines import wait_until
from running_cluster import connect

SPIN = "while True: pass"


@pytest.fixture
def top(cluster_cmd, local_cluster):
    """The words of `pxcluster top` for the shared cluster."""
    return [*cluster_cmd, "top", f"--profile-dir={local_cluster.profile_dir}"]


@pytest.fixture
def busy(local_cluster):
    """A cell that engine 1 runs for ever."""
    with connect(local_cluster.connection_file("client"), 4, timeout=20) as client:
        cell = client[1].execute(SPIN, block=False)
        yield cell
        client.interrupt(targets=[1], block=True)
        cell.wait(60)


def rows_of(top, *options):
    told = subprocess.run([*top, "--once", "--json", *options], capture_output=True, text=True, timeout=60)
    assert told.returncode == 0, told.stderr
    return {row["engine"]: row for row in json.loads(told.stdout)}


def test_scripts_get_each_engine_with_its_share_of_a_processor(top, busy):
    row = wait_until(lambda: spinning(rows_of(top)), "engine 1 spins", 30)
    assert row["runs"] == "cell line 1: while True: pass" and row["seconds"] > 0
    assert row["memory"] > 1 << 20 and row["queue"] == 0 and row["call"] is None
    assert list(rows_of(top, "-t", "0")) == [0]


def spinning(rows):
    row = rows[1]
    return row if row["state"] == "busy" and (row["cpu_percent"] or 0) > 20 else None


def test_the_table_is_printed_once_for_a_pipe(top, busy):
    told = subprocess.run([*top, "--once"], capture_output=True, text=True, timeout=60)
    lines = told.stdout.splitlines()
    assert "engines:" in lines[0] and lines[1].split()[:3] == ["ENGINE", "HOST", "STATE"]
    assert [line.split()[0] for line in lines[2:4]] == ["0", "1"]


def test_a_terminal_is_redrawn_until_ctrl_c_and_keeps_the_last_table(top, busy):
    master, slave = pty.openpty()
    shown = subprocess.Popen(top, stdin=slave, stdout=slave, stderr=slave, start_new_session=True)
    os.close(slave)
    text = b""

    def read():
        nonlocal text
        text += os.read(master, 65536)
        return text.count(b"engines:") >= 3

    try:
        wait_until(read, "three tables", 30, 0)
        shown.send_signal(signal.SIGINT)
        end = time.monotonic() + 30
        while time.monotonic() < end:
            try:
                text += os.read(master, 65536)
            except OSError:  # its end is closed
                break
        assert shown.wait(60) == 0
    finally:
        shown.kill()
        shown.wait()
        os.close(master)
    assert b"\x1b[J" in text  # redrawn in its place
    last = text.rpartition(b"engines:")[2].decode()
    assert last.endswith("\n") and "while True: pass" in last


def test_a_cluster_that_does_not_run_has_no_table(cluster_cmd, tmp_path):
    told = subprocess.run([*cluster_cmd, "top", "--once", f"--profile-dir={tmp_path}"], capture_output=True, timeout=60)
    assert told.returncode == 11
