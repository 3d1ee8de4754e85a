"""What becomes of kept results when an engine or the client ends; clients that share no memory with the engines."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import polyxeus as px
import pytest
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
