"""Large arrays to eight engines of one and of two hosts: seconds, bytes at the network, memory.

    PX_HOSTS_COMMAND=... python bench/hosts_arrays_bench.py [--json build/hosts_arrays.json]

The client and the controller are on one host of a bed (see tests/hosts/bed.py), four engines on each of
two others: started by ssh, each for itself, then as ranks of one MPI world; at last eight ranks on the client's host. The
peer is what a user of MPI does without us: a push to rank 0, which MPI_Bcast takes to the others. A second
client meanwhile asks an engine for its state on the control channel. Medians. Exit code 0 when every aim is met.
"""

import json
import sys
import tempfile
from pathlib import Path

from figures import Aim, finish, parser, row, versions

TESTS = Path(__file__).resolve().parent.parent / "tests"
sys.path[:0] = [str(TESTS), str(TESTS / "hosts")]

import bed as beds  # noqa: E402
from host_cluster import HostCluster  # noqa: E402

BENCH = "hosts_arrays_bench"
BCAST = "push to rank 0, MPI_Bcast"
PUSH, BROADCAST, EXCHANGE = "push", "push of a broadcast view", "exchange"
HOSTS = "host2:4,host3:4"
# cluster: (its engines, the options of pxcluster start)
CLUSTERS = {
    "ssh": ("8 engines of two hosts", ["--engines=ssh", f"--hosts={HOSTS}"]),
    "mpi": ("8 ranks of two hosts", ["--engines=mpi", f"--hosts={HOSTS}"]),
    "one": ("8 ranks of the client's host", ["--engines=mpi", "-n", "8"]),
}
PATIENCE = 200  # seconds for what is measured on one cluster
AT_MOST = {"ssh": 2.1, "mpi": 1.1}  # of the array's bytes at the network

# Runs on host1 beside the controller: sees the connection file, the controller's pid, MiB and runs.
CLIENT = '''
import json, statistics, sys, threading, time
from pathlib import Path
import numpy, polyxeus

file, pid, mebibytes, runs = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
client, other = polyxeus.Client(file), polyxeus.Client(file)
client.wait_for_engines(8, timeout=60, interactive=False)
array = numpy.resize(numpy.random.default_rng(1).integers(0, 255, 1 << 20, numpy.uint8), mebibytes << 20)

def bytes_sent():
    lines = Path("/proc/net/dev").read_text().splitlines()[2:]
    return sum(int(line.split(":")[1].split()[8]) for line in lines if line.split(":")[0].strip() != "lo")

def pss():
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith("Pss:"))

largest, waits, is_done = [0.0], [], threading.Event()

def watch():
    while not is_done.wait(0.02):
        largest[0] = max(largest[0], pss())

def ping():
    while not is_done.wait(0.01):
        began = time.perf_counter()
        other.where(0)
        waits.append((time.perf_counter() - began) * 1e3)

def timed(action):
    began, sent = time.perf_counter(), bytes_sent()
    action()
    return time.perf_counter() - began, (bytes_sent() - sent) / array.nbytes

everyone, shared = client[:], client.broadcast_view()
actions = {
    "push": lambda: everyone.push({"x": array}, block=True),
    "push of a broadcast view": lambda: shared.push({"x": array}, block=True),
}
if "mpi_rank" in everyone.apply_sync(lambda: list(globals()))[0]:
    everyone.execute("import numpy; from mpi4py import MPI", block=True)
    bcast = f"if mpi_rank: x = numpy.empty({array.nbytes}, 'u1')\\nMPI.COMM_WORLD.Bcast(x)"
    def push_and_bcast():
        client[0].push({"x": array}, block=True)
        everyone.execute(bcast, block=True)
    actions["push to rank 0, MPI_Bcast"] = push_and_bcast
    actions["exchange"] = lambda: everyone.exchange("x", source=0)
threads = [threading.Thread(target=each) for each in (watch, ping)]
figures = {}
for name, action in actions.items():
    if name == "exchange":
        client[0].push({"x": array}, block=True)
    action()
    if name == "push":
        for thread in threads:
            thread.start()
    figures[name] = [timed(action) for _ in range(runs)]
    if name == "push":
        is_done.set()
        for thread in threads:
            thread.join()
right = everyone.apply_sync(lambda: int(x[-1]) + len(x)) == [int(array[-1]) + array.nbytes] * 8
assert right, "wrong bytes arrived"
waits.sort()
print(json.dumps({"figures": figures, "largest": largest[0], "ping": waits[len(waits) // 2]}))
'''


def measure(bed, options):
    """cluster -> what its client says"""
    said = {}
    for name, (_, start) in CLUSTERS.items():
        cluster = HostCluster(bed)
        cluster.start(*start)
        try:
            [(pid, _)] = bed.processes("host1", "pxcontroller")
            file = f"{cluster.profile_dir}/security/ipcontroller-client.json"
            mebibytes = options.mebibytes if name != "ssh" else min(64, options.mebibytes)
            command = (sys.executable, "-c", CLIENT, file, pid, mebibytes, options.runs)
            done = bed.exec_on("host1", *command, timeout=PATIENCE)
            said[name] = json.loads(done.stdout.splitlines()[-1]) | {"mebibytes": mebibytes}
        finally:
            cluster.stop()
            cluster.wait_until_gone(timeout=30)
        print(f"{name}: done", flush=True)
    return said


def rows_of(said):
    rows = []
    for name, each in said.items():
        engines = CLUSTERS[name][0]
        size = f"{each['mebibytes']} MiB to {engines}"
        for who, runs in each["figures"].items():
            seconds = [took for took, _ in runs]
            compared = {}
            if who == PUSH and name == "one":
                compared = {"ratio_to": BCAST, "aims": [Aim("<=", 0.3, "value")]}
            elif who != BCAST and BCAST in each["figures"]:
                compared = {"ratio_to": BCAST, "aims": [Aim("<=", 1.2)]}
            rows.append(row(BENCH, size, "s", who, seconds, **compared))
        for who, runs in each["figures"].items():
            if name in AT_MOST and who in (PUSH, BROADCAST):
                rows.append(row(BENCH, f"{size}: bytes sent by the host of client and controller, as a multiple of the array's bytes", "",
                                who, [sent for _, sent in runs], aims=[Aim("<=", AT_MOST[name], "value")]))  # fmt: skip
        rows.append(row(BENCH, f"{size}: largest memory of the controller (PSS) during the transfer", "MB", PUSH,
                        [each["largest"]], aims=[Aim("<=", 40, "value")]))  # fmt: skip
        rows.append(row(BENCH, f"{size}: round trip of a control message during the transfer, median", "ms", PUSH,
                        [each["ping"]], aims=[Aim("<=", 20, "value")]))  # fmt: skip
    return rows


def arguments():
    made = parser(__doc__)
    made.add_argument("--mebibytes", type=int, default=512, help="to ranks; others get 64 (512)")
    made.add_argument("--runs", type=int, default=3, help="of each on one cluster (3)")
    return made.parse_args()


def main():
    options = arguments()
    if reason := beds.why_not():
        sys.exit(reason)
    with tempfile.TemporaryDirectory(prefix="px-hosts-") as folder:
        bed = beds.Bed(folder).up(3)
        try:
            said = measure(bed, options)
        finally:
            bed.down()
    return finish(rows_of(said), options, versions("polyxeus", "mpi4py", programs=["mpiexec"]))


if __name__ == "__main__":
    sys.exit(main())
