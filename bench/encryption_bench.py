"""What encryption costs: tasks, round trips and large arrays with CURVE and without.

    python bench/encryption_bench.py [--json build/encryption.json] [--mebibytes 64]

Two Python engines, the controller and the client on this host, three clusters in turn: plain TCP,
TCP with CURVE, and what a cluster does by default (CURVE, and Unix sockets for those on the
controller's host), without shared memory. Each is driven by our client and by ipyparallel's, both by
the same file. Ratios are to plain TCP of the same run. Exit code 0 when every aim is met, 1 when
not.
"""

import os
import statistics
import sys

import ipyparallel
import polyxeus

from clusters import PATIENCE, started, transfer_rates
from figures import Aim, finish, milliseconds, parser, rate, row, versions

BENCH = "encryption_bench"
ENGINES = 2
PLAIN, DEFAULT = "plain TCP", "default on one host"
CLUSTERS = {
    PLAIN: ["--no-curve", "--no-ipc"],
    "TCP with CURVE": ["--no-ipc"],
    DEFAULT: [],
}
CLIENTS = {"polyxeus": polyxeus, "ipyparallel": ipyparallel}
# name: (in words, unit, the aim of the default cluster: default / plain TCP)
FIGURES = {
    "round_trip": ("call on one engine", "ms", Aim("<=", 1.67)),
    "tasks": ("map of a no-op over both engines", "items/s", Aim(">=", 0.6)),
    "push": ("push of a large array to one engine", "MiB/s", Aim(">=", 0.6)),
    "pull": ("pull of a large array from one engine", "MiB/s", Aim(">=", 0.6)),
}


# Arrays are to pass the connections that are measured.
os.environ["POLYXEUS_SHARED_MEMORY"] = "0"


def nothing(_):
    pass


def measure(package, file, options):
    """All figures of one client of a running cluster."""
    client = package.Client(file)
    try:
        client.wait_for_engines(ENGINES, timeout=PATIENCE, interactive=False)
        one, balanced = client[0], client.load_balanced_view()
        balanced.map_sync(nothing, range(100))
        tasks = rate(lambda count: balanced.map_sync(nothing, range(count)), options.seconds)
        pushes, pulls = transfer_rates(one, options.mebibytes, 5)
        return {
            "round_trip": milliseconds(lambda: one.apply_sync(nothing, 0), options.round_trips),
            "tasks": tasks,
            "push": statistics.median(pushes),
            "pull": statistics.median(pulls),
        }
    finally:
        client.close()


def rows_of(runs):
    """runs: (client, cluster) -> the figures of each start."""
    rows = []
    for client in CLIENTS:
        for figure, (what, unit, aim) in FIGURES.items():
            for cluster in CLUSTERS:
                values = [run[figure] for run in runs[client, cluster]]
                compared = {} if cluster == PLAIN else {"ratio_to": PLAIN}
                if cluster == DEFAULT:
                    compared["aims"] = [aim]
                words = f"{client} client: {what}"
                rows.append(row(BENCH, words, unit, cluster, values, **compared))
    return rows


def arguments():
    made = parser(__doc__)
    made.add_argument("--repetitions", type=int, default=3, help="starts of each cluster (3)")
    made.add_argument("--seconds", type=float, default=2.0, help="maps of at least so long (2)")
    made.add_argument("--round-trips", type=int, default=300, help="calls per median (300)")
    made.add_argument("--mebibytes", type=int, default=64, help="size of the array (64)")
    return made.parse_args()


def main():
    options = arguments()
    runs = {(client, cluster): [] for client in CLIENTS for cluster in CLUSTERS}
    for repetition in range(options.repetitions):
        for name, controller_args in CLUSTERS.items():
            with started(polyxeus, ENGINES, controller_args=controller_args) as (cluster, _, _):
                for client, package in CLIENTS.items():
                    figures = measure(package, cluster.connection_file, options)
                    runs[client, name].append(figures)
            print(f"{repetition + 1}/{options.repetitions} {name}", flush=True)
    return finish(rows_of(runs), options, versions("polyxeus", "ipyparallel", "pyzmq"))


if __name__ == "__main__":
    sys.exit(main())
