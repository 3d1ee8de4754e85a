"""A cluster that Python has started ends with that Python, whatever ends it."""

import json
import os
import signal
import subprocess
import sys

import pytest
from deadlines import wait_until

START = """
import multiprocessing, os, sys, time
import polyxeus as ipp
cluster = ipp.Cluster(n=1, profile="owned", cluster_id=sys.argv[1]{options})
rc = cluster.start_and_connect_sync()
print("up", flush=True)
{then}
"""


def start(folder, name, then="time.sleep(600)", options=""):
    """A Python that owns a cluster."""
    code = START.format(then=then, options=options)
    process = subprocess.Popen(
        [sys.executable, "-c", code, name], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "up\n"
    return process


def clusters(name):
    listed = subprocess.run(
        ["pxcluster", "list", "--profile=owned", "--json"], check=True, capture_output=True
    )
    return [each for each in json.loads(listed.stdout) if each["cluster"]["cluster_id"] == name]


def until(is_met, what, seconds=20):
    wait_until(is_met, what, seconds)


def stop(name):
    subprocess.run(["pxcluster", "stop", "--profile=owned", name], capture_output=True)


@pytest.mark.parametrize("way", ["SIGKILL", "os._exit"])
def test_a_cluster_ends_with_the_python_that_was_killed(folder, way):
    name = f"by-{way}"
    owner = start(folder, name, "os._exit(3)" if way == "os._exit" else "time.sleep(600)")
    if way == "SIGKILL":
        listed, = clusters(name)
        assert listed["owner"]["pid"] == owner.pid
        assert sys.executable in listed["owner"]["command"]
        owner.kill()
    owner.wait(60)
    until(lambda: not clusters(name), "the end of the cluster")


def test_a_child_of_the_owner_neither_ends_the_cluster_nor_keeps_it(folder):
    then = """
child = os.fork()
if child == 0:
    sys.exit()  # runs atexit
os.waitpid(child, 0)
left = multiprocessing.get_context("fork").Process(target=time.sleep, args=(600,))
left.start()
print(left.pid, flush=True)
print(rc[0].apply_sync(abs, -3), flush=True)
time.sleep(600)
"""
    owner = start(folder, "with-child", then)
    left = int(owner.stdout.readline())
    try:
        assert owner.stdout.readline() == "3\n"  # the first child has ended, the cluster has not
        owner.kill()
        owner.wait(60)
        until(lambda: not clusters("with-child"), "the end of the cluster")
        os.kill(left, 0)  # and the second one lives
    finally:
        os.kill(left, signal.SIGKILL)


@pytest.mark.parametrize("when", ["from the start", "later"])
def test_a_cluster_that_is_to_stay_outlives_its_python(folder, when):
    name = f"stays-{when.replace(' ', '-')}"
    is_later = when == "later"
    owner = start(
        folder,
        name,
        "cluster.shutdown_atexit = False; os._exit(0)" if is_later else "os._exit(0)",
        "" if is_later else ", shutdown_atexit=False",
    )
    try:
        owner.wait(60)
        until(lambda: clusters(name)[0]["owner"] is None, "the news that it is nobody's")
        assert subprocess.run(
            ["pxcluster", "px", "--profile=owned", f"--cluster-id={name}", "print(1)"],
            capture_output=True, text=True,
        ).returncode == 0
    finally:
        stop(name)
