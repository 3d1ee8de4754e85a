"""Engines on other hosts by ssh: how long until they are there, how long until they are gone.

    PX_HOSTS_COMMAND=... python bench/ssh_launcher_bench.py [--repeats 3] [--json build/ssh.json]

Six engines on two hosts of a bed (see tests/hosts/bed.py), the controller on a third; in the same
run ipyparallel's own ssh launcher does the same. Medians. Exit code 0 when every aim is met.
"""

import sys
import tempfile
import time
from pathlib import Path

from figures import Aim, finish, parser, row, versions

TESTS = Path(__file__).resolve().parent.parent / "tests"
sys.path[:0] = [str(TESTS), str(TESTS / "hosts")]

import bed as beds  # noqa: E402
from host_cluster import HostCluster  # noqa: E402

HOSTS = {"host2": 4, "host3": 2}
PATIENCE = 120  # seconds for one start and stop of the peer

BENCH = "ssh_launcher_bench"
OURS, PEER = "polyxeus", "ipyparallel"

# in words: aims of the seconds
FIGURES = {
    "start until six engines are registered, controller included": [
        Aim("<=", 4, "value"),
        Aim("<=", 0.31),
    ],
    "stop until no process is left on any host": [Aim("<=", 2, "value"), Aim("<=", 0.4)],
}

# Runs on host1; prints the seconds of the start and of the stop.
PEER_PROGRAM = """
import sys, time
import ipyparallel
from traitlets.config import Config
config = Config()
config.SSHEngineSetLauncher.engines = {hosts!r}
config.SSHLauncher.remote_python = sys.executable
config.SSHLauncher.remote_profile_dir = {folder!r} + "/profile_default"
begun = time.perf_counter()
cluster = ipyparallel.Cluster(
    engines="ssh", n={count}, controller_ip={address!r}, controller_location={address!r},
    config=config, log_level=40,
)
client = cluster.start_and_connect_sync()
client.wait_for_engines({count}, timeout=60, interactive=False)
started = time.perf_counter() - begun
client.close()
begun = time.perf_counter()
cluster.stop_cluster_sync()
print(started, time.perf_counter() - begun)
"""


def seconds_until_gone(cluster):
    begun = time.perf_counter()
    cluster.wait_until_gone(timeout=30)
    return time.perf_counter() - begun


def ours(bed):
    cluster = HostCluster(bed)
    hosts = ",".join(f"{name}:{count}" for name, count in HOSTS.items())
    _said, started = cluster.start("--engines=ssh", f"--hosts={hosts}")
    stopped = cluster.stop()
    return started, stopped + seconds_until_gone(cluster)


def peers(bed):
    folder = f"{beds.HOME}/peer"
    script = PEER_PROGRAM.format(
        hosts=HOSTS, count=sum(HOSTS.values()), folder=folder, address=bed.address("host1")
    )
    command = (sys.executable, "-c", script)
    said = bed.exec_on("host1", *command, timeout=PATIENCE, IPYTHONDIR=folder).stdout
    started, stopped = map(float, said.split()[-2:])
    return started, stopped + seconds_until_gone(HostCluster(bed, folder))


def measure(repeats):
    """who -> (seconds of the start, seconds of the stop) of each run"""
    runs = {PEER: [], OURS: []}
    with tempfile.TemporaryDirectory(prefix="px-ssh-") as folder:
        bed = beds.Bed(folder).up(1 + len(HOSTS))
        try:
            for _ in range(repeats):
                runs[OURS].append(ours(bed))
                runs[PEER].append(peers(bed))
        finally:
            bed.down()
    return runs


def rows_of(runs):
    rows = []
    for place, (what, aims) in enumerate(FIGURES.items()):
        for who, times in runs.items():
            compared = {"ratio_to": PEER, "aims": aims} if who == OURS else {}
            rows.append(row(BENCH, what, "s", who, [each[place] for each in times], **compared))
    return rows


def main():
    made = parser(__doc__)
    made.add_argument("--repeats", type=int, default=3, help="starts and stops of each (3)")
    options = made.parse_args()
    if reason := beds.why_not():
        sys.exit(reason)
    return finish(rows_of(measure(options.repeats)), options, versions(OURS, PEER))


if __name__ == "__main__":
    sys.exit(main())
