"""Runs random programs of torch.distributed on four ranks, stops most of them, and looks whether all is well then.

    python tests/torch_ranks/fuzz_torch.py --seeds 500

torch must be importable by Python, e.g. by PYTHONPATH. Exit code 1 where a value was wrong or a cell hung.
"""

import argparse
import collections
import os
import sys
import tempfile
import time
from pathlib import Path

sys.path[:0] = [str(folder) for folder in Path(__file__).parents[:2]]

import torch_fuzz  # noqa: E402

import polyxeus as px  # noqa: E402
import polyxeus.torch  # noqa: E402


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seeds", type=int, default=20, help="how many (20)")
    options.add_argument("--first", type=int, default=0, help="the first of them (0)")
    options.add_argument("--way", choices=torch_fuzz.WAYS, help="what happens to the programs")
    options.add_argument("--engines", default="local", help="local or mpi (local)")
    options = options.parse_args()
    counts, bad = collections.Counter(), 0
    with tempfile.TemporaryDirectory(prefix="px-torch-") as folder:
        os.environ["IPYTHONDIR"] = folder
        client = start(options.engines)
        start_time = time.monotonic()
        for seed in range(options.first, options.first + options.seeds):
            plan = torch_fuzz.Plan(seed, options.way)
            began = time.monotonic()
            problem = torch_fuzz.run(client, plan)
            counts[plan.way] += 1
            if counts.total() % 50 == 0:
                print(f"{counts.total()} programs in {time.monotonic() - start_time:.0f} s", flush=True)
            if problem is not None:
                bad += 1
                print(f"seed {seed} ({plan.way}, {time.monotonic() - began:.1f} s): {problem}\n{plan.text()}", flush=True)
                client.cluster.stop_cluster_sync()
                client = start(options.engines)
        client.cluster.stop_cluster_sync()
    print(f"{counts.total()} programs ({', '.join(f'{k}: {v}' for k, v in counts.items())}), {bad} wrong or hung")
    return 1 if bad else 0


def start(engines):
    client = px.Cluster(n=torch_fuzz.RANKS, engines=engines).start_and_connect_sync()
    px.torch.init(client[:])
    client[:].execute(torch_fuzz.PRELUDE, block=True)
    return client


if __name__ == "__main__":
    sys.exit(main())
