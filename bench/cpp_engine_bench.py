"""C++ engines: start, the cost of a cell, numeric loops, memory, large arrays.

    python bench/cpp_engine_bench.py [--json build/cpp_engine.json] [--mebibytes 1024]

Four ranks under mpiexec on this host. In the same run: the start of four engines of ipyparallel,
the same loops compiled by g++ -O2 -march=native, and the same array to a Python engine and back.
Exit code 0 when every aim is met, 1 when not.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import ipyparallel
import numpy as np
import polyxeus

from clusters import allow_mpiexec, pss_mb, started
from figures import Aim, finish, milliseconds, parser, row, seconds, versions

BENCH = "cpp_engine_bench"
ENGINES = 4
OURS, PYTHON, PEER = "C++ engines", "Python engines", "ipyparallel"
COMPILER = ["g++", "-O2", "-march=native"]
GPP = " ".join(COMPILER)

# Each defines a function that gives milliseconds; the result is used, so that nothing is optimised
# away.
LOOPS = {
    "update_loop": """
double update_loop() {
  std::vector<double> a(4096, 1.0), b(4096, 0.5);
  const auto begun = std::chrono::steady_clock::now();
  for (int round = 0; round < 50000; ++round)
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = a[i] * .999 + b[i];
  volatile double kept = a[17];
  (void)kept;
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begun).count();
}
""",
    "collatz_loop": """
double collatz_loop() {
  const auto begun = std::chrono::steady_clock::now();
  long longest = 0;
  for (long start = 1; start < 1000000; ++start) {
    long steps = 0;
    for (long n = start; n != 1; ++steps) n = n % 2 ? 3 * n + 1 : n / 2;
    if (steps > longest) longest = steps;
  }
  volatile long kept = longest;
  (void)kept;
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begun).count();
}
""",
}


# The loops in words.
LOOP_WORDS = {
    "update_loop": "loop a[i] = a[i] * .999 + b[i]",
    "collatz_loop": "loop of Collatz sequences up to 10^6",
}


def first_cells(package, first_cell, **options):
    """Seconds until four new engines under mpiexec have each run a cell."""
    began = time.perf_counter()
    with started(package, ENGINES, engines="mpi", **options) as (_, client, _):
        client[:].execute(first_cell, block=True)
        return time.perf_counter() - began


def shown(view, code):
    """The value of the cell's last expression, a number."""
    result = view.execute(code, silent=False, block=True)
    return float(result.metadata[0]["execute_result"]["data"]["text/plain"])


def compiled_loops(folder):
    """The loops as a program, by g++."""
    source = "#include <chrono>\n#include <cstddef>\n#include <cstdio>\n#include <vector>\n"
    calls = "".join(f'std::printf("%g\\n", {name}());' for name in LOOPS)
    text = source + "".join(LOOPS.values()) + f"int main() {{ {calls} }}\n"
    program = Path(folder) / "loops"
    command = [*COMPILER, "-std=c++20", "-x", "c++", "-", "-o", program]
    subprocess.run(command, input=text, text=True, check=True)
    return program


def loop_times(view, runs):
    """Milliseconds of each loop, in cells and compiled by g++ in turn: (name, who) -> times."""
    times = {(name, who): [] for name in LOOPS for who in (GPP, OURS)}
    for code in LOOPS.values():
        view.execute(code, block=True)
    with tempfile.TemporaryDirectory() as folder:
        program = compiled_loops(folder)
        for _ in range(runs):
            said = subprocess.run([program], capture_output=True, text=True, check=True).stdout
            for name, value in zip(LOOPS, said.split()):
                times[name, GPP].append(float(value))
                times[name, OURS].append(shown(view, f"{name}()"))
    return times


def there_and_back(view, mebibytes, runs):
    """MiB/s of an array pushed to an engine and pulled back, of each run."""
    array = np.arange(mebibytes * 2**17, dtype=np.float64)

    def work():
        view.push({"large": array}, block=True)
        back = view.pull("large", block=True)
        if not np.array_equal(back, array):
            raise RuntimeError("the array came back changed")

    return [2 * mebibytes / seconds(work) for _ in range(runs)]


def start_rows(options):
    ours, theirs = [], []
    for _ in range(options.starts):
        ours.append(first_cells(polyxeus, "int first = 1;", language="cpp"))
        theirs.append(first_cells(ipyparallel, "first = 1"))
    what = "start until four ranks have run a cell, controller included"
    aims = [Aim("<=", 1.0, "value"), Aim("<=", 0.3)]
    return [
        row(BENCH, what, "s", PEER, theirs),
        row(BENCH, what, "s", OURS, ours, ratio_to=PEER, aims=aims),
    ]


def cell_rows(client, runs):
    one, everyone = client[0], client[:]
    everyone.execute("#include <unistd.h>", block=True)
    ones = [milliseconds(lambda: one.execute("first = 2;").get(), 50) for _ in range(runs)]
    alls = [milliseconds(lambda: everyone.execute("first = 3;").get(), 50) for _ in range(runs)]
    pids = [int(shown(client[[each]], "getpid()")) for each in client.ids]
    memory = [pss_mb(pid) for pid in pids]
    rows = [
        row(BENCH, "trivial cell on one engine", "ms", OURS, ones, aims=[Aim("<=", 12, "value")]),
        row(BENCH, "trivial cell on all four", "ms", OURS, alls, aims=[Aim("<=", 40, "value")]),
        row(BENCH, "memory of one engine after a few cells (PSS; median and range of the four engines)", "MB",
            OURS, memory, aims=[Aim("<=", 70, "value")]),
    ]  # fmt: skip
    for (name, who), times in loop_times(client[[0]], 5).items():
        compared = {"ratio_to": GPP, "aims": [Aim("<=", 1.15)]} if who == OURS else {}
        rows.append(row(BENCH, LOOP_WORDS[name], "ms", who, times, **compared))
    return rows


def measure(options):
    rows = start_rows(options)
    with started(polyxeus, ENGINES, engines="mpi", language="cpp") as (_, client, _):
        client[:].execute("int first = 1;", block=True)
        rows += cell_rows(client, 3)
        ours = there_and_back(client[0], options.mebibytes, options.transfers)
    with started(polyxeus, ENGINES, engines="mpi", language="python") as (_, client, _):
        pythons = there_and_back(client[0], options.mebibytes, options.transfers)
    what = f"array of {options.mebibytes} MiB to one engine and back"
    rows.append(row(BENCH, what, "MiB/s", PYTHON, pythons))
    rows.append(row(BENCH, what, "MiB/s", OURS, ours, ratio_to=PYTHON, aims=[Aim(">=", 0.8)]))
    return rows


def arguments():
    made = parser(__doc__)
    made.add_argument("--starts", type=int, default=3, help="starts of each (3)")
    made.add_argument("--mebibytes", type=int, default=1024, help="size of the array (1024)")
    made.add_argument("--transfers", type=int, default=3, help="times there and back (3)")
    return made.parse_args()


def main():
    options = arguments()
    allow_mpiexec()
    rows = measure(options)
    return finish(rows, options, versions("polyxeus", "ipyparallel", programs=["g++", "mpiexec"]))


if __name__ == "__main__":
    sys.exit(main())
