"""pxcluster with real processes: what it leaves behind, what it says, what it exits with.

    PXCLUSTER=build/dev/pxcluster python -m pytest tests/cluster

$PXCLUSTER_CONTROLLER and $PXCLUSTER_ENGINE name the commands to start (default: the programs beside
pxcluster or in $PATH). Waits are bounded; nothing here sleeps for a fixed time.
"""

import json
import os
import pty
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from deadlines import wait_for_text, wait_until

PXCLUSTER = os.environ.get("PXCLUSTER") or shutil.which("pxcluster")
CONTROLLER = os.environ.get("PXCLUSTER_CONTROLLER")
ENGINE = os.environ.get("PXCLUSTER_ENGINE")

if not PXCLUSTER:
    raise RuntimeError("no pxcluster to test: set $PXCLUSTER")


def until(condition, what, seconds=30):
    return wait_until(condition, what, seconds)


class Place:
    """A folder of profiles, and pxcluster in it."""

    def __init__(self, folder):
        self.folder = folder
        self.profile = folder / "profile_default"
        self.security = self.profile / "security"
        self.cluster_file = self.security / "cluster-.json"
        self.environment = {
            name: value for name, value in os.environ.items() if not name.startswith("IPP_")
        }
        self.environment["IPYTHONDIR"] = str(folder)
        self.started = []

    def command(self, *arguments):
        words = [PXCLUSTER, *arguments]
        if arguments[0] == "start" and CONTROLLER:
            words[2:2] = ["--controller-cmd", CONTROLLER]
        if arguments[0] in ("start", "engines") and ENGINE:
            words[2:2] = ["--engine-cmd", ENGINE]
        return words

    def run(self, *arguments, **environment):
        return subprocess.run(
            self.command(*arguments),
            env={**self.environment, **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=90,
        )

    def start(self, *arguments, **environment):
        """In front; returns when the engines are ready."""
        output = self.folder / f"start{len(self.started)}.out"
        with output.open("w") as file:
            process = subprocess.Popen(
                self.command("start", *arguments),
                env={**self.environment, **environment},
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        process.output = output
        self.started.append(process)
        until(
            lambda: "ready" in output.read_text() or process.poll() is not None,
            "the engines",
            60,
        )
        assert process.poll() is None, output.read_text()
        return process

    def pids(self):
        """The controllers, engines and launchers of this place's clusters."""
        return self._pids_with(f"IPP_PROFILE_DIR={self.profile}")

    def _pids_with(self, setting):
        found = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                environment = (entry / "environ").read_bytes()
                state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
            except OSError:
                continue
            if setting.encode() in environment.split(b"\0") and state != "Z":
                found.append(int(entry.name))
        return found

    def becomes_empty(self):
        """Whether no file is left. A process may take a moment to end: that of added engines, too."""
        until(lambda: not self._pids_with(f"IPYTHONDIR={self.folder}"), "the end of all processes", 5)
        return not list(self.security.glob("*")) and not list(self.profile.glob("pid/*"))

    def cluster_text(self):
        """Of the cluster file; empty where there is none any more."""
        try:
            return self.cluster_file.read_text()
        except FileNotFoundError:
            return ""

    def recorded_pids(self):
        state = json.loads(self.cluster_file.read_text())
        controller = state["controller"]["state"]["pid"]
        engines = []
        for engine_set in state["engines"]["sets"].values():
            engines += [e["pid"] for e in engine_set.get("engines", {}).values()]
            engines += [engine_set["pid"]] if engine_set["pid"] > 0 else []
        return controller, engines


@pytest.fixture
def place(tmp_path):
    place = Place(tmp_path)
    yield place
    for process in place.started:
        if process.poll() is None:
            process.kill()
        process.wait(60)
    for pid in place.pids():
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_everything_and_exits_0(place, number):
    process = place.start("-n", "2")
    assert len(place.pids()) >= 3
    process.send_signal(number)
    assert process.wait(60) == 0
    assert place.becomes_empty()


def test_a_step_of_the_clock_leaves_a_cluster_alive(place):
    process = place.start("-n", "1")
    # as if the clock had gone from then to now in one step: all processes seem younger than the file
    hour = 3600
    os.utime(place.cluster_file, (time.time() - hour, time.time() - hour))
    assert "True" in place.run("list").stdout
    assert place.run("stop").returncode == 0
    assert process.wait(60) == 0
    assert place.becomes_empty()


def test_logs_are_for_their_owner_alone(place):
    assert place.run("start", "-n", "1", "--daemonize").returncode == 0
    assert place.run("stop").returncode == 0
    modes = {path.stat().st_mode & 0o777 for path in (place.profile / "log").iterdir()}
    assert modes == {0o600}
    assert (place.profile / "log").stat().st_mode & 0o777 == 0o700


def test_kill_9_leaves_no_process_behind(place):
    process = place.start("-n", "2")
    process.kill()
    process.wait(60)
    until(lambda: not place.pids(), "the end of all processes", 15)
    assert place.run("list").stdout.count("\n") == 1
    # what is left of it does not hinder the next one
    again = place.start("-n", "1")
    assert "crashed or was killed" in again.output.read_text()
    again.terminate()
    assert again.wait(60) == 0
    assert place.becomes_empty()


def test_kill_9_leaves_no_rank_behind(place):
    process = place.start("-n", "3", "--engines=mpi")
    assert place.recorded_pids()[1], "mpiexec's pid is recorded"
    assert "MPI" in place.run("list").stdout
    process.kill()
    process.wait(60)
    until(lambda: not place.pids(), "the end of all ranks", 20)


def test_ctrl_c_ends_all_ranks(place):
    process = place.start("-n", "3", "--engines=MPIEngineSetLauncher", "--controller=mpi")
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 0
    assert place.becomes_empty()


def test_a_second_start_exits_10_and_harms_nothing(place):
    process = place.start("-n", "1")
    before = place.recorded_pids()
    second = place.run("start", "-n", "1")
    assert second.returncode == 10
    assert "is already running" in second.stderr
    assert place.recorded_pids() == before
    assert process.poll() is None


def test_two_clusters_of_one_profile_live_side_by_side(place):
    first = place.start("-n", "1", "--cluster-id=a")
    second = place.start("-n", "1", "--cluster-id=b")
    assert 'cluster_id="b"' in second.output.read_text()
    rows = place.run("list").stdout.splitlines()[1:]
    assert [row.split()[:5] for row in rows] == [
        ["default", "a", "True", "1", "Local"],
        ["default", "b", "True", "1", "Local"],
    ]
    assert place.run("stop", "a").returncode == 0
    assert first.wait(60) == 0
    assert second.poll() is None
    assert place.run("stop", "--all").returncode == 0
    assert second.wait(60) == 0
    assert place.becomes_empty()


def test_a_daemon_is_listed_and_stopped(place):
    started = place.run("start", "-n", "2", "--daemonize")
    assert started.returncode == 0, started.stderr
    listed, = json.loads(place.run("list", "--json").stdout)
    assert listed["owner"] is None
    assert place.run("clean").returncode == 1
    assert place.pids()
    assert place.run("stop").returncode == 0
    assert place.becomes_empty()
    assert json.loads(place.run("list", "--json").stdout) == []
    assert place.run("stop").returncode == 11
    assert place.run("stop", "--all").returncode == 0


def test_clean_force_stops_and_removes(place):
    assert place.run("start", "-n", "1", "--daemonize").returncode == 0
    assert place.run("clean", "--force").returncode == 0
    assert place.becomes_empty()
    assert not list((place.profile / "log").glob("*"))


def test_more_engines_join_and_leave(place):
    process = place.start("-n", "1")
    added = place.run("engines", "-n", "2", "--daemonize")
    assert added.returncode == 0 and added.stderr.endswith("2 engines are ready\npxcluster: they end with the cluster\n")
    assert place.run("list").stdout.splitlines()[1].split()[2:4] == ["True", "3"]
    assert place.run("stop").returncode == 0
    assert process.wait(60) == 0
    assert place.becomes_empty()


def test_added_engines_end_with_the_cluster_that_ctrl_c_ends(place):
    process = place.start("-n", "1")
    assert place.run("engines", "-n", "2", "--daemonize").returncode == 0
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 0
    until(place.becomes_empty, "the end of the added engines", 10)


def test_a_cluster_on_a_terminal_belongs_to_its_pxcluster(place):
    pid, terminal = pty.fork()
    if pid == 0:
        words = place.command("start", "-n", "1")
        os.execvpe(words[0], words, place.environment)
    try:
        until(lambda: b"ready" in os.read(terminal, 4096), "the engine")
        listed, = json.loads(place.run("list", "--json").stdout)
        assert listed["owner"]["pid"] == pid
        os.write(terminal, b"\x03")  # Ctrl-C
        until(lambda: not place.pids(), "the end of the cluster")
    finally:
        os.close(terminal)
        os.waitpid(pid, 0)


@pytest.mark.parametrize("way", ["kill -9", "exit"])
def test_a_cluster_ends_with_its_owner(place, way):
    owner = subprocess.Popen(["sleep", "600"] if way == "kill -9" else ["cat"],
                             stdin=subprocess.PIPE)
    try:
        owned = f"--owner={owner.pid}"
        assert place.run("start", "-n", "1", "--daemonize", owned).returncode == 0
        assert place.run("engines", "-n", "1", "--daemonize", owned).returncode == 0
        listed, = json.loads(place.run("list", "--json").stdout)
        assert listed["owner"] == {"pid": owner.pid, "command": " ".join(owner.args)}
        if way == "exit":
            owner.stdin.close()
    finally:
        if way == "kill -9":
            owner.kill()
        owner.wait(60)
    until(place.becomes_empty, "the end of the cluster", 15)


def test_a_cluster_whose_owner_is_gone_is_not_started(place):
    owner = subprocess.Popen(["true"])
    owner.wait(60)
    result = place.run("start", "-n", "1", f"--owner={owner.pid}")
    assert f"its owner, process {owner.pid}, has ended" in result.stderr
    assert place.becomes_empty()


def engines_of(place):
    """{engine id: (pid, rank, number of ranks)} as the engines themselves say it."""
    code = "import os; print(os.getpid(), globals().get('mpi_rank'), globals().get('mpi_size'))"
    result = place.run("px", "--json", code)
    assert result.returncode == 0, result.stdout + result.stderr
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    return {row["engine"]: tuple(row["stdout"].split()) for row in rows}


@pytest.mark.parametrize("is_daemon", [False, True])
def test_stuck_ranks_are_restarted_with_their_ids_right_after_the_start(place, is_daemon):
    if is_daemon:
        assert place.run("start", "-n", "3", "--engines=mpi", "--daemonize").returncode == 0
    else:
        place.start("-n", "3", "--engines=mpi")
    before = engines_of(place)
    os.kill(int(before[1][0]), signal.SIGSTOP)  # as deaf as a rank that a C function has
    restarted = place.run("restart")
    assert restarted.returncode == 0, restarted.stderr
    assert "3 engines are ready" in restarted.stderr
    after = engines_of(place)
    assert {key: each[1:] for key, each in after.items()} == {
        0: ("0", "3"), 1: ("1", "3"), 2: ("2", "3")}
    assert not {each[0] for each in before.values()} & {each[0] for each in after.values()}
    assert place.run("stop").returncode == 0
    assert place.becomes_empty()


def test_all_sets_of_engines_are_restarted_with_their_ids(place):
    place.start("-n", "2")
    assert place.run("engines", "-n", "2", "--daemonize").returncode == 0
    before = engines_of(place)
    os.kill(int(before[0][0]), signal.SIGSTOP)
    restarted = place.run("restart")
    assert restarted.returncode == 0, restarted.stderr
    after = engines_of(place)
    assert sorted(after) == sorted(before) == [0, 1, 2, 3]
    assert not {each[0] for each in before.values()} & {each[0] for each in after.values()}
    assert place.run("list").stdout.splitlines()[1].split()[2:4] == ["True", "4"]
    one_set = sorted(json.loads(place.cluster_file.read_text())["engines"]["sets"])[1]
    assert place.run("restart", f"--engine-set={one_set}").returncode == 0
    last = engines_of(place)
    assert [last[each] == after[each] for each in range(4)] == [True, True, False, False]


def test_some_engines_are_restarted_whoever_has_started_them(place):
    place.start("-n", "2")
    assert place.run("engines", "-n", "2", "--daemonize").returncode == 0
    before = engines_of(place)
    os.kill(int(before[3][0]), signal.SIGKILL)
    restarted = place.run("restart", "--targets=0,3")
    assert restarted.returncode == 0, restarted.stderr
    assert "restarting engines 0 and 3" in restarted.stderr and "2 engines are ready" in restarted.stderr
    after = engines_of(place)
    assert [after[each] == before[each] for each in range(4)] == [False, True, True, False]
    unknown = place.run("restart", "--targets=7")
    assert unknown.returncode == 1 and "7" in unknown.stderr and "0-3" in unknown.stderr
    assert place.run("restart", "--targets=1", "--engine-set=x").returncode == 2
    assert place.run("restart").returncode == 0
    assert sorted(engines_of(place)) == [0, 1, 2, 3]


def test_engines_that_all_died_are_restarted(place):
    process = place.start("-n", "2")
    for pid in place.recorded_pids()[1]:
        os.kill(pid, signal.SIGKILL)
    wait_for_text(process.output, "pxcluster restart", 30)
    assert place.run("restart", "--targets=1").returncode == 0
    assert sorted(engines_of(place)) == [1]
    assert place.run("restart").returncode == 0
    assert sorted(engines_of(place)) == [0, 1]
    assert process.poll() is None


def test_a_restart_needs_a_cluster(place):
    result = place.run("restart")
    assert result.returncode == 11
    assert "start it with `pxcluster start`" in result.stderr


def test_engines_without_a_controller_exit_12(place):
    result = place.run("engines", "-n", "1")
    assert result.returncode == 12
    assert len(result.stderr.splitlines()) == 1


def test_engines_that_cannot_start_end_it_with_the_reason(place):
    result = place.run("start", "-n", "2", "--engine-cmd", "sh -c 'echo no such module; exit 3'")
    assert result.returncode == 1
    assert "2 of 2 engines exited before they registered; the first exited with code 3" in result.stderr
    assert "| no such module" in result.stderr
    assert place.becomes_empty()


def test_a_daemon_that_fails_tells_its_parent(place):
    result = place.run("start", "-n", "1", "--daemonize", "--engine-cmd", "false")
    assert result.returncode == 1
    assert "exited before they registered" in result.stderr
    assert place.becomes_empty()


def test_a_controller_that_cannot_start_ends_it_with_the_reason(place):
    result = place.run("start", "-n", "1", "--controller-cmd", "sh -c 'echo port in use; exit 5'")
    assert result.returncode == 1
    assert "exited with code 5" in result.stderr
    assert "| port in use" in result.stderr
    assert place.becomes_empty()


def test_a_killed_controller_is_started_again_and_knows_its_engines(place):
    process = place.start("-n", "2")
    before = engines_of(place)
    first = place.recorded_pids()[0]
    os.kill(first, signal.SIGKILL)
    until(lambda: place.recorded_pids()[0] != first, "another controller")
    until(lambda: place.run("px", "pass").returncode == 0, "the new controller answers")
    until(lambda: engines_of(place) == before, "the same engines")
    said = process.output.read_text()
    assert "SIGKILL" in said and "starting the controller again" in said
    process.terminate()
    assert process.wait(60) == 0
    assert place.becomes_empty()


def test_a_controller_that_dies_again_and_again_takes_the_engines_along(place):
    process = place.start("-n", "1")
    for _ in range(6):
        until(lambda: place.run("px", "pass").returncode == 0, "the cluster answers")
        controller = place.recorded_pids()[0]
        os.kill(controller, signal.SIGKILL)
        until(lambda: str(controller) not in place.cluster_text(), "another controller, or the end")
    assert process.wait(60) == 1
    assert place.becomes_empty()


def test_one_engine_that_dies_is_reported_and_the_rest_runs_on(place):
    process = place.start("-n", "2")
    os.kill(place.recorded_pids()[1][0], signal.SIGKILL)
    wait_for_text(process.output, "SIGKILL", 30)
    until(lambda: place.run("list").stdout.splitlines()[1].split()[3] == "1", "the list")
    process.terminate()
    assert process.wait(60) == 0


def test_a_missing_mpiexec_is_one_clear_line(place):
    result = place.run("start", "-n", "2", "--engines=mpi", "--mpi-cmd", "mpiexec-that-is-not-there")
    assert result.returncode == 1
    assert "mpiexec-that-is-not-there" in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert place.becomes_empty()


@pytest.mark.parametrize("name", ["winhpc", "nonsense"])
def test_an_unknown_launcher_is_one_clear_line(place, name):
    result = place.run("start", "-n", "1", f"--engines={name}")
    assert result.returncode == 2
    assert name in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_an_unwritable_folder_is_one_clear_line(place):
    (place.folder / "profile_default").write_text("a file where the folder should be")
    result = place.run("start", "-n", "1")
    assert result.returncode == 1
    assert "profile_default" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_bad_options_are_one_clear_line(place):
    for arguments in (["-n", "many"], ["-n", "-3"], ["-n", "99999999"]):
        result = place.run("start", *arguments)
        assert result.returncode == 2
        assert result.stderr == (
            "pxcluster: error: -n takes a whole number of engines from 0 to 65536, "
            f"not '{arguments[1]}'\n"
        )
    result = place.run("stop", "--signal=NOPE")
    assert result.returncode == 2
    assert "NOPE" in result.stderr


def test_a_profile_is_created_and_used(place):
    assert place.run("profile", "create", "two").returncode == 0
    assert place.run("profile", "create", "two").returncode == 1
    own_file = place.folder / "profile_two" / "pxcluster.json"
    settings = json.loads(own_file.read_text())
    own_file.write_text(json.dumps({**settings, "n": 1, "environment": {"COLOUR": "green"}}))
    assert "two" in place.run("profile", "list").stdout
    assert place.run("start", "--profile=two", "--daemonize").returncode == 0
    assert place.run("list").stdout.splitlines()[1].split()[:5] == ["two", "''", "True", "1", "Local"]
    assert place.run("stop", "--profile=two").returncode == 0
    own_file.write_text('{"colour": "green"}')
    result = place.run("start", "--profile=two")
    assert result.returncode == 1
    assert "'colour'" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_controller_reads_its_python_configuration_itself(place):
    place.profile.mkdir()
    (place.profile / "ipcontroller_config.py").write_text("raise OSError('no')")
    result = place.run("start", "--daemonize", "-n", "1")
    assert result.returncode == 1
    assert "ipcontroller_config.py: line 1: OSError: no" in result.stderr


@pytest.mark.parametrize(
    "shell, ask",
    [
        (
            ["bash", "-c"],
            "source {script}; COMP_WORDS=(pxcluster {words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1));"
            " _pxcluster; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        ),
        (["fish", "-c"], "source {script}; complete -C 'pxcluster {words}'"),
        # No terminal: what would be shown is what _describe gets.
        (
            ["zsh", "-fc"],
            "compdef() {{ :; }}; source {script};"
            " _describe() {{ print -l -- ${{(P)2}}; }}; _files() {{ :; }};"
            " words=(pxcluster {words}); CURRENT=$#words; _pxcluster",
        ),
    ],
)
def test_shells_complete_commands_and_options(place, shell, ask):
    script = place.folder / "completion"
    script.write_text(place.run("completion", shell[0]).stdout)

    def offered(words):
        done = subprocess.run(
            [*shell, ask.format(script=script, words=words)],
            capture_output=True, text=True, timeout=60, env={**os.environ, "HOME": str(place.folder)},
        )
        assert done.returncode == 0, done.stderr
        return {re.split(r"[:\t]", line)[0] for line in done.stdout.splitlines()}

    assert {"start", "stop", "status"} <= offered("st")
    assert {"--engines", "--engine-args"} <= offered("start -n 4 --engine")
    assert "--signal" not in offered("start --s")
    assert {"list", "create"} <= offered("profile c") | offered("profile l")
    assert "--from" in offered("profile create --f")


def test_a_shell_that_is_unknown_is_refused(place):
    result = place.run("completion", "csh")
    assert result.returncode == 2
    assert "bash, zsh or fish" in result.stderr


def test_a_configuration_file_can_be_named(place):
    file = place.folder / "mine.json"
    file.write_text('{"Cluster": {"m": 1}}')
    result = place.run("start", "--config", str(file), "--controller-cmd", "sh -c 'exit 5'")
    assert result.stderr.count("mine.json: Cluster.m is unknown") == 1
    assert place.run("start", f"--config={file}x").returncode == 1


def test_signals_for_engines_are_relayed(place):
    script = "trap 'echo got it; exit 0' USR1; echo waiting; while :; do sleep 0.1; done"
    output = place.folder / "relay.out"
    with output.open("w") as file:
        process = subprocess.Popen(
            place.command("start", "-n", "1", "--engine-timeout=1", "--engine-cmd", f'sh -c "{script}"'),
            env=place.environment,
            stdout=file,
            stderr=subprocess.STDOUT,
        )
    place.started.append(process)
    wait_for_text(output, "did not register", 60)
    assert "ipengine--" in output.read_text()
    process.send_signal(signal.SIGUSR1)
    logs = place.profile / "log"
    until(lambda: any("got it" in log.read_text() for log in logs.glob("ipengine*")), "the relay")
    process.wait(60)
    assert place.becomes_empty()


# ---------------------------------------------------------------- pxcluster logs --follow


@pytest.fixture
def follow(place):
    """Starts `pxcluster logs --follow <arguments>`; a function that gives the lines so far."""
    running = []

    def start(*arguments):
        output = place.folder / f"follow{len(running)}.out"
        with output.open("w") as file:
            running.append(
                subprocess.Popen(
                    place.command("logs", *arguments),
                    env=place.environment,
                    stdin=subprocess.DEVNULL,
                    stdout=file,
                    stderr=subprocess.STDOUT,
                )
            )
        return running[-1], lambda: output.read_text().splitlines()

    yield start
    for process in running:
        process.kill()
        process.wait(60)


def log_line(place, text, *options):
    """Lets engines write a line to their logs."""
    code = f"import os; os.write(2, b{text + chr(10)!r}); None"
    assert place.run("px", *options, code).returncode == 0


def test_the_log_of_an_engine_is_chosen_by_its_id(place):
    place.start("-n", "3")
    for engine in range(3):
        log_line(place, f"this is engine {engine}", "-t", str(engine))
    for engine in range(3):
        shown = place.run("logs", f"--engine={engine}").stdout
        assert f"==> engine {engine}:" in shown
        assert [k for k in range(3) if f"this is engine {k}" in shown] == [engine]


def test_followed_logs_show_the_past_and_what_comes_with_their_sources(place, follow):
    place.start("-n", "2")
    log_line(place, "before it is followed")
    follower, lines = follow("--follow")
    for engine in (0, 1):
        until(lambda: f"[engine {engine}] before it is followed" in lines(), "the past")
    log_line(place, "while it is followed")
    for engine in (0, 1):
        until(lambda: f"[engine {engine}] while it is followed" in lines(), "what comes")
        assert lines().count(f"[engine {engine}] before it is followed") == 1
    assert any(line.startswith("[controller] ") for line in lines())
    assert follower.poll() is None, "it goes on"
    follower.send_signal(signal.SIGINT)
    follower.wait(60)


def test_the_log_of_one_engine_is_followed_from_its_last_line_on(place, follow):
    place.start("-n", "2")
    log_line(place, "an old line")
    log_line(place, "the last line so far")
    _, lines = follow("-f", "--engine=1", "--lines=1")
    until(lines, "the past")
    log_line(place, "a new line")
    until(lambda: "[engine 1] a new line" in lines(), "what comes")
    assert lines() == ["[engine 1] the last line so far", "[engine 1] a new line"]


@pytest.mark.parametrize("way", [[], ["--follow"]])
def test_logs_are_shown_without_their_past(place, follow, way):
    place.start("-n", "1")
    log_line(place, "before it is shown")
    process, lines = follow("--lines=0", *way)
    if way:
        until(lambda: log_line(place, "a new line") or lines(), "what comes")
        assert process.poll() is None
    else:
        assert process.wait(60) == 0
    assert not any("before it is shown" in line or "error" in line for line in lines()), lines()


def test_half_a_line_waits_for_its_other_half(place, follow):
    place.start("-n", "1")
    _, lines = follow("--follow", "--engine=0")
    until(lambda: any("registration" in line for line in lines()), "the past")
    assert place.run("px", "import os; os.write(2, b'the first half, ')").returncode == 0
    assert place.run("px", "import os; os.write(2, b'the second\\nlast\\n')").returncode == 0
    until(lambda: "[engine 0] last" in lines(), "the line behind it")
    assert "[engine 0] the first half, the second" in lines()


def test_logs_that_are_not_there_are_not_followed(place):
    done = place.run("logs", "--follow")
    assert done.returncode == 1 and "there are no logs" in done.stderr
    place.start("-n", "1")
    done = place.run("logs", "--follow", "--engine=7")
    assert done.returncode == 1 and "'7'" in done.stderr
