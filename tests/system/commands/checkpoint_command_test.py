"""pxcluster checkpoint."""

import json
import os
import random
import signal
import subprocess

import numpy
import pytest
from programs import wait_until
from running_cluster import connect


@pytest.fixture(scope="module")
def command(local_cluster, cluster_cmd):
    """The words of `pxcluster <arguments>` for the shared cluster."""
    return lambda *arguments: [
        *cluster_cmd, *arguments, f"--profile-dir={local_cluster.profile_dir}"]


@pytest.fixture
def run(command, local_cluster, tmp_path):
    """Runs `pxcluster <arguments>` in a folder of the test's own."""

    def run(*arguments, expect=0):
        done = subprocess.run(command(*arguments), cwd=tmp_path, text=True, capture_output=True,
                              timeout=60, env=local_cluster.stage.environment())
        assert done.returncode == expect, done.stdout + done.stderr
        return done

    return run


@pytest.fixture
def view(local_cluster):
    """All four engines, with x scattered over them."""
    with connect(local_cluster.connection_file("client"), 4) as client:
        client.clear(block=True)
        view = client[:]
        view.scatter("x", numpy.arange(100000.0), block=True)
        view.execute("step = 1", block=True)
        yield view


def test_variables_are_written_listed_shown_and_restored(run, view, tmp_path):
    assert run("checkpoint", "create", "c").stdout.startswith(
        f"{tmp_path}/c/000001: 2 variables of 4 ranks, 8")
    view.execute("step = 2", block=True)
    told = json.loads(run("checkpoint", "create", "c", "--label=two", "--json").stdout)
    assert told["name"] == "000002" and told["linked"] > 800000 > told["written"]
    listed = run("checkpoint", "list", "c").stdout.splitlines()
    assert len(listed) == 2 and listed[1].endswith("label 'two'")
    assert "  x: <f8 (25000,), 801 kB, scattered\n" in run("checkpoint", "show", "c").stdout
    assert json.loads(run("checkpoint", "show", "c/000001", "--json").stdout)["label"] is None
    assert run("checkpoint", "restore", "c/000001", "--names=step").stdout.startswith(
        f"restored step from {tmp_path}/c/000001: 4 ranks, ")
    assert view.pull("step", block=True) == [1] * 4
    run("checkpoint", "restore", "c", "--label=two", "-t", "0:3")
    assert view.pull("(step, len(x))", targets=[0, 1, 2], block=True) == [
        (2, 33334), (2, 33333), (2, 33333)]


@pytest.mark.parametrize("arguments, code, sentence", [
    (["create", "/proc/c"], 1, "cannot write a checkpoint into /proc/c on host "),
    (["create", "c", "--names=x,nix"], 1, "engines 0-3: no variable nix is defined there"),
    (["create", "c", "-t", "9"], 11, "there is no engine 9"),
    (["restore", "c"], 1, "cannot read a checkpoint from "),
    (["list", "c"], 1, "/c: No such file or directory"),
    (["list", "."], 1, "there is no complete checkpoint in "),
    (["create"], 2, "needs the argument path"),
    (["crate", "c"], 2, "create"),
    (["create", "c", "--keep-last=-1"], 2, "--keep-last"),
])  # fmt: skip
def test_what_cannot_be_done_is_one_sentence_and_an_exit_code(run, view, arguments, code, sentence):
    assert sentence in run("checkpoint", *arguments, expect=code).stderr


def test_without_a_cluster_there_is_nothing_to_write(cluster_cmd, stage, tmp_path):
    done = stage.run([*cluster_cmd, "checkpoint", "create", str(tmp_path), "--profile=nobody"])
    assert done.returncode == 11


def test_a_client_that_is_killed_while_it_writes_leaves_the_last_one_readable(
        command, view, local_cluster, tmp_path):
    """It makes one after the other and is killed at random moments; PX_KILLS=100: at so many."""
    chance = random.Random(7)
    whole = numpy.arange(100000.0)
    folder = tmp_path / "c"
    view.checkpoint(folder, names="x", keep_last=2)
    for turn in range(int(os.environ.get("PX_KILLS", 6))):
        view.execute("x += 1", block=True)
        whole += 1
        last = view.checkpoint(folder, names="x", keep_last=2)["name"]
        writer = subprocess.Popen(
            command("checkpoint", "create", str(folder), "--every=0.0001s", "--keep-last=2"),
            stdout=subprocess.PIPE, text=True, env=local_cluster.stage.environment())
        for _ in range(chance.randrange(1, 30)):
            writer.stdout.readline()
        writer.send_signal(signal.SIGKILL)
        writer.communicate()
        told = view.restore(folder, names="x")
        assert os.path.basename(told["path"]) > last
        assert (view.gather("x", block=True) == whole).all(), turn
    view.checkpoint(folder, names="x", keep_last=2)
    assert len(os.listdir(folder)) == 2


def test_a_signal_to_pxcluster_makes_a_checkpoint(stage, cluster_cmd, tmp_path):
    profile = "signalled"
    folder = tmp_path / "c"
    started = stage.start(
        [*cluster_cmd, "start", f"--profile={profile}", "-n", "2", "--checkpoint-on=USR1",
         f"--checkpoint-path={folder}", "--checkpoint-names=step"], "start")  # fmt: skip
    file = stage.ipython_dir / f"profile_{profile}" / "security" / "ipcontroller-client.json"
    wait_until(file.exists, "the controller writes its connection file")
    with connect(file, 2) as client:
        client[:].push({"step": 5, "other": 6}, block=True)
        started.signal(signal.SIGUSR1)
        wait_until(lambda: "wrote a checkpoint" in started.output(), "the checkpoint is written")
        client.clear(block=True)
        client[:].restore(folder)
        assert client[:].pull("step", block=True) == [5, 5]
        assert client[:].apply_sync(lambda: "other" in globals()) == [False, False]
        assert client.ids == [0, 1]  # the signal was not for them
    started.stop()


@pytest.mark.parametrize("options, sentence", [
    (["--checkpoint-on=USR1"], "--checkpoint-path"),
    (["--checkpoint-path=c"], "--checkpoint-on"),
    (["--checkpoint-names=x"], "--checkpoint-names needs --checkpoint-on or --on-walltime"),
    (["--save-before=5m"], "--save-before needs --on-walltime"),
    (["--on-walltime=checkpoint"], "--on-walltime needs engines in a job of Slurm, PBS, LSF or Grid Engine"),
    (["--checkpoint-on=TERM", "--checkpoint-path=c"], "takes USR1 or USR2, not 'TERM'"),
])  # fmt: skip
def test_options_of_checkpoints_that_do_not_belong_together_are_refused(stage, cluster_cmd, options, sentence):
    done = stage.run([*cluster_cmd, "start", "--profile=none", "-n", "1", *options])
    assert done.returncode == 2 and sentence in done.stderr, done.stderr


def test_ctrl_c_while_the_engines_are_busy_ends_the_command_and_leaves_no_files(
        command, view, local_cluster, tmp_path):
    gate = tmp_path / "gate"
    busy = view.execute(
        f"import os, time\nwhile not os.path.exists({str(gate)!r}):\n    time.sleep(0.01)")
    writer = subprocess.Popen(command("checkpoint", "create", str(tmp_path / "c"), "--label=stopped"),
                              stderr=subprocess.PIPE, text=True, env=local_cluster.stage.environment())
    wait_until(lambda: any(job["kind"] == "call" for job in view.client.jobs()),
               "the command has asked the engines")
    writer.send_signal(signal.SIGINT)
    assert writer.wait(60) == 130
    gate.touch()
    busy.get(60)
    assert not (tmp_path / "c").exists()


def test_engines_that_stay_busy_are_an_error_after_the_timeout(run, view, tmp_path):
    gate = tmp_path / "gate"
    busy = view.execute(
        f"import os, time\nwhile not os.path.exists({str(gate)!r}):\n    time.sleep(0.01)")
    told = run("checkpoint", "create", "c", "--timeout=0.5", expect=1).stderr
    assert "4 of 4 engines were not ready within 0.5 s: they may still run code" in told
    gate.touch()
    busy.get(60)
