"""Engines on other hosts by ssh: how long until they are there, how long until they are gone.

    PX_HOSTS_COMMAND=... python bench/ssh_launcher_bench.py [--repeats 3] [--json build/ssh.json]

Six engines on two hosts of a bed (see tests/hosts/bed.py), the controller on a third; in the same
run ipyparallel's own ssh launcher does the same. Medians. Exit code 0 when every bar is met.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

from figures import Bar, host, print_table

TESTS = Path(__file__).resolve().parent.parent / "tests"
sys.path[:0] = [str(TESTS), str(TESTS / "hosts")]

import bed as beds  # noqa: E402
from host_cluster import HostCluster  # noqa: E402

HOSTS = {"host2": 4, "host3": 2}
PATIENCE = 120  # seconds for one start and stop of the peer

UNITS = {
    "start_s": "s until six engines are registered, controller included",
    "peer_start_s": "s, the same by ipyparallel",
    "start_ratio": "ours / theirs",
    "stop_s": "s until no process is left on any host",
    "peer_stop_s": "s, the same by ipyparallel",
    "stop_ratio": "ours / theirs",
}

BARS = [
    Bar("start_s", of_ours=True, at_most=True, limit=4),
    Bar("start_ratio", of_ours=True, at_most=True, limit=0.31),
    Bar("stop_s", of_ours=True, at_most=True, limit=2),
    Bar("stop_ratio", of_ours=True, at_most=True, limit=0.4),
]

# Runs on host1; prints the seconds of the start and of the stop.
PEER = """
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
    script = PEER.format(
        hosts=HOSTS, count=sum(HOSTS.values()), folder=folder, address=bed.address("host1")
    )
    command = (sys.executable, "-c", script)
    said = bed.exec_on("host1", *command, timeout=PATIENCE, IPYTHONDIR=folder).stdout
    started, stopped = map(float, said.split()[-2:])
    return started, stopped + seconds_until_gone(HostCluster(bed, folder))


def measure(repeats):
    runs = {"": [], "peer_": []}
    with tempfile.TemporaryDirectory(prefix="px-ssh-") as folder:
        bed = beds.Bed(folder).up(1 + len(HOSTS))
        try:
            for _ in range(repeats):
                runs[""].append(ours(bed))
                runs["peer_"].append(peers(bed))
        finally:
            bed.down()
    figures = {}
    for place, name in enumerate(("start", "stop")):
        for who, seconds in runs.items():
            figures[f"{who}{name}_s"] = statistics.median(each[place] for each in seconds)
        figures[f"{name}_ratio"] = figures[f"{name}_s"] / figures[f"peer_{name}_s"]
    return figures


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=3, help="starts and stops of each (3)")
    parser.add_argument("--json", type=Path, help="write all figures here")
    return parser.parse_args()


def main():
    options = arguments()
    if reason := beds.why_not():
        sys.exit(reason)
    figures = measure(options.repeats)
    print_table(figures, UNITS, BARS)
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        report = {"host": host("polyxeus", "ipyparallel"), "figures": figures}
        options.json.write_text(json.dumps(report, indent=2) + "\n")
    return 0 if all(bar.is_met(figures[bar.figure], None) for bar in BARS) else 1


if __name__ == "__main__":
    sys.exit(main())
