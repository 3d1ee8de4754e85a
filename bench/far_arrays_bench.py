"""Large arrays between a client and an engine of different hosts, encrypted and not.

    python bench/far_arrays_bench.py [--json build/far_arrays.json] [--mebibytes 256]

Two Python engines, the controller and the client on this host. The client is told that it shares
neither memory nor Unix sockets with the others, so that arrays take the way between hosts: in pieces
over TCP, through the controller; those of the encrypted cluster in streams. A second client meanwhile
asks an engine for its state on the control channel. Two clusters in turn, encrypted and not. Ratios
are to plain TCP of the same run; the rate of one bare TCP connection on loopback stands beside them.
Exit code 0 when every aim is met, 1 when not.
"""

import json
import os
import socket
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

import polyxeus

from clusters import PATIENCE, Alongside, large_array, started, transfer_rates
from figures import Aim, finish, parser, row, seconds, versions

BENCH = "far_arrays_bench"
ENGINES = 2
PLAIN, ENCRYPTED, BARE = "plain TCP", "TCP, encrypted", "bare TCP"
CLUSTERS = {PLAIN: ["--no-ipc", "--no-curve"], ENCRYPTED: ["--no-ipc"]}
# name: (in words, unit, the aims of the encrypted cluster)
FIGURES = {
    "push": ("push to one engine", "MiB/s", [Aim(">=", 0.8)]),
    "pull": ("pull from one engine", "MiB/s", [Aim(">=", 0.8)]),
    "ping": ("control message during the transfers, median", "ms", [Aim("<=", 20, "value")]),
    "late ping": ("control message during the transfers, 90 %", "ms", []),
}


class Pings(Alongside):
    """While it lasts, a client asks the engine that takes and gives the arrays for its state, again
    and again; `milliseconds` are its waits."""

    def __init__(self, client):
        super().__init__()
        self.client, self.milliseconds = client, []

    def run(self):
        is_done = False
        while not is_done:
            self.milliseconds.append(seconds(lambda: self.client.where(0)) * 1e3)
            is_done = self.is_done.wait(0.01)

    def quantile(self, share):
        return sorted(self.milliseconds)[int(share * len(self.milliseconds))]


def far_file(file, folder):
    """A connection file for a client of another host."""
    info = json.loads(Path(file).read_text())
    info.pop("local", None)
    info["memory"]["identity"] = "elsewhere"
    made = Path(folder) / "far-client.json"
    made.touch(0o600)
    made.write_text(json.dumps(info))
    return str(made)


def measure(file, options):
    """All figures of one running cluster."""
    with polyxeus.Client(file) as client, polyxeus.Client(file) as other:
        client.wait_for_engines(ENGINES, timeout=PATIENCE, interactive=False)
        transfer_rates(client[0], options.mebibytes, 1)  # what the first one costs more
        with Pings(other) as pings:
            pushes, pulls = transfer_rates(client[0], options.mebibytes, options.transfers)
        return {
            "push": statistics.median(pushes),
            "pull": statistics.median(pulls),
            "ping": pings.quantile(0.5),
            "late ping": pings.quantile(0.9),
        }


def bare_rate(mebibytes):
    """MiB/s of one TCP connection on loopback, read into memory that is there."""
    data, room = large_array(mebibytes).data, bytearray(1 << 20)
    with socket.create_server(("127.0.0.1", 0)) as server:

        def send():
            with socket.create_connection(server.getsockname()) as connection:
                connection.sendall(data)

        thread = threading.Thread(target=send)
        began = time.perf_counter()
        thread.start()
        connection, _ = server.accept()
        with connection:
            while connection.recv_into(room):
                pass
        took = time.perf_counter() - began
        thread.join()
    return mebibytes / took


def rows_of(runs, bare):
    """runs: cluster -> the figures of each start."""
    rows = []
    for figure, (what, unit, aims) in FIGURES.items():
        for cluster in CLUSTERS:
            compared = {"ratio_to": PLAIN, "aims": aims} if cluster == ENCRYPTED else {}
            values = [run[figure] for run in runs[cluster]]
            rows.append(row(BENCH, what, unit, cluster, values, **compared))
    rows.append(row(BENCH, "one connection on loopback", "MiB/s", BARE, bare))
    return rows


def arguments():
    made = parser(__doc__)
    made.add_argument("--repetitions", type=int, default=3, help="starts of each cluster (3)")
    made.add_argument("--transfers", type=int, default=5, help="pushes and pulls of each (5)")
    made.add_argument("--mebibytes", type=int, default=256, help="size of the array (256)")
    return made.parse_args()


def main():
    options = arguments()
    runs, bare = {cluster: [] for cluster in CLUSTERS}, []
    for repetition in range(options.repetitions):
        bare.append(bare_rate(options.mebibytes))
        for name, controller_args in CLUSTERS.items():
            with started(polyxeus, ENGINES, controller_args=controller_args) as (cluster, _, _):
                with tempfile.TemporaryDirectory() as folder:
                    file = far_file(cluster.connection_file, folder)
                    runs[name].append(measure(file, options))
            print(f"{repetition + 1}/{options.repetitions} {name}", flush=True)
    return finish(rows_of(runs, bare), options, versions("polyxeus"))


if __name__ == "__main__":
    os.environ.pop("POLYXEUS_SHARED_MEMORY", None)  # pieces go into it on the engine's side
    sys.exit(main())
