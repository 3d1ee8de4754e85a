"""The controller is killed and started again, and the clients are gone: their tasks end all the same,
each once, and anybody can fetch the results."""

import inspect
import signal
import socket
import sys

import ipyparallel as ipp
import polyxeus
import programs
import pytest
from programs import PATIENCE, wait_until
from running_cluster import RunningCluster, connect
from successor_test import note_run_and_wait, runs

pytestmark = pytest.mark.better_than_reference("it loses what was asked for")

PROCESS, POWER = [["--reuse", f"--journal={mode}"] for mode in ("process", "power")]

SCRIPT = """
import sys, time
import ipyparallel as ipp
import polyxeus

{task}

file, engines, folder, gate, retries, count = sys.argv[1:]
client = polyxeus.Client(file, timeout=60)
client.wait_for_engines(int(engines))
view = client.load_balanced_view()
view.retries = int(retries)
answers = [view.apply_async(note_run_and_wait, folder, n, gate or None) for n in range(int(count))]
msg_ids = [msg_id for answer in answers for msg_id in answer.msg_ids]
while not set(msg_ids) <= set(client.hub_history()):  # the controller has them
    time.sleep(0.02)
print(*msg_ids)
"""


def submit_and_exit(cluster, folder, count, engines=2, gate="", retries=0):
    """The msg_ids of tasks that a script asked for, which has ended."""
    script = SCRIPT.format(task=inspect.getsource(note_run_and_wait))
    done = cluster.stage.run([sys.executable, "-c", script, cluster.connection_file("client"),
                              engines, folder, gate, retries, count])
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def kill(program):
    program.signal(signal.SIGKILL)
    program.wait(60)


def start_controller(cluster, options):
    """Returns when it listens: an earlier one may have left its connection files."""
    cluster.start_controller("--ping=500", *options)
    wait_until(lambda: "Hub listening" in cluster.controller.output(), "it listens")


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "runs"
    folder.mkdir()
    return folder


def fetch(cluster, msg_ids, engines=2):
    with connect(cluster.connection_file("client"), engines, timeout=PATIENCE) as client:
        return client.get_result(msg_ids).get(PATIENCE)


@pytest.mark.parametrize("options", [PROCESS, POWER], ids=["process", "power"])
def test_each_task_of_a_script_runs_once(own_cluster, folder, tmp_path, options):
    cluster, gate = own_cluster(), tmp_path / "gate"
    start_controller(cluster, options)
    cluster.start_engines(2)
    msg_ids = submit_and_exit(cluster, folder, 20, gate=gate)
    wait_until(lambda: runs(folder, 0) and runs(folder, 1), "two of them run")
    kill(cluster.controller)
    start_controller(cluster, options)
    gate.touch()
    assert fetch(cluster, msg_ids) == list(range(20))
    assert [runs(folder, n) for n in range(20)] == [1] * 20


def test_results_that_nobody_fetched_are_there_after_a_second_kill(own_cluster, folder):
    cluster = own_cluster()
    start_controller(cluster, PROCESS)
    cluster.start_engines(2)
    msg_ids = submit_and_exit(cluster, folder, 10)
    assert fetch(cluster, msg_ids) == list(range(10))
    for _ in range(2):
        kill(cluster.controller)
        start_controller(cluster, PROCESS)
        assert fetch(cluster, msg_ids) == list(range(10))
    assert [runs(folder, n) for n in range(10)] == [1] * 10


def test_results_that_came_while_there_was_no_controller_are_not_lost(own_cluster, folder,
                                                                      tmp_path):
    cluster, gate = own_cluster(), tmp_path / "gate"
    start_controller(cluster, PROCESS)
    cluster.start_engines(2)
    msg_ids = submit_and_exit(cluster, folder, 2, gate=gate)
    wait_until(lambda: runs(folder, 0) and runs(folder, 1), "both run")
    kill(cluster.controller)
    gate.touch()
    wait_until(lambda: all((folder / f"end-{n}").exists() for n in range(2)), "both have ended")
    start_controller(cluster, PROCESS)
    assert fetch(cluster, msg_ids) == [0, 1]
    assert [runs(folder, n) for n in range(2)] == [1, 1]


DIRECT = """
import sys, time
import polyxeus

file, folder, gate, kind = sys.argv[1:]
client = polyxeus.Client(file, timeout=60)
client.wait_for_engines(2)
view = client[:] if kind == "direct" else client.broadcast_view()
answers = [
    view.execute(f"open('{folder}/run-{n}-%d' % number, 'x').close()\\n"
                 f"while {n} and not __import__('os').path.exists('{gate}'): pass\\n"
                 f"print('printed', {n})\\n"
                 f"({n}, number)", silent=False)
    for n in range(2)
]
answers[0].get(60)
msg_ids = [msg_id for answer in answers for msg_id in answer.msg_ids]
while not set(msg_ids) <= set(client.hub_history()):  # the controller has them
    time.sleep(0.02)
print(*msg_ids)
"""


@pytest.mark.parametrize("kind", ["direct", "broadcast"])
@pytest.mark.parametrize("options", [PROCESS, POWER], ids=["process", "power"])
def test_cells_of_a_notebook_that_was_closed_have_their_results(own_cluster, folder, tmp_path,
                                                                options, kind):
    cluster, gate = own_cluster(), tmp_path / "gate"
    start_controller(cluster, options)
    cluster.start_engines(2)
    with connect(cluster.connection_file("client"), 2, timeout=PATIENCE) as client:
        for position in range(2):
            client[position].push({"number": position}, block=True)
    done = cluster.stage.run(
        [sys.executable, "-c", DIRECT, cluster.connection_file("client"), folder, gate, kind])
    assert done.returncode == 0, done.stderr
    msg_ids = done.stdout.split()
    wait_until(lambda: len(list(folder.iterdir())) == 4, "the second cell runs")
    for _ in range(2):  # while it runs, and when all is done
        kill(cluster.controller)
        start_controller(cluster, options)
        gate.touch()
        with connect(cluster.connection_file("client"), 2, timeout=PATIENCE) as client:
            results = client.get_result(msg_ids).get(PATIENCE)
        shown = [result.execute_result["data"]["text/plain"] for result in results[:2]]
        assert shown == ["(0, 0)", "(0, 1)"]
        assert [result.stdout for result in results[:2]] == ["printed 0\n"] * 2
    assert len(list(folder.iterdir())) == 4, "a cell ran twice"


@ipp.interactive
def run_until(folder):
    """Leaves a file for each time that it runs, waits for that which its engine is to wait for."""
    import os
    import pathlib
    import time

    pathlib.Path(folder, f"0.{os.getpid()}.{time.time_ns()}").touch()
    while until and not os.path.exists(until):  # noqa: F821
        time.sleep(0.005)
    pathlib.Path(folder, "end-0").touch()
    return until  # noqa: F821


def gathers_by_the_controller(cluster):
    """A client whose broadcasts have one answer, which the controller makes."""
    rc = cluster.client(engines=2)
    return rc, rc.broadcast_view(is_coalescing=True)


def gathers_by_itself(cluster):
    client = connect(cluster.connection_file("client"), 2, timeout=PATIENCE)
    return client, client.broadcast_view()


@pytest.mark.parametrize("options", [PROCESS, POWER], ids=["process", "power"])
@pytest.mark.parametrize("view_of", [gathers_by_itself, gathers_by_the_controller])
def test_a_broadcast_that_runs_ends_with_the_reply_of_each_engine(own_cluster, folder, tmp_path,
                                                                  view_of, options):
    cluster, gate = own_cluster(), tmp_path / "gate"
    start_controller(cluster, options)
    cluster.start_engines(2)
    client, view = view_of(cluster)
    client[0].push({"until": ""}, block=True)
    client[1].push({"until": str(gate)}, block=True)
    answer = view.apply_async(run_until, str(folder))
    wait_until(lambda: runs(folder, 0) == 2 and (folder / "end-0").exists(), "one of them runs")
    kill(cluster.controller)
    start_controller(cluster, options)
    gate.touch()
    assert answer.get(PATIENCE) == ["", str(gate)]
    # The next cluster of this profile may give their ids to others only when both have come back.
    connect(cluster.connection_file("client"), 2, timeout=PATIENCE).close()
    assert runs(folder, 0) == 2
    client.close()


def test_a_task_whose_engine_died_meanwhile_runs_again_only_if_it_may(own_cluster, tmp_path):
    cluster, gate = own_cluster(), tmp_path / "gate"
    start_controller(cluster, PROCESS)
    cluster.start_engines(2)
    folders = [tmp_path / "once", tmp_path / "again"]
    msg_ids = []
    for retries, folder in enumerate(folders):
        folder.mkdir()
        msg_ids.append(submit_and_exit(cluster, folder, 1, gate=gate, retries=retries))
    wait_until(lambda: all(runs(folder, 0) for folder in folders), "both run")
    for program in (cluster.controller, *cluster.engines):
        kill(program)
    cluster.engines = []
    gate.touch()
    start_controller(cluster, PROCESS)
    cluster.start_engines(1)
    with pytest.raises(polyxeus.RemoteError, match="did not come back to the restarted controller"):
        fetch(cluster, msg_ids[0], engines=1)
    assert fetch(cluster, msg_ids[1], engines=1) == [0]
    assert [runs(folder, 0) for folder in folders] == [1, 2]


def wait_until_one_engine_has(cluster, tasks):
    def has_them():
        counts = client.queue_status().values()
        return any(isinstance(each, dict) and each["tasks"] == tasks for each in counts)

    with connect(cluster.connection_file("client"), 1, timeout=PATIENCE) as client:
        wait_until(has_them, f"one engine has {tasks} tasks")


def test_a_task_that_an_engine_got_once_more_is_not_given_to_it_twice(own_cluster, folder,
                                                                      tmp_path):
    cluster, gate = own_cluster(), tmp_path / "gate"
    options = [*PROCESS, "--hwm=0"]
    start_controller(cluster, options)
    cluster.start_engines(2)
    msg_ids = submit_and_exit(cluster, folder, 2, gate=gate, retries=1)
    wait_until(lambda: runs(folder, 0) and runs(folder, 1), "each engine runs one")
    kill(cluster.engines.pop())
    wait_until_one_engine_has(cluster, 2)
    kill(cluster.controller)
    start_controller(cluster, options)
    wait_until_one_engine_has(cluster, 2)
    gate.touch()
    assert fetch(cluster, msg_ids, engines=1) == [0, 1]
    assert sorted(runs(folder, n) for n in range(2)) == [1, 2]


def test_a_journal_is_kept_for_the_same_command_and_removed_by_another(own_cluster, folder):
    cluster = own_cluster()
    start_controller(cluster, PROCESS)
    cluster.start_engines(1)
    submit_and_exit(cluster, folder, 3, engines=1)
    journal = cluster.profile_dir / "log" / "journal"
    assert list(journal.glob("*.journal"))
    cluster.stop()
    assert list(journal.glob("*.journal"))
    cluster.start_controller()
    wait_until(lambda: not journal.exists(), "it is removed")


def test_a_journal_that_cannot_be_written_is_an_error_of_new_tasks_alone(own_cluster):
    cluster = own_cluster()
    cluster.start_controller("--journal=process")
    cluster.start_engines(1)
    journal = cluster.profile_dir / "log" / "journal"
    with connect(cluster.connection_file("client"), 1, timeout=PATIENCE) as client:
        view = client.load_balanced_view()

        def is_refused():
            try:
                return view.apply_sync(len, "abc") != 3
            except polyxeus.RemoteError as error:
                assert "the journal of tasks cannot be written" in str(error)
                return True

        away = journal.rename(journal.with_name("away"))
        wait_until(is_refused, "the disk has failed to take an earlier task")
        assert client[0].apply_sync(len, "abc") == 3
        with pytest.warns(RuntimeWarning, match="the controller's journal of tasks is not written"):
            connect(cluster.connection_file("client"), 1, timeout=PATIENCE).close()
        away.rename(journal)
        wait_until(lambda: not is_refused(), "tasks are taken again")


def test_pxcluster_gives_its_controllers_a_journal_and_removes_it_in_the_end(stage, folder, tmp_path):
    def run(*words):
        done = stage.run([*programs.CLUSTER, *words, "--profile=journal"])
        assert done.returncode == 0, done.stderr

    cluster, gate = RunningCluster(stage, "journal"), tmp_path / "gate"
    run("start", "-n", "2", "--daemonize")
    msg_ids = submit_and_exit(cluster, folder, 10, gate=gate)
    [controller] = [each for each in programs.processes_tagged(stage.tag)
                    if "pxcontroller" in each.cmdline()[0]]
    controller.kill()
    controller.wait(60)
    wait_until(lambda: listens(cluster.connection()["registration"]), "there is another one")
    gate.touch()
    assert fetch(cluster, msg_ids) == list(range(10))
    assert [runs(folder, n) for n in range(10)] == [1] * 10
    run("stop")
    wait_until(lambda: not (cluster.profile_dir / "log" / "journal").exists(), "it is removed")
