"""Calls, variables and code on engines."""

import linecache
import os
import re

import numpy
import pytest

import polyxeus as ipp


def test_a_function_runs_on_all_engines(rc):
    assert rc[:].apply_sync(lambda a, b=1: a + b, 2, b=3) == [5] * 4


def test_one_engine_gives_one_result_and_a_list_of_one_a_list(rc):
    assert rc[0].apply_sync(abs, -1) == 1
    assert rc[[0]].apply_sync(abs, -1) == [1]
    assert rc[-1].targets == rc.ids[-1]


def test_functions_see_the_engines_names(rc):
    rc[:].scatter("rank", rc.ids, flatten=True, block=True)
    assert rc[:].apply_sync(ipp.interactive(lambda: rank)) == rc.ids  # noqa: F821


def test_references_are_the_engines_values_also_inside_of_arguments(rc):
    view = rc[0]
    view["a"] = 5
    a = ipp.Reference("a")
    assert view.apply_sync(lambda x: x, a) == 5
    assert view.apply_sync(lambda x: x, [a, {"deep": (a, 1)}]) == [5, {"deep": (5, 1)}]
    view.execute("double = lambda x: 2 * x", block=True)
    assert view.apply_sync(ipp.Reference("double"), a) == 10


def test_variables_are_pushed_and_pulled(rc):
    view = rc[:]
    view.push({"a": 1, "b": {"c": (2, 3)}}, block=True)
    assert view["a"] == [1] * 4
    assert view.pull(["a", "b"], block=True) == [[1, {"c": (2, 3)}]] * 4
    assert rc[0].pull("b['c'][1] + 1", block=True) == 4
    rc[0]["b['c']"] = 7
    assert rc[0]["b"] == {"c": 7}


def test_large_arrays_arrive_writable(rc):
    sent = numpy.arange(300_000, dtype="f8").reshape(100, 3000)
    rc[0]["x"] = sent
    got = rc[0]["x"]
    assert got.flags.writeable
    numpy.testing.assert_array_equal(got, sent)
    got[0, 0] = -1
    assert rc[0]["x"][0, 0] == 0


def test_the_memory_of_an_array_is_free_once_it_is_sent(rc):
    array = numpy.zeros(4_000_000)
    result = rc[0].push({"x": array}, block=False)
    result.wait_for_send(20)
    assert result.sent
    array[:] = 1
    assert rc[0].apply_sync(lambda x: x.sum(), ipp.Reference("x")) == 0


@pytest.mark.parametrize("dist", ["b", "r"])
def test_what_is_scattered_can_be_gathered(rc, dist):
    view = rc[:]
    for sequence in (list(range(10)), numpy.arange(11.0)):
        view.scatter("part", sequence, dist=dist, block=True)
        assert list(view.gather("part", dist=dist, block=True)) == list(sequence)


@pytest.mark.parametrize("dist", ["b", "r", "balanced"])
def test_the_error_of_a_map_ends_with_the_item_that_failed(rc, dist):
    def part(x, y):
        return y // x

    sequences = [1] * 6 + [0] + [1] * 3, list(range(10))
    if dist == "balanced":
        result = rc.load_balanced_view().map_async(part, *sequences)
    else:
        result = ipp.parallel(rc[:], dist=dist, block=False)(part).map(*sequences)
    problem = result.exception(20)
    text = problem.elist[0][2] if isinstance(problem, ipp.CompositeError) else problem.traceback
    assert text.splitlines()[-1] == "item 6 of the map: part(0, 6)"


def test_code_runs_and_its_output_is_there(rc):
    result = rc[:].execute("print('hello')\n6 * 7", silent=False, block=True)
    assert result.stdout == ["hello\n"] * 4
    assert [each["data"]["text/plain"] for each in result.execute_result] == ["42"] * 4
    assert repr(result.get()[0]).endswith("42>")
    assert result.engine_id == rc.ids


def test_a_file_runs(rc, tmp_path):
    (tmp_path / "code.py").write_text("answer = 42")
    rc[0].run(tmp_path / "code.py", block=True)
    assert rc[0]["answer"] == 42


def test_output_of_calls_is_there(rc):
    result = rc[0].apply_async(print, "from a call")
    result.get(60)
    assert result.wait_for_output(20)
    assert result.stdout == "from a call\n"


def test_output_is_shown_while_it_comes(rc, capfd):
    result = rc[:2].execute("for n in range(3): print('line', n)", block=False)
    with result.stream_output():
        result.get(60)
        result.wait_for_output(20)
    shown = capfd.readouterr().out
    assert "[stdout:0]" in shown and "[stdout:1]" in shown and shown.count("line 2") == 2


def test_broadcasts_are_calls_to_all(rc):
    view = rc.broadcast_view(is_coalescing=True)
    view.push({"x": 3}, block=True)
    assert view.apply_sync(lambda y: y + 1, ipp.Reference("x")) == [4] * 4
    assert view.map_sync(lambda n: -n, range(7)) == [-n for n in range(7)]
    assert view.pull("x", block=False).get_dict(20) == dict.fromkeys(rc.ids, 3)


def test_a_direct_map_gives_each_engine_a_block(rc):
    result = rc[:].map_async(lambda n: (os.getpid(), n), range(10))
    assert [n for _, n in result] == list(range(10))
    assert len(result) == 10 and result.progress == 10
    assert len({pid for pid, _ in result.get()}) == 4


def test_decorated_functions_run_on_engines(rc):
    @ipp.remote(rc[0], block=True)
    def add(a, b):
        """Adds."""
        return a + b

    @rc[:].parallel(block=True)
    def double(part):
        return [2 * n for n in part]

    assert add(1, b=2) == 3 and "Adds." in add.__doc__
    assert double(range(6)) == [0, 2, 4, 6, 8, 10]
    assert double.map([[1], [2]]) == [[2], [4]]


def test_imports_happen_here_and_there(rc, capsys):
    with rc[:].sync_imports():
        from os import path  # noqa: F401
    assert "importing path from os on engine(s)" in capsys.readouterr().out
    assert rc[:].apply_sync(ipp.interactive(lambda: path.basename("a/b"))) == ["b"] * 4


def test_flags_are_set_for_a_while(rc):
    view = rc[:]
    with view.temp_flags(block=True):
        assert view.apply(abs, -2) == [2] * 4
    assert isinstance(view.apply(abs, -2), ipp.AsyncResult)


def defined_in_a_cell(source, file):
    """What a cell of a notebook defines: its source is known to this process alone."""
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    names = {"__name__": "__main__"}
    exec(compile(source, file, "exec"), names)
    return names


def plain_traceback(view, function, *args):
    with pytest.raises(ipp.RemoteError) as caught:
        view.apply_sync(function, *args)
    return re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(caught.value.render_traceback()))


def test_tracebacks_show_the_source_of_functions_of_a_session(rc):
    source = (
        "def divide(a, b):\n    return a / b\n\n\n"
        "def make():\n    def nested(n):\n        return divide(n, n - n)\n"
        "    return nested\n"
    )
    names = defined_in_a_cell(source, "<cell 1 of calls_test>")
    text = plain_traceback(rc[0], names["make"](), 3)
    assert re.search(r"-+> 7 +return divide\(n, n - n\)", text), text
    assert re.search(r"-+> 2 +return a / b", text), text
    assert "Could not get source" not in text


def test_a_function_without_source_travels_too(rc):
    names = defined_in_a_cell("def fail():\n    return 1 / 0\n", "<cell 2 of calls_test>")
    del linecache.cache["<cell 2 of calls_test>"]
    assert "ZeroDivisionError" in plain_traceback(rc[0], names["fail"])
