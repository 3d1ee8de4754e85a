"""Whether a cluster that works for long takes ever more memory or file descriptors.

    .venv/bin/python tests/system/limits/soak.py --minutes 30

One client does mixed_work.work() without a pause. Every 30 seconds a line is printed: the memory (PSS) and
the open file descriptors of the controller, of all engines and of the client, and what the arrays take in
/dev/shm. Exit code 0 if no figure is larger in the last third of the time than in the second third;
5 % of it, 8 MB and 8 descriptors more do not count.
"""

import argparse
import json
import os
import signal
import statistics
import sys
import tempfile
import time
from pathlib import Path

import mixed_work
import polyxeus as px

# The figures, and by how much each may grow without being called so, beside 5 %.
FIGURES = {
    "controller MB": 8, "engines MB": 8, "client MB": 8,
    "controller fds": 8, "engines fds": 8, "client fds": 8, "/dev/shm MB": 8,
}  # fmt: skip


def pss_mb(pid):
    """The memory of a process, each page divided by how many processes share it."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024 / 1e6
    return 0.0


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def shared_mb(folder):
    """What the files of the cluster take in shared memory."""
    return sum(file.stat().st_blocks for file in Path(folder).iterdir()) * 512 / 1e6


def sample(controller, engines, folder):
    """The values of FIGURES now."""
    return [
        pss_mb(controller), sum(map(pss_mb, engines)), pss_mb(os.getpid()),
        descriptors(controller), sum(map(descriptors, engines)), descriptors(os.getpid()),
        shared_mb(folder),
    ]  # fmt: skip


def grown(samples):
    """The names of the figures that are larger in the last third of the samples than in the second.

    Their medians count: one large array more at the moment of one sample is no growth.
    """
    third = len(samples) // 3
    names = []
    for column, (name, tolerated) in enumerate(FIGURES.items()):
        values = [each[column] for each in samples]
        before = statistics.median(values[third : 2 * third])
        after = statistics.median(values[2 * third :])
        if after > before * 1.05 and after > before + tolerated:
            names.append(name)
    return names


def line(cells):
    return "".join(f"{cell:>16}" for cell in cells)


def soak(rc, profile, options):
    """The samples, which are printed as they are taken."""
    record = json.loads(next(profile.rglob("cluster-*.json")).read_text())
    controller, engines = record["controller"]["state"]["pid"], rc[:].apply_sync(os.getpid)
    connection = json.loads(next(profile.rglob("ipcontroller*-client.json")).read_text())
    print(line(["minutes", "rounds", *FIGURES]))
    samples, rounds, began = [], 0, time.monotonic()
    while (seconds := time.monotonic() - began) < 60 * options.minutes:
        mixed_work.work(rc, rounds)
        rounds += 1
        if seconds >= options.every * (len(samples) + 1):
            samples.append(sample(controller, engines, connection["memory"]["folder"]))
            figures = (f"{value:.1f}" for value in samples[-1])
            print(line([f"{seconds / 60:.1f}", rounds, *figures]), flush=True)
    return samples


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # ends the cluster, too
    made = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    made.add_argument("--minutes", type=float, default=30, help="for so long (30)")
    made.add_argument("--engines", type=int, default=4, help="Python engines (4)")
    made.add_argument("--every", type=float, default=30, help="seconds between two lines (30)")
    options = made.parse_args()
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with tempfile.TemporaryDirectory(prefix="px-soak-") as folder:
        os.environ["IPYTHONDIR"] = folder
        with px.Cluster(n=options.engines, log_level=30) as rc:
            names = grown(soak(rc, Path(folder), options))
    print("grown in the last third:", ", ".join(names) or "nothing")
    return 1 if names else 0


if __name__ == "__main__":
    sys.exit(main())
