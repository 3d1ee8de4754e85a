"""An engine ends: the error of what waited for it says why."""

import re
import signal
import zlib

import polyxeus
import pytest
from deadlines import wait_for_text
from programs import PATIENCE, wait_until
from running_cluster import connect

DEATHS = [
    ("import os; os._exit(3)", "exited with code 3"),
    ("import ctypes; ctypes.string_at(0)", "was killed by SIGSEGV"),
    ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "was killed by SIGKILL"),
]
NAMES = ["exit", "segmentation fault", "kill"]


def error_of(answer):
    """What the user is told who waits for it."""
    with pytest.raises(polyxeus.RemoteError) as raised:
        answer.get(PATIENCE)
    return str(raised.value)


@pytest.fixture
def world(own_cluster):
    """Three ranks, of which 0 and 2 work on a cell, whose launcher ends all when one dies."""

    def start(mpiexec):
        cluster = own_cluster()
        cluster.start_controller()
        launcher = cluster.start_mpi_engines(3, "--when-rank-dies=abort", mpiexec=mpiexec)
        rc = connect(cluster.connection_file("client"), 3)
        busy = [rc[rank].execute("print('at work'); import time; time.sleep(600)") for rank in (0, 2)]
        for answer in busy:
            wait_until(lambda answer=answer: "at work" in answer.stdout, "the cell runs")
        return launcher, rc, busy

    return start


@pytest.mark.parametrize("code, said", DEATHS, ids=NAMES)
def test_a_rank_dies_and_the_cell_says_how_and_which_rank_was_first(world, mpiexec, code, said):
    _, rc, busy = world(mpiexec)
    error = error_of(rc[1].execute(code))
    assert f"its process, MPI rank 1, {said}" in error
    for answer in busy:
        error = error_of(answer)
        assert "EngineError" in error and "KeyboardInterrupt" not in error
        assert "as MPI rank 1 (engine 1 on" in error and f"died first: it {said}" in error


def test_a_rank_of_mpich_dies_and_the_cell_says_how_and_which_rank_was_first(world, mpich):
    _, rc, busy = world(mpich)
    assert "its process, MPI rank 1, exited with code 3" in error_of(rc[1].execute("import os; os._exit(3)"))
    for answer in busy:
        assert "died first: it exited with code 3" in error_of(answer)


def test_the_launcher_is_ended_and_no_cell_claims_that_somebody_pressed_a_key(world, mpiexec):
    launcher, _, busy = world(mpiexec)
    launcher.signal(signal.SIGTERM)
    for answer in busy:
        error = error_of(answer)
        assert "EngineError" in error and "was ended by SIGTERM" in error


@pytest.fixture
def started(stage, cluster_cmd, request):
    """Two engines without MPI, started by pxcluster."""
    profile = f"started{zlib.crc32(request.node.name.encode())}"

    def run(verb, *options):
        return stage.run([*cluster_cmd, verb, f"--profile={profile}", *options])

    done = run("start", "-n", "2", "--daemonize")
    assert done.returncode == 0, done.stdout + done.stderr
    file = stage.ipython_dir / f"profile_{profile}" / "security" / "ipcontroller-client.json"
    yield file, connect(file, 2)
    run("stop")


@pytest.mark.parametrize("code, said", DEATHS, ids=NAMES)
def test_an_engine_that_pxcluster_started_dies_and_the_cell_says_how(started, code, said):
    _, rc = started
    assert f": its process {said}" in error_of(rc[0].execute(code))
    assert rc.ids == [1]


@pytest.mark.parametrize("code, said", DEATHS[1:], ids=NAMES[1:])
def test_the_error_names_signal_memory_and_last_line(started, tmp_path, code, said):
    _, rc = started
    wait = f"import pathlib, time\nwhile not pathlib.Path({str(tmp_path / 'go')!r}).exists(): time.sleep(0.01)"
    answer = rc[0].execute(f"print('step 1')\nprint('step 2')\n{wait}\n{code}")
    wait_until(lambda: "step 2" in answer.stdout, "the output is here")
    wait_until(lambda: memory_of(rc, 0), "the controller knows its memory")
    (tmp_path / "go").touch()
    sentence = error_of(answer).split("; the last lines of its log")[0]
    assert f": its process {said}" in sentence
    (memory,) = re.findall(r"; it used (\d+) MiB of memory when last measured;", sentence)
    assert 10 < int(memory) < 1000
    assert sentence.endswith("; the last line of its output: 'step 2'")


def memory_of(rc, engine):
    """The bytes of its process, as the controller knows them."""
    found = [each for each in rc.measures()["engines"] if each["id"] == engine]
    return found and (found[0].get("process") or {}).get("memory")


def test_the_cell_shows_what_a_crash_left_in_the_log(started):
    _, rc = started
    error = error_of(rc[0].execute("import ctypes; ctypes.string_at(0)"))
    assert "the last lines of its log" in error
    assert "Fatal Python error: Segmentation fault" in error


def test_all_engines_die_soon_after_the_start_and_the_cluster_is_still_there(started):
    file, rc = started
    error_of(rc[:].execute("import os; os._exit(3)"))
    log = next((file.parent.parent / "log").glob("pxcluster-*.log"))
    wait_for_text(log, "the controller keeps running", 15)
    assert connect(file, 0).ids == []
