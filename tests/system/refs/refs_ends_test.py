"""What becomes of kept results when an engine or the client ends; clients that share no memory with the engines."""

import os
import pickle
import signal
import subprocess
import sys
from pathlib import Path

import polyxeus as px
import programs
import pytest
from deadlines import started
from programs import PATIENCE, wait_until
from running_cluster import connect


@pytest.fixture
def cluster(own_cluster):
    cluster = own_cluster()
    cluster.start_controller()
    cluster.start_engines(2)
    return cluster


@pytest.fixture
def client(cluster):
    with connect(cluster.connection_file("client"), 2, timeout=PATIENCE) as client:
        yield client


@pytest.fixture
def far_client(client):
    """It knows no folder of its own, as on another host."""
    kept = client._kept_results
    kept.identity = kept._shared = ""
    return client


def kept_files(cluster):
    return {name for name in os.listdir(cluster.connection()["memory"]["folder"]) if ".ref" in name}


def kill_engine(client, engine_id):
    os.kill(client[engine_id].apply_sync(os.getpid), signal.SIGKILL)
    wait_until(lambda: engine_id not in client.ids, f"engine {engine_id} leaves")


def test_a_result_outlives_its_engine(client):
    balanced = client.load_balanced_view()
    ref = balanced.apply_ref(list, range(1000))
    assert ref.wait(PATIENCE)
    kill_engine(client, ref.engine_id)
    assert balanced.apply_sync(sum, ref) == 499_500
    assert ref.get() == list(range(1000))


def test_an_engine_that_dies_in_the_call_is_the_first_cause(client):
    balanced = client.load_balanced_view()

    def die():
        import os
        import signal

        os.kill(os.getpid(), signal.SIGKILL)

    ref = balanced.apply_ref(die)
    behind = balanced.submit(abs, ref)
    with pytest.raises(px.EngineError) as caught:
        behind.get(PATIENCE)
    assert f"Engine {ref.engine_id} on " in str(caught.value)


def test_a_killed_client_leaves_no_results(cluster, client):
    script = (
        "import sys, time, polyxeus as px\n"
        "rc = px.Client(sys.argv[1])\n"
        "refs = [rc.load_balanced_view().apply_ref(bytearray, 1 << 20) for _ in range(4)]\n"
        "refs[-1].wait()\n"
        "[ref.wait() for ref in refs]\n"
        "print('kept', flush=True)\n"
        "time.sleep(1000)\n"
    )
    other = subprocess.Popen([sys.executable, "-c", script, str(cluster.connection_file("client"))], stdout=subprocess.PIPE)
    assert other.stdout.readline() == b"kept\n"
    assert len(kept_files(cluster)) == 4
    other.kill()
    other.wait()
    wait_until(lambda: not kept_files(cluster), "the controller removes them", timeout=60)


def test_a_client_elsewhere_gets_and_frees_results(cluster, far_client):
    balanced = far_client.load_balanced_view()
    refs = [balanced.apply_ref(pow, 2, n) for n in range(20)]
    assert balanced.apply_sync(sum, refs) == 2**20 - 1
    assert refs[5].get(PATIENCE) == 32
    engines = set(far_client._engines.values())
    assert {name.split(".")[0] for name in kept_files(cluster)} <= engines
    assert len(kept_files(cluster)) == 20
    del refs
    wait_until(lambda: not kept_files(cluster), "the engines are told")


def test_a_client_elsewhere_that_closes_frees_its_results(cluster, far_client):
    refs = [far_client[0].apply_ref(abs, -1), far_client.load_balanced_view().apply_ref(abs, -2)]
    assert [ref.get(PATIENCE) for ref in refs] == [1, 2]
    far_client.close()
    wait_until(lambda: not kept_files(cluster), "the engines are told")


def test_a_result_that_is_gone_with_its_engine_is_named(cluster, far_client):
    balanced = far_client.load_balanced_view()
    lost = far_client[0].apply_ref(list, "ab")
    assert lost.get(PATIENCE) == ["a", "b"]
    kill_engine(far_client, 0)
    wait_until(lambda: not kept_files(cluster), "the controller removes it", timeout=60)
    for use in (lost.get, balanced.submit(len, lost).get):
        with pytest.raises(px.error.ResultLost, match="the result of list is lost: engine 0, which kept it on .*, has ended") as caught:
            use(PATIENCE)
        assert Path("/proc/sys/kernel/hostname").read_text().strip() in str(caught.value)


def test_without_shared_memory_the_call_is_refused(own_cluster):
    cluster = own_cluster(POLYXEUS_SHARED_MEMORY="0")
    cluster.start_controller()
    cluster.start_engines(1)
    with connect(cluster.connection_file("client"), 1, timeout=PATIENCE) as client:
        with pytest.raises(RuntimeError, match="this cluster cannot keep results"):
            client[0].apply_ref(abs, -1)
        assert client[0].apply_sync(abs, -1) == 1


PICKLES = """
import pickle, sys, time, polyxeus as px

@px.interactive
def wait_at(gate, value):
    import os, time
    while not os.path.exists(gate):
        time.sleep(0.01)
    return value

file, gate, first, second = sys.argv[1:]
rc = px.Client(file)
rc.wait_for_engines(2)
balanced = rc.load_balanced_view()
refs = [balanced.apply_ref(pow, 2, 10)]
refs[0].wait()  # before an engine waits at the gate
refs += [*(balanced.apply_ref(wait_at, gate, n) for n in range(4)), rc[0].apply_ref(wait_at, gate, 4)]
with open(first, "wb") as out:
    pickle.dump(refs, out)
with open(second, "w") as out:
    print(*(ref.id for ref in refs), file=out)
while set(ref.msg_id for ref in refs) - set(rc.hub_history()):  # the controller has them
    time.sleep(0.02)
print("pickled", flush=True)
time.sleep(1000)
"""


def test_pickled_refs_outlive_a_killed_client_and_a_killed_controller(own_cluster, tmp_path):
    cluster, options = own_cluster(), ("--reuse", "--journal=process", "--ping=500")
    cluster.start_controller(*options)
    cluster.start_engines(2)
    gate, pickled, ids = (tmp_path / name for name in ("gate", "pickled", "ids"))
    script = [sys.executable, "-c", PICKLES, *map(str, (cluster.connection_file("client"), gate, pickled, ids))]
    with started(script, stdout=subprocess.PIPE) as program:
        assert program.stdout.readline() == b"pickled\n"
        program.kill()
    cluster.controller.signal(signal.SIGKILL)
    cluster.controller.wait(PATIENCE)
    cluster.start_controller(*options)
    wait_until(lambda: "Hub listening" in cluster.controller.output(), "the controller listens")
    with connect(cluster.connection_file("client"), 2, timeout=PATIENCE) as client:
        refs = pickle.loads(pickled.read_bytes())
        by_id = [client.ref(each) for each in ids.read_text().split()]
        assert refs[0].get(PATIENCE) == 1024
        behind = client.load_balanced_view().submit(sum, refs[1:5])
        assert not any(ref.ready() for ref in by_id[1:])
        session = refs[0]._key.client
        wait_until(lambda: not {name for name in kept_files(cluster) if name.startswith(session)}, "the client's file is removed", 60)
        gate.touch()
        assert behind.get(PATIENCE) == 6
        assert [ref.get(PATIENCE) for ref in by_id] == [ref.get(PATIENCE) for ref in refs] == [1024, 0, 1, 2, 3, 4]
        assert {name.partition(".")[0] for name in kept_files(cluster)} <= set(client._engines.values())
        for ref in refs:
            client.unpublish(ref.id)
        assert not kept_files(cluster)


@px.interactive
def counted(folder, name, *values):
    """Notes that the node ran, and adds up."""
    import os

    with open(os.path.join(folder, name), "a") as file:
        file.write(f"{os.getpid()}\n")
    return sum(values) + 1


def test_lost_results_are_computed_again_with_what_they_need(far_client, tmp_path):
    balanced = far_client.load_balanced_view()
    balanced.retries = 2
    first = balanced.apply_ref(counted, str(tmp_path), "first")
    second = balanced.apply_ref(counted, str(tmp_path), "second", first)
    other = balanced.apply_ref(counted, str(tmp_path), "other", first)
    assert [each.get(PATIENCE) for each in (second, other)] == [2, 2]
    keepers = {name: ref.engine_id for name, ref in {"first": first, "second": second, "other": other}.items()}
    victim = second.engine_id
    del first  # only the way to compute it stays
    wait_until(lambda: len(kept_names(far_client)) == 2, "it is freed")
    kill_engine(far_client, victim)
    last = balanced.submit(counted, str(tmp_path), "last", second, other)
    assert last.get(PATIENCE) == 5
    again = {name for name in ("second", "other") if keepers[name] == victim}
    expected = {name: 2 if name in again else 1 for name in ("second", "other")}
    ran = {path.name: len(path.read_text().split()) for path in tmp_path.iterdir()}
    assert ran == {"first": 2, "last": 1, **expected}


def kept_names(client):
    return {name for name in os.listdir(client._kept_results.folder) if ".ref-" in name}


def test_an_engine_killed_in_the_midst_of_a_graph(far_client, tmp_path):
    """Each node runs once, and the nodes that the engine ran may run again."""
    balanced = far_client.load_balanced_view()
    balanced.retries = 3
    layers = [[balanced.apply_ref(counted, str(tmp_path), f"0-{n}") for n in range(6)]]
    for layer in range(1, 6):
        inputs = layers[-1]
        layers.append(
            [balanced.apply_ref(counted, str(tmp_path), f"{layer}-{n}", inputs[n], inputs[(n + 1) % 6]) for n in range(6)]
        )
    victim = far_client[0].apply_async(os.getpid)
    layers[2][0].wait(PATIENCE)
    pid = victim.get(PATIENCE)
    os.kill(pid, signal.SIGKILL)
    assert [each.get(PATIENCE) for each in layers[-1]] == [63] * 6
    ran = {path.name: path.read_text().split() for path in tmp_path.iterdir()}
    assert len(ran) == 36
    for pids in ran.values():
        assert pids.count(str(pid)) <= 1
        assert len(pids) - pids.count(str(pid)) <= 1


@pytest.fixture
def limited_client(limited, own_cluster):
    """Its engine is in the control group."""
    cluster = own_cluster()
    cluster.start_controller()
    cluster.engines.append(cluster.stage.start([*limited, *programs.ENGINE, *cluster.options()], "engine"))
    with connect(cluster.connection_file("client"), 1, timeout=PATIENCE) as client:
        yield client
    cluster.stop()  # before the group is removed


@pytest.mark.parametrize("limited", [512 << 20], indirect=True)
def test_results_beyond_the_limit_of_a_batch_job_or_container_go_to_the_disk(limited_client):
    balanced = limited_client.load_balanced_view()
    refs = [balanced.apply_ref(bytes, 64 << 20) for _ in range(12)]
    assert [balanced.apply_async(len, ref).get(PATIENCE) for ref in refs] == [64 << 20] * 12
    assert limited_client.ids == [0]
