"""The controller is killed and another one takes its place: nothing is lost, nothing runs twice."""

import os
import signal
import subprocess

import ipyparallel as ipp
import polyxeus
import pytest
from programs import PATIENCE, wait_until
from running_cluster import connect

pytestmark = pytest.mark.better_than_reference("it loses what was asked for")

TASKS = 40


@ipp.interactive
def note_run_and_wait(folder, name, until=None, ballast=None):
    """Leaves a file for each time that it runs; waits for another one; leaves one at its end."""
    import os
    import pathlib
    import time

    pathlib.Path(folder, f"{name}.{os.getpid()}.{time.time_ns()}").touch()
    while until and not os.path.exists(until):
        time.sleep(0.005)
    print("ran", name)
    pathlib.Path(folder, f"end-{name}").touch()
    return name


def runs(folder, name):
    return sum(each.startswith(f"{name}.") for each in os.listdir(folder))


@pytest.fixture
def cluster(own_cluster):
    cluster = own_cluster()
    cluster.start_controller("--reuse", "--ping=500")
    cluster.start_engines(4)
    return cluster


@pytest.fixture
def client(cluster):
    with connect(cluster.connection_file("client"), 4, timeout=PATIENCE) as client:
        yield client


def replace_controller(cluster, *options):
    cluster.controller.signal(signal.SIGKILL)
    cluster.controller.wait(60)
    cluster.start_controller("--ping=500", *options)


@pytest.mark.parametrize("option", ["--restore", "--reuse"])
def test_tasks_all_end_and_none_twice(cluster, client, tmp_path, option):
    folder, gate = tmp_path / "runs", tmp_path / "gate"
    folder.mkdir()
    view = client.load_balanced_view()
    first = [view.apply_async(note_run_and_wait, str(folder), n, str(gate)) for n in range(4)]
    wait_until(lambda: all(runs(folder, n) for n in range(4)), "each engine runs a task")
    rest = [view.apply_async(note_run_and_wait, str(folder), n) for n in range(4, TASKS)]
    replace_controller(cluster, option)
    gate.touch()
    assert [each.get(PATIENCE) for each in first + rest] == list(range(TASKS))
    assert [runs(folder, n) for n in range(TASKS)] == [1] * TASKS


def test_a_result_whose_message_was_lost_is_sent_again(cluster, client, tmp_path):
    folder, gate = tmp_path / "runs", tmp_path / "gate"
    folder.mkdir()
    answer = client.load_balanced_view().apply_async(note_run_and_wait, str(folder), 0, str(gate))
    wait_until(lambda: runs(folder, 0), "it runs")
    cluster.controller.signal(signal.SIGSTOP)  # it takes no reply any more
    gate.touch()
    wait_until((folder / "end-0").exists, "it has ended")
    replace_controller(cluster, "--restore")
    assert answer.get(PATIENCE) == 0
    assert runs(folder, 0) == 1


def test_direct_calls_and_names_survive(cluster, client, tmp_path):
    folder, gate = tmp_path / "runs", tmp_path / "gate"
    folder.mkdir()
    client[:].push({"kept": 42}, block=True)
    running = client[:].apply_async(note_run_and_wait, str(folder), 0, str(gate))
    behind = client[:].apply_async(note_run_and_wait, str(folder), 1)
    wait_until(lambda: runs(folder, 0) == 4, "it runs everywhere")
    replace_controller(cluster, "--restore")
    gate.touch()
    assert running.get(PATIENCE) == [0] * 4
    assert behind.get(PATIENCE) == [1] * 4
    assert client[:].pull("kept", block=True) == [42] * 4
    assert (runs(folder, 0), runs(folder, 1)) == (4, 4)
    assert client.ids == [0, 1, 2, 3]


def test_a_map_goes_on(cluster, client):
    answer = client.load_balanced_view().map_async(lambda n: n * n, range(20_000), chunksize=10)
    wait_until(lambda: answer.progress > 50, "some of it is done")
    replace_controller(cluster, "--restore")
    assert list(answer.get(PATIENCE)) == [n * n for n in range(20_000)]


def test_of_what_is_too_long_to_be_kept_that_comes_which_an_engine_has(cluster, client, tmp_path):
    folder, gate = tmp_path / "runs", tmp_path / "gate"
    folder.mkdir()
    view, ballast = client.load_balanced_view(), "x" * (2 << 20)
    running = [view.apply_async(note_run_and_wait, str(folder), n, str(gate), ballast=ballast)
               for n in range(4)]
    wait_until(lambda: all(runs(folder, n) for n in range(4)), "each engine runs a task")
    waits = view.apply_async(note_run_and_wait, str(folder), 4, str(gate), ballast=ballast)
    wait_until(lambda: client.queue_status()["unassigned"] == 1, "the controller has the fifth one")
    replace_controller(cluster, "--restore")
    with pytest.raises(polyxeus.RemoteError, match="longer than 1 MiB, .*: send it again"):
        waits.get(PATIENCE)
    gate.touch()
    assert [each.get(PATIENCE) for each in running] == list(range(4))
    assert [runs(folder, n) for n in range(5)] == [1] * 4 + [0]


def test_the_client_says_what_has_happened(cluster, client, tmp_path):
    gate = tmp_path / "gate"
    answer = client[0].apply_async(note_run_and_wait, str(tmp_path), 0, str(gate))
    replace_controller(cluster, "--restore")
    with pytest.warns(RuntimeWarning, match="was started again; 1 unanswered request was sent"):
        answer.wait(5)
    gate.touch()
    assert answer.get(PATIENCE) == 0


def test_ipyparallels_client_gets_the_results_of_tasks_that_run(cluster, tmp_path):
    folder, gate = tmp_path / "runs", tmp_path / "gate"
    folder.mkdir()
    rc = cluster.client(engines=4)
    view = rc.load_balanced_view()
    answers = [view.apply_async(note_run_and_wait, str(folder), n, str(gate)) for n in range(4)]
    wait_until(lambda: all(runs(folder, n) for n in range(4)), "they run")
    replace_controller(cluster, "--restore")
    wait_until(lambda: rc.ids == [0, 1, 2, 3] and rc.queue_status(), "the client is there again")
    gate.touch()
    assert [each.get(PATIENCE) for each in answers] == [0, 1, 2, 3]


def test_engines_keep_what_is_known_of_them(cluster, client):
    before = [(row["engine"], row["pid"], row["language"]) for row in client.status()]
    replace_controller(cluster, "--restore")
    assert client[:].apply_sync(len, "abc") == [3] * 4

    def shown():
        try:
            return [(row["engine"], row["pid"], row["language"]) for row in client.status()]
        except ValueError as problem:  # it asked before it knew of the other controller
            assert "send it again" in str(problem)

    wait_until(lambda: shown() == before, "they introduce themselves")


def test_a_controller_that_was_hung_up_on_lives_on_under_nohup(own_cluster):
    cluster = own_cluster()
    environment = cluster.stage.environment(**cluster.environment)
    import programs

    controller = subprocess.Popen(
        ["nohup", *programs.CONTROLLER, *cluster.options()], env=environment,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: cluster.connection_file("engine").exists(), "it listens")
        controller.send_signal(signal.SIGHUP)
        cluster.start_engines(1)
        assert cluster.client(engines=1)[0].apply_sync(len, "abc") == 3
        assert controller.poll() is None
    finally:
        controller.terminate()
        controller.wait(60)
