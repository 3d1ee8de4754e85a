"""apply_request: functions and arguments in, results out (protocol 6)."""

import json
import operator
import pickle
import sys

import numpy
from ipyparallel import serialize

from polyxeus.engine import apply


def request(function, *args, **kwargs):
    """The buffers of a request whose values need no canning."""
    keys = sorted(kwargs)
    info = {"nargs": len(args), "narg_bufs": len(args), "kw_keys": keys}
    values = [*args, *(kwargs[key] for key in keys)]
    return [pickle.dumps(each) for each in (function, info, *values)]


def test_a_function_is_called_with_its_arguments(backend):
    is_ok, is_unmet, content, buffers = backend.apply(request(int, "ff", base=16))
    assert (is_ok, is_unmet, json.loads(content)) == (True, False, {"status": "ok"})
    assert pickle.loads(buffers[0]) == 255


def test_an_engine_without_canned_objects_never_imports_ipyparallel(backend):
    before = "ipyparallel" in sys.modules
    backend.apply(request(operator.add, 1, 2))
    assert ("ipyparallel" in sys.modules) == before


def test_an_exception_becomes_an_error_with_a_traceback(backend, recorder):
    is_ok, _, content, buffers = backend.apply(request(operator.truediv, 1, 0))
    content = json.loads(content)
    assert (is_ok, buffers, content["ename"]) == (False, [], "ZeroDivisionError")
    assert content["traceback"]
    assert content["exception"]["classes"] == ["builtins:ZeroDivisionError", "builtins:ArithmeticError"]
    (published,) = recorder.contents("error")
    assert published["exception"] == content["exception"]


def test_leftover_or_missing_frames_are_an_error(backend):
    for buffers in (request(len, [1])[:1], request(len, [1]) + [pickle.dumps(2)]):
        is_ok, _, content, _ = backend.apply(buffers)
        assert not is_ok
        assert json.loads(content)["ename"] == "AssertionError"


def test_canned_functions_see_the_users_names_and_leave_none_behind(backend):
    function = eval("lambda x: x + offset", {"__name__": "__main__"})
    backend.shell.user_ns["offset"] = 10
    names = set(backend.shell.user_ns)
    _, _, _, buffers = backend.apply(serialize.pack_apply_message(function, (1,), {}))
    assert pickle.loads(buffers[0]) == 11
    assert set(backend.shell.user_ns) == names


def test_arrays_in_results_travel_beside_the_pickle():
    array = numpy.arange(1000.0)
    buffers = apply.pack(array)
    assert [memoryview(each).nbytes for each in buffers[1:]] == [8000]
    assert (serialize.deserialize_object(buffers)[0] == array).all()


def test_a_result_does_not_change_with_what_the_engine_keeps(backend):
    backend.shell.run_cell("import numpy as np\nstate = np.zeros(10_000)")
    state = backend.shell.user_ns["state"]
    function = eval("lambda _: state", {"__name__": "__main__"})
    _, _, _, buffers = backend.apply(serialize.pack_apply_message(function, (1,), {}))
    state[:] = 7
    assert (serialize.deserialize_object(buffers)[0] == 0).all()
