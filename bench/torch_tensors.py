"""Large torch tensors between a client and four engines of one host, beside NumPy arrays of as many bytes.

    python bench/torch_tensors.py [--json build/torch_tensors.json] [--mebibytes 64] [--transfers 15]

Arrays and tensors take turns at each kind of transfer, so that they meet the same load; ratios are to the
arrays of the same run. Where torch is missing nothing is measured: one sentence says so, and the exit code
is 0. Else it is 0 when every aim is met, 1 when not.
"""

import sys

import numpy
import polyxeus

from clusters import large_array, started
from figures import Aim, finish, parser, row, seconds, versions

BENCH = "torch_tensors"
ENGINES = 4
ARRAY = "NumPy float32"
LEAST = 0.95  # of the arrays' rate
FIGURES = {
    "push": "push to one engine",
    "pull": "pull from one engine",
    "scatter": "scatter to four engines",
    "gather": "gather from four engines",
}


def values_of(mebibytes):
    """One array, and tensors of as many bytes, all in memory of NumPy, which asks the system for huge pages."""
    import torch

    array = large_array(mebibytes).view("f4")
    values = {ARRAY: array}
    for dtype in (torch.float32, torch.bfloat16):
        values[str(dtype).replace(".", " ")] = torch.frombuffer(array.copy(), dtype=dtype)
    return values


def actions(client, name, value):
    one, everyone = client[0], client[:]
    return {
        "push": lambda: one.push({name: value}, block=True),
        "pull": lambda: one.pull(name, block=True),
        "scatter": lambda: everyone.scatter(f"{name}_part", value, block=True),
        "gather": lambda: everyone.gather(f"{name}_part", block=True),
    }


def is_same(value, found):
    if isinstance(value, numpy.ndarray):
        return value.tobytes() == found.tobytes()
    import torch

    return value.dtype == found.dtype and torch.equal(value.view(torch.uint8), found.view(torch.uint8))


def measure(client, values, mebibytes, transfers):
    """(figure, name of the value) -> GB/s of each transfer"""
    calls = {name: actions(client, f"value_{i}", value) for i, (name, value) in enumerate(values.items())}
    rates = {(figure, name): [] for figure in FIGURES for name in values}
    for figure in FIGURES:
        for each in calls.values():
            each[figure]()
        names = list(calls)
        for _ in range(transfers):
            names.append(names.pop(0))  # each of them is first equally often
            for name in names:
                rates[figure, name].append((mebibytes << 20) / seconds(calls[name][figure]) / 1e9)
    for name, value in values.items():
        for figure in ("pull", "gather"):
            if not is_same(value, calls[name][figure]()):
                raise RuntimeError(f"{name}: {figure} gave something else than was sent")
    return rates


def rows_of(rates, names, mebibytes):
    rows = []
    for figure, words in FIGURES.items():
        for name in names:
            compared = {} if name == ARRAY else {"ratio_to": ARRAY, "aims": [Aim(">=", LEAST)]}
            rows.append(row(BENCH, f"{words}: {mebibytes} MiB", "GB/s", name, rates[figure, name], **compared))
    return rows


def arguments():
    made = parser(__doc__)
    made.add_argument("--mebibytes", type=int, default=64, help="size of the array and of each tensor (64)")
    made.add_argument("--transfers", type=int, default=31, help="of each kind (31)")
    return made.parse_args()


def main():
    options = arguments()
    try:
        import torch  # noqa: F401
    except ImportError:
        print("nothing is measured: torch is not installed (pip install torch)")
        return 0
    values = values_of(options.mebibytes)
    with started(polyxeus, ENGINES) as begun:
        rates = measure(begun.client, values, options.mebibytes, options.transfers)
    return finish(rows_of(rates, values, options.mebibytes), options, versions("polyxeus", "numpy", "torch"))


if __name__ == "__main__":
    sys.exit(main())
