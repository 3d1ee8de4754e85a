"""%pxvars: what an engine says of its variables, and the tables of several engines."""

import numpy as np
import pytest

from polyxeus.engine_calls import described_variables
from polyxeus.magics.variables_table import Comparison, name_engines
from polyxeus.serialize import functions


class Model:
    pass


@pytest.fixture
def engine(monkeypatch):
    """Gives what an engine with these variables says."""

    def describe(expressions=None, **variables):
        monkeypatch.setattr(functions, "namespace", lambda: variables)
        return described_variables.describe(expressions)

    return describe


EQUAL = [
    (1, 1), ("a", "a"), (float("nan"), float("nan")), ([1, {2: "x", 3: "y"}], [1, {3: "y", 2: "x"}]), ({"b", "a"}, {"a", "b"}),
    (np.arange(6.0), np.arange(6.0)), (np.arange(6.0).reshape(2, 3).T, np.arange(6.0).reshape(2, 3).T.copy()),
    ((None, [np.float32(1)]), (None, [np.float32(1)])), (b"x", b"x"), (bytearray(b"x"), bytearray(b"x")),
]  # fmt: skip
DIFFERENT = [
    (1, 2), (1, True), (1, 1.0), ([1, 2], [2, 1]), ([1, 2], (1, 2)), ({1: 2}, {2: 1}), ("a" * 200 + "b", "a" * 200 + "c"),
    (np.arange(6.0), np.arange(6)), (np.arange(6.0), np.arange(6.0).reshape(2, 3)), (np.zeros(9999), np.r_[np.zeros(9998), 1]),
    (["ab", "c"], ["a", "bc"]), ([[1], 2], [[1, 2]]), ({"a": {1}}, {"a": {2}}),
]  # fmt: skip


@pytest.mark.parametrize("here, there", EQUAL)
def test_equal_values_have_equal_digests(engine, here, there):
    assert engine(x=here)["x"][2] == engine(x=there)["x"][2] is not None


@pytest.mark.parametrize("here, there", DIFFERENT)
def test_values_that_differ_anywhere_have_different_digests(engine, here, there):
    assert engine(x=here)["x"][2] != engine(x=there)["x"][2]


def test_what_cannot_be_compared_has_no_digest(engine):
    nested = []
    nested.append(nested)
    found = engine(a=Model(), b=[Model()], c=nested, d=np.array([Model()]))
    assert [found[name][2] for name in "abcd"] == [None] * 4
    assert found["a"][1] == f"<{__name__}.Model object>", "no address: it differs on each engine"


def test_arrays_are_told_by_type_and_shape_and_long_values_are_cut(engine):
    found = engine(small=np.arange(3), large=np.zeros((20, 30), "f4"), text="x" * 500, many=list(range(1000)))
    assert found["small"][1] == "int64 3 [0 1 2]" and found["large"][1] == "float32 20x30"
    assert len(found["text"][1]) <= 60 and len(found["many"][1]) <= 60


def test_all_variables_are_those_that_the_user_has_defined(engine):
    assert list(engine(np=np, Model=Model, f=len, b=1, a=2, _=3, _hidden=4)) == ["a", "b"]


def test_expressions_are_evaluated_and_may_fail(engine):
    found = engine(["a.real", "a.missing", "missing"], a=1)
    assert found["a.real"][:2] == ("int", "1")
    assert "AttributeError" in found["a.missing"][1] and "missing" not in found


def test_variables_that_differ_come_first():
    described = {engine: {"n": ("int", "10", "d"), "rank": ("int", str(engine), f"r{engine}"),
                          "model": ("Model", "<Model object>", None)} for engine in (0, 1)}  # fmt: skip
    described[1]["only"] = ("str", "'x'", "o")
    assert Comparison(described).plain().splitlines() == [
        "differs  [0]            [1]",
        "only     (not defined)  'x'",
        "rank     0              1",
        "",
        "equal  [0,1]",
        "n      10",
        "",
        "not compared  [0,1]",
        "model         <Model object>"]  # fmt: skip
    html = Comparison(described).html()
    assert html.index("only") < html.index("rank") < html.index("equal") and "&lt;Model object&gt;" in html


def test_many_engines_are_grouped_by_value():
    described = {engine: {"x": ("float", "nan" if engine == 63 else "0.5", str(engine == 63)),
                          "rank": ("int", str(engine), str(engine))} for engine in range(64)}  # fmt: skip
    assert Comparison(described).plain().splitlines() == [
        "differs  values",
        "rank     [0] 0; [1] 1; [2] 2; [3] 3; [4] 4; [5] 5; 58 other values",
        "x        [0-62] 0.5; [63] nan"]  # fmt: skip


def test_nothing_defined_is_told():
    assert Comparison({0: {}, 1: {}}).plain() == "engines 0,1 have no variables"
    assert "have no variables" in Comparison({0: {}}).html()


def test_engines_are_named_as_in_the_output_of_cells():
    assert name_engines([3, 0, 1]) == "0,1,3" and name_engines([0, 1, 2, 3, 7]) == "0-3,7"
