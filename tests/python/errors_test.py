"""What is wrong is said in one sentence, and everything goes on."""

import builtins
import json
import os
import pickle
import time

import numpy
import pytest
from deadlines import wait_until

import polyxeus as ipp
from polyxeus.client import pxcluster
from polyxeus.cluster.launcher import MPIEngineSetLauncher


class SSHProxyEngineSetLauncher:
    __module__ = "ipyparallel.cluster.launcher"


class Computing(MPIEngineSetLauncher):
    def start(self, n):
        raise NotImplementedError


def started(**options):
    with ipp.Cluster(n=1, profile="wrong", **options):
        pass


@pytest.mark.parametrize(
    "ask, kind, words",
    [
        (lambda rc: rc["x"], TypeError, "slice or a list of ints"),
        (lambda rc: rc[99], IndexError, "no engine 99; there are 0, 1, 2, 3"),
        (lambda rc: rc[-9], IndexError, "no engine -9"),
        (lambda rc: rc[[0, 77]], IndexError, "no engine 77"),
        (lambda rc: rc.direct_view("some"), TypeError, "'all', an int"),
        (lambda rc: rc[:].apply(5), TypeError, "only functions"),
        (lambda rc: rc[:].execute(5), TypeError, "source text"),
        (lambda rc: rc[:].push([1]), TypeError, "dict of names"),
        (lambda rc: rc[:].push({1: 2}), TypeError, "names of variables must be text"),
        (lambda rc: rc[:].pull(5), TypeError, "a name or several"),
        (lambda rc: rc[:].pull(["a", 5]), TypeError, "names of variables must be text"),
        (lambda rc: rc[:].scatter("x", range(3), dist="z"), ValueError, "'b' or 'r'"),
        (lambda rc: rc[:].scatter("x", 5), TypeError, "iterable"),
        (lambda rc: rc[:].scatter("x", numpy.array(5)), TypeError, "cannot split an array of shape"),
        (lambda rc: rc[:].scatter(5, [1]), TypeError, "names of variables must be text"),
        (lambda rc: rc[:].scatter("3x", [1]), ValueError, "'3x' cannot be the name"),
        (lambda rc: rc[:].gather(5), TypeError, "names of variables must be text"),
        (lambda rc: rc[:].push({"3x": 1}), ValueError, "'3x' is neither the name of a variable"),
        (lambda rc: rc[:].push({"class": 1}), ValueError, "'class' is neither the name"),
        (lambda rc: rc[:].push({"x": (i for i in [1])}), TypeError, "generator cannot be pickled"),
        (lambda rc: rc[:].run(5), TypeError, "path of a file, not 5"),
        (lambda rc: rc[:].run("/no/such/file"), FileNotFoundError, "/no/such/file"),
        (lambda rc: rc[:].execute("1", blok=True), TypeError, "argument 'blok'"),
        (lambda rc: rc.direct_view("all", speed=1), KeyError, "unknown flag 'speed'"),
        (lambda rc: rc.load_balanced_view(targets=[9]), IndexError, "no engine 9"),
        (lambda rc: rc.load_balanced_view(retries=-1).apply(abs, 1), ValueError, "retries"),
        (lambda rc: rc[0].apply(abs, 1).get("x"), TypeError, "timeout must be a number"),
        (lambda rc: rc.wait(5.5), TypeError, "msg_ids, AsyncResults"),
        (lambda rc: rc.queue_status(targets=9), IndexError, "no engine 9"),
        (lambda rc: rc.resubmit("nobody"), ipp.RemoteError, "nobody"),
        (lambda rc: ipp.Client(timeout="x"), TypeError, "timeout must be a number"),
        (lambda rc: rc[:].set_flags(speed=1), KeyError, "unknown flag 'speed'"),
        (lambda rc: rc[:].map(abs), TypeError, "at least one sequence"),
        (lambda rc: rc[:].map_sync(abs, [1], block=True), TypeError, "does not take `block`"),
        (lambda rc: rc[:].apply(abs, __import__("_thread").allocate_lock()), TypeError, "pickle"),
        (lambda rc: rc.load_balanced_view(retries="x").apply(abs, 1), TypeError, "retries"),
        (lambda rc: rc.load_balanced_view(timeout=-1), ValueError, "negative"),
        (lambda rc: rc.load_balanced_view(after=[5]), ValueError, "msg_ids"),
        (lambda rc: rc.load_balanced_view().map(abs, [1], chunksize=0), ValueError, "chunksize"),
        (lambda rc: rc.load_balanced_view().imap(abs, [1], max_outstanding=-1), ValueError, "max"),
        (lambda rc: rc[:].set_flags(label=object()).apply(abs, 1), TypeError, "label"),
        (lambda rc: rc.abort(5), TypeError, "iterable"),
        (lambda rc: rc.abort([5]), TypeError, "msg_ids and AsyncResults"),
        (lambda rc: rc.get_result(99), IndexError, "no item 99"),
        (lambda rc: rc.get_result(5.5), TypeError, "msg_ids, AsyncResults"),
        (lambda rc: rc.get_result("nobody", block=False).get(60), ipp.RemoteError, "KeyError"),
        (lambda rc: rc.db_query("x"), TypeError, "dict of keys"),
        (lambda rc: rc.purge_results(), ValueError, "needs `jobs`, `targets` or both"),
        (lambda rc: rc.send_signal(5.5), TypeError, "SIGINT"),
        (lambda rc: rc.wait_for_engines(), TypeError, None),
        (lambda rc: rc.wait_for_engines("x"), TypeError, "must be an int"),
        (lambda rc: ipp.Reference(5), TypeError, "expression"),
        (lambda rc: ipp.Dependency([5]), TypeError, "cannot depend on"),
        (lambda rc: ipp.require(5), TypeError, "no name"),
        (lambda rc: ipp.Client(profile="none", timeout=0), OSError, "pxcluster start"),
        (lambda rc: ipp.Client("/no/such/file"), OSError, "does not exist"),
        (lambda rc: ipp.Client("tcp://host:5"), ValueError, "path of a connection file"),
        (lambda rc: ipp.Client({"key": "x"}), ValueError, "given connection info"),
        (lambda rc: ipp.Client(speed=5), TypeError, "unknown option 'speed'"),
        (lambda rc: ipp.Cluster(speed=5), TypeError, "unknown option 'speed'"),
        (lambda rc: ipp.Client(profle="x"), TypeError, "'profle' of Client: did you mean 'profile'?"),
        (lambda rc: ipp.Cluster(engine="mpi"), TypeError, "did you mean 'engines'?"),
        (lambda rc: ipp.Cluster(n="four"), TypeError, "n must be the number of engines, not 'four'"),
        (lambda rc: ipp.Cluster(engines="slurmy"), ValueError, "'local', 'mpi', 'ssh'"),
        (lambda rc: ipp.Cluster(engines=5), TypeError, "name or the class of a launcher, not 5"),
        (lambda rc: ipp.Cluster(engines=SSHProxyEngineSetLauncher), ValueError, "SSHProxy"),
        (lambda rc: ipp.Cluster(engines=object), ValueError, "'object'"),
        (lambda rc: ipp.Cluster(engines=Computing), ValueError, "Computing computes 'start'"),
        (lambda rc: ipp.Cluster(host="a"), TypeError, "did you mean 'hosts'?"),
        (lambda rc: ipp.Cluster(send_engines_connection_env=False), ValueError, "no counterpart"),
        (lambda rc: ipp.Cluster(config={"Cluster": {"nn": 1}}), TypeError, "Cluster.nn"),
        (lambda rc: started(hosts=7, engines="ssh"), RuntimeError, "'hosts' must be"),
        (lambda rc: started(tunnel="no"), RuntimeError, "'tunnel' must be true or false"),
        (lambda rc: started(config={"SSHLauncher": {"scp_cmd": []}}), RuntimeError, "SSHLauncher.scp_cmd"),
        (lambda rc: ipp.Cluster(n="x"), TypeError, "number of engines"),
        (lambda rc: ipp.Cluster.from_file(profile="none"), FileNotFoundError, "pxcluster start"),
        (lambda rc: ipp.nothing, AttributeError, "no attribute"),
    ],
)
def test_one_clear_sentence(rc, ask, kind, words):
    rc.cluster = None
    rc[:].push({"kept": 42}, block=True)
    with pytest.raises(kind, match=words) as caught:
        ask(rc)
    assert "\n" not in str(caught.value)
    assert rc[:].apply_sync(abs, -1) == [1] * 4
    assert rc[:]["kept"] == [42] * 4


def test_missing_names_are_the_engines_errors(rc):
    with pytest.raises(ipp.RemoteError, match="NameError") as caught:
        rc[0]["nothing"]
    assert caught.value.ename == "NameError"
    with pytest.raises(ipp.error.CompositeError) as caught:
        rc[:]["nothing"]
    assert len(caught.value.elist) == 4
    with pytest.raises(ipp.RemoteError):
        caught.value.raise_exception(2)


def test_parts_that_do_not_fit_together_are_named(rc):
    for engine_id in rc.ids:
        rc[engine_id].push({"part": numpy.zeros((2, 1 + engine_id // 2))}, block=True)
        rc[engine_id].push({"mixed": 5 if engine_id else [1]}, block=True)
    shapes = r"cannot join arrays of the shapes \(2, 1\) and \(2, 2\)"
    for dist in "br":
        with pytest.raises(ValueError, match=shapes):
            rc[:].gather("part", dist=dist, block=True)
        with pytest.raises(TypeError, match="cannot join parts of the types list and int"):
            rc[:].gather("mixed", dist=dist, block=True)
    assert [part.shape for part in rc[:]["part"]] == [(2, 1), (2, 1), (2, 2), (2, 2)]


def test_a_ragged_list_is_cut_like_any_other(rc):
    rc[:].scatter("rows", [[1], [2, 3], [], [4, 5, 6]], block=True)
    assert rc[:].gather("rows", block=True) == [[1], [2, 3], [], [4, 5, 6]]


def test_many_failures_are_shown_in_part(rc, capsys):
    result = ipp.AsyncResult.join(*[rc[:].execute("1/0", block=False) for _ in range(3)])
    with pytest.raises(ipp.CompositeError) as caught:
        result.get(20)
    caught.value.print_traceback()
    shown = capsys.readouterr().out
    assert "... 8 more exceptions ..." in shown


def test_the_same_failure_of_several_engines_is_shown_once(rc):
    rc[0].execute("its_cells_have_other_numbers = 1", block=True)
    rc[:].scatter("rank", rc.ids, flatten=True, block=True)
    with pytest.raises(ipp.CompositeError) as caught:
        rc[:].execute("1/0", block=True)
    assert str(caught.value).splitlines()[1:] == [
        "[0-3:execute]ZeroDivisionError: division by zero"
    ]
    shown = "\n".join(caught.value.render_traceback())
    assert shown.count("division by zero") == 1 and "[0-3:execute]:" in shown
    assert len(caught.value.elist) == 4
    with pytest.raises(ipp.CompositeError) as caught:
        rc[:].execute("int('abc'[rank % 2])", block=True)
    assert [line.partition(":")[0] for line in str(caught.value).splitlines()[1:]] == [
        "[0,2", "[1,3"
    ]


def test_what_cannot_be_read_here_is_an_error_of_its_own(rc):
    rc[0].execute(
        "import sys, types\nm = types.ModuleType('only_there')\n"
        "exec('class Thing: pass', m.__dict__)\nsys.modules['only_there'] = m\n"
        "thing = m.Thing()",
        block=True,
    )
    with pytest.raises(ipp.RemoteError, match="only_there"):
        rc[0]["thing"]


def test_an_old_connection_file(rc, tmp_path, running):
    info = json.loads(open(running.connection_file).read())
    info["registration"] = 1
    old = tmp_path / "old.json"
    old.touch(0o600)
    old.write_text(json.dumps(info))
    with pytest.raises(ConnectionError, match="pxcluster start"):
        ipp.Client(str(old), timeout=5)
    old.write_text("{")
    with pytest.raises(ValueError, match="old.json"):
        ipp.Client(str(old))


def test_an_engine_that_dies_in_a_pull(own):
    rc = own(2)
    rc[0].push({"x": numpy.zeros(10)}, block=True)
    rc[0].execute("import os\nclass Deadly:\n  def __reduce__(self): os._exit(1)\nd = Deadly()",
                  block=True)
    with pytest.raises(ipp.EngineError, match="EngineError") as caught:
        rc[0].pull("d", block=True)
    assert isinstance(caught.value, ipp.RemoteError)
    wait_until(lambda: rc.ids == [1], "the client hears of it", 10)
    assert len(rc[:].apply_sync(os.getpid)) == 1


def test_a_controller_that_ends(own):
    rc = own(1)
    result = rc[0].apply_async(time.sleep, 30)
    rc.cluster.stop_cluster_sync()
    with pytest.raises(ipp.RemoteError, match="EngineError"):
        result.get(30)
    wait_until(lambda: rc.ids == [], "the client hears of it", 10)
    with pytest.raises((ConnectionError, ipp.NoEnginesRegistered)):  # as the controller's end is known
        rc[:].apply_sync(abs, 1)


def test_a_closed_client_says_so(running):
    client = running.connect_client_sync()
    view = client[:]
    pending = client[0].apply_async(time.sleep, 0.5)
    client.close()
    client.close()
    with pytest.raises(ConnectionError, match="closed"):
        view.apply_sync(abs, 1)
    with pytest.raises(ipp.ConnectionLost, match="ConnectionLost"):
        pending.get(10)


def test_a_client_where_no_cluster_runs_fails_at_once_in_one_sentence(tmp_path, capfd, monkeypatch):
    monkeypatch.setattr(time, "sleep", lambda seconds: pytest.fail("it waits"))
    profile = tmp_path / "profile_x"
    with pytest.raises(OSError, match="no cluster is running: no connection file") as caught:
        ipp.Client(profile_dir=str(profile))
    assert "\n" not in str(caught.value)
    assert "Waiting" not in capfd.readouterr().out


def test_a_client_waits_for_a_cluster_that_is_starting_or_where_it_is_told_to(
    tmp_path, capfd, monkeypatch
):
    looks = []
    monkeypatch.setattr(time, "sleep", looks.append)
    monkeypatch.setattr(time, "monotonic", lambda: 4.0 * len(looks))
    profile = tmp_path / "profile_x"
    with pytest.raises(OSError, match="no cluster is running"):
        ipp.Client(profile_dir=str(profile), timeout=5)
    assert len(looks) == 2
    (profile / "pid").mkdir(parents=True)
    (profile / "pid" / "pxcluster-b.lock").touch()
    with pytest.raises(OSError, match="no cluster is running"):
        ipp.Client(profile_dir=str(profile), cluster_id="b")
    assert len(looks) == 5
    assert capfd.readouterr().out.count("Waiting for connection file") == 2


@pytest.mark.parametrize("name, kinds", [
    ("ResultLost", [ipp.ResultLost]), ("Overloaded", [ipp.Overloaded]),
    ("ConnectionLost", [ipp.ConnectionLost, ConnectionError]), ("EngineError", [ipp.EngineError]),
    ("TaskTimeout", [ipp.TaskTimeout]), ("TaskRejectError", [ipp.TaskRejectError]),
    ("UnmetDependency", [ipp.UnmetDependency]), ("ImpossibleDependency", [ipp.ImpossibleDependency]),
    ("InvalidDependency", [ipp.InvalidDependency]), ("DependencyTimeout", [ipp.DependencyTimeout]),
    ("ValueError", [ValueError]), ("Unknown", [])])  # fmt: skip
def test_an_error_reply_is_of_the_class_of_its_name(name, kinds):
    engine = {"engine_id": 3, "engine_uuid": "u", "method": "apply"}
    problem = ipp.error.remote_error(name, "it failed", "line 1\nline 2", engine)
    for each in (problem, pickle.loads(pickle.dumps(problem))):
        assert all(isinstance(each, kind) for kind in [*kinds, ipp.RemoteError])
        assert (each.ename, each.evalue, each.traceback, each.engine_info) == (name, "it failed", "line 1\nline 2", engine)
        assert str(each) == f"[3:apply] {name}: it failed" and each.args == (name, "it failed")
        assert each.render_traceback() == ["[3:apply]", "line 1", "line 2"]
    assert kinds or type(problem) is ipp.RemoteError
    with pytest.raises(tuple(kinds) or ipp.RemoteError):
        ipp.CompositeError("several failed", [(name, "it failed", None, {})]).raise_exception()


@pytest.mark.parametrize("name, text, is_of_mpi", [
    ("Exception", "MPI_Allreduce cannot end: rank 2 raised ValueError: no data", True),
    ("RuntimeError", "MPI_Barrier cannot end: rank 1 was interrupted", True),
    ("Exception", "MPI_Bcast: MPI world broken: rank 2 died (SIGKILL)", True),
    ("Exception", "MPI_ERR_RANK: invalid rank", True),
    ("ValueError", "MPI is not there", False), ("NameError", "name 'MPI_Bcast' is not defined", False)])  # fmt: skip
def test_a_failed_call_of_mpi_is_an_mpi_error(name, text, is_of_mpi):
    problem = ipp.error.remote_error(name, text, None)
    assert isinstance(problem, ipp.RemoteError) and isinstance(problem, ipp.MPIError) == is_of_mpi
    assert isinstance(problem, getattr(builtins, name))
    assert (problem.ename, problem.evalue) == (name, text)


# ---------------------------------------------------------------- errors of the command pxcluster

FAILS = """#!/bin/sh
echo "pxcluster: restarting engine 1" >&2
echo "pxcluster: warning: engine 1 has kept nothing: it was not started again" >&2
echo "pxcluster: error: not all engines got their kept variables back" >&2
exit 1
"""


def test_an_error_names_the_cause_that_was_told_before(tmp_path, monkeypatch):
    program = tmp_path / "pxcluster"
    program.write_text(FAILS)
    program.chmod(0o755)
    monkeypatch.setattr(pxcluster, "find", lambda: str(program))
    with pytest.raises(RuntimeError) as raised:
        pxcluster.run(["restart"])
    assert str(raised.value).splitlines() == [
        "pxcluster: error: not all engines got their kept variables back",
        "pxcluster: warning: engine 1 has kept nothing: it was not started again",
    ]
