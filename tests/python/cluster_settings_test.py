"""Clusters are told how to start: by arguments, by classes of ipyparallel, by configuration."""

import json
import logging
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from deadlines import wait_until
from traitlets.config import Config

import polyxeus as ipp
from polyxeus.cluster import launcher, recorded
from polyxeus.cluster.launcher import (
    LocalEngineSetLauncher,
    MPIEngineSetLauncher,
    SlurmEngineSetLauncher,
    SSHEngineSetLauncher,
)

# Stands in for ssh: runs what it is given, for the host, on this one.
SSH = """#!/bin/sh
echo "$@" >> {log}
while case "$1" in -*) true;; *) false;; esac; do case "$1" in -o|-i|-p) shift;; esac; shift; done
shift
exec sh -c "$*"
"""


# With ipyparallel's own classes, which other tests here replace.
ORIGINAL_CLASSES = """
import os
import polyxeus as ipp
from ipyparallel.cluster.launcher import MPIEngineSetLauncher, SSHEngineSetLauncher
from traitlets import List, default

class Oversubscribed(MPIEngineSetLauncher):
    mpi_args = List(["--oversubscribe", "-x", "COLOUR"])
    environment = {"COLOUR": "green"}

class Computing(SSHEngineSetLauncher):
    @default("ssh_cmd")
    def _choose_ssh(self):
        return ["rsh"]

assert ipp.Cluster(engines=SSHEngineSetLauncher).engine_launcher == "ssh"
try:
    ipp.Cluster(engines=Computing)
except ValueError as problem:
    print(problem)
with ipp.Cluster(n=2, engines=Oversubscribed, profile="originals") as rc:
    assert rc[:].apply_sync(os.getenv, "COLOUR") == ["green"] * 2
    print(rc.cluster.engine_launcher)
"""


class Oversubscribed(MPIEngineSetLauncher):
    mpi_args = ["--oversubscribe", "-x", "COLOUR"]
    environment = {"COLOUR": "green"}


@pytest.fixture
def ssh(tmp_path):
    """A command in place of ssh, and the file that it logs to."""
    program, log = tmp_path / "ssh", tmp_path / "ssh.log"
    program.write_text(SSH.format(log=log))
    program.chmod(0o755)
    return program, log


def launcher_of(**options):
    return ipp.Cluster(**options).engine_launcher


@pytest.mark.parametrize(
    "given, name",
    [
        (None, "local"),
        ("MPI", "mpi"),
        ("polyxeus-mpi", "mpi"),
        ("ipyparallel.cluster.launcher.SGEEngineSetLauncher", "sge"),
        (LocalEngineSetLauncher, "local"),
        (SSHEngineSetLauncher, "ssh"),
        (SlurmEngineSetLauncher, "slurm"),
        (Oversubscribed, "mpi"),
    ],
)
def test_launchers_are_known_by_name_and_class(given, name):
    assert launcher_of(engines=given) == name
    assert launcher_of(engine_launcher_class=given) == name


def test_ipyparallels_classes_are_obeyed_or_refused(folder):
    told = subprocess.run(
        [sys.executable, "-c", ORIGINAL_CLASSES], capture_output=True, text=True, timeout=120
    )
    assert told.returncode == 0, told.stderr
    assert told.stdout.startswith("Computing computes 'ssh_cmd' by code of its own")
    assert told.stdout.splitlines()[1:] == ["mpi"]


def test_our_own_classes_have_ipyparallels_names():
    class Mine(launcher.SlurmEngineSetLauncher):
        queue = "short"

    assert launcher_of(engines=Mine) == "slurm"
    assert launcher.find_launcher_class("mpi", "controller") is launcher.MPIControllerLauncher
    with pytest.raises(ValueError, match="Slow computes 'queue'"):
        ipp.Cluster(engines=type("Slow", (Mine,), {"queue": property(lambda self: "long")}))


def test_the_traits_of_a_class_of_ones_own_are_obeyed(folder):
    with ipp.Cluster(n=2, engines=Oversubscribed, profile="classes") as rc:
        assert rc[:].apply_sync(os.getenv, "COLOUR") == ["green"] * 2
        rc[:].execute("from mpi4py import MPI; size = MPI.COMM_WORLD.size", block=True)
        assert rc[:]["size"] == [2, 2]


@pytest.mark.parametrize("engines", ["ssh", SSHEngineSetLauncher])
def test_ssh_starts_as_many_engines_as_the_hosts_have_slots(folder, ssh, engines):
    program, log = ssh
    with ipp.Cluster(
        engines=engines, hosts={"localhost": 2}, ssh_cmd=[str(program)], profile="ssh_engines"
    ) as rc:
        assert rc.cluster.expected_engines() == 2
        assert rc[:].apply_sync(abs, -1) == [1, 1]
    assert "localhost" in log.read_text()


def test_one_of_the_engines_that_ssh_has_started_on_a_host_is_restarted_alone(folder, ssh):
    program, _ = ssh
    with ipp.Cluster(
        engines="ssh", hosts={"localhost": 3}, ssh_cmd=[str(program)], profile="ssh_engines"
    ) as rc:
        before = rc[:].apply_sync(os.getpid)
        os.kill(before[1], signal.SIGKILL)
        wait_until(lambda: rc.ids == [0, 2], "engine 1 has left", 30)
        rc[:].push({"x": 7}, block=True)
        for target in (1, 2):  # one that died, one that lives
            rc.restart_engines(target, keep="x")
            assert rc.ids == [0, 1, 2] and rc[:]["x"] == [7, 7, 7]
        after = rc[:].apply_sync(os.getpid)
        assert [a == b for a, b in zip(before, after)] == [True, False, False]


def test_engines_and_what_they_have_started_end_on_a_host_without_ps(folder, ssh, tmp_path):
    program, _ = ssh
    tools = tmp_path / "tools"
    tools.mkdir()
    for each in reversed(os.environ["PATH"].split(":")):
        for path in Path(each).glob("*"):
            (tools / path.name).unlink(missing_ok=True)
            (tools / path.name).symlink_to(path)
    (tools / "ps").unlink(missing_ok=True)
    program.write_text(program.read_text().replace("exec sh", f"PATH={tools} exec sh"))

    def engine_and_child():
        import os
        import subprocess

        return os.getpid(), subprocess.Popen(["sleep", "600"]).pid

    with ipp.Cluster(engines="ssh", hosts={"localhost": 2}, ssh_cmd=[str(program)], profile="no_ps") as rc:
        pids = rc[1].apply_sync(engine_and_child)
        rc.restart_engines(1)
        assert rc.ids == [0, 1]
        assert rc[1].apply_sync(os.getpid) not in pids
        wait_until(lambda: not any(map(is_alive, pids)), "the engine and its child have ended", 30)


def is_alive(pid):
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


def test_a_configuration_says_what_arguments_do_not(folder):
    config = Config()
    config.Cluster.n = 1
    config.Cluster.engine_timeout = 50
    config.LocalEngineSetLauncher.engine_args = ["-c", "started = 'as configured'"]
    config.EngineLauncher.environment.update({"COLOUR": "blue"})
    cluster = ipp.Cluster(config=config, engine_timeout=40, profile="configured")
    assert (cluster.n, cluster.engine_timeout) == (1, 40)
    with cluster as rc:
        assert rc[0]["started"] == "as configured"
        assert rc[0].apply_sync(os.getenv, "COLOUR") == "blue"


def test_the_parents_configuration_counts_and_what_is_unknown_is_named(caplog):
    class Parent:
        config = Config({"Cluster": {"n": 3}, "InteractiveShell": {"colors": "Linux"}})

    with caplog.at_level(logging.WARNING):
        assert ipp.Cluster(parent=Parent()).n == 3
        assert not caplog.records
        assert ipp.Cluster(config=Parent.config).n == 3
    assert "InteractiveShell in the configuration" in caplog.text


def test_the_profile_says_how_many_engines_and_how(folder):
    home = folder / "profile_said"
    home.mkdir()
    (home / "ipcluster_config.py").write_text("c.Cluster.n = 2\n")
    (home / "pxcluster.json").write_text('{"engines": "mpi"}')
    with ipp.Cluster(profile="said") as rc:
        assert len(rc) == 2
        assert rc.cluster.engine_launcher == "mpi"
    with ipp.Cluster(profile="said", load_profile=False, n=1) as rc:
        assert len(rc) == 1
        assert rc.cluster.engine_launcher == "local"


def test_a_further_file_describes_the_running_cluster(folder, tmp_path, caplog):
    path, log = tmp_path / "more" / "cluster.json", logging.getLogger("told")
    with caplog.at_level(logging.INFO, "told"):
        with ipp.Cluster(n=1, profile="filed", cluster_file=str(path), log=log) as rc:
            assert json.loads(path.read_text())["cluster"]["cluster_id"] == rc.cluster.cluster_id
            found = ipp.Cluster.from_file(str(path))
            with found.connect_client_sync() as other:
                assert other.ids == [0]
            rc.cluster.write_cluster_file()
        assert not path.exists()
    assert "starting the controller" in caplog.text and "stopping" in caplog.text


def test_engines_that_are_refused_leave_no_controller(folder, tmp_path, monkeypatch):
    for name in ("sbatch", "scancel", "scontrol", "srun", "sacct"):
        program = tmp_path / name
        program.write_text("#!/bin/sh\necho invalid partition >&2; exit 1\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    cluster = ipp.Cluster(n=2, engines="slurm", profile="refused")
    with pytest.raises(ipp.error.EngineError, match="sbatch refused the job of the engines: invalid partition; 2 of 2"):
        cluster.start_and_connect_sync()
    assert cluster.controller is None and not os.path.exists(cluster.connection_file)
    with pytest.raises(ipp.error.EngineError), cluster:
        pass
    assert cluster.controller is None


def command_lines():
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            yield file.read_bytes()
        except OSError:
            pass  # it has ended


def test_settings_stand_on_no_command_line_and_logs_are_for_nobody_else(folder):
    with ipp.Cluster(n=1, profile="discreet", environment={"API_TOKEN": "s3cret"}) as rc:
        assert rc[0].apply_sync(os.getenv, "API_TOKEN") == "s3cret"
        assert [line for line in command_lines() if b"s3cret" in line] == []
        log = Path(rc.cluster.profile_dir, "log")
        assert stat.S_IMODE(log.stat().st_mode) == 0o700
        assert {stat.S_IMODE(each.stat().st_mode) for each in log.iterdir() if each.is_file()} == {0o600}


def test_a_part_is_not_taken_for_a_process_that_has_its_pid_now():
    own = {"pid": os.getpid(), "birth": recorded._birth(os.getpid())}
    later = {**own, "birth": own["birth"] + "0"}
    assert recorded.RecordedPart([], own).is_running()
    assert not recorded.RecordedPart([], later).is_running()
    recorded.signal_processes({"engines": {"0": later}}, signal.SIGKILL)  # we live


@ipp.interactive
def sleep_from_now(begun):
    import time

    open(begun, "w").close()
    time.sleep(30)


def test_one_engine_is_signalled_and_stopped(own, tmp_path):
    rc = own(2)
    begun = tmp_path / "begun"
    busy = rc[1].apply_async(sleep_from_now, str(begun))
    wait_until(begun.exists, "the call has begun", 20)
    rc.cluster.signal_engine_sync("SIGINT", 1)
    with pytest.raises(ipp.RemoteError, match="KeyboardInterrupt"):
        busy.get(20)
    rc.cluster.stop_engine_sync(1)
    wait_until(lambda: rc.ids == [0], "engine 1 has left", 20)
    with pytest.raises(TypeError, match="not both"):
        rc.cluster.restart_engines_sync("a", targets=0)


def test_clusters_are_loaded_for_some_profiles(folder):
    with ipp.Cluster(n=0, profile="loaded", cluster_id="") as rc:
        manager = ipp.ClusterManager()
        assert list(manager.load_clusters(profile="loaded")) == ["profile_loaded:"]
        assert manager.load_clusters(profile_dir=str(folder / "profile_other")) == {}
        assert list(manager.load_clusters(profile_dirs=[rc.cluster.profile_dir])) == ["profile_loaded:"]
        assert "profile_loaded:" in manager.load_clusters(init_default_clusters=True)
    other = ipp.ClusterManager().load_clusters(profiles=["loaded"], init_default_clusters=True)
    assert other["profile_loaded:"].controller is None


def test_the_output_of_programs_is_kept_until_it_is_removed(folder):
    with ipp.Cluster(n=0, profile="printing") as rc:
        wait_until(lambda: "engines" in rc.cluster.controller.get_output(), "the controller prints", 20)
        rc.cluster.controller.get_output(remove=True)
        with pytest.raises(FileNotFoundError):
            rc.cluster.controller.get_output()
