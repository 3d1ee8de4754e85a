"""Times of traces on several hosts: all hosts of a bed have one clock, which the client is told to be one for each host."""

import json
import sys

import pytest
from host_cluster import HostCluster

DELAY = "40ms"  # each way

# Runs on a host; sees the connection file and the file for the trace as arguments.
CLIENT = """
import json, socket, sys
import polyxeus
from polyxeus.client import tracing

tracing._name_of_clock = socket.gethostname

def by_host(ask):
    def asked(self, *arguments, **more):
        told = ask(self, *arguments, **more)
        for each in [told, *told.values()] if told else []:
            if isinstance(each, dict) and "clock_name" in each:
                each["clock_name"] = each["host"]
        return told
    return asked

tracing.Trace._ask = by_host(tracing.Trace._ask)
tracing.Trace._ask_controller = by_host(tracing.Trace._ask_controller)

def mark():
    import time
    import polyxeus

    for _ in range(20):
        with polyxeus.span("mark", true=time.monotonic_ns()):
            time.sleep(0.01)

with polyxeus.Client(sys.argv[1], timeout=20) as rc:
    rc.wait_for_engines(2, timeout=60)
    view = rc[:]
    view.apply_sync(mark)
    with rc.trace(sys.argv[2]) as trace:
        view.apply_sync(mark)
    print(json.dumps(trace.clock_error))
"""


@pytest.fixture(scope="module")
def cluster(bed):
    """The controller on host1, an engine on host2 and one on host3."""
    cluster = HostCluster(bed, folder=bed.folder / "ipython")
    cluster.start("--engines=ssh", "--hosts=host2:1,host3:1", "--ip=*")
    yield cluster
    cluster.run("stop", check=False)


@pytest.mark.parametrize(("far", "client"), [("host2", "host1"), ("host3", "host3")])
def test_a_host_behind_a_delay_is_aligned_to_2_ms(bed, cluster, far, client):
    path = bed.folder / "run.json"
    bed.netem(far, DELAY)
    try:
        file = f"{cluster.profile_dir}/security/ipcontroller-client.json"
        done = bed.exec_on(client, sys.executable, "-c", CLIENT, file, path, timeout=90)
    finally:
        bed.netem(far, "off")
    bound = json.loads(done.stdout.splitlines()[-1])
    events = json.loads(path.read_text())["traceEvents"]
    marks = [each for each in events if each["ph"] == "X" and each["name"] == "mark" and "true" in each.get("args", {})]
    assert len(marks) == 40
    away = [abs(each["ts"] / 1e6 - each["args"]["true"] / 1e9) for each in marks]
    print(f"client on {client}, {far} {DELAY} away: wrong by up to {max(away) * 1e3:.3f} ms, said to be up to {bound * 1e3:.3f} ms")
    assert max(away) <= 0.002
    assert max(away) <= bound
    assert bound >= 0.04  # half a round trip: nobody knows how the two ways share it
