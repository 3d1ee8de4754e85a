"""`pxcluster restart --keep` and rc.restart_engines(keep=...): a new world gets variables of the old one."""

import glob
import json
import os
import shutil
import signal
import stat
import subprocess

import polyxeus
import pytest
from programs import PATIENCE, wait_until
from running_cluster import connect

DATA = """
import numpy
numbers = numpy.arange(1000000, dtype="f8").reshape(1000, 1000) * (mpi_rank + 1)
table = {"rank": mpi_rank, "names": ["a", "b"]}
frozen = numpy.arange(3); frozen.flags.writeable = False

class Model:
    def __init__(self):
        self.weights = numpy.ones(5000)

def norm(model):
    return float(model.weights @ model.weights)

model = Model()
steps = [model]
log = open("/dev/null")
"""


class PxCluster:
    """A cluster that the command has started."""

    def __init__(self, stage, cluster_cmd, profile, *options):
        self._run = lambda verb, *more: stage.run([*cluster_cmd, verb, f"--profile={profile}", *more])
        self.command = [*cluster_cmd, "restart", f"--profile={profile}"]
        self.profile_dir = stage.ipython_dir / f"profile_{profile}"
        self.file = self.profile_dir / "security" / "ipcontroller-client.json"
        self.run("start", "--engines=mpi", "--daemonize", *options)

    def run(self, verb, *options):
        done = self._run(verb, *options)
        assert done.returncode == 0, done.stdout + done.stderr
        return done


def left_files(profile_dir):
    folder = f"polyxeus-keep-{profile_dir.name}-*"
    return glob.glob(f"/dev/shm/{folder}") + glob.glob(str(profile_dir / folder))


@pytest.fixture
def start(stage, cluster_cmd, request):
    """Starts a cluster of MPI engines; gives it and a client. No file of a restart outlives the test."""
    made = []

    def make(count, *options):
        name = f"keep{len(made)}_{abs(hash(request.node.name))}"
        made.append(PxCluster(stage, cluster_cmd, name, "-n", str(count), *options))
        return made[-1], connect(made[-1].file, count)

    yield make
    for cluster in made:
        cluster.run("stop")
        assert left_files(cluster.profile_dir) == []


@pytest.fixture(params=["mpiexec", "mpiexec.mpich"], ids=["openmpi", "mpich"])
def mpi_cmd(request):
    found = shutil.which(request.param) or pytest.fail(f"no {request.param} on PATH")
    return f"--mpi-cmd={found}"


def kill(rc, engine):
    os.kill(rc.status()[engine]["pid"], signal.SIGKILL)
    wait_until(lambda: engine not in rc.ids, f"engine {engine} is unregistered")


def total(rc):
    return rc[:].apply(lambda: __import__("mpi4py.MPI").MPI.COMM_WORLD.allreduce(1)).get(PATIENCE)


def test_survivors_of_a_killed_rank_keep_what_they_are_told_to(start, mpi_cmd):
    _, rc = start(4, mpi_cmd)
    rc[:].execute(DATA).get(PATIENCE)
    expected = dict(zip(rc.ids, rc[:].pull(["numbers", "table"]).get(PATIENCE)))
    kill(rc, 2)
    kept = rc.restart_engines(keep=["numbers", "table", "model", "steps", "frozen", "norm"])
    assert rc.ids == [0, 1, 2, 3] and total(rc) == [4] * 4
    for engine in (0, 1, 3):
        numbers, table = rc[engine].pull(["numbers", "table"]).get(PATIENCE)
        assert (numbers == expected[engine][0]).all() and table == expected[engine][1]
    checks = ["steps[0] is model", "norm(model)", "frozen.flags.writeable", "numbers.flags.writeable"]
    assert rc[[0, 1, 3]].pull(checks).get(PATIENCE) == [[True, 5000.0, False, True]] * 3
    assert "NameError" in error_of(rc[2].pull("table"))
    assert [row["engine"] for row in kept] == [0, 1, 2, 3]
    names = {"numbers", "table", "model", "steps", "frozen", "norm"}
    assert [set(row["kept"]) for row in kept] == [names, names, set(), names]
    assert "engine 2 has kept nothing: it had ended before the restart" in str(kept)
    assert set(kept[2]["lost"]) == names


def test_what_cannot_be_carried_is_named_and_the_rest_is_kept(start):
    _, rc = start(2)
    rc[:].execute(DATA).get(PATIENCE)
    rc[1].execute("del table").get(PATIENCE)
    kept = rc.restart_engines(keep=["log", "table"])
    assert rc[0].pull("table").get(PATIENCE)["rank"] == 0
    assert kept[0]["kept"] == ["table"] and "TextIOWrapper" in kept[0]["lost"]["log"]
    assert kept[1]["kept"] == [] and kept[1]["lost"]["table"] == "not defined there"
    assert "engine 1 has lost " in str(kept) and "table (not defined there)" in str(kept)


def test_all_that_can_be_carried_is_kept_with_true(start):
    _, rc = start(2)
    rc[:].execute(DATA).get(PATIENCE)
    kept = rc.restart_engines(keep=True)
    names = {"numbers", "table", "frozen", "Model", "norm", "model", "steps", "numpy"}
    assert [set(row["kept"]) for row in kept] == [names] * 2
    assert [set(row["lost"]) for row in kept] == [{"log"}] * 2
    assert rc[:].pull("isinstance(model, Model) and numpy.pi > 3").get(PATIENCE) == [True] * 2


def test_a_start_script_runs_again_and_what_is_kept_wins(start, tmp_path):
    script = tmp_path / "begin.py"
    script.write_text("begun = 1\nchanged = 1\n")
    _, rc = start(2, f"--engine-args=-s {script}")
    rc[:].execute("changed = 2").get(PATIENCE)
    rc.restart_engines(keep="changed")
    assert rc[:].pull(["begun", "changed"]).get(PATIENCE) == [[1, 2]] * 2


def test_a_busy_engine_is_interrupted_and_keeps_its_variables(start):
    _, rc = start(2)
    rc[:].push({"kept": 7}, block=True)
    waiting = rc[0].execute("print('at work'); import time; time.sleep(600)")
    wait_until(lambda: "at work" in waiting.stdout, "the cell runs")
    rc.restart_engines(keep=["kept"])
    assert rc[:].pull("kept").get(PATIENCE) == [7, 7]


def test_an_engine_that_does_not_answer_loses_its_variables_and_is_restarted(start):
    _, rc = start(2)
    rc[:].push({"kept": 7}, block=True)
    os.kill(rc.status()[1]["pid"], signal.SIGSTOP)
    kept = rc.restart_engines(keep=["kept"])
    assert rc[0].pull("kept").get(PATIENCE) == 7 and total(rc) == [2, 2]
    assert kept[1]["kept"] == [] and kept[1]["why"] == "it did not answer"


def test_cpp_engines_keep_values_with_their_types(start):
    _, rc = start(3, "--language=cpp")
    cell = (
        "std::vector<double> x(1000, mpi_rank + 0.5); int n = mpi_rank; float grid[3] = {1, 2, 3};"
        " std::map<std::string, long> table{{\"a\", 1}}; struct Own { int a; } own; bool flags[2] = {true, false};"
    )
    rc[:].execute(cell).get(PATIENCE)
    kill(rc, 1)
    kept = rc.restart_engines(keep=True)
    assert [set(row["kept"]) for row in kept] == [{"x", "n", "grid", "table", "flags"}, set()] * 1 + [
        {"x", "n", "grid", "table", "flags"}
    ]
    assert set(kept[0]["lost"]) == {"own"}
    for rank in (0, 2):
        x, n, table = rc[rank].pull(["x", "n", "table"]).get(PATIENCE)
        assert list(x) == [rank + 0.5] * 1000 and n == rank and table == {"a": 1}
        same = (
            "std::is_same_v<decltype(x), std::vector<double>> && std::is_same_v<decltype(n), int>"
            " && grid[2] == 3 && flags[0]"
        )
        assert rc[rank].pull(same).get(PATIENCE) is True


def test_ranks_of_both_languages_keep_their_variables(start):
    _, rc = start(2, "--language=python:1,cpp:1")
    rc[0].execute("shared = [1.5, 2.5]").get(PATIENCE)
    rc[1].execute("std::vector<double> shared{1.5, 2.5};").get(PATIENCE)
    rc.restart_engines(keep=["shared"])
    assert [list(values) for values in rc[:].pull("shared").get(PATIENCE)] == [[1.5, 2.5]] * 2


def test_the_command_says_what_each_engine_has_kept(start):
    cluster, rc = start(2)
    rc[:].push({"a": 1, "b": [2]}, block=True)
    done = cluster.run("restart", "--keep", "a,b")
    assert "engines 0 and 1 have kept a, b" in done.stderr
    told = json.loads(cluster.run("restart", "--keep=a", "--json").stdout)
    assert told["engines"] == 2 and told["kept"][1] == {
        "engine": 1, "kept": ["a"], "from": {}, "lost": {}, "why": None
    }  # fmt: skip
    bad = cluster._run("restart", "--keep=a,1b")
    assert bad.returncode == 2 and "names of variables as in a,b, not '1b'" in bad.stderr


def test_one_rank_of_a_world_is_not_restarted_alone(start):
    cluster, rc = start(2)
    before = rc[:].apply(os.getpid).get(PATIENCE)
    done = cluster._run("restart", "--targets=1", "--keep=x")
    assert done.returncode == 1
    assert "engine 1 is a rank of an MPI world, whose ranks start together: restart all of them" in done.stderr
    assert rc[:].apply(os.getpid).get(PATIENCE) == before


def test_a_whole_world_that_is_named_shares_variables_with_its_dead_rank(start):
    _, rc = start(3)
    rc[:].push({"x": 4}).get(PATIENCE)
    kill(rc, 1)
    kept = rc.restart_engines([0, 1, 2], keep="x")
    assert rc[:].pull("x").get(PATIENCE) == [4] * 3 and total(rc) == [3] * 3
    assert kept[1]["from"] == {"x": 0}


def test_files_are_the_users_alone_and_go_when_the_command_is_killed(start):
    cluster, rc = start(2)
    rc[0].execute("values = b'x' * (1 << 20)").get(PATIENCE)
    # The second engine keeps the command waiting while the first one has written its file.
    rc[1].execute("class Slow:\n def __reduce__(self):\n  import time; time.sleep(600)\nvalues = Slow()").get(PATIENCE)
    command = subprocess.Popen([*cluster.command, "--keep=values"])
    try:
        folders = lambda: left_files(cluster.profile_dir)  # noqa: E731
        wait_until(lambda: any(os.path.exists(f"{folder}/0.json") for folder in folders()),
                   "engine 0 has written its files")
        for folder in left_files(cluster.profile_dir):
            assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
            for file in os.listdir(folder):
                assert stat.S_IMODE(os.stat(os.path.join(folder, file)).st_mode) == 0o600
    finally:
        command.kill()
        command.wait()
    wait_until(lambda: left_files(cluster.profile_dir) == [], "the files are removed")
    rc.interrupt()
    cluster.run("restart")


def error_of(answer):
    with pytest.raises(polyxeus.RemoteError) as raised:
        answer.get(PATIENCE)
    return str(raised.value)
