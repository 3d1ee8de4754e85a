"""The pickle of a function that is sent again is kept, and only as long as it says the truth; and the variables
that one engine writes to files and the next one reads (pxcluster restart --keep)."""

import gc
import os
import pickle
import sys
import types
import weakref

import numpy
import pytest
from functions_of_sessions import session

from polyxeus.engine_calls import kept_variables
from polyxeus.serialize import functions


@pytest.fixture
def there():
    """The namespace where functions arrive."""
    before = functions._namespace
    names = {}
    functions.set_namespace(names)
    yield names
    functions.set_namespace(before)


def is_kept(function):
    """Whether two pickles are one object."""
    return functions.dumps(function) is functions.dumps(function)


def call_there(function, there, *args):
    """What a new engine gives for it."""
    there.clear()
    functions._carried.clear()
    return pickle.loads(functions.dumps(function))(*args)


@pytest.mark.parametrize("code", [
    "f = lambda x: x",
    "def f(x: int, y=2) -> str:\n    'Says it.'\n    return x + y + k\nk = 'text'",
    "import os\ndef f(): return os.path.join('a', 'b')",
    "def make(k):\n    return lambda x: x + k\nf = make(3)",
])  # fmt: skip
def test_the_pickle_of_a_function_is_kept(code):
    assert is_kept(session(code)["f"])


@pytest.mark.parametrize("code", [
    "k = [1]\ndef f(): return k",
    "def g(): return 1\ndef f(): return g()",
    "def f(k=[1]): return k",
    "def f(*, k=1): return k",
    "def f(): return 1\nf.mark = [1]",
    "def make(k):\n    return lambda: k\nf = make([1])",
    "class K: pass\ndef f(k: K): return k",
])  # fmt: skip
def test_what_may_change_unseen_is_pickled_each_time(code):
    assert not is_kept(session(code)["f"])


def test_a_global_that_is_set_anew_travels(there):
    names = session("k = 1\ndef f(): return k")
    assert call_there(names["f"], there) == 1
    names["k"] = 2
    assert call_there(names["f"], there) == 2
    names["k"] = True
    assert call_there(names["f"], there) is True
    names["k"] = [3]
    assert call_there(names["f"], there) == [3]
    names["k"].append(4)
    assert call_there(names["f"], there) == [3, 4]


def test_a_global_that_is_deleted_does_not_travel_any_more(there):
    names = session("k = 1\ndef f(): return k")
    assert call_there(names["f"], there) == 1
    del names["k"]
    with pytest.raises(NameError):
        call_there(names["f"], there)


def test_a_closure_that_changes_travels(there):
    names = session(
        "def make():\n    n = 1\n    def get(): return n\n"
        "    def put(value):\n        nonlocal n\n        n = value\n    return get, put\n"
        "get, put = make()"
    )
    assert call_there(names["get"], there) == 1
    names["put"](2)
    assert call_there(names["get"], there) == 2
    assert is_kept(names["get"])


def test_a_function_that_gets_other_code_or_defaults_travels(there):
    names = session("def f(x=1): return x\ndef g(x=1): return -x")
    assert call_there(names["f"], there) == 1
    names["f"].__defaults__ = (5,)
    assert call_there(names["f"], there) == 5
    names["f"].__code__ = names["g"].__code__
    assert call_there(names["f"], there) == -5


def test_a_submodule_that_is_imported_later_travels(monkeypatch):
    package, part = types.ModuleType("some_package"), types.ModuleType("some_package.part")
    monkeypatch.setitem(sys.modules, "some_package", package)
    names = session("def f(): return some_package.part")
    names["some_package"] = package
    assert b"some_package.part" not in functions.dumps(names["f"])
    monkeypatch.setitem(sys.modules, "some_package.part", part)
    assert b"some_package.part" in functions.dumps(names["f"])


def test_a_kept_pickle_does_not_keep_the_function():
    names = session("f = lambda x: x")
    function = weakref.ref(names["f"])
    functions.dumps(function())
    names.clear()
    gc.collect()
    assert function() is None


# ---------------------------------------------------------------- variables in files


@pytest.fixture(params=["by files", "as bytes"])
def carried(tmp_path, request):
    """Gives the values that a new engine has of some."""
    before = functions._namespace
    tmp_path.chmod(0o700)

    def carry(values):
        functions.set_namespace(dict(values))
        if request.param == "by files":
            saved = kept_variables.save([str(tmp_path)], 0, list(values))
        else:
            saved = kept_variables.pack(list(values))
            data = kept_variables.packed()
            assert len(data) == saved.pop("bytes")
        functions.set_namespace({})
        if request.param == "by files":
            restored = kept_variables.restore([str(tmp_path)], 0)
        else:
            restored = kept_variables.unpack(data)
        assert restored == saved == {"kept": list(values), "lost": {}}
        return functions.namespace()

    yield carry
    functions.set_namespace(before)


@pytest.mark.parametrize("size", [10, 1 << 20])
def test_an_array_is_the_same_and_can_be_written_to(carried, size):
    got = carried({"a": numpy.arange(size)})["a"]
    assert (got == numpy.arange(size)).all()
    got += 1
    assert got[0] == 1


@pytest.mark.parametrize("size", [10, 1 << 20])
def test_a_forked_process_does_not_write_to_an_array_that_was_carried(carried, size):
    got = carried({"a": numpy.zeros(size)})["a"]
    child = os.fork()
    if child == 0:
        got[:] = 7
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert not got.any()
