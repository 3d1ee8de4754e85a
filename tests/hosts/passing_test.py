"""Large arrays to the ranks of one MPI world on two hosts: one copy leaves the controller, and the ranks pass it on."""

import json
import shutil
import signal
import sys

import bed as beds
import pytest
from host_cluster import HostCluster
from transfers_hosts_test import CLIENT, COUNT, files_in_memory

HOSTS = ("host2", "host3")
MPICH = "mpiexec.mpich"


@pytest.fixture(params=["openmpi", "mpich"])
def cluster(bed, request):
    """Eight ranks on two hosts, the controller and the client on a third one."""
    cluster = HostCluster(bed)
    options = ["--engines=mpi", "--hosts=host2:4,host3:4"]
    if request.param == "mpich":
        program = shutil.which(MPICH) or pytest.fail(f"no {MPICH} on PATH")
        options.append(f"--mpi-cmd={program}")
    cluster.start(*options)
    yield cluster
    cluster.run("stop", check=False)


def run(bed, cluster, code):
    """What a client beside the controller says last."""
    file = f"{cluster.profile_dir}/security/ipcontroller-client.json"
    command = (sys.executable, "-c", CLIENT + code, file)
    return json.loads(bed.exec_on("host1", *command, timeout=90).stdout.splitlines()[-1])


def wait_until_released(bed, patience=20):
    for host in HOSTS:
        beds.wait_until(
            lambda host=host: files_in_memory(bed, host) == [], "segments are released", patience
        )


PUSH = f"""
array = np.arange({COUNT}, dtype="<f8")
before = bytes_sent()
view.push({{"x": array}}, block=True)
sent = bytes_sent() - before
view.execute(PLACE + "total = float(x.sum())", block=True)
right = [total == float(array.sum()) for total in view["total"]]
"""


def test_one_copy_leaves_the_controller(bed, cluster):
    said = run(
        bed,
        cluster,
        PUSH + 'print(json.dumps({"sent": sent, "places": view["place"], "right": right}))',
    )
    assert said["right"] == [True] * 8
    assert said["sent"] <= 1.1 * 8 * COUNT
    assert len({tuple(place) for place in said["places"]}) == 2  # each host's own segment
    wait_until_released(bed)


def test_it_is_passed_on_while_the_ranks_call_mpi(bed, cluster):
    said = run(
        bed,
        cluster,
        """
view.execute("from mpi4py import MPI; import time; sum = MPI.COMM_WORLD.allreduce", block=True)
busy = view.execute('''
begin, count = time.time(), 0
while sum(time.time() - begin) < 8 * 3:
    count += sum(1)
''', block=False)
"""
        + PUSH
        + """
busy.get()
print(json.dumps({"sent": sent, "right": right, "counts": view["count"]}))
""",
    )
    assert said["right"] == [True] * 8
    assert said["sent"] <= 1.1 * 8 * COUNT + 1_000_000
    assert len(set(said["counts"])) == 1 and said["counts"][0] > 0
    wait_until_released(bed)


def start(bed, cluster, code, log):
    """A client beside the controller, and where what it says goes."""
    file = f"{cluster.profile_dir}/security/ipcontroller-client.json"
    said = bed.folder / log
    said.unlink(missing_ok=True)
    return bed.start_on("host1", sys.executable, "-c", CLIENT + code, file, log=said), said


def wait_for_giver(bed):
    """The host of the rank that gets the array from the client: it fills that client's first segment."""
    found = []

    def is_there():
        for host in HOSTS:
            if any(name.endswith(".1") for name in files_in_memory(bed, host)):
                found.append(host)
        return found

    beds.wait_until(is_there, "the first segment", 30)
    return found[0]


def last_line(said):
    lines = said.read_text().splitlines()
    return json.loads(lines[-1]) if lines and lines[-1].startswith("{") else None


def test_the_others_get_it_when_the_rank_that_passes_it_on_is_killed(bed, cluster):
    _client, said = start(
        bed,
        cluster,
        """
view.execute("import os; pid = os.getpid()", block=True)
print(json.dumps({"pids": view["pid"]}), flush=True)
array = np.arange(64 << 20, dtype="<f8")
pushed = view.push({"x": array}, block=False)
pushed.wait()
others = rc[[engine for engine in rc.ids]]
others.execute("total = float(x.sum())", block=True)
print(json.dumps({"right": [total == float(array.sum()) for total in others["total"]],
                  "error": str(pushed.exception())}), flush=True)
""",
        "killed.txt",
    )
    beds.wait_until(lambda: said.exists() and last_line(said), "the client", 30)
    pids = last_line(said)["pids"]
    host = wait_for_giver(bed)
    bed.kill(host, pids[4 * HOSTS.index(host)])  # its first engine
    beds.wait_until(lambda: "right" in (last_line(said) or {}), "the end of the push", 60)
    assert last_line(said)["right"] == [True] * 7
    assert "SIGKILL" in last_line(said)["error"]
    wait_until_released(bed, 60)  # the other engines look for what the dead have left every 30 s


def test_a_push_that_is_interrupted_leaves_nothing_behind(bed, cluster):
    client, said = start(
        bed,
        cluster,
        """
import os
print(json.dumps({"pid": os.getpid()}), flush=True)
try:
    view.push({"x": np.ones(64 << 20)}, block=True)
    print(json.dumps({"interrupted": False}), flush=True)
except KeyboardInterrupt:
    rc.close()
    print(json.dumps({"interrupted": True}), flush=True)
""",
        "interrupted.txt",
    )
    beds.wait_until(lambda: said.exists() and last_line(said), "the client", 30)
    wait_for_giver(bed)
    bed.kill("host1", last_line(said)["pid"], signal.SIGINT)
    beds.wait_until(lambda: "interrupted" in (last_line(said) or {}), "the interrupt", 30)
    assert last_line(said)["interrupted"]
    client.wait(timeout=60)
    wait_until_released(bed)
    assert run(bed, cluster, PUSH + 'print(json.dumps({"right": right}))')["right"] == [True] * 8
