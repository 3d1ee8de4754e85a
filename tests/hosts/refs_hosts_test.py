"""Kept results on several hosts: calls go to the host that has them."""

import json
import sys

import bed as beds
import pytest

ENGINES = {"host2": 2, "host3": 2}

# Runs on host1, beside the controller; sees the connection file as sys.argv[1].
CLIENT = """
import json, socket, sys
import polyxeus as px

rc = px.Client(sys.argv[1], timeout=20)
balanced = rc.load_balanced_view()
engine_on = {}
for engine_id, host in rc[:].apply_async(socket.gethostname).get_dict().items():
    engine_on.setdefault(host, engine_id)

def where(*values):
    import socket
    return socket.gethostname(), sum(map(len, values))
"""


@pytest.fixture(scope="module")
def cluster(bed):
    folder = bed.folder / "refs"
    folder.mkdir()
    security = folder / "profile" / "security"
    log = folder / "controller.log"
    bed.start_on(
        "host1",
        beds.program("pxcontroller"),
        f"--profile-dir={folder / 'profile'}",
        f"--ip={bed.address('host1')}",
        f"--location={bed.address('host1')}",
        "--cluster-id=",
        log=log,
    )
    client_file = security / "ipcontroller-client.json"
    beds.wait_until(client_file.exists, "the controller is there")
    for host, count in ENGINES.items():
        for number in range(count):
            bed.start_on(
                host,
                beds.program("pxengine"),
                f"--file={security / 'ipcontroller-engine.json'}",
                log=folder / f"engine-{host}-{number}.log",
            )
    beds.wait_until(lambda: log.read_text().count("finished registering") == sum(ENGINES.values()), "engines")
    return client_file


def run(bed, cluster, code):
    """What a client on host1 says last."""
    command = (sys.executable, "-c", CLIENT + code, cluster)
    return json.loads(bed.exec_on("host1", *command, timeout=60).stdout.splitlines()[-1])


def kept_files(bed, host):
    listing = bed.exec_on(host, "sh", "-c", "ls /dev/shm/polyxeus-arrays-*").stdout.split()
    return [name for name in listing if ".ref" in name]


@pytest.mark.parametrize("host", ENGINES)
def test_a_task_goes_to_the_host_that_has_its_results(bed, cluster, host):
    said = run(
        bed,
        cluster,
        f"""
refs = [rc[engine_on["{host}"]].apply_ref(bytes, 1 << 20) for _ in range(2)]
print(json.dumps([balanced.submit(where, *refs).get(60) for _ in range(8)]))
""",
    )
    assert said == [[host, 2 << 20]] * 8


def test_a_result_comes_to_a_client_on_another_host(bed, cluster):
    assert run(bed, cluster, "print(json.dumps(len(balanced.apply_ref(bytes, 3 << 20).get(60))))") == 3 << 20


def test_a_call_whose_results_are_on_two_hosts_runs_where_most_bytes_are(bed, cluster):
    """The engine fetches the other result from its engine: neither the client nor the controller passes it on."""
    said = run(
        bed,
        cluster,
        """
def traffic():
    with open("/proc/net/dev") as file:
        return next(int(line.split()[9]) for line in file if not line.strip().startswith(("lo", "Inter", "face")))

large = rc[engine_on["host2"]].apply_ref(bytes, 3 << 20)
small = balanced.apply_ref(bytes, 2 << 20)
there = rc[engine_on["host3"]].apply_ref(bytes, 2 << 20)
[ref.wait(60) for ref in (large, small, there)]
before = traffic()
first = balanced.submit(where, large, there).get(60)
sent = traffic() - before
behind = balanced.apply_ref(lambda *values: sum(map(len, values)), large, there)
late = balanced.submit(pow, behind, 1).get(60)
print(json.dumps([first, sent < 1 << 20, late, balanced.submit(where, large, there, small).get(60)[1]]))
""",
    )
    assert said == [["host2", 5 << 20], True, 5 << 20, 7 << 20]


def test_nothing_is_left_when_the_client_ends(bed, cluster):
    run(bed, cluster, "kept = [balanced.apply_ref(bytes, 1 << 20) for _ in range(8)]\nprint(len([ref.nbytes for ref in kept]))")
    for host in ENGINES:
        beds.wait_until(lambda host=host: kept_files(bed, host) == [], "the results are freed")


def test_pickled_refs_outlive_a_client_on_another_host(bed, cluster):
    pickled = run(
        bed,
        cluster,
        """
import pickle, time
made = [rc[engine_on[host]].apply_ref(list, range(100_000)) for host in ("host2", "host3")]
made += [rc.load_balanced_view(engine_on["host2"]).apply_ref(sorted, "cab"), balanced.apply_ref(time.sleep, 2)]
made[0].wait()
print(json.dumps([pickle.dumps(made).hex(), [ref.id for ref in made]]))
""",
    )
    code = f"""
import pickle
pickled, ids = {pickled!r}
made = pickle.loads(bytes.fromhex(pickled))
values = [len(made[0].get()), made[2].get(), made[3].get(), len(rc.ref(ids[1]).get())]
where_used = balanced.apply_sync(where, made[1], made[2])
rc.purge_hub_results("all")
by_id = [rc.ref(each).nbytes > 0 for each in ids]
for each in ids:
    rc.unpublish(each)
try:
    made[0].get()
except px.error.ResultLost as problem:
    lost = str(problem)
print(json.dumps([values, where_used, by_id, lost]))
"""
    values, where_used, by_id, lost = run(bed, cluster, code)
    assert values == [100_000, ["a", "b", "c"], None, 100_000]
    assert where_used == ["host3", 100_003]
    assert by_id == [True] * 4
    assert "which kept it on host2, does not have it any more" in lost
