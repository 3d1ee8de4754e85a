"""Large arrays to engines on other hosts: each host gets one copy, and the controller holds none."""

import json
import signal
import sys

import bed as beds
import pytest

ENGINES = {"host2": 4, "host3": 4}
COUNT = 8 << 20  # 64 MiB of float64

# Runs on host1, beside the controller; sees the connection file as sys.argv[1].
CLIENT = '''
import json, re, sys, threading, time
import numpy as np
import polyxeus

def bytes_sent():
    counters = open("/proc/net/dev").read().splitlines()[2:]
    return sum(int(line.split(":")[1].split()[8]) for line in counters
               if line.split(":")[0].strip() != "lo")

def pss(pid):
    return int(re.search(r"^Pss: +(\\d+)", open(f"/proc/{pid}/smaps_rollup").read(), re.M)[1]) << 10

class Watched:  # the largest PSS of a process while it lasts
    def __init__(self, pid):
        self.pid, self.largest, self.is_done = pid, 0, threading.Event()
        self.thread = threading.Thread(target=self.watch)
    def watch(self):
        while not self.is_done.wait(0.01):
            self.largest = max(self.largest, pss(self.pid))
    def __enter__(self):
        self.thread.start()
        return self
    def __exit__(self, *_):
        self.is_done.set()
        self.thread.join()

rc = polyxeus.Client(sys.argv[1], timeout=20)
view = rc[:]

# where the array x lies on an engine
PLACE = """
import socket
place = None
for line in open("/proc/self/maps"):
    first, last = (int(end, 16) for end in line.split()[0].split("-"))
    if first <= x.ctypes.data < last and "polyxeus-arrays" in line:
        place = [socket.gethostname(), line.split()[4]]
"""
'''


@pytest.fixture(scope="module")
def cluster(bed):
    folder = bed.folder / "transfers"
    folder.mkdir()
    security = folder / "profile" / "security"
    bed.start_on(
        "host1",
        beds.program("pxcontroller"),
        f"--profile-dir={folder / 'profile'}",
        f"--ip={bed.address('host1')}",
        f"--location={bed.address('host1')}",
        "--cluster-id=",
        log=folder / "controller.log",
    )
    client_file = security / "ipcontroller-client.json"
    beds.wait_until(client_file.exists, "the controller is there")
    for host, count in ENGINES.items():
        for number in range(count):
            bed.start_on(
                host,
                beds.program("pxengine"),
                f"--file={security / 'ipcontroller-engine.json'}",
                log=folder / f"engine-{host}-{number}.log",
            )
    log = folder / "controller.log"
    beds.wait_until(
        lambda: log.read_text().count("finished registering") == sum(ENGINES.values()), "engines"
    )
    return client_file


def run(bed, cluster, code):
    """What a client on host1 says last."""
    command = (sys.executable, "-c", CLIENT + code, cluster)
    return json.loads(bed.exec_on("host1", *command, timeout=60).stdout.splitlines()[-1])


def files_in_memory(bed, host):
    """The segments that lie in the engines' folder of this host."""
    listing = bed.exec_on(host, "sh", "-c", "ls /dev/shm/polyxeus-arrays-*").stdout.split()
    return [name for name in listing if name.count(".") == 2]


@pytest.mark.parametrize("view", ["rc[:]", "rc.broadcast_view()"])
def test_each_host_gets_one_copy_which_its_engines_share(bed, cluster, view):
    [(pid, _)] = bed.processes("host1", "pxcontroller")
    said = run(
        bed,
        cluster,
        f"""
array = np.arange({COUNT}, dtype="<f8")
before = bytes_sent()
with Watched({pid}) as controller:
    {view}.push({{"x": array}}, block=True)
sent = bytes_sent() - before
view.execute(PLACE + "total = float(x.sum())", block=True)
print(json.dumps({{"sent": sent, "places": view["place"], "pss": controller.largest,
                   "right": [total == float(array.sum()) for total in view["total"]]}}))
""",
    )
    assert said["right"] == [True] * 8
    assert said["sent"] <= 2.1 * 8 * COUNT
    assert said["pss"] <= 40_000_000
    assert len({tuple(place) for place in said["places"]}) == 2  # each host's own segment
    for host in ENGINES:  # what the engines have mapped has no name any more
        beds.wait_until(lambda host=host: files_in_memory(bed, host) == [], "segments are released")


def test_a_large_result_passes_the_controller_in_pieces(bed, cluster):
    [(pid, _)] = bed.processes("host1", "pxcontroller")
    said = run(
        bed,
        cluster,
        f"""
view.execute("import numpy; y = numpy.arange({COUNT}, dtype='<f8')", block=True)
with Watched({pid}) as controller:
    pulled = rc[[0, 4]].pull("y", block=True)  # engines of two hosts
right = all(bool((each == np.arange({COUNT}, dtype="<f8")).all()) for each in pulled)
view.execute("del y", block=True)
print(json.dumps({{"right": right, "pss": controller.largest}}))
""",
    )
    assert said["right"]
    assert said["pss"] <= 40_000_000


def test_the_last_engine_of_a_host_leaves_nothing_there(bed, cluster):
    said = run(
        bed,
        cluster,
        """
view.push({"x": np.ones(1 << 20)}, block=True)
view.execute("import os, socket; who = [socket.gethostname(), os.getpid()]", block=True)
print(json.dumps(view["who"]))
""",
    )
    for host, pid in said:
        bed.kill(host, pid, signal.SIGTERM)
    for host in ENGINES:
        beds.wait_until(
            lambda host=host: "polyxeus" not in bed.exec_on(host, "ls", "/dev/shm").stdout,
            "the folder is gone",
        )
