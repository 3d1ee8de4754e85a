"""A function that arrives again is made anew without unpickling, and is as if it were unpickled."""

import linecache
import os
import pickle

import pytest
from cloudpickle import register_pickle_by_value, unregister_pickle_by_value
from functions_of_sessions import session

from polyxeus.serialize import functions


@pytest.fixture
def there():
    """The namespace where functions arrive."""
    before = functions._namespace
    names = {}
    functions.set_namespace(names)
    functions._carried.clear()
    functions._arrived.clear()
    yield names
    functions.set_namespace(before)


def twice(function):
    """The same function as it arrives first and again."""
    data = functions.dumps(function)
    return functions.loads(data), functions.loads(data)


@pytest.mark.parametrize("code", [
    "f = lambda x: (x, 1)",
    "def f(x: int, y: str = 'two') -> tuple:\n    'Says it.'\n    return x, len(y) + k\nk = 3",
    "import os\ndef f(x): return os.path.join(x, 'b')",
    "def make(k):\n    def f(x): return x, k\n    return f\nf = make(3)",
    "k = {'a': [1]}\ndef f(x): return x, k",
])  # fmt: skip
def test_it_is_the_same_function_each_time(there, code):
    function = session(code)["f"]
    first, again = twice(function)
    assert len(functions._arrived) == 1
    assert first is not again
    assert first("a") == again("a") == function("a")
    for name in ("__name__", "__qualname__", "__module__", "__doc__", "__defaults__"):
        assert getattr(again, name) == getattr(function, name)
    assert again.__annotations__ == function.__annotations__
    assert again.__globals__ is there


@pytest.mark.parametrize("code", [
    "def f(k=[1]): return k",
    "def f(*, k=[1]): return k",
    "def f(): return 1\nf.mark = [1]",
    "def make(k):\n    return lambda: k\nf = make([1])",
    "def g(): return 1\ndef f(): return g()",
    "class K: pass\ndef f(): return K()",
    "def f():\n    return 1\nf = [f]",
])  # fmt: skip
def test_what_could_change_between_two_arrivals_is_unpickled_each_time(there, code):
    twice(session(code)["f"])
    assert not functions._arrived


def test_what_is_changed_in_one_is_not_changed_in_the_next(there):
    def make(k):
        def f(x: int, y: str = "a"):
            nonlocal k
            k += 1
            return k

        return f

    f = make(1)
    f.__module__ = None  # as of a session
    first, again = twice(f)
    first.mark = first.__annotations__["z"] = 1
    first.__defaults__ = ()
    assert (first(0, 1), first(0, 1), again(0)) == (2, 3, 2)
    assert not hasattr(again, "mark")
    assert again.__annotations__ == {"x": int, "y": str}


def test_data_that_came_with_it_are_fresh_each_time(there):
    data = functions.dumps(session("k = [1]\ndef f():\n    k.append(2)\n    return k")["f"])
    assert functions.loads(data)() == [1, 2]
    assert functions.loads(data)() == [1, 2]


def test_what_comes_with_it_replaces_what_came_with_another(there):
    one = functions.dumps(session("k = 1\ndef f(): return k")["f"])
    two = functions.dumps(session("k = 2\ndef f(): return k")["f"])
    assert [functions.loads(each)() for each in (one, two, one, two)] == [1, 2, 1, 2]
    there["k"] = "the engine's own"
    assert functions.loads(one)() == "the engine's own"


def test_few_functions_are_kept(there):
    for number in range(functions._MOST_ARRIVED + 5):
        twice(session(f"f = lambda: {number}")["f"])
    assert len(functions._arrived) == functions._MOST_ARRIVED


@pytest.mark.parametrize("value", [int, len, pickle.dumps, pytest.raises, ValueError])
def test_what_has_a_name_travels_by_it_without_cloudpickle(value, monkeypatch):
    expected = functions._dump(value, None)
    monkeypatch.setattr(functions, "_dump", None)
    assert functions.dumps(value) == expected
    assert functions.loads(expected) is value


def test_a_module_that_travels_by_value_does_so(monkeypatch):
    import functions_of_sessions as module

    by_name = functions.dumps(session)
    register_pickle_by_value(module)
    try:
        assert len(functions.dumps(session)) > 2 * len(by_name)
    finally:
        unregister_pickle_by_value(module)
    assert functions.dumps(session) == by_name


def test_a_local_function_of_a_module_travels_by_value():
    def local(x):
        return x + 1

    class Local:
        value = 5

    assert functions.loads(functions.dumps(local))(1) == 2
    assert functions.loads(functions.dumps(Local)).value == 5


def test_a_method_of_an_object_brings_the_object():
    numbers = [lambda: 1]
    buffers = []
    append = functions.loads(functions.dumps(numbers.append, buffers))
    append(2)
    assert append.__self__[1:] == [2]


def test_a_function_whose_name_was_given_to_another_travels_by_value(monkeypatch):
    import functions_of_sessions as module

    monkeypatch.setattr(module, "session", None)
    assert functions.loads(functions.dumps(session))("k = 5")["k"] == 5


def test_the_file_of_a_function_is_looked_for_once(there, tmp_path, monkeypatch):
    """On a file system of the network each look may wait for a server."""
    file, source = tmp_path / "steps.py", "def f(x): return x\n"
    file.write_text(source)
    names = {"__name__": "__main__"}
    exec(compile(source, str(file), "exec"), names)
    data = functions.dumps(names["f"])
    linecache.clearcache()  # as in another process
    looks = []
    exists = os.path.exists
    monkeypatch.setattr(os.path, "exists", lambda path: looks.append(path) or exists(path))
    for _ in range(3):
        assert functions.loads(data)(2) == 2
    assert looks == [str(file)]
