"""Compares two installed versions of polyxeus: what small messages cost from Python.

    python bench/compare_versions.py OLD_PYTHON NEW_PYTHON

Each is the Python of an environment with polyxeus. Both clusters run at the same time, and the two
take turns in short rounds, so that what else the machine does disturbs both alike. A ratio is that of
the medians of all rounds, new / old; wall times on a busy machine say less than the processor time
that the sending thread takes for one submit and that all processes take for a round trip.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from clusters import started
from figures import Aim, finish, milliseconds, parser, row, seconds

BENCH = "compare_versions"
ENGINES = 4
# name -> (what, unit, aim)
FIGURES = {
    "direct": ("submits to one engine, one by one", "1/s", Aim(">=", 1.3)),
    "direct_cpu": ("processor time of the sending thread for one", "us", Aim("<=", 0.77)),
    "balanced": ("load-balanced submits, one by one", "1/s", Aim(">=", 1.3)),
    "balanced_cpu": ("processor time of the sending thread for one of these", "us", None),
    "round_trip": ("call on one engine", "ms", Aim("<=", 0.9)),
    "round_trip_cpu": ("processor time of client and engine for one call", "us", None),
    "map": ("items of a load-balanced map", "1/s", Aim(">=", 0.97)),
    "push_pull": ("push of a number and pull", "ms", Aim("<=", 1.03)),
    "cell": ("cell on all 4 engines", "ms", Aim("<=", 1.03)),
}


# ------------------------------------------------------------------------------ in each version


def sent_and_answered(client, view, count):
    """(submits a second, microseconds of the sending thread for one)"""
    import time

    def echo(x):
        return x

    echo.__module__ = None  # as of a session: it travels by value
    wall, processor = time.perf_counter(), time.thread_time()
    answers = [view.apply_async(echo, number) for number in range(count)]
    wall, processor = time.perf_counter() - wall, time.thread_time() - processor
    if [each.get() for each in answers] != list(range(count)):
        raise RuntimeError("a task gave a wrong answer")
    client.history.clear()
    view.history.clear()
    return count / wall, 1e6 * processor / count


def called(view, count):
    """(ms of a call, microseconds of client and engine for one)"""
    import time

    def one():
        return 1

    one.__module__ = None
    view.apply_sync(one)
    processor = time.process_time() + view.apply_sync(time.process_time)
    took = milliseconds(lambda: view.apply_sync(one), count)
    processor = time.process_time() + view.apply_sync(time.process_time) - processor
    return took, 1e6 * processor / (1.1 * count)


def serve(options):
    """Measures what the lines of standard input name, until it ends."""
    import polyxeus

    with started(polyxeus, ENGINES) as (_, client, _):
        one, free, everyone = client[0], client.load_balanced_view(), client[:]
        count = options.tasks

        def push_and_pull():
            one.push({"x": 5}, block=True)
            one.pull("x", block=True)

        actions = {
            "direct": lambda: sent_and_answered(client, one, count),
            "balanced": lambda: sent_and_answered(client, free, count),
            "round_trip": lambda: called(one, options.round_trips),
            "map": lambda: (10 * count / seconds(lambda: free.map_sync(abs, range(10 * count))),),
            "push_pull": lambda: (milliseconds(push_and_pull, options.round_trips // 2),),
            "cell": lambda: (
                milliseconds(lambda: everyone.execute("1", block=True), options.round_trips // 4),
            ),
        }
        print(json.dumps([polyxeus.__version__]), flush=True)
        for line in sys.stdin:
            print(json.dumps(actions[line.strip()]()), flush=True)


# -------------------------------------------------------------------------------- both of them


class Version:
    """One version of polyxeus, in a process of its own."""

    def __init__(self, name, python, options):
        self.name = name
        # Not resolved: the link belongs to the environment, where its programs are, too.
        path = os.pathsep.join([str(Path(python).absolute().parent), os.environ["PATH"]])
        environment = os.environ | {"PATH": path, "PYTHONPATH": ""}
        environment.pop("VIRTUAL_ENV", None)
        sizes = [f"--tasks={options.tasks}", f"--round-trips={options.round_trips}"]
        self.process = subprocess.Popen(
            [python, __file__, "--serve", *sizes, python, python],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
        )  # fmt: skip
        (self.version,) = self.read()

    def read(self):
        for line in self.process.stdout:
            if line.startswith("["):
                return json.loads(line)
        raise RuntimeError(f"the measuring process of {self.name} ended")

    def measure(self, name):
        self.process.stdin.write(name + "\n")
        self.process.stdin.flush()
        return self.read()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def rows_of(found):
    rows = []
    for name, (what, unit, aim) in FIGURES.items():
        for version, runs in found.items():
            if name in runs:
                compared = {"ratio_to": "old", "aims": [aim] if aim else []}
                compared = compared if version == "new" else {}
                rows.append(row(BENCH, what, unit, version, runs[name], **compared))
    return rows


def arguments():
    made = parser(__doc__)
    made.add_argument("old", help="the Python of the old version")
    made.add_argument("new", help="the Python of the new version")
    made.add_argument("--rounds", type=int, default=7, help="turns of each version (7)")
    made.add_argument("--tasks", type=int, default=1000, help="submits in one turn (1000)")
    made.add_argument("--round-trips", type=int, default=200, help="calls in one turn (200)")
    made.add_argument("--only", nargs="*", help="some of the figures")
    made.add_argument("--serve", action="store_true", help="one of the two processes")
    return made.parse_args()


def main():
    options = arguments()
    if options.serve:
        return serve(options)
    names = options.only or [name for name in FIGURES if not name.endswith("_cpu")]
    versions = [Version("old", options.old, options), Version("new", options.new, options)]
    found = {version.name: {} for version in versions}
    try:
        for round_ in range(options.rounds + 1):
            for name in names:
                for version in versions if round_ % 2 else reversed(versions):
                    figures = version.measure(name)
                    if round_ == 0:  # warms up
                        continue
                    for key, figure in zip((name, name + "_cpu"), figures):
                        found[version.name].setdefault(key, []).append(figure)
    finally:
        for version in versions:
            version.close()
    used = {version.name: version.version for version in versions}
    return finish(rows_of(found), options, used)


if __name__ == "__main__":
    sys.exit(main())
