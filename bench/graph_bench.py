"""Graphs of tasks whose results stay on the workers: by Refs of our Python package, by Dask and by Ray.

    pip install -r bench/requirements.txt
    python bench/graph_bench.py [--json build/graph_bench.json] [--repetitions 1] [--peers-python PATH]

Two graphs on four workers of this host: many small nodes in layers, each of which adds up three nodes of the layer before,
and few nodes with an array of 64 MiB each. Each subject runs in a process of its own, sends the graph node by node, drops
what it needs no more, and fetches the last result only. The results are checked. For us also the bytes of requests and
answers are measured that pass the controller for each edge. Exit code 0 when we are ahead of both peers in both graphs
and every aim is met, 1 when not.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import time

from figures import Aim, finish, parser, row, versions

BENCH = "graph_bench"
OURS = "polyxeus"
ENGINES = 4
INPUTS = 3
TIME_LIMIT = 900.0  # seconds for a subject
KIB_PER_EDGE = 1.0
FIGURES = {"nodes": "{} small nodes in layers of 100", "arrays": "{} nodes with 64 MiB each"}


def add(number, *values):
    return (number + sum(values)) % 1_000_003


def make_array(number):
    import numpy

    return numpy.full(8 << 20, float(number))


def add_arrays(first, second):
    return first + second


def first_item(array):
    return float(array[0])


def plan_of_nodes(count):
    """For each node the nodes that it needs; the last one needs those of the last layer."""
    choose = random.Random(1)
    width = 100
    layers = [n // width * width for n in range(count)]
    plan = [choose.sample(range(first - width, first), INPUTS) if first else [] for first in layers]
    return [*plan, list(range(max(0, count - width), count))]


def plan_of_arrays(count):
    """A quarter of the nodes make arrays; each of the others adds two nodes before it."""
    made = max(2, count // 4)
    return [[] if n < made else [n - made, n - made + 1] for n in range(count)]


def run_graph(plan, send):
    """Sends the nodes of a graph by send(number, inputs); returns the last one. What no further node needs is dropped."""
    last_use = {each: number for number, inputs in enumerate(plan) for each in inputs}
    sent = {}
    for number, inputs in enumerate(plan):
        sent[number] = send(number, [sent[each] for each in inputs])
        for each in set(inputs):
            if last_use[each] == number:
                del sent[each]
    return sent[len(plan) - 1]


def here(plan, of_arrays):
    if of_arrays:
        return run_graph(plan, lambda number, inputs: sum(inputs) if inputs else float(number))
    return run_graph(plan, lambda number, inputs: add(number, *inputs))


# ---------------------------------------------------------------- the subjects


class Ours:
    def __init__(self):
        import polyxeus

        self.cluster = polyxeus.Cluster(n=ENGINES, log_level=30)
        self.client = self.cluster.start_and_connect_sync()
        self.client.wait_for_engines(ENGINES, timeout=120)
        self.view = self.client.load_balanced_view()

    def submit(self, function, *arguments):
        return self.view.apply_ref(function, *arguments)

    def get(self, sent):
        return sent.get(TIME_LIMIT)

    def relayed(self):
        """The bytes of requests and answers, once no more come: each engine tells the same twice. The engines tell it with
        their heartbeats."""
        latest, since = None, time.time()
        while True:
            seen = self.client.measures()
            engines = seen["engines"]
            times = [seen["time"] - each.get("measured_ago", TIME_LIMIT) for each in engines]
            if len(engines) == ENGINES and min(times) > since:
                count = sum(each.get(way, {}).get("socket", 0) for each in engines for way in ("in", "out"))
                if count == latest:
                    return count
                latest, since = count, time.time()
            time.sleep(0.2)

    def stop(self):
        self.client.close()
        self.cluster.stop_cluster_sync()


class Dask:
    def __init__(self):
        from distributed import Client, LocalCluster

        self.cluster = LocalCluster(n_workers=ENGINES, threads_per_worker=1, processes=True, dashboard_address=None)
        self.client = Client(self.cluster)
        self.client.wait_for_workers(ENGINES)

    def submit(self, function, *arguments):
        return self.client.submit(function, *arguments, pure=False)

    def get(self, sent):
        return sent.result()

    def stop(self):
        self.client.close()
        self.cluster.close()


class Ray:
    def __init__(self):
        import ray

        self.ray = ray
        ray.init(num_cpus=ENGINES, include_dashboard=False, log_to_driver=False, object_store_memory=6 << 30)
        self.remote = {each: ray.remote(each) for each in (add, make_array, add_arrays, first_item)}

    def submit(self, function, *arguments):
        return self.remote[function].remote(*arguments)

    def get(self, sent):
        return self.ray.get(sent)

    def stop(self):
        self.ray.shutdown()


SUBJECTS = {OURS: Ours, "Dask": Dask, "Ray": Ray}


def timed(subject, plan, of_arrays):
    """The seconds from the first node's sending until the last result is here."""

    def send(number, inputs):
        if not of_arrays:
            return subject.submit(add, number, *inputs)
        return subject.submit(add_arrays, *inputs) if inputs else subject.submit(make_array, number)

    began = time.perf_counter()
    last = run_graph(plan, send)
    if of_arrays:
        last = subject.submit(first_item, last)
    value = subject.get(last)
    took = time.perf_counter() - began
    if value != here(plan, of_arrays):
        raise RuntimeError(f"the graph gives {value}")
    return took


def measure(name, nodes, arrays):
    """Measures one subject in this process, and prints what it found as JSON."""
    subject = SUBJECTS[name]()
    try:
        timed(subject, plan_of_nodes(200), False)  # so that all workers have begun
        timed(subject, plan_of_arrays(8), True)
        found = {}
        for figure, plan in (("nodes", plan_of_nodes(nodes)), ("arrays", plan_of_arrays(arrays))):
            before = subject.relayed() if name == OURS else 0
            found[figure] = {"seconds": timed(subject, plan, figure == "arrays")}
            if name == OURS:
                found[figure]["kib_per_edge"] = (subject.relayed() - before) / 1024 / sum(map(len, plan))
    finally:
        subject.stop()
    print(json.dumps(found))


def run(name, options):
    python = sys.executable if name == OURS else options.peers_python
    command = [python, __file__, "--measure", name, "--nodes", str(options.nodes), "--arrays", str(options.arrays)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT, env={**os.environ, "RAY_DEDUP_LOGS": "0"})
    if done.returncode:
        raise RuntimeError((done.stderr.strip() or f"exit code {done.returncode}").splitlines()[-1])
    return json.loads(done.stdout.splitlines()[-1])


def arguments():
    made = parser(__doc__)
    made.add_argument("--repetitions", type=int, default=1, help="of all subjects, in turn (1)")
    made.add_argument("--nodes", type=int, default=10_000, help="small ones (10000)")
    made.add_argument("--arrays", type=int, default=64, help="nodes with arrays (64)")
    made.add_argument("--subjects", nargs="+", choices=SUBJECTS, default=list(SUBJECTS))
    made.add_argument("--peers-python", default=sys.executable, help="the Python that has Dask and Ray (this one)")
    made.add_argument("--measure", choices=SUBJECTS, help=argparse.SUPPRESS)
    return made.parse_args()


def main():
    options = arguments()
    if options.measure:
        return measure(options.measure, options.nodes, options.arrays)
    took, relayed, missing = {}, {}, {}
    for _ in range(options.repetitions):
        for name in options.subjects:
            try:
                for figure, found in run(name, options).items():
                    took.setdefault((figure, name), []).append(found["seconds"])
                    if "kib_per_edge" in found:
                        relayed.setdefault(figure, []).append(found["kib_per_edge"])
            except (RuntimeError, subprocess.TimeoutExpired) as problem:
                missing[name] = str(problem)
    rows = []
    for figure, words in FIGURES.items():
        what = words.format(f"{getattr(options, figure):,}")
        peers = [name for name in SUBJECTS if name != OURS and (figure, name) in took]
        best = min(peers, key=lambda name: statistics.median(took[figure, name]), default=None)
        for name in (*peers, OURS):
            values = took.get((figure, name))
            if values:
                aims = [Aim("<=", 1.0)] if name == OURS and best else []
                rows.append(row(BENCH, what, "s", name, values, best if name == OURS else None, aims))
        if figure in relayed:
            relayed_what = f"{what}: relayed for each edge"
            rows.append(row(BENCH, relayed_what, "KiB", OURS, relayed[figure], aims=[Aim("<=", KIB_PER_EDGE, "value")]))
    return finish(rows, options, versions("polyxeus", "distributed", "ray"), missing)


if __name__ == "__main__":
    sys.exit(main())
