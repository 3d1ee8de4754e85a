"""`pxcluster doctor` on this host: what is planted is named with its fix, and nothing else is."""

import contextlib
import json
import os
import resource
import shlex
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

PATIENCE = 60


class Doctor:
    """Runs `pxcluster doctor` for a profile of its own."""

    def __init__(self, command, folder):
        self.command = command
        self.profile = folder / "profile_doctor"
        (self.profile / "security").mkdir(parents=True)
        self.environment = {
            **os.environ,
            "IPYTHONDIR": str(folder / "ipython"),
            "VIRTUAL_ENV": sys.prefix,
        }

    def run(self, *options, as_json=True, **environment):
        done = subprocess.run(
            [*self.command, "doctor", f"--profile-dir={self.profile}", "--cluster-id="]
            + (["--json"] if as_json else [])
            + list(options),
            env={**self.environment, **environment},
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        if not as_json:
            return done
        found = json.loads(done.stdout)["findings"]
        assert done.returncode == (1 if found else 0)
        return {finding["check"]: finding for finding in found}

    def connection_file(self, name="file.json", **changes):
        """The file of a controller that would be here, and is not."""
        info = {
            "key": "k" * 32,
            "interface": "tcp://127.0.0.1",
            "location": socket.gethostname(),
            "ssh": "",
            "pack": "json",
            "unpack": "json",
            "signature_scheme": "hmac-sha256",
            "task_scheme": "leastload",
        }
        ports = ("registration", "control", "mux", "task", "iopub", "notification", "broadcast")
        info.update({port: closed_port() for port in ports}, **changes)
        path = self.profile / "security" / name
        path.write_text(json.dumps(info))
        path.chmod(0o600)
        return path


def closed_port():
    """A port of this host where nobody listens."""
    with contextlib.closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


@pytest.fixture
def doctor(cluster_cmd, tmp_path):
    return Doctor(cluster_cmd, tmp_path)


@pytest.fixture(scope="module")
def usual(cluster_cmd, tmp_path_factory):
    """What is wrong with the machine that runs the tests, before anything is planted."""
    return Doctor(cluster_cmd, tmp_path_factory.mktemp("usual")).run()


def program(folder, name, text):
    path = folder / name
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def planted(doctor, usual, *options, **environment):
    """What is found beyond what is found anyway."""
    found = doctor.run(*options, **environment)
    return {check: finding for check, finding in found.items() if finding != usual.get(check)}


def mpi_is_of_one_kind():
    """Whether the first mpiexec in PATH is that of the MPI to which mpi4py is bound."""
    ask = "from mpi4py import rc; rc.initialize = False; from mpi4py import MPI; " + (
        "print(MPI.Get_library_version())"
    )
    bound = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True)
    starter = subprocess.run(["mpiexec", "--version"], capture_output=True, text=True)
    return ("Open MPI" in bound.stdout) == ("Open" in starter.stdout) and bound.returncode == 0


def test_a_host_on_which_these_tests_pass_has_no_errors(usual):
    errors = {check for check, finding in usual.items() if finding["severity"] == "error"}
    # two MPIs may be installed, and `mpiexec` be that of the other one: then that is an error
    assert errors == (set() if mpi_is_of_one_kind() else {"mpi"})


def test_it_says_so_where_nothing_is_wrong(doctor, usual):
    done = doctor.run(as_json=False)
    assert ("no problems found; checked:" in done.stdout) == (not usual)
    if not usual:
        for check in ("programs", "python", "mpi", "name", "limits", "shm", "folders", "file"):
            assert f"\n    {check} " in done.stdout
    assert done.returncode == (1 if usual else 0)


def test_a_python_without_ipython_is_named(doctor, usual):
    # without its site-packages a Python has nothing
    python = program(doctor.profile, "python", f'exec "{sys.executable}" -I -S "$@"\n')
    found = planted(doctor, usual, f"--python={python}")
    assert found["ipython"]["fix"] == f"{python} -m pip install ipython"
    install = shlex.split(found["polyxeus"]["fix"])
    assert install[:4] == [str(python), "-m", "pip", "install"]
    assert Path(install[4]).exists(), "pip can install it from there"


def test_a_python_that_does_not_run_is_named(doctor, usual):
    python = program(doctor.profile, "python", "echo 'libpython is missing' >&2; exit 127\n")
    found = planted(doctor, usual, f"--python={python}")
    assert "libpython is missing" in found["python"]["what"]


def test_an_mpiexec_that_is_not_that_of_mpi4py_is_named(doctor, usual):
    answer = (
        'case "$*" in *-c*) echo \'{"version": "3.11.7", "polyxeus": "1", "ipython": "9", '
        '"mpi4py": "4.1", "mpi": "MPICH Version: 4.0.2"}\';; esac\n'
    )
    python = program(doctor.profile, "python", answer)
    mpiexec = program(doctor.profile, "mpiexec", "echo 'mpiexec (OpenRTE) 4.1.4'\n")
    found = planted(doctor, usual, f"--python={python}", f"--mpiexec={mpiexec}")
    assert "built for MPICH" in found["mpi"]["what"]
    assert "mpiexec.hydra" in found["mpi"]["fix"]


def test_a_missing_mpiexec_is_named_where_it_is_needed(doctor, usual):
    found = planted(doctor, usual, "--mpi", "--mpiexec=/nowhere/mpiexec")
    assert "--mpi-cmd" in found["mpiexec"]["fix"]


@pytest.mark.parametrize("named, said", [
    ("/nowhere/mpiexec", "/nowhere/mpiexec"), ("false", "exited with code 1"),
    ("true", "does not look like an mpiexec")])
def test_a_wrong_mpiexec_is_named_though_nobody_asked_for_mpi(doctor, usual, named, said):
    found = planted(doctor, usual, f"--mpiexec={named}")
    assert said in found["mpiexec"]["what"]
    assert "--mpi-cmd" in found["mpiexec"]["fix"]


def test_a_home_that_cannot_be_written_is_named_and_the_fix_helps(doctor, usual, tmp_path):
    home = tmp_path / "no_folder"
    home.touch()
    found = planted(doctor, usual, HOME=str(home))
    assert f"no file can be written to {home} (home): Not a directory" in found["folders"]["what"]
    script = found["folders"]["fix"].replace("/var/tmp", str(tmp_path)) + ' && echo "$HOME"'
    home = subprocess.run(["sh", "-c", script], check=True, capture_output=True, text=True).stdout
    assert planted(doctor, usual, HOME=home.strip()) == {}
    assert list(tmp_path.glob(".pxdoctor*")) == []


def test_a_full_disk_is_named(doctor, usual):
    def fill():  # stands for a full disk or a quota: no file may grow
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    done = subprocess.run(
        [*doctor.command, "doctor", f"--profile-dir={doctor.profile}", "--cluster-id=", "--json"],
        env=doctor.environment, capture_output=True, text=True, timeout=PATIENCE,
        preexec_fn=fill, restore_signals=False)
    found = {each["check"]: each for each in json.loads(done.stdout)["findings"]}
    assert "too large" in found["folders"]["what"]
    assert "du -sh" in found["folders"]["fix"]


def test_a_missing_file_is_named(doctor, usual):
    found = planted(doctor, usual, "--file=/nowhere/client.json")
    assert "pxcluster start" in found["file"]["fix"]


def test_a_file_that_others_may_read_is_named(doctor, usual):
    path = doctor.connection_file()
    path.chmod(0o644)
    found = planted(doctor, usual, f"--file={path}")
    assert found["permissions"]["fix"] == f"chmod 600 {path}"


def test_a_stale_file_is_named(doctor, usual):
    path = doctor.connection_file()
    path = path.rename(path.with_name("ipcontroller-client.json"))
    found = planted(doctor, usual, f"--file={path}")
    assert set(found) == {"stale"}
    apply_fix(doctor, found["stale"]["fix"])
    assert not path.exists()


def test_a_stale_file_outside_of_profiles_is_removed_by_its_fix(doctor, usual):
    path = doctor.connection_file()
    apply_fix(doctor, planted(doctor, usual, f"--file={path}")["stale"]["fix"])
    assert not path.exists()


def apply_fix(doctor, fix):
    """Does what the fix says, word by word."""
    words = shlex.split(fix)
    if words[0] == "pxcluster":
        words[:1] = doctor.command
    subprocess.run(words, env=doctor.environment, check=True, capture_output=True,
                   timeout=PATIENCE)


def test_one_closed_port_is_named(doctor, usual):
    with contextlib.ExitStack() as open_ports:
        ports = {}
        for name in ("registration", "control", "mux", "task", "iopub", "notification"):
            listener = open_ports.enter_context(contextlib.closing(socket.socket()))
            listener.bind(("127.0.0.1", 0))
            listener.listen()
            ports[name] = listener.getsockname()[1]
        closed = closed_port()
        path = doctor.connection_file(**ports, broadcast=closed)
        found = planted(doctor, usual, f"--file={path}")
    assert f"port {closed}: refused" in found["port"]["what"]
    assert "--ports=RANGE" in found["port"]["fix"]


def test_an_address_that_does_not_resolve_is_named(doctor, usual):
    path = doctor.connection_file(interface="tcp://*", location="no-such-host.invalid")
    found = planted(doctor, usual, f"--file={path}")
    assert "no-such-host.invalid" in found["name"]["what"]
    assert "--location" in found["name"]["fix"]


def test_a_file_that_was_cut_off_is_named(doctor, usual):
    path = doctor.connection_file()
    path.write_text(path.read_text()[:40])
    found = planted(doctor, usual, f"--file={path}")
    assert "copy the whole file" in found["file"]["fix"]


def test_a_host_that_ssh_does_not_reach_is_named(doctor, usual):
    ssh = program(doctor.profile, "ssh", "echo 'Permission denied (publickey).' >&2; exit 255\n")
    found = planted(doctor, usual, "--hosts=host2", f"--ssh-cmd={ssh}")
    assert "Permission denied" in found["ssh"]["what"]
    assert "ssh host2 hostname" in found["ssh"]["fix"]


def test_a_cluster_that_was_killed_is_named_and_the_fix_helps(doctor, usual, cluster_cmd):
    record = Path(doctor.profile, "security", "cluster-.json")
    environment = doctor.environment
    start = [*cluster_cmd, "start", "-n", "1", "--daemonize", f"--profile-dir={doctor.profile}"]
    subprocess.run(
        [*start, "--cluster-id="], env=environment, check=True, capture_output=True, timeout=PATIENCE
    )
    try:
        assert planted(doctor, usual) == {}  # a cluster that runs is no fault
        told = json.loads(record.read_text())
        left = record.read_text()
        pids = [entry for entry in json.dumps(told).split('"pid": ')[1:]]
        assert pids
    finally:
        stop = [*cluster_cmd, "stop", f"--profile-dir={doctor.profile}", "--cluster-id="]
        subprocess.run(stop, env=environment, check=True, capture_output=True, timeout=PATIENCE)
    record.write_text(left)
    leftover = planted(doctor, usual)["leftover"]
    assert Path(leftover["why"].rpartition(" ")[2]).is_file(), "it names a log that is there"
    apply_fix(doctor, leftover["fix"])
    assert planted(doctor, usual) == {}


def test_a_start_that_fails_ends_with_one_cause_and_one_fix(doctor, cluster_cmd, engine_cmd):
    python = program(doctor.profile, "python", f'exec "{sys.executable}" -I -S "$@"\n')
    done = subprocess.run(
        [*cluster_cmd, "start", "-n", "1", f"--profile-dir={doctor.profile}"]
        + [f"--engine-cmd={shlex.join(engine_cmd)} --python={python}"],
        env=doctor.environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode != 0
    last = done.stderr.strip().splitlines()[-2:]
    assert "probable cause: " in last[0] and "fix: " in last[1], done.stderr
    assert "polyxeus" in last[0] and "pip install" in last[1]
