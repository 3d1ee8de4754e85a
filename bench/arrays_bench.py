"""Large arrays between processes of one host, beside what the host can do.

    python bench/arrays_bench.py [--json build/arrays.json] [--mebibytes 64] [--repetitions 3]

Four Python engines, in two clusters in turn: the default one, whose arrays lie in shared memory, and one
without (POLYXEUS_SHARED_MEMORY=0), whose arrays pass through the controller. The default one serves the C++ client as well
(client_arrays of the release build), and four C++ engines serve the Python client. The limits are taken in the same
run: writing into new files of /dev/shm, and into the same file again. Rates are those of the array's
bytes; a push to all four engines counts them once.
Exit code 0 when every aim is met, 1 when not.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import polyxeus

from clusters import controller_pid, large_array, pss_mb, started, variable
from figures import Aim, finish, parser, row, seconds, versions

BENCH = "arrays_bench"
ENGINES = 4
SHARED, SOCKETS = "shared memory", "through the controller"
CPP_CLIENT, CPP_ENGINES = "C++ client", "C++ engines"
PROGRAM = Path(__file__).resolve().parents[1] / "build/release/client_arrays"
# What the function `same` is on C++ engines.
SAME = "px::array<unsigned char, 1> same(const px::array<unsigned char, 1>& array) { return array; }"
FRESH, AGAIN = "new file", "same file again"
# name: (in words, the limit that it is compared to, the least ratio)
FIGURES = {
    "push": ("push to one engine", FRESH, 0.8),
    "pull": ("pull from one engine", FRESH, 0.8),
    "push_all": ("push to four engines", FRESH, 0.8),
    "scatter": ("scatter to four engines", FRESH, 0.8),
    "gather": ("gather from four engines", FRESH, 0.6),
    "call": ("call with the array as argument and result, there and back", FRESH, 0.4),
}
WRITE = "write to /dev/shm"


def limits(array, runs):
    """GB/s of a file that is new each time, and of one that has its pages already."""
    data = memoryview(array)
    with tempfile.NamedTemporaryFile(dir="/dev/shm") as again:
        os.pwrite(again.fileno(), data, 0)
        rates = {FRESH: [], AGAIN: []}
        for _ in range(runs):
            with tempfile.NamedTemporaryFile(dir="/dev/shm") as fresh:
                took = seconds(lambda: os.pwrite(fresh.fileno(), data, 0))
            rates[FRESH].append(array.nbytes / took / 1e9)
            took = seconds(lambda: os.pwrite(again.fileno(), data, 0))
            rates[AGAIN].append(array.nbytes / took / 1e9)
    return {name: statistics.median(values) for name, values in rates.items()}


def same(array):
    return array


def measure(client, array, runs, same=same):
    """GB/s of each figure."""
    one, all_four = client[0], client[:]
    actions = {
        "push": lambda: one.push({"array": array}, block=True),
        "pull": lambda: one.pull("array", block=True),
        "push_all": lambda: all_four.push({"array": array}, block=True),
        "scatter": lambda: all_four.scatter("part", array, block=True),
        "gather": lambda: all_four.gather("part", block=True),
        "call": lambda: one.apply_sync(same, array),
    }
    figures = {}
    for name, action in actions.items():
        action()
        rates = [array.nbytes / seconds(action) / 1e9 for _ in range(runs)]
        figures[name] = statistics.median(rates)
    return figures


def measure_cpp_client(file, options):
    command = [PROGRAM, file, ENGINES, options.mebibytes, options.transfers]
    said = subprocess.run([str(each) for each in command], capture_output=True, text=True, check=True)
    return json.loads(said.stdout)


def rows_of(runs, memory, rates, mebibytes):
    rows = []
    for limit in (FRESH, AGAIN):
        rows.append(row(BENCH, f"{WRITE}: {mebibytes} MiB", "GB/s", limit, rates[limit]))
    for name, (what, limit, least) in FIGURES.items():
        words = f"{what}: {mebibytes} MiB"
        rows.append(row(BENCH, words, "GB/s", limit, rates[limit]))
        rows.append(row(BENCH, words, "GB/s", SOCKETS, [run[name] for run in runs[SOCKETS]]))
        for peer in (SHARED, CPP_CLIENT, CPP_ENGINES):
            if runs[peer]:
                rows.append(row(BENCH, words, "GB/s", peer, [run[name] for run in runs[peer]],
                                limit, [Aim(">=", least)]))  # fmt: skip
    for cluster in (SOCKETS, SHARED):
        aims = [Aim("<=", 40, "value")] if cluster == SHARED else []
        rows.append(row(BENCH, "memory of the controller afterwards (PSS)", "MB", cluster,
                        memory[cluster], None, aims))  # fmt: skip
    return rows


def arguments():
    made = parser(__doc__)
    made.add_argument("--repetitions", type=int, default=3, help="starts of each cluster (3)")
    made.add_argument("--mebibytes", type=int, default=64, help="size of the array (64)")
    made.add_argument("--transfers", type=int, default=7, help="of each kind per start (7)")
    return made.parse_args()


def main():
    options = arguments()
    array = large_array(options.mebibytes)
    runs = {SHARED: [], SOCKETS: [], CPP_CLIENT: [], CPP_ENGINES: []}
    missing = {} if PROGRAM.exists() else {CPP_CLIENT: f"there is no {PROGRAM.name} in build/release"}
    memory = {SHARED: [], SOCKETS: []}
    rates = {FRESH: [], AGAIN: []}
    for repetition in range(options.repetitions):
        for cluster, value in ((SOCKETS, "0"), (SHARED, None)):
            with variable("POLYXEUS_SHARED_MEMORY", value), started(polyxeus, ENGINES) as begun:
                runs[cluster].append(measure(begun.client, array, options.transfers))
                if cluster == SHARED and not missing:
                    file = begun.cluster.connection_file
                    runs[CPP_CLIENT].append(measure_cpp_client(file, options))
                memory[cluster].append(pss_mb(controller_pid()))
            for limit, rate in limits(array, options.transfers).items():
                rates[limit].append(rate)
            print(f"{repetition + 1}/{options.repetitions} {cluster}", flush=True)
        with started(polyxeus, ENGINES, language="cpp") as (_, client, _):
            client[:].execute(SAME, block=True)
            runs[CPP_ENGINES].append(measure(client, array, options.transfers, "same"))
        print(f"{repetition + 1}/{options.repetitions} {CPP_ENGINES}", flush=True)
    rows = rows_of(runs, memory, rates, options.mebibytes)
    return finish(rows, options, versions("polyxeus", "numpy"), missing)


if __name__ == "__main__":
    sys.exit(main())
