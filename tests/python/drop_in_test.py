"""polyxeus in the place of ipyparallel, for programs that know nothing of it."""

import importlib.metadata
import os
import subprocess
import sys
import time

import numpy
import pytest

import polyxeus
from polyxeus.cluster import ipyparallel_commands as commands
from polyxeus.drop_in import canning, modules, util
from polyxeus.serialize import functions

# What packages that can use ipyparallel ask of it: whether it is there, who is its executor, a map.
STRANGER = """
import importlib.util
assert importlib.util.find_spec("ipyparallel") is not None
import ipyparallel
import ipyparallel.cluster.launcher, ipyparallel.joblib
from ipyparallel import Client, CompositeError, RemoteError, error, util
from ipyparallel.client.asyncresult import AsyncMapResult
from ipyparallel.client.view import DirectView, LoadBalancedView, ViewExecutor
from ipyparallel.controller.dependency import Dependency, require
from ipyparallel.serialize import can, uncan

assert ipyparallel.version_info >= (9,) and ipyparallel.error.RemoteError is RemoteError
with ipyparallel.Cluster(n=2, profile="stranger", cluster_id="") as rc:
    assert isinstance(rc, Client) and isinstance(rc[:], DirectView)
    assert isinstance(rc.load_balanced_view(), LoadBalancedView)
    mine = Client(profile="stranger")
    executor = mine.executor()
    assert isinstance(executor, ViewExecutor) and len(executor.view) == 2
    print(executor.submit(pow, 2, 5).result(), list(mine[:].map_sync(abs, [-1, -2, -3])))
    mine.close()
try:
    ipyparallel.nothing
except AttributeError as problem:
    print(problem)
"""


def run(text, *words):
    return subprocess.run([sys.executable, "-c", text, *words], capture_output=True, text=True, timeout=120)


def test_a_program_that_imports_ipyparallel_gets_polyxeus(folder):
    done = run(f"import polyxeus; polyxeus.install_as_ipyparallel()\n{STRANGER}")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "32 [1, 2, 3]",
        "module 'ipyparallel', which polyxeus replaces, has no 'nothing'",
    ]


def test_it_says_when_it_comes_too_late():
    done = run("import ipyparallel, polyxeus; polyxeus.install_as_ipyparallel()")
    assert "RuntimeError: ipyparallel is imported already" in done.stderr
    twice = "import polyxeus; polyxeus.install_as_ipyparallel(); polyxeus.install_as_ipyparallel()"
    assert run(twice).returncode == 0


# The Python of an engine in which ipyparallel is not installed.
ENGINE_WITHOUT_IT = """
import importlib.machinery, pickle
find_spec = importlib.machinery.PathFinder.find_spec
importlib.machinery.PathFinder.find_spec = classmethod(
    lambda cls, name, *more: None if name == "ipyparallel" else find_spec(name, *more))
from polyxeus.engine import apply, import_hooks
import_hooks.install(None, None, None)
import ipyparallel.datapub, polyxeus
assert ipyparallel.Reference is polyxeus.Reference and ipyparallel.datapub.publish_data is polyxeus.publish_data
assert pickle.loads(apply.pack([1])[0]) == [1]
info = pickle.dumps({"nargs": 1, "kw_keys": []})
assert apply.unpack([pickle.dumps(abs), info, pickle.dumps(-1)], {}) == (abs, (-1,), {})
for function, argument in [(b"cipyparallel.serialize.canning\\nCannedFunction\\n.", pickle.dumps(1)),
                           (pickle.dumps(abs), b"cipyparallel.serialize.canning\\nReference\\n.")]:
    try:
        apply.unpack([function, info, argument], {})
    except ImportError as problem:
        print(problem)
"""


def test_the_modules_have_files_and_can_be_reloaded():
    done = run(
        "import importlib, os, polyxeus; polyxeus.install_as_ipyparallel(); import ipyparallel.client.view as view\n"
        "import ipyparallel, importlib.util\n"
        "for each in (ipyparallel, view):\n"
        "    assert os.path.exists(each.__file__) and importlib.util.find_spec(each.__name__).origin == each.__file__\n"
        "    assert importlib.reload(each) is each\n"
        "assert ipyparallel.Client is polyxeus.Client and ipyparallel.client.view is view"
    )
    assert done.returncode == 0, done.stderr


def test_programs_can_look_for_the_handler_of_an_engines_log():
    done = run(
        "import polyxeus; polyxeus.install_as_ipyparallel()\n"
        "from ipyparallel.engine.log import EnginePUBHandler\n"
        "import logging; assert not isinstance(logging.StreamHandler(), EnginePUBHandler)"
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture
def without_ipyparallel(monkeypatch):
    def version(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", version)


def test_the_commands_of_ipyparallel_can_be_had_and_removed(tmp_path, without_ipyparallel):
    made = commands.install(tmp_path)
    assert sorted(os.path.basename(path) for path in made) == ["ipcluster", "ipcontroller", "ipengine"]
    told = subprocess.run([tmp_path / "ipcluster", "--version"], capture_output=True, text=True, timeout=60)
    assert told.returncode == 0 and polyxeus.__version__ in told.stdout
    assert commands.install(tmp_path) == made  # again
    assert sorted(commands.remove(tmp_path)) == sorted(made) and list(tmp_path.iterdir()) == []


def test_the_commands_of_others_are_left_alone(tmp_path, without_ipyparallel):
    (tmp_path / "ipengine").write_text("#!/bin/sh\n")
    with pytest.raises(FileExistsError, match="ipengine exists and is not a command of polyxeus: remove it first"):
        commands.install(tmp_path)
    assert commands.remove(tmp_path) == []
    assert [path.name for path in tmp_path.iterdir()] == ["ipengine"]


def test_the_commands_are_not_installed_beside_ipyparallel(tmp_path):
    pytest.importorskip("ipyparallel")
    with pytest.raises(FileExistsError, match="is installed for .* uninstall it first"):
        commands.install(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_on_engines_polyxeus_stands_in_where_ipyparallel_is_not_installed():
    done = run(ENGINE_WITHOUT_IT)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("which the Python of this engine lacks: pip install ipyparallel there") == 2


def test_the_version_of_ipyparallel_is_known_where_it_is_not_installed():
    class Question:
        name = "ipyparallel"

    (found,) = modules._Distributions.find_distributions(Question())
    assert (found.metadata["Name"], found.version) == ("ipyparallel", "9.2.0")
    Question.name = "numpy"
    assert modules._Distributions.find_distributions(Question()) == []


def test_published_data_reach_the_client_while_the_task_runs(rc):
    def simulate():
        import polyxeus

        polyxeus.publish_data({"step": 1, "values": numpy.arange(1000.0)})
        polyxeus.publish_data({"step": 2})

    result = rc[:].apply_async(simulate)
    result.get(60)
    assert result.wait_for_output(20)
    assert [(each["step"], each["values"].sum()) for each in result.data] == [(2, 499500.0)] * 4
    with pytest.raises(RuntimeError, match="in a Python engine only"):
        polyxeus.publish_data({})


def test_joblib_uses_its_backend_for_several_calls(rc, monkeypatch):
    import joblib

    from polyxeus import joblib_backend

    clients = []

    def connect():
        clients.append(polyxeus.Client(rc.cluster.connection_file))
        return clients[-1]

    monkeypatch.setattr(joblib_backend, "_connect", connect)
    polyxeus.register_joblib_backend("of-several-calls")
    with joblib.parallel_config(backend="of-several-calls"):
        for _ in range(3):
            assert joblib.Parallel()(joblib.delayed(abs)(-each) for each in range(5)) == [0, 1, 2, 3, 4]
    assert clients and all(each._closed for each in clients)


def test_joblib_has_a_limit_of_time(rc):
    import joblib

    rc.load_balanced_view().register_joblib_backend("with-a-limit")
    with pytest.raises(TimeoutError):
        joblib.Parallel(backend="with-a-limit", timeout=0.1)(joblib.delayed(time.sleep)(2) for _ in range(2))


def test_joblib_knows_a_view_by_both_names(rc):
    from joblib import Parallel, delayed

    rc.load_balanced_view().register_joblib_backend()
    for name in ("polyxeus", "ipyparallel"):
        assert Parallel(backend=name, n_jobs=4)(delayed(abs)(-each) for each in range(4)) == [0, 1, 2, 3]


def test_the_original_has_no_more_names_than_the_documentation_lists():
    done = run(
        "import ipyparallel, polyxeus; print(sorted(name for name in dir(ipyparallel)"
        " if name[0] != '_' and not hasattr(polyxeus, name)))"
    )
    modules = ["builtins", "controller", "os", "sys", "traceback", "traitlets", "util"]
    others = ["MultipleInstanceError", "load_jupyter_server_extension"]
    assert eval(done.stdout) == sorted(modules + others)


def scaled(values, factor=2):
    return [each * factor for each in values]


def test_functions_and_values_become_bytes_and_come_back():
    local = 3
    packed = canning.can({"call": lambda x: x + local, "values": [1, scaled], "kind": dict})
    assert isinstance(packed["call"], canning.Canned) and isinstance(packed["values"][1], canning.Canned)
    restored = canning.uncan(packed)
    assert restored["call"](4) == 7 and restored["values"][1]([1]) == [2] and restored["kind"] is dict
    assert canning.uncan(canning.can((1, "a"))) == (1, "a")
    assert canning.uncan(polyxeus.Reference("a[1]"), {"a": [5, 6]}) == 6
    assert canning.uncan_map(canning.can_map({"f": len}))["f"]("abc") == 3


def test_calls_and_objects_are_packed_into_buffers():
    array = numpy.arange(10000.0)
    buffers = polyxeus.serialize_object({"a": array}) + [b"more"]
    assert len(buffers) == 3
    restored, rest = polyxeus.deserialize_object(buffers)
    assert numpy.array_equal(restored["a"], array) and rest == [b"more"]
    message = polyxeus.pack_apply_message(scaled, ([1, 2],), {"factor": polyxeus.Reference("n")})
    function, args, kwargs = polyxeus.unpack_apply_message(message, {"n": 5})
    assert function(*args, **kwargs) == [5, 10]
    assert functions.set_namespace(None) is None  # as before


def test_a_value_is_pickled_once_and_arrives_as_itself(rc):
    value = polyxeus.PrePickled({"a": numpy.ones(3)})
    assert rc[:].apply_sync(lambda each: float(each["a"].sum()), value) == [3.0] * 4


def test_the_functions_of_util():
    assert util.int_keys({"1": 2, "a": 3, 4: 5}) == {1: 2, "a": 3, 4: 5}
    assert abs(util.compare_datetimes(util.utcnow(), util.utcnow().astimezone()).total_seconds()) < 5
    assert util.interactive(scaled).__module__ == "__main__"


def test_the_address_of_a_socket_that_listens_everywhere():
    assert util.disambiguate_url("tcp://*:4000") == "tcp://127.0.0.1:4000"
    assert util.disambiguate_url("tcp://0.0.0.0:4000", "localhost") == "tcp://127.0.0.1:4000"
    assert util.disambiguate_url("tcp://*:4000", "203.0.113.7") == "tcp://203.0.113.7:4000"
    assert util.disambiguate_url("tcp://10.0.0.1:4000", "203.0.113.7") == "tcp://10.0.0.1:4000"
    assert util.disambiguate_url("ipc:///tmp/x", "203.0.113.7") == "ipc:///tmp/x"


# A function that holds an open file, which only dill can send.
WRITER = """
import sys
import polyxeus

def writer(a, path=sys.argv[2]):
    file = open(path, "a")
    def product(b):
        file.write("called ")
        file.flush()
        return a * b
    return product

def refused(view):
    try:
        view.apply_sync(writer(5), 3)
    except TypeError as problem:
        return "cannot be pickled" in str(problem)

with polyxeus.Client(sys.argv[1]) as rc:
    view = rc[:1]
    assert refused(view)
    view.use_dill().get(60)
    print(view.apply_sync(writer(5), 3), view.apply_sync(writer, 4)[0](5), open(sys.argv[2]).read())
    view.use_cloudpickle().get(60)
    assert refused(view)
"""


def test_dill_takes_what_others_do_not_where_that_is_asked_for(running, tmp_path):
    pytest.importorskip("dill")
    done = run(WRITER, running.connection_file, tmp_path / "log")
    assert done.stdout == "[15] 20 called called \n", done.stderr


@pytest.mark.parametrize("name", ["use_dill", "use_cloudpickle", "use_pickle"])
def test_the_ways_of_pickling_are_there(name):
    assert getattr(polyxeus, name)() is None
