"""Values that travel while those who send and receive them change them: what check_transfers.py and a test run.

A value consists of one number, its mark, and memory that others can still see. Whoever has sent it writes another
mark into it at once, or, from 256 KiB on, when wait_for_send() returns; whoever gets it does so, too. What arrives has
the mark that the value had when it was sent, or something shares memory that it must not share. Tensors are among the
values where torch is installed.
"""

import json
import os
import random
import tempfile
from contextlib import ExitStack, contextmanager

import polyxeus as px

WRONG = 255
LEAST_SHARED = 256 << 10  # smaller values may be changed at once
_EDGES = [4096, 16384, 64 << 10, 128 << 10, LEAST_SHARED]
_LARGE = [512 << 10, 1 << 20, (1 << 20) + 4096, 3 << 20, 9 << 20]
_BATCH = 6

# Runs here and on the engines.
COMMON = """
import os
import numpy as np
try:
    import torch
except ImportError:
    torch = None

def make(kind, size, mark):
    whole = np.full(max(size, 1), mark, "u1")
    if kind == "double":
        return np.full(size // 8, float(mark))
    if kind == "fortran":
        return np.full((size // 16, 2), float(mark), order="F")
    if kind == "strided":
        return np.full(2 * size, mark, "u1")[::2]
    if kind == "list":
        return [whole, mark, whole[: size // 2]]
    if kind == "dict":
        return {"a": whole, "b": ("text", whole[:10].copy())}
    if kind == "boxed":
        box = np.empty(2, object)
        box[0], box[1] = whole, mark
        return box
    if kind == "masked":
        return np.ma.masked_array(whole)
    if kind == "record":
        made = np.zeros(size // 12, [("x", "f8"), ("n", "i4")])
        made["x"] = made["n"] = mark
        return made
    if kind == "tensor":
        return torch.full((size // 4,), float(mark))
    if kind == "bfloat16":
        return torch.full((size // 4, 2), float(mark), dtype=torch.bfloat16)
    if kind == "transposed":
        return torch.full((size // 8, 2), float(mark)).t()
    if kind == "tensors":
        flat = torch.full((size // 8,), mark)
        return {"flat": flat, "twice": flat.view(-1, 1), "some": flat[::2], "part": flat[size // 16 :]}
    return whole

def memory_of(value):
    if isinstance(value, np.ma.MaskedArray):
        yield value.data
    elif isinstance(value, np.ndarray) and not value.dtype.hasobject:
        yield value
    elif torch is not None and isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        yield from memory_of(list(value.values()))
    elif isinstance(value, (list, tuple, np.ndarray)):
        for each in value:
            yield from memory_of(each)

def refill(value, mark):
    for memory in memory_of(value):
        if torch is not None and isinstance(memory, torch.Tensor):
            memory.fill_(mark)
        elif memory.dtype.names:
            memory["x"] = memory["n"] = mark
        elif memory.flags.writeable:
            memory[...] = mark

def is_right(value, kind, size, mark):
    wanted = make(kind, size, mark)
    there = [*memory_of(value)]
    return type(value) is type(wanted) and len(there) == len([*memory_of(wanted)]) and all(
        a.dtype == b.dtype and a.shape == b.shape and bool((a == b).all()) for a, b in zip(there, memory_of(wanted)))

def take(value, kind, size, mark):
    was_right = is_right(value, kind, size, mark)
    refill(value, 255)
    return was_right

def take_at_last(value, kind, size, mark, path):
    was_right = take(value, kind, size, mark)
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return was_right
    raise RuntimeError("try again")

kept = {}

def keep(kind, size, mark, number=0):
    value = kept.get((kind, size, number))
    if value is None:
        if len(kept) > 20:
            kept.clear()
        value = kept[kind, size, number] = make(kind, size, mark)
    refill(value, mark)
    return value.copy() if kind == "boxed" else value  # the box is new, what is in it is not
"""
exec(COMMON)
KINDS = ["bytes", "double", "fortran", "strided", "list", "dict", "boxed", "masked", "record"]
SEQUENCES = ["bytes", "double", "record", "fortran"]
if torch is not None:  # noqa: F821
    KINDS += ["tensor", "bfloat16", "transposed", "tensors"]
    SEQUENCES += ["tensor", "bfloat16"]

CPP = """
px::array<double, 1> kept(1);
px::array<double, 1> keep(long size, double mark) {
  if (kept.size() != size) kept = px::array<double, 1>(size);
  for (long i = 0; i < size; ++i) kept(i) = mark;
  return kept;
}
"""


def ref(name):
    return px.Reference(name)


class Draw:
    """Random values from a seed."""

    def __init__(self, seed, large=0.06):
        self.random = random.Random(seed)
        self._large = large

    def size(self):
        if self.random.random() < self._large:
            return self.random.choice(_LARGE) + self.random.choice([-8, 0, 8])
        if self.random.random() < 0.5:
            return self.random.choice(_EDGES) + self.random.choice([-1, 0, 1, -200, 200])
        return int(2 ** self.random.uniform(0, 18))

    def value(self, kind=None):
        """(kind, size, mark)"""
        return kind or self.random.choice(KINDS), self.size(), self.random.randrange(1, 250)

    def engine(self, client):
        return client[self.random.choice(client.ids)]


def change(pending, value, size):
    """As soon as it is allowed."""
    if 2 * size >= LEAST_SHARED:  # pickles and padding may make it larger
        pending.wait_for_send(60)
    refill(value, WRONG)  # noqa: F821


# ---------------------------------------------------------------- ways: each gives whether its values were right


def _arguments(submit, draw, *more):
    pending = []
    for _ in range(_BATCH):
        what = draw.value()
        value = make(*what)  # noqa: F821
        pending.append(submit(value, *what, *more))
        change(pending[-1], value, what[1])
    return pending


def arguments_of_one(bed, draw):
    view = draw.engine(bed.client)
    return [each.get(60) for each in _arguments(lambda *a: view.apply_async(ref("take"), *a), draw)]


def arguments_of_all(bed, draw):
    view = draw.random.choice([bed.client[:], bed.client.broadcast_view()])
    pending = _arguments(lambda *a: view.apply_async(ref("take"), *a), draw)
    return [right for each in pending for right in each.get(60)]


def arguments_of_tasks(bed, draw):
    view = bed.client.load_balanced_view()
    return [each.get(60) for each in _arguments(lambda *a: view.apply_async(ref("take"), *a), draw)]


def arguments_of_tasks_that_run_twice(bed, draw):
    view = bed.client.load_balanced_view(retries=1)
    with tempfile.TemporaryDirectory() as folder:
        paths = iter(range(_BATCH))
        pending = _arguments(
            lambda *a: view.apply_async(ref("take_at_last"), *a, f"{folder}/{next(paths)}"), draw
        )
        return [each.get(60) for each in pending]


def resubmitted(bed, draw):
    view = bed.client.load_balanced_view()
    pending = _arguments(lambda *a: view.apply_async(ref("take"), *a), draw)
    first = [each.get(60) for each in pending]
    return first + [bed.client.resubmit(each.msg_ids[0]).get(60) for each in pending]


def pushed_and_pulled(bed, draw):
    view = draw.random.choice([draw.engine(bed.client), bed.client[:], bed.client.broadcast_view()])
    rights, pulled = [], []
    for _ in range(_BATCH):
        what = draw.value()
        value = make(*what)  # noqa: F821
        change(view.push({"v": value}, block=False), value, what[1])
        pulled.append((view.pull("v", block=False), what))
        view.apply_async(ref("refill"), ref("v"), WRONG)
    for pending, what in pulled:
        found = pending.get(60)
        rights += [take(each, *what) for each in (found if isinstance(view.targets, list) else [found])]  # noqa: F821
    return rights


def scattered_and_gathered(bed, draw):
    view = bed.client[:]
    rights = []
    for _ in range(_BATCH):
        kind, size, mark = draw.value(draw.random.choice(SEQUENCES))
        value, dist = make(kind, size, mark), draw.random.choice("br")  # noqa: F821
        change(view.scatter("s", value, dist=dist, block=False), value, size)
        pending = view.gather("s", dist=dist, block=False)
        view.apply_async(ref("refill"), ref("s"), WRONG)
        rights.append(take(pending.get(60), kind, size, mark))  # noqa: F821
    return rights


def results_of_calls(bed, draw):
    view = draw.random.choice([draw.engine(bed.client), bed.client.load_balanced_view()])
    kind, size, _ = draw.value()
    marks = [draw.random.randrange(1, 250) for _ in range(_BATCH)]
    pending = [view.apply_async(ref("keep"), kind, size, mark) for mark in marks]
    return [take(each.get(60), kind, size, mark) for each, mark in zip(pending, marks)]  # noqa: F821


def results_of_maps(bed, draw):
    view = draw.random.choice([draw.engine(bed.client), bed.client[:]])
    kind, size, _ = draw.value()
    numbers, pending = range(len(view)), []
    for _ in range(_BATCH):
        mark = draw.random.randrange(1, 250)
        sequences = [[each] * len(numbers) for each in (kind, size, mark)]
        pending.append((view.map_async(ref("keep"), *sequences, numbers), mark))
    return [take(each, kind, size, mark) for result, mark in pending for each in result.get(60)]  # noqa: F821


def results_of_balanced_maps(bed, draw):
    view = bed.client.load_balanced_view()
    kind, size, _ = draw.value()
    marks = [draw.random.randrange(1, 250) for _ in range(2 * _BATCH)]
    sequences = [[each] * len(marks) for each in (kind, size)]
    found = view.map_async(ref("keep"), *sequences, marks, chunksize=1).get(60)
    return [take(each, kind, size, mark) for each, mark in zip(found, marks)]  # noqa: F821


def arguments_of_maps(bed, draw):
    view = draw.random.choice([bed.client[:], bed.client.load_balanced_view()])
    whats = [draw.value() for _ in range(_BATCH)]
    values = [make(*what) for what in whats]  # noqa: F821
    pending = view.map_async(ref("take"), values, *map(list, zip(*whats)))
    change(pending, values, sum(what[1] for what in whats))
    return pending.get(60)


def results_on_record(bed, draw):
    view = bed.client.load_balanced_view()
    kind, size, _ = draw.value()
    size = min(size, LEAST_SHARED // 4)  # of larger ones the records forget those beyond 64 MiB
    marks = [draw.random.randrange(1, 250) for _ in range(_BATCH)]
    pending = [view.apply_async(ref("keep"), kind, size, mark) for mark in marks]
    rights = [take(each.get(60), kind, size, mark) for each, mark in zip(pending, marks)]  # noqa: F821
    found = bed.other.get_result([each.msg_ids[0] for each in pending]).get(60)
    return rights + [take(each, kind, size, mark) for each, mark in zip(found, marks)]  # noqa: F821


def results_of_cpp(bed, draw):
    view = draw.engine(bed.cpp)
    size = max(1, draw.size() // 8)
    marks = [draw.random.randrange(1, 250) for _ in range(_BATCH)]
    pending = [view.apply_async("keep", size, float(mark)) for mark in marks]
    return [take(each.get(60), "double", 8 * size, mark) for each, mark in zip(pending, marks)]  # noqa: F821


def pushed_to_cpp(bed, draw):
    view = draw.engine(bed.cpp)
    pulled = []
    for _ in range(_BATCH):
        what = draw.value(draw.random.choice(["bytes", "double"]))
        value = make(*what)  # noqa: F821
        name = f"{what[0]}_array"
        change(view.push({name: value}, block=False), value, what[1])
        pulled.append((view.pull(name, block=False), what))
    return [take(pending.get(60), *what) for pending, what in pulled]  # noqa: F821


WAYS = [
    arguments_of_one, arguments_of_all, arguments_of_tasks, arguments_of_tasks_that_run_twice, arguments_of_maps,
    resubmitted, pushed_and_pulled, scattered_and_gathered, results_of_calls, results_of_maps,
    results_of_balanced_maps, results_on_record,
]  # fmt: skip
CPP_WAYS = [results_of_cpp, pushed_to_cpp]


# ---------------------------------------------------------------- where they travel


class Bed:
    """Clients of one kind.  other  one that asks for results of `client`; cpp  one of C++ engines, or None."""

    def __init__(self, name, client, other, cpp=None):
        self.name, self.client, self.other, self.cpp = name, client, other, cpp
        client[:].execute(COMMON, block=True)
        if cpp is not None:
            cpp[:].execute(CPP, block=True)

    def ways(self):
        return WAYS + (CPP_WAYS if self.cpp is not None else [])


@contextmanager
def without_shared_memory():
    os.environ["POLYXEUS_SHARED_MEMORY"] = "0"
    try:
        yield
    finally:
        del os.environ["POLYXEUS_SHARED_MEMORY"]


def client_elsewhere(file, folder):
    """As on another host: it cannot map the segments of the cluster's host."""
    with open(file) as found:
        info = json.load(found)
    info["memory"]["identity"] = "elsewhere"
    path = os.path.join(folder, "elsewhere.json")
    with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w") as made:
        json.dump(info, made)
    return px.Client(path)


@contextmanager
def beds(names, with_cpp=False):
    """Those of these names: "near" by shared memory, "bytes" without, "elsewhere" as from another host, "tcp"
    encrypted, in pieces and streams."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="px-transfers-"))
        made = {}

        def cluster(kind, language="python"):
            if (kind, language) not in made:
                options = {"controller_args": ["--no-ipc"]} if kind == "tcp" else {}
                one = px.Cluster(n=2, profile=f"{kind}-{language}", language=language, **options)
                stack.callback(one.stop_cluster_sync)
                one.start_cluster_sync()
                made[kind, language] = one
            return made[kind, language]

        def client_of(name, language="python"):
            one = cluster("tcp" if name == "tcp" else "near", language)
            if name == "elsewhere":
                client = client_elsewhere(one.connection_file, folder)
            elif name == "bytes":
                with without_shared_memory():
                    client = px.Client(one.connection_file)
            else:
                client = px.Client(one.connection_file)
            client.wait_for_engines(2, timeout=60)
            return stack.enter_context(client)

        yield [
            Bed(name, client_of(name), client_of(name), client_of(name, "cpp") if with_cpp else None)
            for name in names
        ]


def run(bed, draw, counts):
    """One batch by one way.  counts  way -> [right ones, wrong ones]"""
    way = draw.random.choice(bed.ways())
    rights = way(bed, draw)
    count = counts.setdefault(f"{bed.name}: {way.__name__}", [0, 0])
    count[0] += sum(rights)
    count[1] += len(rights) - sum(rights)
