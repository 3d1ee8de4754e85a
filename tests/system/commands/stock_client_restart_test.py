"""A controller is killed under an unmodified ipyparallel client, and the same command starts another one:
the client gets no fewer results than with the original's programs, and waits for ever for nothing that the
original ends with an error."""

import os
import signal
import sys
import time
from concurrent.futures import Future

import ipyparallel as ipp
import programs
import pytest
import zmq
from programs import PATIENCE, wait_until
from successor_test import note_run_and_wait, runs

pytestmark = pytest.mark.better_than_reference("it would be compared with itself")

ORIGINAL = [sys.executable, "-m", "ipyparallel.controller"], [sys.executable, "-m", "ipyparallel.engine"]
ENGINES, TASKS, CALLS = 2, 40, 10
LIMIT = 10  # seconds; where none has come for so long, what is missing counts as nothing


class Cluster:
    """A controller and engines of one kind, and an ipyparallel client."""

    def __init__(self, cluster, controller, engine):
        self.stage = cluster.stage
        self.command = [*controller, *cluster.options(), "--reuse", "--restore", "--sqlitedb"]
        self.start_controller()
        wait_until(cluster.connection_file("engine").exists, "the controller listens")
        for _ in range(ENGINES):
            self.stage.start([*engine, *cluster.options()], "engine")
        self.client = ipp.Client(str(cluster.connection_file("client")), timeout=PATIENCE)
        cluster.clients.append(self.client)
        wait_until(lambda: len(self.client.ids) == ENGINES, "the engines register")

    def start_controller(self):
        self.controller = self.stage.start(self.command, "controller")

    def replace_controller(self):
        """Returns when the client is connected again. No other client may connect before: ZeroMQ counts clients
        without a name from the same number in each process, so their replies go to the first that connects."""
        connected = monitors(self.client)
        os.killpg(self.controller.pid, signal.SIGKILL)  # the original is nine processes
        self.controller.wait()
        self.start_controller()
        for monitor in connected:
            assert monitor.poll(PATIENCE * 1000), "the client does not connect to the other controller"
            monitor.close()


def monitors(client):
    """Sockets that get a message when a connection for calls, and one for tasks, is made."""
    made = Future()
    client._io_loop.add_callback(lambda: made.set_result([
        each.get_monitor_socket(zmq.EVENT_HANDSHAKE_SUCCEEDED)
        for each in (client._mux_socket, client._task_socket)]))  # fmt: skip
    return made.result(PATIENCE)


def fate(answer, expected):
    if not answer.ready():
        return "nothing"
    try:
        return "result" if answer.get(0) == expected else "wrong"
    except Exception:
        return "error"


def have_come(client):
    status = client.queue_status()
    return all(status[engine]["queue"] >= CALLS for engine in range(ENGINES))


def fates(cluster, folder):
    """What comes of each request of a client whose controller is killed while the first tasks run."""
    folder.mkdir()
    gate = folder / "gate"
    balanced = cluster.client.load_balanced_view()
    answers = [balanced.apply_async(note_run_and_wait, str(folder), n, str(gate))
               for n in range(TASKS)]
    wait_until(lambda: sum(runs(folder, n) for n in range(TASKS)) >= ENGINES, "the first ones run")
    answers += [cluster.client[:].apply_async(note_run_and_wait, str(folder), n, str(gate))
                for n in range(TASKS, TASKS + CALLS)]
    wait_until(lambda: have_come(cluster.client), "the controller has passed all calls on")
    cluster.replace_controller()
    gate.touch()
    come, since = 0, time.monotonic()
    while come < len(answers) and time.monotonic() - since < LIMIT:
        cluster.client.wait(answers, timeout=0.2)
        before, come = come, sum(answer.ready() for answer in answers)
        since = time.monotonic() if come > before else since
    return [fate(answer, n if n < TASKS else [n] * ENGINES) for n, answer in enumerate(answers)]


def test_no_fewer_results_than_with_the_original(own_cluster, tmp_path):
    ours = fates(Cluster(own_cluster(), programs.CONTROLLER, programs.ENGINE), tmp_path / "ours")
    theirs = fates(Cluster(own_cluster(), *ORIGINAL), tmp_path / "theirs")
    told = {kind: (ours.count(kind), theirs.count(kind)) for kind in sorted({*ours, *theirs})}
    print("(ours, the original's):", told)
    assert "wrong" not in ours, told
    assert ours.count("result") >= theirs.count("result"), told
    worse = [n for n, (mine, its) in enumerate(zip(ours, theirs, strict=True))
             if mine == "nothing" and its != "nothing"]
    assert not worse, f"of {worse} nothing came, where the original answers: {told}"
