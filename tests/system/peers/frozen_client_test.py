"""A client that is stopped and reads nothing: it costs a bounded amount, and the others nothing."""

import os
import signal
import subprocess
import sys
import textwrap

import psutil
import pytest
from programs import PATIENCE, wait_until
from running_cluster import connect

pytestmark = pytest.mark.better_than_reference("it keeps everything for who does not read")

MIB = 1 << 20

FROZEN = """
    import sys, warnings
    import polyxeus
    client = polyxeus.Client(sys.argv[1], timeout=60)
    client.wait_for_engines(1, timeout=60)
    view = client[:]
    assert view.apply_sync(len, "abc") == [3]
    answer = view.execute(sys.argv[2])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        print("ready", flush=True)
        sys.stdin.readline()
        answer.get(60)
        while not caught:
            client[:].apply_async(len, "abc").get(60)
    print("warned:", *[str(each.message) for each in caught], flush=True)
    assert view.apply_sync(len, "abcd") == [4]
    output = view.execute("print('again')")
    output.wait_for_output(60)
    print("heard:", output.stdout, flush=True)
"""


@pytest.fixture
def cluster(own_cluster):
    cluster = own_cluster()
    cluster.start_controller()
    cluster.start_engines(1)
    return cluster


class FrozenClient:
    """A process with a client, stopped when `code` of it has made the file `running`."""

    def __init__(self, cluster, code, running):
        self.process = subprocess.Popen(
            [
                sys.executable,
                "-c",
                textwrap.dedent(FROZEN),
                cluster.connection_file("client"),
                code,
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=cluster.stage.environment(),
        )
        assert self.process.stdout.readline() == "ready\n"
        wait_until(running.exists, "its request runs")
        self.process.send_signal(signal.SIGSTOP)

    def resume(self):
        """What it says until its end."""
        self.process.send_signal(signal.SIGCONT)
        said, _ = self.process.communicate("\n", timeout=PATIENCE)
        assert self.process.returncode == 0
        return said


@pytest.fixture
def frozen(cluster, tmp_path):
    """A stopped client whose request waits for the file `gate`, and prints much more than fits."""
    gate, running = tmp_path / "gate", tmp_path / "running"
    amount = int(os.environ.get("PX_PRINTED_MIB", 200))
    client = FrozenClient(
        cluster,
        f"import os, time\nopen({str(running)!r}, 'w').close()\nwhile not os.path.exists({str(gate)!r}): time.sleep(0.01)\n"
        f"for i in range({amount}): print('x' * (1 << 20))",
        running,
    )
    client.gate = gate
    yield client
    client.process.kill()
    client.process.communicate()


def test_output_for_a_stopped_client_takes_bounded_memory_and_the_others_get_theirs(
    cluster, frozen
):
    process = psutil.Process(cluster.controller.pid)
    with connect(cluster.connection_file("client"), 1) as client:
        before = process.memory_info().rss
        most = before
        frozen.gate.touch()
        printed = client[0].execute("for i in range(4): print('x' * (1 << 20))")
        while not printed.wait(0.05):
            most = max(most, process.memory_info().rss)
        assert printed.wait_for_output(PATIENCE)
        most = max(most, process.memory_info().rss)
        assert len("".join(printed.stdout)) == 4 * (MIB + 1)
    print(f"the controller took {(most - before) / MIB:.1f} MiB more")
    # 32 messages of the engine and 16 MiB for each client (decision 17), and what malloc keeps.
    assert (most - before) / MIB <= 80
    said = frozen.resume()
    assert "output messages" in said
    assert "again" in said.split("heard:")[1]
