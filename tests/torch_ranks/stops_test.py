"""A rank fails, or its cell is stopped, while others wait for it in torch.distributed: the cell ends, says who was
missing, and the next call of each group is right."""

import os
import signal
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import ranks  # noqa: E402
import torch_fuzz  # noqa: E402

import polyxeus as px  # noqa: E402
import polyxeus.torch  # noqa: E402

pytestmark = pytest.mark.usefixtures("time_limit")

VICTIM = 2
OTHERS = [0, 1, 3]

# A call of all ranks; the name under which it waits.
CALLS = {
    "all_reduce": ("dist.all_reduce(torch.ones(1 << 18))", "all_reduce"),
    "all_gather": ("dist.all_gather([torch.zeros(9) for _ in range(4)], torch.ones(9))", "all_gather"),
    "broadcast": ("dist.broadcast(torch.ones(1 << 18), 2)", "broadcast"),
    "reduce_scatter": ("dist.reduce_scatter_tensor(torch.zeros(5), torch.ones(20))", "reduce_scatter_tensor"),
    "all_to_all": ("dist.all_to_all_single(torch.zeros(8), torch.ones(8))", "all_to_all_single"),
    "barrier": ("dist.barrier()", "barrier"),
    "recv": ("dist.recv(torch.ones(3), 2) if rank != 2 else [dist.send(torch.ones(3), i) for i in (0, 1, 3)]", "recv"),
    "new_group": ("dist.all_reduce(torch.ones(100), group=groups['ring'])", "all_reduce"),
    "later": ("work = dist.all_reduce(torch.ones(1 << 18), async_op=True); work.wait()", "all_reduce"),
    "ddp": ("parallel(torch.ones(2, 4)).sum().backward()", "all_reduce"),
    "fsdp": ("sharded(torch.ones(2, 4)).sum().backward()", "all_gather_into_tensor"),
}
FAULTS = {"sleeps": "time.sleep(60)", "computes": "while True: pass"}


@pytest.fixture(scope="module")
def rc(ipython_dir):
    client = ranks.start()
    yield client
    client.cluster.stop_cluster_sync()


@pytest.fixture(autouse=True)
def new_ranks_after_a_failure(rc, request):
    """The cell of a test that failed may still wait, and groups may differ: the next test is not to fail with it."""
    yield
    if request.node.has_failed:
        rc.restart_engines()
        ranks.join(rc)


def cell_of(call, fault):
    # the second pass of a DDP model broadcasts in its forward half; those from the third on reduce in backward
    before = f"for i in range(2): {CALLS[call][0]}\n" if call == "ddp" else ""
    return before + f"if rank == {VICTIM}:\n    {fault}\nelse:\n    {CALLS[call][0]}\n"


def wait_until_others_wait(client, call, fault):
    """Waits until the victim is in its fault, and the others in the call that it does not make."""
    def is_so():
        places = client.where()
        torch = [each["torch"] or {} for each in places]
        victim = places[VICTIM]
        is_at_fault = victim["state"] == "idle" if fault == "pass" else fault in (victim["source"] or "")
        return is_at_fault and all(
            torch[rank].get("call") == CALLS[call][1] and (torch[rank]["is_inside"] or call == "later")
            and (torch[rank]["count"] > torch[VICTIM].get("count", 0) or call == "recv") for rank in OTHERS)

    ranks.wait_for(client, is_so)


@pytest.mark.parametrize("call", CALLS)
def test_a_rank_that_raises_ends_the_calls_of_the_others(rc, call):
    found = ranks.errors(rc[:].execute(cell_of(call, "raise ValueError('no data')"), block=False))
    assert found.pop(VICTIM) == "ValueError: no data"
    assert set(found) == set(OTHERS)
    for text in found.values():
        name, why = CALLS[call][1], "rank 2 raised ValueError: no data"
        ends = "recv from rank 2 cannot end" if call == "recv" else f"{name} cannot end"
        # the news can be there before a rank begins the cell, or between the beginning of the cell and the call
        assert text in [f"RuntimeError: {ends}: {why}", f"RuntimeError: {name} cannot begin: {why}",
                        f"RuntimeError: {name} cannot begin: {why}; the next cell can call it"]
    ranks.check(rc)


def test_a_rank_that_fails_before_the_others_begin_is_told_as_well(rc):
    found = ranks.errors(rc[[VICTIM]].execute("raise ValueError('no data')", block=False))
    assert found == {VICTIM: "ValueError: no data"}
    found = ranks.errors(rc[OTHERS].execute("dist.barrier()", block=False))
    assert {text.partition(": ")[2] for text in found.values()} == {
        "barrier cannot begin: rank 2 raised ValueError: no data"} and set(found) == set(OTHERS)
    ranks.check(rc)


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("call", CALLS)
def test_a_stop_ends_the_cell_and_names_who_was_missing(rc, call, fault):
    cell = rc[:].execute(cell_of(call, FAULTS[fault]), block=False)
    wait_until_others_wait(rc, call, FAULTS[fault])
    rc.interrupt()
    found = ranks.errors(cell)
    assert found.pop(VICTIM) == "KeyboardInterrupt: "
    check_names_victim(found, call)
    ranks.check(rc)


@pytest.mark.parametrize("call", CALLS)
def test_a_stop_ends_the_wait_for_a_rank_that_has_left_the_call_out(rc, call):
    cell = rc[:].execute(cell_of(call, "pass"), block=False)
    ranks.wait_for(rc, lambda: cell.progress == 1)  # else the victim may not have begun
    wait_until_others_wait(rc, call, "pass")
    rc.interrupt()
    check_names_victim(ranks.errors(cell), call)
    ranks.check(rc)


def check_names_victim(found, call):
    """The others say whom they waited for; one that another rank's stop has reached first says that, too."""
    assert set(found) == set(OTHERS)
    for text in found.values():
        assert "rank 2" in text or "ranks" in text, text
        assert CALLS[call][1] in text
        assert text.startswith(("KeyboardInterrupt: in ", "RuntimeError: ")), text


def test_one_rank_that_is_stopped_ends_the_calls_of_the_others(rc):
    cell = rc[:].execute(cell_of("barrier", "time.sleep(60)"), block=False)
    ranks.wait_until_stuck(rc, OTHERS, "barrier")
    rc.interrupt(VICTIM)
    found = ranks.errors(cell)
    assert found.pop(VICTIM) == "KeyboardInterrupt: "
    assert set(found.values()) == {"RuntimeError: barrier cannot end: rank 2 was interrupted"}
    ranks.check(rc)


def test_code_that_goes_on_after_its_stop_makes_no_call_until_the_next_cell(rc):
    cell = rc[:].execute(
        "try:\n"
        f"    {'dist.barrier()'} if rank != 2 else time.sleep(60)\n"
        "except BaseException:\n"
        "    try:\n        dist.all_reduce(torch.ones(1))\n"
        "    except RuntimeError as refusal:\n        said = str(refusal)\n", block=False)
    ranks.wait_until_stuck(rc, OTHERS, "barrier")
    ranks.wait_for(rc, lambda: "time.sleep(60)" in (rc.where()[VICTIM]["source"] or ""))
    rc.interrupt()
    assert ranks.errors(cell) == {}
    for said in rc[:].pull("said", block=True):  # gloo says it where the call was faster than the news
        assert "all_reduce cannot begin: rank " in said and "the next cell can call it" in said or "gloo" in said
    ranks.check(rc)


def test_work_that_was_under_way_when_the_cell_was_stopped_is_told(rc):
    cell = rc[:].execute("work = dist.all_reduce(torch.ones(9), async_op=True) if rank != 2 else None\ntime.sleep(60)",
                         block=False)
    ranks.wait_for(rc, lambda: all((each["torch"] or {}).get("call") == "all_reduce" for each in rc.where(OTHERS)))
    rc.interrupt()
    assert set(ranks.errors(cell)) == {0, 1, 2, 3}
    found = ranks.errors(rc[:].execute("if work is not None: work.wait()", block=False))
    assert set(found) == set(OTHERS) and all(each.startswith("RuntimeError: ") for each in found.values())
    ranks.check(rc)


def test_where_names_the_call_its_size_its_number_and_who_has_not_come(rc):
    cell = rc[:].execute("for i in range(3): dist.barrier()\n" + cell_of("all_reduce", "time.sleep(60)"), block=False)
    ranks.wait_until_stuck(rc, OTHERS, "all_reduce")
    text = str(rc.where())
    assert "0, 1 and 3 in all_reduce of 1.0 MB (" in text and " call of its group) for " in text
    assert "\n2 at cell line 3 for " in text and ": time.sleep(60), has begun " in text
    rc.interrupt()
    ranks.errors(cell)
    ranks.check(rc)


def test_an_error_outside_of_torch_keeps_the_groups_usable(rc):
    assert set(ranks.errors(rc[:].execute("undefined_name", block=False))) == {0, 1, 2, 3}
    ranks.check(rc)


def test_a_stop_of_new_group_names_who_has_not_come_and_the_next_one_is_well(rc):
    cell = rc[:].execute("if rank != 2: added = dist.new_group([0, 1, 2, 3])", block=False)
    ranks.wait_until_stuck(rc, OTHERS, "new_group")
    assert "in new_group, which rank 2 has not reached, for " in str(rc.where())
    rc.interrupt()
    assert ranks.errors(cell) == {each: "KeyboardInterrupt: in new_group, which rank 2 had not reached"
                                  for each in OTHERS}
    rc[:].execute("added = dist.new_group([0, 1, 2, 3]); x = torch.ones(1); dist.all_reduce(x, group=added)", block=True)
    assert rc[:].pull("x.item()", block=True) == [4.0] * 4
    ranks.check(rc)


def test_random_programs_with_stops_at_random_moments_are_right_afterwards(rc):
    problems = {seed: torch_fuzz.run(rc, torch_fuzz.Plan(seed)) for seed in range(1000, 1016)}
    assert {seed: problem for seed, problem in problems.items() if problem} == {}


# ---------------------------------------------------------------- clusters of their own


def test_ranks_of_an_mpi_world_are_freed_as_well(ipython_dir):
    client = ranks.start("mpi")
    try:
        for call in ("all_reduce", "recv", "ddp"):
            test_a_rank_that_raises_ends_the_calls_of_the_others(client, call)
            test_a_stop_ends_the_cell_and_names_who_was_missing(client, call, "sleeps")
    finally:
        client.cluster.stop_cluster_sync()


@pytest.fixture
def own(ipython_dir):
    """Four engines that are no ranks yet."""
    client = px.Cluster(n=4).start_and_connect_sync()
    yield client
    client.cluster.stop_cluster_sync()


def test_a_process_group_of_the_cells_own_survives_a_stop(own):
    own[:].execute("import torch, torch.distributed as dist, time\ndist.init_process_group()\nrank = dist.get_rank()",
                   block=True)
    cell = own[:].execute("dist.barrier() if rank != 2 else time.sleep(60)", block=False)
    ranks.wait_until_stuck(own, OTHERS, "barrier")
    own.interrupt()
    found = ranks.errors(cell)
    assert "barrier" in found[0] and "rank 2 had not reached" in found[0]
    own[:].execute("x = torch.ones(1) * rank; dist.all_reduce(x)", block=True)
    assert own[:].pull("x.item()", block=True) == [6.0] * 4


def test_a_stop_ends_the_wait_for_ranks_that_do_not_join(own):
    own[:].execute("import os, torch, torch.distributed as dist", block=True)
    own[:].execute("rank = int(os.environ['RANK'])", block=True)
    cell = own[:].execute("if rank != 2: dist.init_process_group()", block=False)
    ranks.wait_until_stuck(own, OTHERS, "init_process_group")
    own.interrupt()
    assert ranks.errors(cell) == {each: "KeyboardInterrupt: in init_process_group, which rank 2 had not reached"
                                  for each in OTHERS}
    own[:].execute("dist.init_process_group(); x = torch.ones(1) * rank; dist.all_reduce(x)", block=True)
    assert own[:].pull("x.item()", block=True) == [6.0] * 4


def test_a_signal_of_an_earlier_cell_does_not_stop_the_first_calls(own):
    """An idle engine reads the signals that came, but may begin the next cell before it has done so."""
    late = "import signal\nfrom polyxeus.engine import process_groups\nos.write(process_groups.signals[1], bytes([signal.SIGINT]))"
    own[:].execute("import os, torch, torch.distributed as dist", block=True)
    own[:].execute(f"{late}\ndist.init_process_group()\nx = torch.ones(1)\nfor i in range(100): dist.all_reduce(x); x /= 4",
                   block=True)
    assert own[:].pull("x.item()", block=True) == [1.0] * 4


def test_a_rank_that_is_killed_is_named_and_one_in_its_place_has_the_groups_again(own):
    ranks.join(own)
    pid = own[VICTIM].apply_sync(os.getpid)
    cell = own[:].execute(cell_of("all_reduce", "time.sleep(60)"), block=False)
    ranks.wait_until_stuck(own, OTHERS, "all_reduce")
    os.kill(pid, signal.SIGKILL)
    found = ranks.errors(cell)
    assert "SIGKILL" in found.pop(VICTIM)
    assert found == {each: "RuntimeError: all_reduce cannot end: rank 2 has died" for each in OTHERS}
    found = ranks.errors(own[OTHERS].execute("dist.barrier()", block=False))
    assert set(found) == set(OTHERS)
    assert all("barrier cannot begin: rank 2 has died: start it again" in each for each in found.values())

    own.cluster.start_engines_sync(1)
    own.wait_for_engines(4, timeout=60)
    px.torch.init(own[:])
    own[:].execute("import torch, torch.distributed as dist; x = torch.ones(1) * dist.get_rank(); dist.all_reduce(x)",
                   block=True)
    assert own[:].pull("x.item()", block=True) == [6.0] * 4
    assert own[0].pull("kept.sum().item()", block=True) == 499500.0
    found = ranks.errors(own[[1, 3]].execute("dist.barrier(group=groups['high'])", block=False))
    assert set(found.values()) == {
        "RuntimeError: barrier cannot begin: rank 2 of this process group was started again: make the group again"}


TRAINING = """
import time, torch, torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

def train(model, optimizer, x, y, steps):
    for step in range(steps):
        optimizer.zero_grad()
        (model(x) - y).square().mean().backward()
        optimizer.step()

def begin():
    torch.manual_seed(0)
    net = torch.nn.Linear(4, 1)
    return torch.randn(32, 4), torch.randn(32, 1), net, torch.optim.Adam(net.parameters(), lr=0.1)
rank = dist.get_rank()
"""


def test_a_training_goes_on_after_a_rank_was_killed_as_if_nothing_had_been(own):
    px.torch.init(own[:])
    own[:].execute(TRAINING + "x, y, net, optimizer = begin()\nddp = DistributedDataParallel(net)\n"
                   "train(ddp, optimizer, x[rank::4], y[rank::4], 5)", block=True)
    pid = own[VICTIM].apply_sync(os.getpid)
    cell = own[:].execute("time.sleep(60) if rank == 2 else dist.barrier()", block=False)
    ranks.wait_until_stuck(own, OTHERS, "barrier")
    os.kill(pid, signal.SIGKILL)
    assert set(ranks.errors(cell)) == {0, 1, 2, 3}

    print(own.restart_engines(VICTIM, keep=["net", "optimizer", "x", "y"]))
    px.torch.init(own[:])
    own[VICTIM].execute(TRAINING, block=True)
    own[:].execute("ddp = DistributedDataParallel(net)\ntrain(ddp, optimizer, x[rank::4], y[rank::4], 5)", block=True)
    own[0].execute("x, y, alone, optimizer = begin()\ntrain(alone, optimizer, x, y, 10)\n"
                   "agrees = torch.allclose(alone.weight, net.weight, atol=1e-5)", block=True)
    assert own[0].pull("agrees", block=True)
    weights = own[:].pull("net.weight.tolist()", block=True)
    assert weights == [weights[0]] * 4


def test_a_time_limit_of_the_group_names_who_was_missing(own):
    px.torch.init(own[:], collective_timeout=2)
    own[:].execute("import torch, torch.distributed as dist; rank = dist.get_rank()", block=True)
    found = ranks.errors(own[:].execute("if rank != 2: dist.barrier()", block=False))
    assert set(found) == set(OTHERS)
    assert "RuntimeError: barrier did not end within the time limit of its process group: rank 2 had not reached it" in (
        found.values())
    own[:].execute("x = torch.ones(1) * rank; dist.all_reduce(x)", block=True)
    assert own[:].pull("x.item()", block=True) == [6.0] * 4


def test_engines_do_not_import_torch_by_themselves(own):
    assert own[:].apply_sync(lambda: "torch" in __import__("sys").modules) == [False] * 4
