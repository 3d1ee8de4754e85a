"""A client that does not read, or reads slowly, as a test stops it meanwhile.

python slow_client.py FILE WAY COUNT: asks engine 0 for COUNT results of 1 MiB in this way, prints "asked", waits
for all of them, and prints how many came, and how many errors of each name came in their place.
"""

import collections
import json
import sys

import polyxeus as px

PATIENCE = 300  # seconds
MIB = 1 << 20
PRINT = f"print('x' * {MIB})"
WAYS = {
    "direct": lambda rc: rc[0].apply_async(bytes, MIB),
    "broadcast": lambda rc: rc.broadcast_view().apply_async(bytes, MIB),
    "tasks": lambda rc: rc.load_balanced_view().apply_async(bytes, MIB),
    "output": lambda rc: rc[0].execute(PRINT, silent=False),
}


def outcome(result):
    """The name of its error, or ok."""
    problem = result.exception(PATIENCE)
    if isinstance(problem, px.error.CompositeError):  # of a broadcast
        return problem.elist[0][0]
    return problem.ename if problem else "ok"


def main(file, way, count):
    with px.Client(file, timeout=PATIENCE) as rc:
        rc.wait_for_engines(1, timeout=PATIENCE)
        results = [WAYS[way](rc) for _ in range(int(count))]
        for result in results:
            result.wait_for_send(PATIENCE)
        print("asked", flush=True)
        print(json.dumps(collections.Counter(map(outcome, results))))


if __name__ == "__main__":
    main(*sys.argv[1:])
