"""A host whose /dev/shm has 64 MiB, as a container has: what finds no room there lies on the disk, or takes
the slower way through sockets."""

import json
import sys
from contextlib import contextmanager

import bed as beds
import pytest
from host_cluster import HostCluster

HOST = "host1"
DISK = f"{beds.HOME}/temporary"

# Sees the connection file as sys.argv[1].
CLIENT = """
import json, os, sys, warnings
import numpy as np
import polyxeus

def full(number, mebibytes):
    return np.full(mebibytes << 17, float(number))

def is_right(sums, number, mebibytes):
    return list(sums) == [number * (mebibytes << 17)] * len(sums)

def in_memory():
    return any("polyxeus-arrays" in line for line in open("/proc/self/maps"))

rc = polyxeus.Client(sys.argv[1], timeout=20)
rc.wait_for_engines(2, timeout=60)
view = rc[:]
"""


@pytest.fixture
def host(own_bed):
    own_bed.exec_on(HOST, "mount", "-o", "remount,size=64m", "/dev/shm")
    yield own_bed
    assert own_bed.exec_on(HOST, "ls", "/dev/shm").stdout == ""


@contextmanager
def cluster_with(host, temporary):
    """A cluster of two engines; `temporary`: its folder for temporary files."""
    cluster = HostCluster(host, host=HOST)
    # Whoever enters the host may lose $TMPDIR on the way.
    start = ("env", f"TMPDIR={temporary}", cluster.program, "start", "--daemonize", "-n", "2")
    host.exec_on(HOST, *start, **cluster.environment)
    yield cluster
    cluster.run("stop")


@pytest.fixture
def cluster(host):
    """Its folder for temporary files is on a disk."""
    host.exec_on(HOST, "mkdir", DISK)
    with cluster_with(host, DISK) as cluster:
        yield cluster
    assert host.exec_on(HOST, "ls", DISK).stdout == ""


@pytest.fixture
def cluster_without_disk(host):
    """Its folder for temporary files is in memory."""
    with cluster_with(host, "/dev/shm") as cluster:
        yield cluster


def run(cluster, code):
    """What a client says last, and what it warns of."""
    file = f"{cluster.profile_dir}/security/ipcontroller-client.json"
    done = cluster.bed.exec_on(HOST, sys.executable, "-c", CLIENT + code, file, timeout=60)
    return json.loads(done.stdout.splitlines()[-1]), done.stderr


# Pushes and pulls arrays that memory has room for, and such that it has no room for.
LARGE_AND_SMALL = """
sums = []
for mebibytes in (100, 8, 100):
    view.push({"x": full(3, mebibytes)}, block=True)
    sums.append(is_right(view.apply_sync(lambda: float(x.sum())), 3, mebibytes))
    pulled = rc[1].pull("x", block=True)
    sums.append(bool((pulled == 3).all()) and len(pulled) == mebibytes << 17)
shared = [view.apply_sync(in_memory)]
view.push({"x": full(4, 8)}, block=True)
shared.append(view.apply_sync(in_memory))
print(json.dumps({"right": sums, "shared": shared}))
"""


def test_what_is_too_large_lies_on_the_disk(cluster):
    before = memory_peak(cluster)
    said, warned = run(cluster, LARGE_AND_SMALL)
    assert said == {"right": [True] * 6, "shared": [[True, True], [True, True]]}
    assert warned.count(f"slower way through files in {DISK}/") == 1
    assert "/dev/shm" in warned
    assert memory_peak(cluster) - before < 60 << 20


def test_what_lies_on_the_disk_does_not_count_as_shared_memory(cluster):
    said, _ = run(
        cluster,
        """
view.push({"x": full(3, 100)}, block=True)
[host] = rc.memory()
print(json.dumps({"memory": host["bytes"], "disk": host["on_disk"], "text": str(rc.memory())}))
""",
    )
    assert said["memory"] == 0
    assert said["disk"] == [{"bytes": 100 << 20, "engines": [0, 1], "client": False}]
    assert "in files on its disk 105 MB in arrays (engines 0 and 1: 105 MB)" in said["text"]


def test_what_waits_to_be_written_again_makes_room(cluster):
    said, _ = run(
        cluster,
        """
view.push({"x": full(3, 24)}, block=True)
view.execute("del x", block=True)
view.push({"y": full(4, 36)}, block=True)
[host] = rc.memory()
print(json.dumps({"memory": host["bytes"], "disk": host["on_disk"]}))
""",
    )
    assert said == {"memory": 36 << 20, "disk": []}


def test_without_a_disk_it_passes_sockets_and_the_rest_does_not(cluster_without_disk):
    said, warned = run(cluster_without_disk, LARGE_AND_SMALL)
    assert said == {"right": [True] * 6, "shared": [[False, False], [True, True]]}
    assert warned.count("slower way through sockets") == 1 and "/dev/shm" in warned


def memory_peak(cluster):
    """The controller's, in bytes."""
    found = cluster.bed.processes(HOST, "pxcontroller")
    (pid,) = [pid for pid, line in found if "pxcluster" not in line]
    status = cluster.bed.exec_on(HOST, "cat", f"/proc/{pid}/status").stdout
    return int(status.split("VmHWM:")[1].split()[0]) << 10


def test_without_a_disk_a_large_result_passes_the_controller_in_pieces(cluster_without_disk):
    before = memory_peak(cluster_without_disk)
    said, warned = run(
        cluster_without_disk,
        """
view.execute("import numpy as np; x = np.arange(200 << 17) / 8", block=True)
pulled = rc[1].pull("x", block=True)
print(json.dumps(bool((pulled == np.arange(200 << 17) / 8).all())))
""",
    )
    assert said is True
    assert memory_peak(cluster_without_disk) - before < 60 << 20


def test_results_leave_no_file_where_memory_is_short(cluster):
    said, _ = run(
        cluster,
        """
view.execute("import numpy as np; x = np.full(6 << 17, 2.0)", block=True)
held = [rc[0].pull("x", block=True) for _ in range(8)]
files = [os.path.join(folder, name) for folder, _, names in os.walk("/dev/shm") for name in names]
sizes = [os.stat(file).st_blocks * 512 for file in files]
left = [size for size in sizes if size > 1 << 20]
again = [bool((rc.get_result(id, block=True).get() == 2).all()) for id in rc.history[-8:]]
print(json.dumps({"right": [bool((each == 2).all()) for each in held], "left": left, "again": again}))
""",
    )
    assert said == {"right": [True] * 8, "left": [], "again": [True] * 8}


def test_engines_that_keep_all_that_they_get(cluster):
    said, _ = run(
        cluster,
        """
view.execute("kept = []", block=True)
sent = []
for number in range(40):
    sent.append(view.push({"x": full(number, 4)}, block=False))
    sent.append(view.execute("kept.append(x)", block=False))
for each in sent:
    each.get()
right = view.apply_sync(lambda: [(float(each[0]), float(each.sum()) / len(each)) for each in kept])
print(json.dumps({"right": right == [[(number, number) for number in range(40)]] * 2}))
""",
    )
    assert said["right"]


def test_a_full_file_system(cluster):
    said, warned = run(
        cluster,
        """
with open("/dev/shm/of-others", "wb") as file:
    try:
        while True:
            file.write(bytes(1 << 20))
            file.flush()
    except OSError as problem:
        assert problem.errno == 28
view.push({"x": full(5, 8)}, block=True)
right = [is_right(view.apply_sync(lambda: float(x.sum())), 5, 8)]
right.append(bool((rc[0].pull("x", block=True) == 5).all()))
tasks = rc.load_balanced_view().map_sync(lambda a: float(a.sum()), [full(6, 4)] * 4)
right.append(is_right(tasks, 6, 4))
os.unlink("/dev/shm/of-others")
print(json.dumps(right))
""",
    )
    assert said == [True] * 3
    assert "slower way" in warned


def test_the_doctor_names_it(cluster):
    done = cluster.run("doctor", check=False)
    assert "/dev/shm has 6" in done.stdout and "are written to files on a disk" in done.stdout
