"""A host whose disk hangs: what is asked of the cluster meanwhile is answered, and stands in the journal."""

import json
import sys

import bed as beds
import pytest
from host_cluster import HostCluster

HOST = "host1"
DISK = "/tmp/disk"

# Sees the connection file as sys.argv[1] and the disk as sys.argv[2]. Every answer comes while the
# disk hangs.
CLIENT = """
import json, subprocess, sys, time, warnings
import polyxeus

file, disk = sys.argv[1:]
rc = polyxeus.Client(file, timeout=20)
rc.wait_for_engines(2, timeout=60)
balanced = rc.load_balanced_view()
said = {"tasks": 0, "calls": 0, "warnings": []}
subprocess.run(["fsfreeze", "--freeze", disk], check=True)
try:
    deadline = time.monotonic() + 60
    while len(said["warnings"]) < 2 and time.monotonic() < deadline:  # each journal has its own time
        said["tasks"] += sum(balanced.map(abs, range(-10, 0)).get(60)) == 55
        said["calls"] += rc[:].apply(abs, -1).get(60) == [1, 1]
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            polyxeus.Client(file, timeout=20).close()
        said["warnings"] = [str(each.message) for each in caught]
        time.sleep(0.5)
    events = lambda: [each["kind"] for each in rc.events()].count("journal")
    while events() < 2 and time.monotonic() < deadline:
        time.sleep(0.1)
    said["events"] = events()
    said["late"] = balanced.apply(abs, -7).msg_ids
    said["ids"] = rc.ids
    rc.close()
finally:
    subprocess.run(["fsfreeze", "--unfreeze", disk], check=True)
print(json.dumps(said))
"""

FETCH = """
import sys
import polyxeus
print(polyxeus.Client(sys.argv[1], timeout=20).get_result([sys.argv[2]]).get(60))
"""


@pytest.fixture
def cluster(own_bed):
    """Of two engines; its profile is on a disk of its own."""
    script = (
        f"mkdir {DISK} && truncate -s 100M /tmp/image && mkfs.ext4 -q /tmp/image && "
        f"mount -o loop /tmp/image {DISK}"
    )
    own_bed.exec_on(HOST, "sh", "-c", script)
    cluster = HostCluster(own_bed, folder=f"{DISK}/ipython")
    cluster.start("-n", "2")
    yield cluster
    cluster.stop()
    own_bed.exec_on(HOST, "umount", DISK)


def python(cluster, code, *arguments):
    done = cluster.bed.exec_on(HOST, sys.executable, "-c", code,
                               f"{cluster.profile_dir}/security/ipcontroller-client.json",
                               *arguments, timeout=120)
    return done.stdout.splitlines()[-1]


def test_a_disk_that_hangs_holds_up_nobody(cluster):
    said = json.loads(python(cluster, CLIENT, DISK))
    assert said["tasks"] == said["calls"] >= 3
    assert said["ids"] == [0, 1]
    assert all("journal of" in text and "the disk has not answered for 1" in text
               for text in said["warnings"])
    assert len(said["warnings"]) == 2  # of tasks, and of direct calls
    beds.wait_until(lambda: "the disk answers again" in cluster.log(), "the log says so")
    # What happened meanwhile is told, and stands in the event log once the disk answers.
    assert said["events"] == 2
    beds.wait_until(lambda: cluster.log("events-*.jsonl").count('"kind":"journal"') >= 4, "its file has them")
    # What came meanwhile stands on the disk for the next controller.
    found = cluster.bed.processes(HOST, "pxcontroller")
    (pid,) = [pid for pid, line in found if "pxcluster" not in line]
    cluster.bed.exec_on(HOST, "kill", "-9", str(pid))
    assert python(cluster, FETCH, *said["late"]) == "[7]"
