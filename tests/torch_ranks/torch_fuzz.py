"""Random programs of torch.distributed on four ranks, with a fault or a stop, and whether all is well then."""

import random
import time

RANKS = 4
GROUPS = {"world": [0, 1, 2, 3], "low": [0, 1], "high": [1, 2, 3], "ring": [0, 1, 2, 3]}
CALLS = ("all_reduce", "all_gather", "broadcast", "reduce_scatter", "all_to_all", "barrier", "pair", "later", "ddp", "fsdp")
WAYS = ("stop", "stop one", "raises", "sleeps", "skips", "computes", "nothing")
PATIENCE = 12.0

# On each engine, once. Each call gives and checks numbers that no other call of the program has.
PRELUDE = '''
import random, time
import torch, torch.distributed as dist
import torch.nn as nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

rank = dist.get_rank()
groups = {"world": None, "low": dist.new_group([0, 1]), "high": dist.new_group([1, 2, 3]), "ring": dist.new_group([0, 1, 2, 3])}
members = {"world": [0, 1, 2, 3], "low": [0, 1], "high": [1, 2, 3], "ring": [0, 1, 2, 3]}
torch.manual_seed(1)
mesh = init_device_mesh("cpu", (4,))
parallel = nn.parallel.DistributedDataParallel(nn.Linear(4, 4, bias=False))
sharded = nn.Sequential(nn.Linear(4, 4, bias=False), nn.Linear(4, 4, bias=False))
fully_shard(sharded, mesh=mesh)
kept = torch.arange(1000.0)
wrong = []

def same(found, wanted, what):
    if not torch.equal(torch.as_tensor(found, dtype=torch.float64), torch.as_tensor(wanted, dtype=torch.float64)):
        wrong.append(f"{what}: {found} in place of {wanted}")

def call(name, group, number, size):
    those, g = members[group], groups[group]
    if rank not in those:
        return
    me, n = those.index(rank), len(those)
    value = lambda of: number * 100.0 + of
    if name == "all_reduce":
        x = torch.full((size,), value(rank)); dist.all_reduce(x, group=g)
        same(x[[0, -1]].tolist(), [sum(map(value, those))] * 2, f"{number} {name}")
    elif name == "later":
        x = torch.full((size,), value(rank)); w = dist.all_reduce(x, group=g, async_op=True); time.sleep(0.001); w.wait()
        same(x[[0, -1]].tolist(), [sum(map(value, those))] * 2, f"{number} {name}")
    elif name == "all_gather":
        parts = [torch.zeros(size) for _ in those]; dist.all_gather(parts, torch.full((size,), value(rank)), group=g)
        same([p[0].item() for p in parts], [value(r) for r in those], f"{number} {name}")
    elif name == "broadcast":
        source = those[number % n]; x = torch.full((size,), value(rank)); dist.broadcast(x, source, group=g)
        same(x[0].item(), value(source), f"{number} {name}")
    elif name == "reduce_scatter":
        x = torch.zeros(size); dist.reduce_scatter_tensor(x, torch.full((size * n,), value(rank)), group=g)
        same(x[0].item(), sum(map(value, those)), f"{number} {name}")
    elif name == "all_to_all":
        x = torch.zeros(n); dist.all_to_all_single(x, torch.full((n,), value(rank)), group=g)
        same(x.tolist(), [value(r) for r in those], f"{number} {name}")
    elif name == "barrier":
        dist.barrier(group=g)
    elif name == "pair":
        if me % 2 == 0 and me + 1 < n:
            dist.send(torch.full((size,), value(rank)), those[me + 1], group=g)
        elif me % 2 == 1:
            x = torch.zeros(size); dist.recv(x, those[me - 1], group=g)
            same(x[[0, -1]].tolist(), [value(those[me - 1])] * 2, f"{number} {name}")
    elif name in ("ddp", "fsdp"):
        model = parallel if name == "ddp" else sharded
        model.zero_grad()
        model(torch.full((1, 4), float(number % 7 + rank))).sum().backward()
        if name == "ddp":
            same(parallel.module.weight.grad[0].tolist(), [number % 7 + 1.5] * 4, f"{number} {name}")
        else:
            sharded[0].weight.grad.full_tensor()

def check():
    del wrong[:]
    for number, name in enumerate(("all_reduce", "all_gather", "pair", "ddp", "fsdp", "barrier"), 900):
        for group in ("world", "ring", "low", "high") if name not in ("ddp", "fsdp") else ("world",):
            call(name, group, number, 7)
    same(kept.sum().item(), 499500.0, "kept")
'''


class Plan:
    """The program of a seed, and what becomes of it."""

    def __init__(self, seed, way=None):
        chance = random.Random(seed)
        self.seed = seed
        self.way = way or chance.choice(WAYS)
        self.calls = []
        for number in range(chance.randint(2, 12)):
            name = chance.choice(CALLS)
            group = "world" if name in ("ddp", "fsdp") else chance.choice(list(GROUPS))
            self.calls.append((name, group, number, chance.choice((1, 3, 1000, 100_000))))
        self.victim = chance.randrange(RANKS)
        self.at = chance.randrange(len(self.calls))
        self.pauses = [[round(chance.random() * 0.02, 3) for _ in self.calls] for _ in range(RANKS)]
        self.delay = chance.random() * 0.4

    def needs_stop(self):
        return self.way not in ("raises", "nothing")

    def text(self):
        fault = {"raises": "raise ValueError('planned')", "sleeps": "time.sleep(60)", "skips": "break",
                 "computes": "while True: pass"}.get(self.way, "pass")
        return (
            "del wrong[:]\n"
            f"for place, each in enumerate({self.calls!r}):\n"
            f"    time.sleep({self.pauses!r}[rank][place])\n"
            f"    if rank == {self.victim} and place == {self.at}:\n        {fault}\n"
            "    call(*each)\n"
        )


def run(client, plan, patience=PATIENCE):
    """None where all was well, else what was wrong."""
    view = client[:]
    cell = view.execute(plan.text(), silent=False, block=False)
    if plan.needs_stop():
        time.sleep(plan.delay)
        client.interrupt(plan.victim if plan.way == "stop one" else None)
        if plan.way not in ("stop", "stop one") and not cell.wait(3):
            client.interrupt()
    if not cell.wait(patience):
        return f"the cell has not ended\n{client.where()}"
    found = view.pull("wrong", block=True)
    if any(found):
        return f"wrong values before the stop: {found}"
    check = view.execute("check()", block=False)
    if not check.wait(patience):
        return f"the next cell has not ended\n{client.where()}"
    try:
        check.get()
    except Exception as error:
        return f"the next cell failed: {error}"
    found = view.pull("wrong", block=True)
    return f"wrong values after the stop: {found}" if any(found) else None
