"""C++ engines: start, the cost of a cell, numeric loops, memory, large arrays.

    python bench/cpp_engine_bench.py [--json build/cpp_engine.json] [--mebibytes 1024]

Four ranks under mpiexec on this host. In the same run: the start of four engines of ipyparallel,
the same loops compiled by g++ -O2, and the same array to a Python engine and back. Exit code 0 when
every bar is met, 1 when not.
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

from figures import Bar, host, milliseconds, print_table

ENGINES = 4
PATIENCE = 120

UNITS = {
    "start_s": "s until four C++ ranks have run a cell, controller included",
    "ipyparallel_start_s": "s, the same with four engines of ipyparallel",
    "start_ratio": "ours / theirs",
    "cell_one_ms": "ms, a trivial cell on one engine",
    "cell_all_ms": "ms, a trivial cell on all four",
    "update_loop_ratio": "a[i] = a[i] * .999 + b[i], cell / g++ -O2",
    "collatz_loop_ratio": "integer Collatz to 10^6, cell / g++ -O2",
    "pss_mb": "MB PSS of one of four engines after a few cells",
    "array_mib_per_s": "MiB/s, an array to a C++ engine and back",
    "array_ratio": "the same / to a Python engine and back",
}

BARS = [
    Bar("start_s", of_ours=True, at_most=True, limit=1.0),
    Bar("start_ratio", of_ours=True, at_most=True, limit=0.3),
    Bar("cell_one_ms", of_ours=True, at_most=True, limit=12),
    Bar("cell_all_ms", of_ours=True, at_most=True, limit=40),
    Bar("update_loop_ratio", of_ours=True, at_most=True, limit=1.15),
    Bar("collatz_loop_ratio", of_ours=True, at_most=True, limit=1.15),
    Bar("pss_mb", of_ours=True, at_most=True, limit=70),
    Bar("array_ratio", of_ours=True, at_most=False, limit=0.8),
]

# Each defines a function that gives milliseconds; the result is used, so that nothing is left out.
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


@contextlib.contextmanager
def home():
    """A folder for the files of clusters."""
    with tempfile.TemporaryDirectory(prefix="px-cpp-") as folder:
        os.environ["IPYTHONDIR"] = folder
        yield


@contextlib.contextmanager
def started(language):
    """A client of four ranks, and the seconds until each has run a cell."""
    with home():
        begun = time.perf_counter()
        cluster = polyxeus.Cluster(n=ENGINES, engines="mpi", language=language, log_level=30)
        client = cluster.start_and_connect_sync()
        try:
            client.wait_for_engines(ENGINES, timeout=PATIENCE)
            client[:].execute("int first = 1;" if language == "cpp" else "first = 1", block=True)
            yield client, time.perf_counter() - begun
        finally:
            client.close()
            cluster.stop_cluster_sync()


def ipyparallel_start():
    # four ranks also where there are fewer cores; pxcluster says so by itself
    os.environ.setdefault("OMPI_MCA_rmaps_base_oversubscribe", "1")
    with home():
        begun = time.perf_counter()
        cluster = ipyparallel.Cluster(n=ENGINES, engines="mpi", log_level=30)
        client = cluster.start_and_connect_sync()
        try:
            client.wait_for_engines(ENGINES, timeout=PATIENCE, interactive=False)
            client[:].execute("first = 1", block=True)
            return time.perf_counter() - begun
        finally:
            client.close()
            cluster.stop_cluster_sync()


def shown(view, code):
    """The value of the cell's last expression, a number."""
    result = view.execute(code, silent=False, block=True)
    return float(result.metadata[0]["execute_result"]["data"]["text/plain"])


def compiled_loops():
    """Milliseconds of each loop, by g++ -O2."""
    source = "#include <chrono>\n#include <cstddef>\n#include <cstdio>\n#include <vector>\n"
    calls = "".join(f'std::printf("%g\\n", {name}());' for name in LOOPS)
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "loops"
        text = source + "".join(LOOPS.values()) + f"int main() {{ {calls} }}\n"
        subprocess.run(
            ["g++", "-std=c++20", "-O2", "-x", "c++", "-", "-o", program],
            input=text, text=True, check=True,
        )  # fmt: skip
        lines = subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()
    return dict(zip(LOOPS, map(float, lines)))


def loop_ratios(view):
    for code in LOOPS.values():
        view.execute(code, block=True)
    runs = {name: [] for name in LOOPS}
    peers = {name: [] for name in LOOPS}
    for _ in range(5):
        for name, value in compiled_loops().items():
            peers[name].append(value)
            runs[name].append(shown(view, f"{name}()"))
    return {
        f"{name}_ratio": statistics.median(runs[name]) / statistics.median(peers[name])
        for name in LOOPS
    }


def pss_mb(client):
    pids = [int(shown(client[[each]], "getpid()")) for each in client.ids]
    sizes = []
    for pid in pids:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                sizes.append(int(line.split()[1]) / 1000)
    return statistics.mean(sizes)


def there_and_back(view, mebibytes):
    """MiB/s of an array pushed to an engine and pulled back."""
    array = np.arange(mebibytes * 2**17, dtype=np.float64)
    begun = time.perf_counter()
    view.push({"large": array}, block=True)
    back = view.pull("large", block=True)
    seconds = time.perf_counter() - begun
    if not np.array_equal(back, array):
        raise RuntimeError("the array came back changed")
    return 2 * mebibytes / seconds


def measure(options):
    starts, peer_starts = [], []
    for _ in range(options.starts):
        with started("cpp") as (_, seconds):
            starts.append(seconds)
        peer_starts.append(ipyparallel_start())
    figures = {
        "start_s": statistics.median(starts),
        "ipyparallel_start_s": statistics.median(peer_starts),
    }
    figures["start_ratio"] = figures["start_s"] / figures["ipyparallel_start_s"]
    with started("cpp") as (client, _):
        one, everyone = client[0], client[:]
        client[:].execute("#include <unistd.h>", block=True)
        figures["cell_one_ms"] = milliseconds(lambda: one.execute("first = 2;").get(), 50)
        figures["cell_all_ms"] = milliseconds(lambda: everyone.execute("first = 3;").get(), 50)
        figures["pss_mb"] = pss_mb(client)
        figures |= loop_ratios(client[[0]])
        cpp_rate = there_and_back(one, options.mebibytes)
    with started("python") as (client, _):
        python_rate = there_and_back(client[0], options.mebibytes)
    figures["array_mib_per_s"] = cpp_rate
    figures["array_ratio"] = cpp_rate / python_rate
    return figures


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--starts", type=int, default=3, help="starts of each (3)")
    parser.add_argument("--mebibytes", type=int, default=1024, help="size of the array (1024)")
    parser.add_argument("--json", type=Path, help="write all figures here")
    parser.add_argument("--no-bars", action="store_true", help="exit with 0 whatever the figures")
    return parser.parse_args()


def main():
    options = arguments()
    figures = measure(options)
    print_table(figures, UNITS, BARS)
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        report = {"host": host("polyxeus", "ipyparallel"), "figures": figures}
        options.json.write_text(json.dumps(report, indent=2) + "\n")
    met = all(bar.is_met(figures[bar.figure], None) for bar in BARS)
    return 0 if options.no_bars or met else 1


if __name__ == "__main__":
    sys.exit(main())
