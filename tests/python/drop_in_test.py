"""polyxeus in the place of ipyparallel, for programs that know nothing of it."""

import subprocess
import sys

import numpy
import pytest

import polyxeus
from polyxeus.drop_in import canning, util
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


def run(text):
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=120)


def test_a_program_that_imports_ipyparallel_gets_polyxeus(folder):
    done = run(f"import polyxeus; polyxeus.install_as_ipyparallel()\n{STRANGER}")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "32 [1, 2, 3]",
        "module 'ipyparallel', which is polyxeus here, has no 'nothing'",
    ]


def test_it_says_when_it_comes_too_late():
    done = run("import ipyparallel, polyxeus; polyxeus.install_as_ipyparallel()")
    assert "RuntimeError: ipyparallel is imported already" in done.stderr
    twice = "import polyxeus; polyxeus.install_as_ipyparallel(); polyxeus.install_as_ipyparallel()"
    assert run(twice).returncode == 0


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


@pytest.mark.parametrize("name", ["use_dill", "use_cloudpickle", "use_pickle"])
def test_the_ways_of_pickling_are_there(name):
    assert getattr(polyxeus, name)() is None
