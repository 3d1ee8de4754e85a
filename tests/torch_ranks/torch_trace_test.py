"""A trace of torch.distributed: its calls with bytes and group, and the rank that kept the others waiting."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import ranks  # noqa: E402

pytestmark = pytest.mark.usefixtures("time_limit")

CELL = """
if rank == 2:
    time.sleep(1)
dist.all_reduce(torch.ones(1 << 18))
dist.all_reduce(torch.ones(9), async_op=True).wait()
"""


@pytest.fixture(scope="module")
def rc(ipython_dir):
    client = ranks.start()
    yield client
    client.cluster.stop_cluster_sync()


def test_the_trace_names_the_late_rank_and_each_call(rc, tmp_path):
    rc[:].execute("dist.barrier()", block=True)
    with rc.trace(tmp_path / "run.json") as trace:
        rc[:].execute(CELL, block=True).get()
    assert trace.late.rank == 2 and trace.late.waited > 0.5e9
    events = json.loads((tmp_path / "run.json").read_text())["traceEvents"]
    calls = [each for each in events if each["ph"] == "X" and each["cat"] == "torch"]
    assert sorted(each["args"]["bytes"] for each in calls) == [36] * 4 + [1 << 20] * 4
    assert {each["name"] for each in calls} == {"all_reduce"}
    first = [each for each in calls if each["args"]["bytes"] == 1 << 20]
    assert {each["args"]["last_to_come"] for each in first} == {"rank 2"}
    assert sum(each["dur"] > 0.5e6 for each in first) == 3
    rc[:].execute("dist.barrier()", block=True).get()  # without the trace again
