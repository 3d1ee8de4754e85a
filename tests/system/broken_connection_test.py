"""One connection of an engine breaks, and what was on its way is lost; the others stand."""

import json

import ipyparallel as ipp
import pytest
from programs import PATIENCE, wait_until
from running_cluster import connect
from tcp_relay import TcpRelay

pytestmark = pytest.mark.better_than_reference("it waits for ever")


@ipp.interactive
def note_run_and_wait(folder, name, until):
    import os
    import pathlib
    import time

    pathlib.Path(folder, f"{name}.{time.time_ns()}").touch()
    while not os.path.exists(until):
        time.sleep(0.005)
    pathlib.Path(folder, f"end-{name}").touch()
    return name


def runs(folder, name):
    return len(list(folder.glob(f"{name}.*")))


@pytest.fixture(params=["task", "mux"])
def channel(request):
    return request.param


@pytest.fixture
def relayed(own_cluster, channel, tmp_path):
    """A cluster whose only engine reaches one port of the controller by a relay."""
    cluster = own_cluster()
    cluster.start_controller()
    info = cluster.connection("engine")
    info.pop("local", None)  # by TCP
    relay = TcpRelay(info[channel])
    info[channel] = relay.port
    file = tmp_path / "engine.json"
    file.touch(0o600)
    file.write_text(json.dumps(info))
    cluster.start_engines(1, f"--file={file}")
    yield cluster, relay
    relay.close()


@pytest.fixture
def submit(relayed, channel):
    """Sends a call by the channel, and is a function."""
    cluster, _ = relayed
    with connect(cluster.connection_file("client"), 1, timeout=PATIENCE) as client:
        view = client.load_balanced_view() if channel == "task" else client[0]
        assert view.apply_sync(len, "abc") == 3
        yield view.apply_async


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "runs"
    folder.mkdir()
    return folder


def test_a_request_that_was_lost_on_its_way_is_sent_again(relayed, submit, folder):
    _, relay = relayed
    relay.swallows = True
    answer = submit(note_run_and_wait, str(folder), 1, str(folder))
    assert relay.swallowed.wait(PATIENCE)
    relay.break_connections()
    assert answer.get(PATIENCE) == 1
    assert runs(folder, 1) == 1
    assert submit(note_run_and_wait, str(folder), 2, str(folder)).get(PATIENCE) == 2


def test_a_reply_that_was_lost_on_its_way_is_sent_again(relayed, submit, folder):
    _, relay = relayed
    gate = folder / "gate"
    answer = submit(note_run_and_wait, str(folder), 1, str(gate))
    wait_until(lambda: runs(folder, 1), "it runs")
    relay.swallows = True
    gate.touch()
    assert relay.swallowed.wait(PATIENCE)
    relay.break_connections()
    assert answer.get(PATIENCE) == 1
    assert runs(folder, 1) == 1


def test_what_runs_while_the_connection_breaks_runs_once(relayed, submit, folder):
    _, relay = relayed
    gate = folder / "gate"
    answer = submit(note_run_and_wait, str(folder), 1, str(gate))
    wait_until(lambda: runs(folder, 1), "it runs")
    for _ in range(3):
        relay.break_connections()
        wait_until(lambda: relay.pairs, "the engine dials again")
    gate.touch()
    assert answer.get(PATIENCE) == 1
    assert runs(folder, 1) == 1
