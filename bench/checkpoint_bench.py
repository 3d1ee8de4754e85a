"""How fast a checkpoint of 1 GiB is written, beside what dd writes to the same file system.

    python bench/checkpoint_bench.py [--json build/checkpoint.json] [--folder .] [--runs 3] [--mebibytes 1024]

An array lies scattered over 4 of 8 Python engines. In turns dd writes as many bytes and forces them to the
disk, and the engines write a checkpoint, which counts when all of it is there. The last one is restored
on 2, 3 and 8 engines, and each compares its block. Exit code 0 when the aim is met.
"""

import pathlib
import subprocess
import sys
import tempfile

import polyxeus

from clusters import started
from figures import Aim, finish, parser, row, seconds, versions

BENCH = "checkpoint_bench"
RANKS, RESTORED_ON, ENGINES = 4, (2, 3, 8), 8
MIB = 1 << 20


def make_block(position, count, size):
    """Engine `position` of `count` gets its block of an array of `size` numbers as `x`."""
    import numpy

    globals()["x"] = numpy.arange(position * size // count, (position + 1) * size // count, dtype="f8")


def change():
    x.__iadd__(1)  # noqa: F821  of the engine


def block_is(position, count):
    """The first number of x and the one after its last, if it holds all between them."""
    import numpy

    low, high = int(x[0]), int(x[-1]) + 1  # noqa: F821
    return (low, high) if numpy.array_equal(x, numpy.arange(low, high, dtype="f8")) else None  # noqa: F821


def are_whole(blocks, first, last):
    """Whether the blocks follow each other from `first` to `last`."""
    bounds = [first, *(bound for block in blocks for bound in block or ()), last]
    return bounds[::2] == bounds[1::2]


def on_each(client, count, function, *arguments):
    answers = [
        client[position].apply_async(function, position, count, *arguments)
        for position in range(count)
    ]
    return [each.get(300) for each in answers]


def write_by_dd(folder, mebibytes):
    file = folder / "dd"
    command = ["dd", "if=/dev/zero", f"of={file}", "bs=1M", f"count={mebibytes}", "conv=fsync"]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)


def main():
    options = parser(__doc__)
    options.add_argument("--runs", type=int, default=3)
    options.add_argument("--mebibytes", type=int, default=1024)
    options.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("."),
                         help="on the file system that is written to")  # fmt: skip
    options = options.parse_args()
    size = options.mebibytes * MIB // 8
    rates = {"polyxeus": [], "dd": []}
    with (
        tempfile.TemporaryDirectory(dir=options.folder) as made,
        started(polyxeus, ENGINES) as (_, client, _),
    ):
        folder = pathlib.Path(made)
        view = client[list(range(RANKS))]
        on_each(client, RANKS, make_block, size)
        for _ in range(options.runs):
            rates["dd"].append(options.mebibytes / seconds(lambda: write_by_dd(folder, options.mebibytes)))
            (folder / "dd").unlink()
            view.apply_sync(change)  # what did not change is linked
            took = seconds(lambda: view.checkpoint(folder / "c", names="x", scattered="x", keep_last=1))
            rates["polyxeus"].append(options.mebibytes / took)
        for count in RESTORED_ON:
            client[:].execute("globals().pop('x', None)", block=True)
            client[list(range(count))].restore(folder / "c", names="x")
            if not are_whole(on_each(client, count, block_is), options.runs, size + options.runs):
                raise RuntimeError(f"restored on {count} engines the array is not the same")
    what = f"checkpoint of {options.mebibytes} MiB over {RANKS} engines"
    rows = [
        row(BENCH, what, "MiB/s", "dd", rates["dd"]),
        row(BENCH, what, "MiB/s", "polyxeus", rates["polyxeus"], "dd", [Aim(">=", 0.7)]),
    ]
    return finish(rows, options, versions("polyxeus", "numpy", programs=["pxcontroller"]))


if __name__ == "__main__":
    sys.exit(main())
