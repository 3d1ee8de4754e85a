"""What encryption costs: tasks, round trips and large arrays with CURVE and without.

    python bench/encryption_bench.py [--json build/encryption.json] [--mebibytes 64]

Two Python engines, the controller and the client on this host, three clusters one after the other:
plain TCP, TCP with CURVE, and what a cluster does by default (CURVE, and Unix sockets for those on
the controller's host). Each is driven by our client and by ipyparallel's, which knows TCP only.
Ratios are to plain TCP of the same run. Exit code 0 when every bar is met, 1 when not.
"""

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import ipyparallel
import numpy as np
import polyxeus

from figures import host, milliseconds

ENGINES = 2
PATIENCE = 120
PLAIN = "plain TCP"
CLUSTERS = {
    PLAIN: ["--no-curve", "--no-ipc"],
    "TCP with CURVE": ["--no-ipc"],
    "default": [],
}
CLIENTS = {"polyxeus": polyxeus, "ipyparallel": ipyparallel}
FIGURES = {
    "tasks_per_s": "no-op tasks/s over both engines",
    "round_trip_ms": "ms, one call",
    "push_mib_per_s": "MiB/s, a large array to one engine",
    "pull_mib_per_s": "MiB/s, the same back",
}
BAR = 0.6


def nothing(_):
    pass


@contextlib.contextmanager
def cluster(arguments, folder):
    environment = os.environ | {"IPYTHONDIR": folder}
    command = ["pxcluster", "start", "-n", str(ENGINES), "--daemonize", "--", *arguments]
    subprocess.run(command, check=True, timeout=PATIENCE, env=environment)
    try:
        yield str(Path(folder) / "profile_default" / "security" / "ipcontroller-client.json")
    finally:
        subprocess.run(["pxcluster", "stop"], check=True, timeout=PATIENCE, env=environment)


def seconds(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def measure(package, file, options):
    client = package.Client(file)
    try:
        client.wait_for_engines(ENGINES, timeout=PATIENCE)
        one, balanced = client[0], client.load_balanced_view()
        array = np.random.default_rng(1).integers(0, 255, options.mebibytes << 20, dtype=np.uint8)
        balanced.map_sync(nothing, range(100))
        took = seconds(lambda: balanced.map_sync(nothing, range(options.tasks)))
        push = [seconds(lambda: one.push({"a": array}, block=True)) for _ in range(5)]
        pull = [seconds(lambda: one.pull("a", block=True)) for _ in range(5)]
        return {
            "tasks_per_s": options.tasks / took,
            "round_trip_ms": milliseconds(lambda: one.apply_sync(nothing, 0), 300),
            "push_mib_per_s": options.mebibytes / statistics.median(push),
            "pull_mib_per_s": options.mebibytes / statistics.median(pull),
        }
    finally:
        client.close()


def gain(figure, measured, plain):
    """How much of the plain one is left: 1 = nothing lost."""
    return plain / measured if figure.endswith("_ms") else measured / plain


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, help="a file for all figures")
    parser.add_argument("--mebibytes", type=int, default=64)
    parser.add_argument("--tasks", type=int, default=3000)
    options = parser.parse_args()
    figures = {}
    for name, arguments in CLUSTERS.items():
        with tempfile.TemporaryDirectory(prefix="px-encryption-") as folder:
            with cluster(arguments, folder) as file:
                for client, package in CLIENTS.items():
                    figures.setdefault(client, {})[name] = measure(package, file, options)
    all_met = True
    for client, clusters in figures.items():
        print(f"\n{client}'s client" + "".join(f"{name:>24}" for name in CLUSTERS))
        for figure, words in FIGURES.items():
            line = f"{words:<45}{clusters[PLAIN][figure]:>12.2f}"
            for name in list(CLUSTERS)[1:]:
                ratio = gain(figure, clusters[name][figure], clusters[PLAIN][figure])
                verdict = ""
                if name == "default":
                    all_met &= ratio >= BAR
                    verdict = "" if ratio >= BAR else "  below " + str(BAR)
                line += f"{clusters[name][figure]:>16.2f} ({ratio:4.2f}){verdict}"
            print(line)
    if options.json:
        options.json.write_text(json.dumps({"host": host(), "figures": figures}, indent=2))
    return 0 if all_met else 1


if __name__ == "__main__":
    sys.exit(main())
