"""The start command: one line starts a cluster, one line ends it, and nothing stays behind."""

import json
import os
import signal
import socket
import zlib

import ipyparallel as ipp
import programs
import psutil
import pytest
from programs import PATIENCE, wait_until

only_ours = pytest.mark.better_than_reference("the original leaves its processes behind")


class Commanded:
    """A cluster under a profile of its own, handled by the start command alone."""

    def __init__(self, stage, command, profile):
        self.stage, self.command, self.profile = stage, command, profile
        self.folder = stage.ipython_dir / f"profile_{profile}"
        self.file = self.folder / "security" / "ipcontroller-client.json"

    def start(self, *options):
        return self.stage.start(
            [*self.command, "start", f"--profile={self.profile}", *options], "cluster"
        )

    def run(self, verb, *options, profile=True, timeout=PATIENCE):
        chosen = [f"--profile={self.profile}"] if profile else []
        return self.stage.run([*self.command, verb, *chosen, *options], timeout=timeout)

    def client(self, count, starter=None):
        wait_until(
            lambda: self.file.exists() or (starter and not starter.is_running()),
            "the controller writes its connection file",
        )
        assert self.file.exists(), starter.output()
        client = ipp.Client(str(self.file), timeout=PATIENCE)
        wait_until(lambda: len(client.ids) == count, f"{count} engines register")
        return client

    def processes(self):
        """The processes that belong to this profile, the start command aside."""
        return [each for each in programs.processes_tagged(self.stage.tag) if self._owns(each)]

    def _owns(self, process):
        try:
            return (self.profile in " ".join(process.cmdline())
                    or str(self.folder) == process.environ().get("IPP_PROFILE_DIR"))
        except psutil.Error:
            return False   # it has ended meanwhile


@pytest.fixture
def commanded(request, stage, cluster_cmd):
    return Commanded(stage, cluster_cmd, f"cluster{zlib.crc32(request.node.name.encode())}")


@pytest.mark.parametrize("engines", ["local", "mpi", "MPIEngineSetLauncher"])
def test_one_line_starts_a_cluster_and_the_end_of_that_line_ends_it(commanded, engines, mpiexec):
    if engines == "MPIEngineSetLauncher":
        engines = "ipyparallel.cluster.launcher.MPIEngineSetLauncher"
    starter = commanded.start("-n", "3", f"--engines={engines}")
    rc = commanded.client(3, starter)
    assert rc.ids == [0, 1, 2]
    assert rc[:].apply_sync(len, "abc") == [3] * 3
    rc.close()
    starter.stop(30)
    wait_until(lambda: not commanded.processes(), "the cluster's processes end", 20)
    assert not commanded.file.exists()
    assert not (commanded.folder / "security" / "cluster-.json").exists()


def test_ctrl_c_ends_the_cluster(commanded):
    starter = commanded.start("-n", "2")
    commanded.client(2, starter).close()
    starter.signal(signal.SIGINT)
    starter.wait(60)
    wait_until(lambda: not commanded.processes(), "the cluster's processes end", 20)
    assert not commanded.file.exists()


@pytest.mark.better_than_reference("it has no lock")
@pytest.mark.skipif(os.geteuid() != 0, reason="makes a container")
def test_a_start_in_another_container_leaves_a_running_cluster_alone(commanded):
    assert commanded.run("start", "-n", "1", "--daemonize").returncode == 0
    container = ["unshare", "--mount", "--pid", "--fork", "--mount-proc"]
    for verb, options in (("start", ["-n", "0", "--daemonize"]), ("stop", []), ("clean", [])):
        done = commanded.stage.run([*container, *commanded.command, verb, f"--profile={commanded.profile}", *options])
        assert done.returncode != 0
        assert "(not visible from here)" in done.stderr
    rc = commanded.client(1)
    assert rc[:].apply_sync(len, "ab") == [2]
    rc.close()
    assert commanded.run("stop").returncode == 0
    wait_until(lambda: not commanded.processes(), "the cluster's processes end", 20)


@pytest.mark.better_than_reference("it does not start the controller again")
def test_a_controller_whose_port_is_taken_for_a_moment_comes_back(commanded):
    assert commanded.run("start", "-n", "1", "--daemonize").returncode == 0
    rc = commanded.client(1)
    rc[:].push({"kept": 42}, block=True)
    port = json.loads(commanded.file.read_text())["registration"]
    controller = json.loads((commanded.file.parent / "cluster-.json").read_text())["controller"]["state"]
    os.kill(controller["supervisor"], signal.SIGSTOP)  # until the port is taken
    os.kill(controller["pid"], signal.SIGKILL)
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        wait_until(lambda: binds(taken, port), "the port is free")
        os.kill(controller["supervisor"], signal.SIGCONT)
        logs = commanded.folder / "log"
        wait_until(lambda: any("could not be started again" in log.read_text() for log in logs.glob("pxcluster-*.log")),
                   "a start has failed")  # fmt: skip
    assert rc[:].pull("kept", block=True) == [42]
    rc.close()
    assert commanded.run("stop").returncode == 0
    wait_until(lambda: not commanded.processes(), "the cluster's processes end", 20)


def binds(taken, port):
    try:
        taken.bind(("127.0.0.1", port))
        taken.listen()
        return True
    except OSError:
        return False


def test_a_daemon_is_started_listed_and_stopped(commanded):
    started = commanded.run("start", "-n", "2", "--daemonize")
    assert started.returncode == 0, started.stderr
    rc = commanded.client(2)
    assert rc[:].apply_sync(len, "ab") == [2, 2]
    rc.close()
    rows = [
        row
        for row in commanded.run("list", profile=False).stdout.splitlines()
        if commanded.profile in row
    ]
    assert len(rows) == 1 and "True" in rows[0]
    listed = json.loads(commanded.run("list", "--json", profile=False).stdout)
    assert [entry for entry in listed if commanded.profile in json.dumps(entry)]
    assert commanded.run("stop").returncode == 0
    wait_until(lambda: not commanded.processes(), "the cluster's processes end", 20)
    assert not commanded.file.exists()
    assert commanded.profile not in commanded.run("list", profile=False).stdout


def test_more_engines_are_added_to_a_running_cluster(commanded):
    starter = commanded.start("-n", "1")
    rc = commanded.client(1, starter)
    more = commanded.stage.start(
        [*commanded.command, "engines", f"--profile={commanded.profile}", "-n", "2"], "more-engines"
    )
    wait_until(lambda: len(rc.ids) == 3, "two more engines register")
    assert rc[:].apply_sync(len, "abc") == [3] * 3
    rc.close()
    more.stop(30)
    starter.stop(30)


@only_ours
def test_nothing_is_left_for_long_when_the_start_command_is_killed(commanded):
    starter = commanded.start("-n", "2")
    commanded.client(2, starter).close()
    starter.signal(signal.SIGKILL)
    starter.wait(60)
    wait_until(lambda: not commanded.processes(), "the cluster's processes end", 20)


def test_stop_all_succeeds_where_nothing_runs(commanded):
    assert commanded.run("stop", "--all", profile=False).returncode == 0


def test_clean_removes_what_dead_clusters_left(commanded):
    starter = commanded.start("-n", "1")
    client = commanded.client(1, starter)
    assert client.load_balanced_view().apply_sync(len, "abc") == 3
    client.close()
    for process in [*commanded.processes(), psutil.Process(starter.pid)]:
        try:
            process.kill()
        except psutil.Error:
            pass
    starter.wait(60)
    wait_until(lambda: not commanded.processes(), "the killed processes are gone", 20)
    cleaned = commanded.run("clean")
    assert cleaned.returncode == 0
    assert not commanded.file.exists()
    assert not (commanded.folder / "security" / "cluster-.json").exists()
    assert not (commanded.folder / "log" / "journal").exists()


@only_ours
def test_the_start_command_says_how_to_connect(commanded):
    starter = commanded.start("-n", "2")
    commanded.client(2, starter).close()
    wait_until(lambda: "Client(" in starter.output(), "it says how to connect", 10)
    wait_until(lambda: "2 engines" in starter.output(), "it says how many there are", 10)
    assert f"profile={commanded.profile!r}".replace("'", '"') in starter.output().replace("'", '"')
    starter.stop(30)


@only_ours
def test_engines_that_cannot_start_end_the_start_command_with_their_reason(commanded, tmp_path):
    (tmp_path / "pxengine").write_text(
        "#!/bin/sh\necho 'engine: the disk is on fire' >&2\nexit 7\n"
    )
    (tmp_path / "pxengine").chmod(0o755)
    starter = commanded.start("-n", "2", f"--EngineLauncher.engine_cmd={tmp_path / 'pxengine'}")
    assert starter.wait(60) != 0
    assert "disk is on fire" in starter.output()
    wait_until(lambda: not commanded.processes(), "nothing stays behind", 20)


@only_ours
def test_profiles_are_listed_and_created(commanded):
    listed = commanded.stage.run([*commanded.command, "profile", "list"])
    assert listed.returncode == 0
    for name in ("default", "mpi"):
        assert name in listed.stdout
    created = commanded.stage.run([*commanded.command, "profile", "create", commanded.profile])
    assert created.returncode == 0, created.stderr
    assert commanded.folder.is_dir()


@only_ours
def test_python_configuration_files_are_obeyed_by_all_programs(commanded):
    """The launcher, the number of engines, the controller's address, the engines' start."""
    commanded.folder.mkdir(parents=True, exist_ok=True)
    (commanded.folder / "more.py").write_text("c.Cluster.n = 2\n")
    (commanded.folder / "ipcluster_config.py").write_text(
        "import pathlib\n"
        "print('printed by the file')\n"
        "load_subconfig('more.py')\n"
        "from ipyparallel.cluster.launcher import MPIEngineSetLauncher\n"
        "c.IPClusterEngines.engine_launcher_class = MPIEngineSetLauncher\n"
        "c.MPILauncher.mpi_args.append('--oversubscribe')\n"
        "c.Cluster.log_something = lambda: 0\n"
        "c.IPClusterStart.early_shutdown = 5\n"
    )
    (commanded.folder / "ipcontroller_config.py").write_text("c.IPController.ip = '*'\n")
    (commanded.folder / "ipengine_config.py").write_text(
        "c.IPEngine.startup_command = 'started = 7'\nc.IPEngine.nothing_like_it = 1\n"
    )
    starter = commanded.start()
    client = commanded.client(2, starter)
    assert client[:]["started"] == [7, 7]
    client[:].execute("import os; rank = os.environ['OMPI_COMM_WORLD_RANK']", block=True)
    assert client[:]["rank"] == ["0", "1"]
    client.close()
    told = json.loads((commanded.folder / "security/ipcontroller-engine.json").read_text())
    assert told["interface"] == "tcp://*"
    output = starter.output()
    assert "Cluster.log_something cannot be used" in output
    assert "IPClusterStart.early_shutdown is unknown" in output
    starter.stop(30)


@only_ours
def test_the_command_line_overrides_the_python_configuration(commanded):
    commanded.folder.mkdir(parents=True, exist_ok=True)
    (commanded.folder / "ipcluster_config.py").write_text("c.Cluster.n = 7\n")
    (commanded.folder / "ipcluster_config.json").write_text('{"Cluster": {"n": 3}}')
    starter = commanded.start("-n", "1")
    commanded.client(1, starter).close()
    starter.stop(30)


@only_ours
@pytest.mark.parametrize(
    "text, problem",
    [
        ("c.Cluster.n = 1\nraise ValueError('no luck')", "line 2: ValueError: no luck"),
        ("c.Cluster.n = = 1", "line 1: SyntaxError: invalid syntax"),
        ("c.Cluster.n = 'seven'", "'Cluster.n' must be a number"),
    ],
)
def test_a_python_configuration_file_that_is_wrong_ends_the_start(commanded, text, problem):
    commanded.folder.mkdir(parents=True, exist_ok=True)
    (commanded.folder / "ipcluster_config.py").write_text(text)
    done = commanded.run("start")
    assert done.returncode == 1
    assert "ipcluster_config.py: " in done.stderr and problem in done.stderr
    assert len(done.stderr.splitlines()) == 1
