"""Connections of a client break, and what was on its way is lost; its engines' stand."""

import concurrent.futures
import json
import warnings

import ipyparallel as ipp
import polyxeus
import pytest
from programs import PATIENCE, wait_until
from tcp_relay import TcpRelay

pytestmark = pytest.mark.better_than_reference("it waits for ever")

CHANNELS = ["task", "mux", "broadcast"]


@ipp.interactive
def note_run_and_wait(folder, name, until, ballast=None):
    import os
    import pathlib
    import time

    pathlib.Path(folder, f"{name}.{time.time_ns()}").touch()
    while not os.path.exists(until):
        time.sleep(0.005)
    pathlib.Path(folder, f"end-{name}").touch()
    return ballast or name


def runs(folder, name):
    return len(list(folder.glob(f"{name}.*")))


@pytest.fixture(scope="module")
def cluster(new_cluster):
    cluster = new_cluster("broken-client")
    cluster.start_controller()
    cluster.start_engines(1)
    return cluster


@pytest.fixture
def through_relays(cluster, tmp_path):
    """A connection file by which a client reaches these channels through relays, and the relays."""
    relays = []

    def make(*channels):
        info = cluster.connection("client")
        info.pop("local", None)  # by TCP
        made = [TcpRelay(info[channel]) for channel in channels]
        info.update({channel: relay.port for channel, relay in zip(channels, made, strict=True)})
        relays.extend(made)
        file = tmp_path / "client.json"
        file.touch(0o600)
        file.write_text(json.dumps(info))
        return file, made

    yield make
    for relay in relays:
        relay.close()


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "runs"
    folder.mkdir()
    return folder


def open_client(file):
    client = polyxeus.Client(str(file), timeout=PATIENCE)
    client.wait_for_engines(1, timeout=PATIENCE)
    return client


@pytest.fixture(params=CHANNELS)
def channel(request):
    return request.param


@pytest.fixture
def relayed(through_relays, channel):
    """Sends a call by the channel, and the relay that the channel goes through."""
    file, (relay,) = through_relays(channel)
    with open_client(file) as client:
        views = {
            "task": client.load_balanced_view,
            "mux": lambda: client[0],
            "broadcast": client.broadcast_view,
        }
        view = views[channel]()

        def submit(*arguments):
            answer = view.apply_async(*arguments)
            return lambda: one(answer.get(PATIENCE))

        assert submit(len, "abc")() == 3
        yield submit, relay


def one(result):
    return result[0] if isinstance(result, list) else result


def waiting(client):
    """How many requests the controller knows of that have no answer yet."""
    status = client.queue_status()
    return status["unassigned"] + status[0]["queue"] + status[0]["tasks"]


def test_a_request_that_was_lost_on_its_way_is_sent_again(relayed, folder):
    submit, relay = relayed
    relay.swallows = True
    answer = submit(note_run_and_wait, str(folder), 1, str(folder))
    assert relay.swallowed.wait(PATIENCE)
    relay.break_connections()
    assert answer() == 1
    assert runs(folder, 1) == 1


def test_a_reply_that_was_lost_on_its_way_is_sent_again(relayed, folder):
    submit, relay = relayed
    gate = folder / "gate"
    answer = submit(note_run_and_wait, str(folder), 1, str(gate))
    wait_until(lambda: runs(folder, 1), "it runs")
    relay.swallows = True
    gate.touch()
    assert relay.swallowed.wait(PATIENCE)
    relay.break_connections()
    assert answer() == 1
    assert runs(folder, 1) == 1


def test_what_runs_while_the_connection_breaks_runs_once(relayed, folder):
    submit, relay = relayed
    gate = folder / "gate"
    answer = submit(note_run_and_wait, str(folder), 1, str(gate))
    wait_until(lambda: runs(folder, 1), "it runs")
    for _ in range(3):
        relay.break_connections()
        wait_until(lambda: relay.pairs, "the client dials again")
    gate.touch()
    assert answer() == 1
    assert runs(folder, 1) == 1


def test_a_long_reply_that_was_lost_on_its_way_comes_from_the_records(relayed, folder):
    submit, relay = relayed
    gate = folder / "gate"
    ballast = "x" * (3 << 20)
    answer = submit(note_run_and_wait, str(folder), 1, str(gate), ballast)
    wait_until(lambda: runs(folder, 1), "it runs")
    relay.swallows = True
    gate.touch()
    assert relay.swallowed.wait(PATIENCE)
    relay.break_connections()
    assert answer() == ballast
    assert runs(folder, 1) == 1


def test_all_connections_break_at_once(through_relays, folder):
    channels = ["registration", "control", "notification", "iopub", *CHANNELS]
    file, relays = through_relays(*channels)
    gate = folder / "gate"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with open_client(file) as client:
            answers = [
                client.load_balanced_view().apply_async(
                    note_run_and_wait, str(folder), 1, str(gate)
                ),
                client[0].apply_async(note_run_and_wait, str(folder), 2, str(gate)),
                client.broadcast_view().apply_async(note_run_and_wait, str(folder), 3, str(gate)),
            ]
            wait_until(lambda: sum(runs(folder, each) for each in (1, 2, 3)), "one runs")
            printed = client[0].execute("print('said')")
            wait_until(lambda: waiting(client) == 4, "the controller has all of them")
            for relay in relays:
                relay.swallows = True
            gate.touch()
            wait_until(lambda: all((folder / f"end-{each}").exists() for each in (1, 2, 3)), "done")
            for relay in relays:
                relay.break_connections()
            assert [one(answer.get(PATIENCE)) for answer in answers] == [1, 2, 3]
            assert printed.wait_for_output(PATIENCE)
            assert client.queue_status() is not None
    assert [runs(folder, each) for each in (1, 2, 3)] == [1, 1, 1]
    sentences = [str(each.message) for each in caught]
    assert any("broke and was restored" in each for each in sentences), sentences


def test_a_question_whose_answer_was_lost_says_so(through_relays):
    file, (relay,) = through_relays("registration")
    with open_client(file) as client, concurrent.futures.ThreadPoolExecutor(1) as pool:
        relay.swallows = True
        question = pool.submit(client.queue_status)
        assert relay.swallowed.wait(PATIENCE)
        relay.break_connections()
        with pytest.raises(polyxeus.RemoteError, match="broke before this was answered"):
            question.result(PATIENCE)
        assert client.queue_status() is not None
