"""Programs that are started wrongly say why in one clear line, and end with a failure code."""

import json
import re
import shutil
import socket
import subprocess
import sys

import ipyparallel as ipp
import programs
import pytest
from programs import wait_until

only_ours = pytest.mark.better_than_reference("the original shows a traceback, or goes on")


def assert_one_clear_line(done, *words):
    """Failed, without a traceback, and each of the regular expressions is in one line of stderr."""
    assert done.returncode not in (0, None), done.stdout + done.stderr
    assert done.returncode > 0, f"ended by signal {-done.returncode}"
    assert "Traceback" not in done.stderr
    assert "terminate called" not in done.stderr
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    telling = [line for line in lines if all(re.search(word, line, re.I) for word in words)]
    assert telling, f"no line with {words} in:\n{done.stderr}"
    assert len(lines) <= 8, f"too much said:\n{done.stderr}"


@pytest.fixture
def no_permission(tmp_path):
    """A path below which no folder can be made, even by root: it is a file."""
    path = tmp_path / "file"
    path.write_text("")
    return path


PROGRAMS = ["controller_cmd", "engine_cmd", "cluster_cmd"]


@pytest.fixture(params=PROGRAMS, ids=lambda name: name.removesuffix("_cmd"))
def program(request):
    return request.getfixturevalue(request.param)


def test_every_program_tells_its_version_and_its_options(program, stage):
    version = stage.run([*program, "--version"])
    assert version.returncode == 0
    assert re.fullmatch(r"\d+\.\d+\S*", version.stdout.strip())
    assert stage.run([*program, "--help"]).returncode == 0
    every = stage.run([*program, "--help-all"])
    assert every.returncode == 0 and "--" in every.stdout


@only_ours
def test_an_option_without_a_sensible_value_is_refused(controller_cmd, stage):
    for option, word in (("--ports=a-b", "ports"), ("--hwm=many", "hwm"),
                         ("--scheme=magic", "scheme"),
                         ("--ping=soon", "ping"), ("--log-level=loud", "log.level")):  # fmt: skip
        done = stage.run([*controller_cmd, option, "--profile=wrong"], timeout=20)
        assert_one_clear_line(done, word)


@only_ours
@pytest.mark.parametrize("address", ["300.1.2.3", "203.0.113.7", "no such host"])
def test_an_address_that_is_not_of_this_host_is_named(controller_cmd, stage, address):
    done = stage.run([*controller_cmd, f"--ip={address}", "--profile=wrong"], timeout=20)
    assert_one_clear_line(done, re.escape(address))


@only_ours
def test_a_port_that_is_taken_is_named(controller_cmd, stage):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = stage.run([*controller_cmd, f"--port={port}", "--profile=wrong"], timeout=20)
    assert_one_clear_line(done, str(port))


@only_ours
def test_a_folder_that_cannot_be_made_is_named(program, stage, no_permission):
    folder = no_permission / "profile"
    command = [*program, *(["start", "-n", "1"] if program == programs.CLUSTER else [])]
    done = stage.run([*command, f"--profile-dir={folder}"], timeout=40)
    assert_one_clear_line(done, re.escape(str(no_permission)))


@only_ours
def test_an_engine_says_where_it_looked_for_the_connection_file(engine_cmd, stage, tmp_path):
    missing = tmp_path / "nowhere.json"
    done = stage.run(
        [*engine_cmd, f"--file={missing}", "--IPEngine.wait_for_url_file=0.5"], timeout=40
    )
    assert_one_clear_line(done, re.escape(str(missing)))


@only_ours
@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"key": 5}',
        "\x00\xff",
        json.dumps({"key": "k", "interface": "tcp://127.0.0.1"}),
    ],
    ids=["empty", "half", "list", "nothing", "number", "binary", "incomplete"],
)
def test_a_corrupted_connection_file_is_named(engine_cmd, stage, tmp_path, text):
    file = tmp_path / "engine.json"
    file.write_text(text)
    done = stage.run([*engine_cmd, f"--file={file}"], timeout=40)
    assert_one_clear_line(done, re.escape(str(file)))


@only_ours
def test_an_engine_whose_controller_does_not_answer_says_so(
    engine_cmd, stage, own_cluster, tmp_path
):
    cluster = own_cluster()
    cluster.start_controller()
    file = tmp_path / "old.json"
    shutil.copy(cluster.connection_file("engine"), file)
    cluster.stop()
    done = stage.run([*engine_cmd, f"--file={file}", "--timeout=1"], timeout=40)
    assert_one_clear_line(done, "controller", "127.0.0.1")


@only_ours
def test_an_interpreter_that_is_not_there_is_named(engine_cmd, stage, own_cluster):
    cluster = own_cluster()
    cluster.start_controller()
    done = stage.run(
        [*engine_cmd, f"--file={cluster.connection_file('engine')}", "--python=/no/such/python"],
        timeout=40,
    )
    assert_one_clear_line(done, "/no/such/python")


@only_ours
def test_an_interpreter_without_polyxeus_is_told_how_to_get_it(
    engine_cmd, stage, own_cluster, tmp_path
):
    bare = tmp_path / "bare"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(bare)], check=True)
    cluster = own_cluster()
    cluster.start_controller()
    done = stage.run(
        [*engine_cmd, f"--file={cluster.connection_file('engine')}", f"--python={bare}/bin/python"],
        timeout=40,
    )
    assert_one_clear_line(done, "polyxeus", re.escape(str(bare)))


@only_ours
def test_a_missing_mpiexec_is_named_and_nothing_stays_behind(cluster_cmd, stage, tmp_path):
    done = stage.run(
        [*cluster_cmd, "start", "-n", "2", "--engines=mpi", f"--profile-dir={tmp_path / 'p'}"],
        timeout=60,
        PATH="/nonexistent",
    )
    assert_one_clear_line(done, "mpiexec")
    wait_until(lambda: not programs.processes_tagged(stage.tag), "nothing stays behind", 15)


@only_ours
def test_engines_of_an_unknown_kind_are_refused_with_the_kinds_there_are(
    cluster_cmd, stage, tmp_path
):
    done = stage.run(
        [*cluster_cmd, "start", "-n", "2", "--engines=quantum", f"--profile-dir={tmp_path / 'p'}"],
        timeout=60,
    )
    assert_one_clear_line(done, "quantum", "mpi")


@only_ours
def test_a_mpi_engine_in_a_different_world_than_its_launcher_refuses(
    engine_cmd, stage, own_cluster, mpiexec
):
    """An environment that speaks of four ranks although MPI itself has a world of one."""
    cluster = own_cluster()
    cluster.start_controller()
    done = stage.run(
        [*engine_cmd, "--mpi", f"--file={cluster.connection_file('engine')}"],
        timeout=40, OMPI_COMM_WORLD_RANK=0, OMPI_COMM_WORLD_SIZE=4,
    )  # fmt: skip
    assert_one_clear_line(done, "MPI", "4", "1")


def test_the_start_of_a_cluster_that_runs_already_is_refused(cluster_cmd, stage):
    first = stage.start([*cluster_cmd, "start", "-n", 1, "--profile=twice"], "cluster")
    file = stage.ipython_dir / "profile_twice" / "security" / "cluster-.json"
    wait_until(lambda: file.exists() or not first.is_running(), "the cluster starts")
    client = stage.ipython_dir / "profile_twice" / "security" / "ipcontroller-client.json"
    wait_until(client.exists, "the controller is there")
    rc = ipp.Client(str(client), timeout=60)
    wait_until(lambda: len(rc.ids) == 1, "the engine registers")
    second = stage.run([*cluster_cmd, "start", "-n", "1", "--profile=twice"], timeout=60)
    assert second.returncode == 10
    assert rc[0].apply_async(len, "unharmed").get(60) == 8
    rc.close()
    assert first.stop(30) == 0
    assert not client.exists()


def test_stopping_a_cluster_that_is_not_there_is_exit_code_11(cluster_cmd, stage):
    (stage.ipython_dir / "profile_never" / "security").mkdir(parents=True)
    done = stage.run([*cluster_cmd, "stop", "--profile=never"], timeout=60)
    assert done.returncode == 11
