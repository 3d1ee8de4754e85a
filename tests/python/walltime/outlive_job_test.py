"""A client whose engines seem to be in a batch job: warnings, and going on in a new one.

Their environment names a Slurm job, and a stand-in for squeue tells when it ends. tests/hosts/job_end_test.py has a real
Slurm.
"""

import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import deadlines
import pytest

import polyxeus as px
from polyxeus.client.walltime import keeper as keepers, watch

PATIENCE = 30.0
SQUEUE = '#!/bin/sh\ndate --date="@$(cat {file})" +%Y-%m-%dT%H:%M:%S\n'


@pytest.fixture(autouse=True)
def time_limit():
    with deadlines.time_limit(60):
        yield


@pytest.fixture
def job_ends_in(tmp_path, monkeypatch):
    """Sets in how many seconds all jobs end."""
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "squeue"
    program.write_text(SQUEUE.format(file=tmp_path / "end"))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    return lambda seconds: (tmp_path / "end").write_text(str(int(time.time() + seconds)))


@pytest.fixture
def said(monkeypatch):
    """What users are told: a list that grows, and a condition to wait for more."""

    class Said(list):
        changed = threading.Condition()

        def wait_for(self, text):
            with self.changed:
                assert self.changed.wait_for(lambda: any(text in each for each in self), PATIENCE), list(self)

    said = Said()

    def tell(text):
        with said.changed:
            said.append(text)
            said.changed.notify_all()

    monkeypatch.setattr(watch, "tell_user", tell)
    monkeypatch.setattr(keepers, "tell_user", tell)
    return said


@pytest.fixture
def cluster(folder, monkeypatch):
    """Two engines in "Slurm job 17", as far as pxcluster's file and their environment say."""
    monkeypatch.setattr(keepers, "launchers_of", lambda _record: {"slurm"})
    with_job = px.Cluster(n=2, profile="own", environment={"SLURM_JOB_ID": "17"})
    with_job.start_cluster_sync()
    yield with_job
    with_job.stop_cluster_sync()


@pytest.fixture
def rc(cluster):
    with cluster.connect_client_sync() as client:
        client.wait_for_engines(2, timeout=PATIENCE)
        yield client


def test_the_end_is_told_and_warned_of(rc, job_ends_in, said):
    job_ends_in(3600)
    (job,) = rc.job_ends(timeout=PATIENCE)
    assert (job["system"], job["job"], job["engines"]) == ("slurm", "17", [0, 1])
    assert 3500 < job["seconds"] <= 3600
    assert [(each["job"], each["job_ends"]) for each in rc.status()] == [("17", job["ends"])] * 2
    assert "engines 0,1: Slurm job 17 ends at " in str(rc.status())
    assert rc.history == []  # it has only what the user has sent
    job_ends_in(500)
    rc.job_ends(timeout=PATIENCE)
    said.wait_for("Slurm job 17 of engines 0,1 ends in 8 min: save what you need")


@pytest.fixture
def new_jobs_are_long(monkeypatch, job_ends_in):
    restart = px.Client.restart_engines

    def restart_engines(self):
        job_ends_in(3600)
        return restart(self)

    monkeypatch.setattr(px.Client, "restart_engines", restart_engines)


@pytest.mark.usefixtures("new_jobs_are_long")
def test_variables_tasks_and_calls_go_on_in_a_new_job(rc, job_ends_in, said):
    view = rc[:]
    view.execute("step = 1", block=True)
    pids = view.apply_sync(lambda: __import__("os").getpid())
    job_ends_in(40)
    tasks = rc.load_balanced_view().map_async(_slow, range(40), chunksize=1)
    with rc.outlive_job("step", save_before="60s") as keeper:
        while not keeper.crossings and not keeper.error:
            view.execute("step += 1", block=True)
        assert keeper.wait(1, timeout=PATIENCE), keeper.error
        steps = view["step"]
        assert steps[0] == steps[1] and view.apply_sync(lambda: __import__("os").getpid()) != pids
        assert tasks.get() == [each * 2 for each in range(40)]
        said.wait_for("engines 0,1 run in a new job; restored: step")
        assert keeper.last["label"] == "before the end of the job"
    assert rc.outlive_job(["step"], save_before="1s") is not keeper  # the lock is free again


def test_a_variable_that_does_not_exist_leaves_the_engines_in_their_job(rc, job_ends_in, said):
    pids = rc[:].apply_sync(lambda: __import__("os").getpid())
    job_ends_in(40)
    keeper = rc.outlive_job(["nosuch"], save_before="60s")
    assert not keeper.wait(1, timeout=PATIENCE)
    assert "no variable nosuch is defined there" in str(keeper.error)
    said.wait_for("the engines do not go on in a new job")
    assert rc[:].apply_sync(lambda: __import__("os").getpid()) == pids
    assert rc.load_balanced_view().apply_sync(pow, 2, 3) == 8  # it gets tasks again
    keeper.stop()


def test_engines_that_a_killed_program_has_left_without_tasks_get_tasks_again(rc, job_ends_in, tmp_path):
    job_ends_in(3600)
    keepers.order(rc, "drain", rc.ids)
    mark = Path(keepers.own_folder(rc._where)) / keepers._MARK
    mark.parent.mkdir(parents=True)
    mark.touch()
    pending = rc.load_balanced_view().apply_async(pow, 2, 3)
    assert {each["engine"] for each in rc.status()} == {0, 1} and not pending.ready()
    with rc.outlive_job("x", tmp_path):
        assert pending.get(PATIENCE) == 8
    assert not mark.exists()


def test_what_runs_too_long_is_interrupted_and_jobs_that_are_too_short_are_not_repeated(
    rc, job_ends_in, said, monkeypatch
):
    restart = px.Client.restart_engines

    def restart_engines(self):
        job_ends_in(50)  # less than save_before
        return restart(self)

    monkeypatch.setattr(px.Client, "restart_engines", restart_engines)
    monkeypatch.setattr(keepers, "_TO_FINISH", 0.02)
    rc[:].push({"x": 3}, block=True)
    job_ends_in(50)
    rc.job_ends(timeout=PATIENCE)
    endless = rc[1].execute("while True: pass")
    with rc.outlive_job(["x"], save_before="60s") as keeper:
        assert keeper.wait(1, timeout=PATIENCE), keeper.error
        assert "KeyboardInterrupt" in str(endless.exception())
        said.wait_for("engine 1 did not finish in time: the running code is interrupted")
        assert rc[:]["x"] == [3, 3]
        said.wait_for("no further job is started; give rc.outlive_job() a smaller save_before")
        assert keeper.crossings == 1 and "may run for" in str(keeper.error)


def test_a_job_without_an_end_is_told(rc, said, monkeypatch):
    monkeypatch.setattr(watch, "ask_batch_system", lambda _job: None)
    assert "has no end that is known" in str(rc.job_ends(timeout=PATIENCE))
    with rc.outlive_job("x"):
        said.wait_for("Slurm does not say when job 17 ends, so rc.outlive_job() cannot save variables before its end")


def test_two_clients_do_not_start_jobs_for_one_cluster(rc, cluster, job_ends_in, said):
    job_ends_in(3600)
    keeper = rc.outlive_job("x")
    with pytest.raises(RuntimeError, match="this client already saves"):
        rc.outlive_job("x")
    with cluster.connect_client_sync() as other, pytest.raises(RuntimeError, match="another client of this cluster"):
        other.outlive_job("x", "/somewhere/else")
    rc.close()
    assert repr(keeper) == "<JobKeeper stopped, 0 new jobs>"


@pytest.mark.usefixtures("job_ends_in")
def test_a_shell_can_do_it_until_a_signal(cluster, rc):
    job = "import polyxeus.client.walltime.keeper as k, polyxeus.client.walltime.__main__ as m; "
    job += "k.launchers_of = lambda record: {'slurm'}; raise SystemExit(m.main())"
    options = (f"--profile-dir={cluster.profile_dir}", f"--cluster-id={cluster.cluster_id}")

    def run(*more):
        command = [sys.executable, "-c", job, *options, *more]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    running = run("--names=x,y", "--save-before=90s")
    assert "variables are saved into" in running.stdout.readline()
    second = run()
    assert "another client of this cluster already saves" in second.communicate(timeout=PATIENCE)[1]
    assert second.returncode == 1
    running.send_signal(signal.SIGTERM)
    running.communicate(timeout=PATIENCE)
    assert running.returncode == 0


def test_a_duration_or_name_that_is_none_is_refused(rc):
    for wrong in ("5", "0s", 300, None):
        with pytest.raises(ValueError, match="save_before must be a duration"):
            rc.outlive_job("x", save_before=wrong)
    with pytest.raises(ValueError, match="variables must be names of variables, not 'a b'"):
        rc.outlive_job(["a b"])


def test_without_a_notebook_a_warning_of_python_says_it():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        watch.tell_user("Slurm job 17 ends")
    assert [str(each.message) for each in caught] == ["Slurm job 17 ends"]
    assert caught[0].category is RuntimeWarning


def test_in_a_notebook_the_running_cell_shows_it(monkeypatch):
    class FrontEnd:
        shown = []

        def request(self):
            return "the running cell"

        def publish(self, *message):
            self.shown.append(message)

    monkeypatch.setattr(watch, "front_end", FrontEnd)
    watch.tell_user("Slurm job 17 ends")
    assert FrontEnd.shown == [
        ("the running cell", "stream", {"name": "stderr", "text": "Slurm job 17 ends\n"}, {}, [])
    ]


@px.interactive
def _slow(number):
    import time

    time.sleep(0.1)
    return 2 * number
