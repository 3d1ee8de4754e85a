"""push_request, pull_request and call_request as the engine's Python half serves them."""

import json
import pickle
import re
import signal
import threading

import numpy as np
import pytest

from polyxeus.serialize import functions, values
from polyxeus.serialize.values import FORMS, NO_PICKLE


class Failed(Exception):
    """An error reply."""

    def __init__(self, content, is_unmet):
        super().__init__(f"{content['ename']}: {content['evalue']}")
        self.traceback = "\n".join(content["traceback"])
        self.is_unmet = is_unmet


class Peer:
    """A client of one engine: what it sends passes as bytes, as on the wire."""

    def __init__(self, backend):
        self.backend = backend
        self.names = backend.shell.user_ns

    def ask(self, kind, content, buffers=()):
        sent = [bytes(each) for each in buffers]
        content = json.dumps(content).encode()
        is_ok, is_unmet, content, buffers = self.backend.serve(kind.encode(), content, sent)
        content = json.loads(content)
        if not is_ok:
            raise Failed(content, is_unmet)
        return content, [bytes(each) for each in buffers]

    def push(self, **items):
        buffers = []
        described = {key: values.encode(each, FORMS, buffers) for key, each in items.items()}
        return self.ask("push_request", {"values": described}, buffers)

    def pull(self, *expressions, accepts=FORMS):
        content = {"expressions": expressions, "accepts": accepts}
        content, buffers = self.ask("pull_request", content)
        return [values.decode(each, buffers) for each in content["values"]]

    def call(self, function, *args, accepts=FORMS, map=False, **kwargs):
        """function  a description, or a callable, which is pickled."""
        buffers = []
        if callable(function):
            function = {"pickle": [0]}, buffers.append(functions.dumps(function))
            function = function[0]
        content = {
            "function": function,
            "args": [values.encode(each, FORMS, buffers) for each in args],
            "kwargs": {key: values.encode(each, FORMS, buffers) for key, each in kwargs.items()},
            "accepts": accepts,
            "map": map,
        }
        content, buffers = self.ask("call_request", content, buffers)
        return values.decode(content["value"], buffers)


@pytest.fixture
def peer(backend):
    return Peer(backend)


def session(code):
    """The namespace of a client's session, in which `code` was run."""
    names = {"__name__": "__main__"}
    exec(compile(code, "<session>", "exec"), names)
    return names


# ---------------------------------------------------------------- push and pull


def test_what_is_pushed_can_be_pulled_and_used_in_cells(peer, execute):
    peer.push(a=1, b=np.arange(5), c={"x": [1]})
    assert execute("assert b.sum() == 10 and b.flags.writeable; d = a + 1")["status"] == "ok"
    assert peer.pull("d", "c['x']", "len(b) + a") == [2, [1], 6]


def test_a_push_sets_all_names_or_none(peer):
    with pytest.raises(Failed, match="ValueError: cannot push 'not a name'"):
        peer.ask("push_request", {"values": {"good": {"json": 1}, "not a name": {"json": 2}}})
    assert "good" not in peer.names


def test_a_reference_stands_for_what_the_engine_has(peer):
    peer.push(x=[1, 2, 3])
    peer.ask("push_request", {"values": {"y": {"reference": "x"}}})
    assert peer.names["y"] is peer.names["x"]
    content = {"function": {"name": "len"}, "args": [{"reference": "x[1:]"}]}
    assert peer.ask("call_request", content)[0]["value"] == {"json": 2}


def test_a_name_that_is_missing_is_an_error_that_is_not_published(peer, recorder):
    with pytest.raises(Failed, match="NameError: name 'missing' is not defined"):
        peer.pull("missing")
    assert recorder.messages == []


def test_what_was_pulled_does_not_change_when_the_engine_goes_on(backend):
    backend.shell.user_ns["x"] = np.zeros(100_000)
    content = json.dumps({"expressions": ["x"], "accepts": FORMS}).encode()
    _, _, _, buffers = backend.serve(b"pull_request", content, [])
    backend.shell.user_ns["x"][:] = 1
    assert not np.frombuffer(buffers[0]).any()


# ---------------------------------------------------------------- functions by name


def test_names_are_looked_up_in_the_namespace_then_the_builtins_then_imported(peer):
    assert peer.call({"name": "len"}, [1, 2]) == 2
    assert peer.call({"name": "operator.add"}, 1, 2) == 3
    assert peer.call({"name": "xml.dom.minidom.parseString"}, "<a/>", accepts=FORMS) is not None
    peer.names["len"] = lambda each: "mine"
    assert peer.call({"name": "len"}, []) == "mine"
    peer.push(text="a,b")
    assert peer.call({"name": "text.split"}, ",") == ["a", "b"]


@pytest.mark.parametrize("name", ["missing", "missing.thing", "math.missing", "len.missing", ""])
def test_a_function_that_is_nowhere_is_a_clear_error(peer, name):
    with pytest.raises(Failed, match="NameError: cannot find|ValueError"):
        peer.call({"name": name})


def test_what_is_no_function_is_a_clear_error(peer):
    with pytest.raises(Failed, match="TypeError: math.pi is not a function: it is 3.14"):
        peer.call({"name": "math.pi"})


# ---------------------------------------------------------------- functions as text


def test_code_is_an_expression_or_definitions_of_which_the_last_is_the_function(peer):
    assert peer.call({"code": "lambda x: x + 1"}, 1) == 2
    code = "\n    import math\n\n    k = 2\n    def root(x):\n        return k * math.sqrt(x)\n"
    assert peer.call({"code": code}, 9) == 6
    assert peer.call({"code": "k = 3\nroot"}, 9) == 9
    assert peer.call({"code": "def f(x): return x\ng = lambda x: -x"}, 1) == -1


def test_code_sees_the_users_names(peer):
    peer.push(offset=10)
    assert peer.call({"code": "lambda x: x + offset"}, 1) == 11
    peer.push(offset=20)
    assert peer.call({"code": "lambda x: x + offset"}, 1) == 21


def test_an_error_in_code_shows_its_line(peer):
    code = "def fails(x):\n    y = x  # here it is\n    return 1 / y\n"
    with pytest.raises(Failed, match="ZeroDivisionError") as failed:
        peer.call({"code": code}, 0)
    trace = re.sub(r"\x1b\[[0-9;]*m", "", failed.value.traceback)
    assert "return 1 / y" in trace and "here it is" in trace
    assert "native.py" not in trace and "backend.py" not in trace


def test_bad_code_is_a_clear_error(peer):
    for code, words in (("x +", "SyntaxError"), ("import os", "defines no function"), ("3", "not a func")):
        with pytest.raises(Failed, match=words):
            peer.call({"code": code})


# ---------------------------------------------------------------- functions of a session


def test_a_function_of_a_session_sees_the_engines_names(peer):
    names = session("f = lambda x: x + offset")
    peer.push(offset=10)
    assert peer.call(names["f"], 1) == 11
    peer.push(offset=20)
    assert peer.call(names["f"], 1) == 21


def test_what_it_uses_travels_with_it(peer):
    names = session(
        "import math, os.path\nfrom math import sqrt\nscale = [2]\n"
        "def helper(x): return scale[0] * x\n"
        "class Pair:\n    def __init__(self, a): self.a = helper(a)\n"
        "def f(x): return [Pair(each).a + math.floor(sqrt(4)) for each in [x]], os.path.sep\n"
    )
    assert peer.call(names["f"], 3) == ([8], "/")


def test_the_engines_own_value_wins_over_what_travels(peer):
    names = session("part = [0]\ndef f(): return part")
    peer.push(part=[7])
    assert peer.call(names["f"]) == [7]
    assert peer.names["part"] == [7]


def test_what_came_with_a_function_is_replaced_by_what_comes_later(peer):
    names = session("k = 1000\ndef helper(): return k\ndef f(): return helper()")
    assert peer.call(names["f"]) == 1000
    exec("k = 2000\ndef helper(): return k, 'new'", names)
    assert peer.call(names["f"]) == (2000, "new")
    peer.push(k=1)
    assert peer.call(names["f"]) == (1, "new")
    peer.push(k=2000)  # the very object may be the one that travelled
    exec("k = 3000", names)
    assert peer.call(names["f"]) == (2000, "new")


def test_what_is_too_large_stays_and_the_error_says_so(peer):
    names = session("import numpy\nlarge = numpy.zeros(100_000)\ndef f(): return large.sum()")
    assert len(functions.dumps(names["f"])) < 2000
    with pytest.raises(Failed, match="name 'large' is not defined on engine -1; it was too large"):
        peer.call(names["f"])
    peer.push(large=np.ones(3))
    assert peer.call(names["f"]) == 3


def test_what_cannot_be_pickled_stays_and_the_rest_travels(peer):
    names = session(
        "import threading\nlock = threading.Lock()\n"
        "def make():\n    inner = threading.Lock()\n    return lambda: inner\n"
        "bad = make()\nk = 3\ndef f(use): return (bad() if use else k)"
    )
    assert peer.call(names["f"], False) == 3
    with pytest.raises(Failed, match="name 'bad' is not defined on engine -1; it cannot be sent"):
        peer.call(names["f"], True)


def test_data_that_holds_the_function_which_uses_it_travels(peer):
    names = session("def f(n): return table['f'](n - 1) if n else 'end'\ntable = {'f': f}")
    assert peer.call(names["f"], 3) == "end"


def test_functions_that_call_themselves_and_each_other_travel(peer):
    names = session(
        "def fact(n): return n * fact(n - 1) if n else 1\n"
        "def even(n): return n == 0 or odd(n - 1)\ndef odd(n): return n != 0 and even(n - 1)\n"
        "def closed():\n    def down(n): return down(n - 1) if n else 'down'\n    return down\n"
        "def pair():\n    n = 0\n"
        "    def up():\n        nonlocal n\n        n += 1\n"
        "    def now(): return n\n    return up, now\n"
        "up, now = pair()\ndown = closed()\nboth = lambda: (up(), up(), now())[-1]\n"
    )
    assert peer.call(names["fact"], 5) == 120
    assert peer.call(names["even"], 10) is True
    assert peer.call(names["down"], 4) == "down"
    assert peer.call(names["both"]) == 2


def test_all_of_a_function_travels(peer):
    names = session(
        "def f(a: int, b=2, *, c=[3]) -> str:\n    'Says it.'\n    return a, b, c\nf.mark = 5\n"
        "def look(g): return (g.__name__, g.__qualname__, g.__module__, g.__doc__, g.mark,\n"
        "    g.__defaults__, g.__kwdefaults__, g.__annotations__['a'])\n"
    )
    assert peer.call(names["f"], 1, c=4) == (1, 2, 4)
    there = peer.call(names["look"], names["f"])
    assert there == ("f", "f", "__main__", "Says it.", 5, (2,), {"c": [3]}, int)


def test_lambdas_partials_bound_methods_and_decorated_functions_travel(peer):
    names = session(
        "import functools\n"
        "class Adder:\n    def __init__(self, n): self.n = n\n    def add(self, x): return x + self.n\n"
        "class More(Adder):\n    def add(self, x): return super().add(x) + 1\n"
        "def twice(f):\n    @functools.wraps(f)\n    def wrapper(*a): return 2 * f(*a)\n"
        "    return wrapper\n"
        "@twice\ndef triple(x): return 3 * x\n"
        "part = functools.partial(lambda x, y: x - y, 10)\n"
        "cached = functools.lru_cache(lambda x: x)\n"
    )
    assert peer.call(names["Adder"](5).add, 1) == 6
    assert peer.call(names["More"](5).add, 1) == 7
    assert peer.call(names["triple"], 1) == 6
    assert peer.call(names["part"], 3) == 7


def test_a_librarys_wrapper_keeps_the_librarys_globals(peer):
    library = {"__name__": "some_library", "limit": 5}
    exec("def wrap(f):\n def inner(x): return f(x) + limit\n inner.__module__ = f.__module__\n"
         " return inner", library)  # fmt: skip
    f = library["wrap"](session("f = lambda x: x")["f"])
    assert peer.call(f, 1) == 6
    assert "limit" not in peer.names


def test_functions_come_back_and_run_here(peer):
    peer.ask("push_request", {"values": {"k": {"json": 3}}})
    back = peer.call({"code": "lambda: (lambda x: x * k)"})
    assert back(2) == 6


def test_a_function_of_another_python_is_refused_clearly(peer, monkeypatch):
    data = functions.dumps(session("f = lambda: 1")["f"]).replace(b"cpython-3", b"cpython-2")
    with pytest.raises(Failed, match="cpython-2.* was sent to cpython-3.*same versions of Python"):
        peer.ask("call_request", {"function": {"pickle": [0]}}, [data])


def test_a_class_of_a_session_keeps_its_identity(peer):
    names = session("class P:\n    k = 1\ndef make(): return P()\ndef check(p): return type(p) is P")
    peer.ask("push_request", {"values": {"p": {"pickle": [0]}}}, [functions.dumps(names["P"]())])
    content = {
        "function": {"pickle": [0]}, "args": [{"reference": "p"}], "accepts": ["json"],
    }  # fmt: skip
    assert peer.ask("call_request", content, [functions.dumps(names["check"])])[0]["value"] == {
        "json": True
    }


# ---------------------------------------------------------------- arguments and results


def test_arrays_go_in_and_out(peer):
    result = peer.call({"code": "lambda a, b: a @ b"}, np.ones((3, 4)), b=np.ones((4, 2)))
    assert result.shape == (3, 2) and (result == 4).all()


def test_arguments_may_be_changed_by_the_function(peer):
    code = {"code": "def f(small, large, inside):\n    small[0] = large[0] = inside['x'][0] = 7\n"
                    "    return small[0] + large[0] + inside['x'][0]"}  # fmt: skip
    assert peer.call(code, np.zeros(2), np.zeros(9000), {"x": np.zeros(9000)}, accepts=FORMS) == 21


def test_a_result_that_the_namespace_keeps_is_copied_and_a_new_one_is_not(backend):
    def call(code):
        content = {"function": {"code": code}, "accepts": FORMS}
        return backend.serve(b"call_request", json.dumps(content).encode(), [])[3][0]

    backend.shell.user_ns["x"] = x = np.zeros(100_000)
    for code in ("lambda: x", "lambda: x[:]", "lambda: x.reshape(10, -1)"):
        assert not np.shares_memory(np.frombuffer(call(code)), x), code
    new = "import numpy\nkept = []\ndef f():\n    y = numpy.zeros(100_000)\n" \
          "    kept.append(y.ctypes.data)\n    return y"
    assert np.frombuffer(call(new)).ctypes.data == backend.shell.user_ns["kept"][0]


def test_a_result_that_nobody_can_read_is_a_clear_error(peer):
    with pytest.raises(Failed, match="TypeError: a generator cannot be pickled"):
        peer.call({"code": "lambda: (x for x in ())"})
    with pytest.raises(Failed, match="TypeError: a set cannot be sent without a pickle"):
        peer.call({"code": "lambda: {1}"}, accepts=NO_PICKLE)


def test_map_calls_with_each_and_stops_at_the_shortest(peer):
    add = {"name": "operator.add"}
    assert peer.call(add, [1, 2, 3], (10, 20), map=True) == [11, 22]
    assert peer.call({"name": "int"}, ["a", "b"], base=16, map=True) == [10, 11]
    assert peer.call({"name": "len"}, [], map=True) == []


def test_map_over_an_array_takes_its_rows(peer):
    rows = peer.call({"name": "numpy.sum"}, np.arange(6.0).reshape(3, 2), map=True)
    assert rows == [1, 5, 9]


def test_map_gives_an_array_to_those_who_read_no_pickles(peer):
    array = peer.call({"code": "lambda x: x / 2"}, [1, 2], map=True, accepts=NO_PICKLE)
    assert isinstance(array, np.ndarray) and array.tolist() == [0.5, 1]
    assert peer.call({"name": "str"}, [1, 2], map=True, accepts=NO_PICKLE) == ["1", "2"]


def test_map_over_what_is_no_sequence_is_a_clear_error(peer):
    with pytest.raises(Failed, match="TypeError: argument 1 of a map must be a sequence, not 3"):
        peer.call({"name": "max"}, [1], 3, map=True)
    with pytest.raises(Failed, match="TypeError: a map needs at least one sequence"):
        peer.call({"name": "max"}, map=True)


# ---------------------------------------------------------------- errors


@pytest.mark.parametrize("content", [{}, {"function": 3}, {"function": {"dance": 1}},
                                     {"function": {"pickle": [4]}}])  # fmt: skip
def test_a_bad_request_is_a_value_error(peer, content):
    with pytest.raises(Failed, match="ValueError"):
        peer.ask("call_request", content)


def test_what_is_shown_is_published_and_errors_are_not(peer, recorder):
    peer.call({"code": "from IPython.display import display\ndef f(): display('hello')"})
    assert [kind for kind, _ in recorder.messages] == ["display_data"]
    recorder.forget()
    with pytest.raises(Failed):
        peer.call({"code": "def f(): raise ValueError('no')"})
    assert recorder.messages == []


def test_an_unmet_dependency_is_told_apart(peer):
    code = "class UnmetDependency(Exception): pass\ndef f(): raise UnmetDependency('not here')"
    with pytest.raises(Failed, match="UnmetDependency: not here") as failed:
        peer.call({"code": code})
    assert failed.value.is_unmet


@pytest.mark.parametrize("name", ["KeyboardInterrupt", "SystemExit", "GeneratorExit"])
def test_exceptions_that_end_programs_do_not_end_the_engine(peer, name):
    with pytest.raises(Failed, match=name):
        peer.call({"code": f"def f(): raise {name}"})
    assert peer.call({"name": "len"}, "abc") == 3


def test_a_call_can_be_interrupted(peer):
    main = threading.main_thread().ident
    timer = threading.Timer(0.2, lambda: signal.pthread_kill(main, signal.SIGINT))
    timer.start()
    with pytest.raises(Failed, match="KeyboardInterrupt"):
        peer.call({"code": "def f():\n    while True: pass"})
    timer.join()


def test_an_exception_that_cannot_be_described_is_described_anyway(peer):
    code = "class Odd(Exception):\n    def __str__(self): raise RuntimeError\ndef f(): raise Odd"
    with pytest.raises(Failed, match="Odd: Failed to cast exception"):
        peer.call({"code": code})


def test_functions_live_on_when_the_namespace_is_cleared(peer, backend):
    peer.push(k=1)
    backend.clear()
    peer.push(k=2)
    assert peer.call(session("f = lambda: k")["f"]) == 2


def test_a_function_finds_the_builtins_in_any_namespace(monkeypatch):
    data = functions.dumps(session("def f():\n    class A: pass\n    return len([A])")["f"])
    monkeypatch.setattr(functions, "_namespace", {})
    assert pickle.loads(data)() == 1


# ---------------------------------------------------------------- results that the engine keeps

KEEPS = """
import numpy as np
state = np.zeros(10_000)
boxed = np.empty(1, object)
boxed[0] = state
class Holder:
    base = None
    def __init__(self): self.values = state
class Kind(np.ndarray):
    pass
def given(_): return {given}
"""
KEPT = [
    "state", "state[:5000]", "state.reshape(100, 100).T", "[state]", "{'a': (state,)}", "boxed", "boxed.copy()",
    "np.ma.masked_array(state)", "Holder()", "state.view(Kind)", "memoryview(state).obj", "np.asarray(memoryview(state))",
    "__import__('pandas').DataFrame({'a': state}, copy=False)",
]  # fmt: skip


def reply_to(backend, expression, kind):
    """(the description of a result, its buffers as they are when somebody has changed what the engine keeps)."""
    backend.shell.run_cell(KEEPS.format(given=expression))
    if kind == "pull":
        content = {"expressions": [expression], "accepts": FORMS}
    else:
        args = [{"json": [0, 0]}] if kind == "map" else [{"json": 0}]
        content = {"function": {"name": "given"}, "args": args, "accepts": FORMS, "map": kind == "map"}
    request = b"pull_request" if kind == "pull" else b"call_request"
    is_ok, _, content, buffers = backend.serve(request, json.dumps(content).encode(), [])
    assert is_ok, content
    backend.shell.user_ns["state"][:] = 7
    content = json.loads(content)
    return content["values"][0] if kind == "pull" else content["value"], buffers


@pytest.mark.parametrize("kind", ["call", "map", "pull"])
@pytest.mark.parametrize("expression", KEPT)
def test_a_result_does_not_change_with_what_the_engine_keeps(backend, expression, kind):
    description, buffers = reply_to(backend, expression, kind)
    assert np.array(7.0).tobytes() not in b"".join(bytes(each) for each in buffers)


@pytest.mark.parametrize("kind", ["call", "map"])
def test_an_array_that_nobody_else_has_is_not_copied(backend, kind):
    backend.shell.run_cell("addresses = set()")
    made = "(lambda made: addresses.add(made.ctypes.data) or made)(np.ones(10_000))"
    _, buffers = reply_to(backend, made, kind)
    large = [each for each in buffers if memoryview(each).nbytes == 80_000]
    addresses = {np.frombuffer(each, np.uint8).ctypes.data for each in large}
    assert len(large) and addresses == backend.shell.user_ns["addresses"]


def test_an_array_that_others_can_still_reach_is_copied(backend):
    backend.shell.run_cell("import weakref; cache = weakref.WeakValueDictionary()")
    _, buffers = reply_to(backend, "cache.setdefault('made', np.zeros(10_000))", "call")
    shared = [np.frombuffer(each, np.uint8) for each in buffers if memoryview(each).nbytes == 80_000]
    reached = list(backend.shell.user_ns["cache"].values())
    assert len(shared) == 1 and not any(np.shares_memory(shared[0], each) for each in reached)
