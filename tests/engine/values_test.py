"""Values in messages: each in the first form that the receiver reads and that keeps its meaning."""

import datetime
import json
import math
import sys

import numpy as np
import pytest

from polyxeus.serialize import values
from polyxeus.serialize.values import FORMS, NO_PICKLE


def received(buffers):
    """As they come out of a socket: small ones immutable."""
    return [
        bytes(each) if memoryview(each).nbytes < 4096 else memoryview(bytearray(each))
        for each in buffers
    ]


def travel(value, accepts=FORMS, snapshot=0):
    """(the form, the value on the other side)"""
    buffers = []
    description = values.encode(value, accepts, buffers, snapshot)
    description = json.loads(json.dumps(description, allow_nan=False))
    return next(iter(description)), values.decode(description, received(buffers))


def same(a, b):
    return type(a) is type(b) and a.dtype == b.dtype and a.shape == b.shape and (a == b).all()


@pytest.mark.parametrize("value", [None, True, False, 0, -(2**63), 2**63 - 1, 0.1, -0.0, "", "ü€😀"])
def test_plain_values_are_json(value):
    form, there = travel(value)
    assert (form, there, type(there)) == ("json", value, type(value))


@pytest.mark.parametrize(
    "value",
    [2**63, "\ud800", [1, 2], (1, 2), {"a": 1}, {1: 2}, {3}, 1j, datetime.date(2026, 1, 2), len,
     np.float32(1.5), np.datetime64("2026-01-02"), bytearray(b"x"), range(3)],
)  # fmt: skip
def test_all_else_is_pickled_for_python(value):
    form, there = travel(value)
    assert (form, there, type(there)) == ("pickle", value, type(value))


def test_bytes_stay_bytes():
    for value in (b"", b"abc", bytes(100_000)):
        assert travel(value) == ("bytes", value)


arrays = {
    "a scalar": np.array(2.5),
    "empty": np.zeros((0, 3)),
    "not contiguous": np.arange(100)[::3],
    "Fortran order": np.asfortranarray(np.arange(12.0).reshape(3, 4)),
    "bool": np.array([True, False]),
    "complex": np.array([1j, 2]),
    "dates": np.array(["2026-01-02", "NaT"], "M8[ns]"),
    "durations": np.array([1, 2], "m8[s]"),
    "text": np.array(["a", "bcü"]),
    "bytes": np.array([b"a", b"bc"]),
    "half": np.arange(3, dtype="f2"),
    "long double": np.arange(3, dtype="g"),
    "large": np.arange(30_000.0).reshape(100, 300),
    "large, not contiguous": np.arange(30_000.0).reshape(100, 300).T,
}


@pytest.mark.parametrize("accepts", [FORMS, NO_PICKLE], ids=["with pickles", "without"])
@pytest.mark.parametrize("name", arrays)
def test_arrays_keep_type_shape_and_elements(name, accepts):
    form, there = travel(arrays[name], accepts)
    assert form == "array"
    equal = np.array_equal(there, arrays[name], equal_nan=there.dtype.kind in "mM")
    assert equal and there.dtype == arrays[name].dtype and there.shape == arrays[name].shape
    assert there.flags.writeable and there.flags.c_contiguous and there.flags.aligned


def test_large_arrays_are_not_copied():
    array = np.zeros(10_000)
    buffers = []
    description = values.encode(array, FORMS, buffers)
    array[5] = 7
    there = values.decode(description, buffers)
    assert there[5] == 7 and np.shares_memory(there, array)


def test_a_snapshot_does_not_change_any_more():
    array, inside = np.zeros(10_000), [np.zeros(10_000)]
    buffers = []
    descriptions = [
        values.encode(each, FORMS, buffers, snapshot=math.inf) for each in (array, inside)
    ]
    array[5] = inside[0][5] = 7
    assert values.decode(descriptions[0], buffers)[5] == 0
    assert values.decode(descriptions[1], buffers)[0][5] == 0


@pytest.mark.parametrize("value", [np.zeros(10_000), [np.zeros(10_000)]])
def test_what_the_caller_copies_at_once_is_not_copied_before(value):
    array = value if isinstance(value, np.ndarray) else value[0]
    for copied_from, is_shared in ((80_000, True), (80_001, False)):
        buffers = []
        values.encode(value, FORMS, buffers, snapshot=copied_from)
        large = [each for each in buffers if memoryview(each).nbytes >= 80_000]
        assert np.shares_memory(np.frombuffer(large[0], np.uint8), array) == is_shared


def test_other_byte_orders_are_converted_for_those_who_read_no_pickles():
    big = np.arange(5, dtype=">i4")
    assert travel(big)[0] == "pickle"
    form, there = travel(big, NO_PICKLE)
    assert form == "array" and there.dtype == np.dtype("<i4") and (there == big).all()


def test_arrays_in_containers_travel_beside_the_pickle_and_are_writable():
    value = {"a": [np.arange(10_000.0)], "b": np.arange(3)}
    buffers = []
    description = values.encode(value, FORMS, buffers)
    assert [memoryview(each).nbytes for each in buffers[1:]] == [80_000]
    there = values.decode(description, received(buffers))
    assert same(there["a"][0], value["a"][0]) and same(there["b"], value["b"])
    there["a"][0][0] = there["b"][0] = 9


def test_structured_and_object_arrays_are_pickled_or_refused():
    for array in (np.zeros(2, [("x", "f8"), ("n", "i4")]), np.array([1, "a", None], object)):
        assert travel(array)[0] == "pickle"
        with pytest.raises(TypeError, match="an ndarray of .* dtype of fixed size"):
            travel(array, NO_PICKLE)


@pytest.mark.parametrize(
    "value, there",
    [
        ([1, (2.5, None), {"a": [True]}], [1, [2.5, None], {"a": [True]}]),
        (np.float32(1.5), 1.5),
        (np.int64(3), 3),
        (np.bool_(True), True),
        (np.str_("x"), "x"),
        ([np.int8(1), np.array(2.5)], [1, 2.5]),
    ],
)
def test_what_json_can_say_is_json_for_those_who_read_no_pickles(value, there):
    assert travel(value, NO_PICKLE) == ("json", there)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), np.float64("nan"), 1j])
def test_numbers_that_json_cannot_say_become_arrays_of_one_element(value):
    form, there = travel(value, NO_PICKLE)
    assert (form, there.shape) == ("array", ())
    assert np.array_equal(there, value, equal_nan=True)


def test_dates_of_numpy_become_arrays_of_one_element():
    form, there = travel(np.datetime64("2026-01-02"), NO_PICKLE)
    assert (form, there.dtype) == ("array", np.dtype("M8[D]"))


def test_numbers_are_arrays_where_only_arrays_are_read():
    assert travel(3, ["array"])[1] == 3
    with pytest.raises(TypeError, match="a str cannot be sent as array"):
        travel("x", ["array"])


@pytest.mark.parametrize(
    "value, words",
    [
        ([1, {"a": {2}}], r"a set, found at \[1\]\['a'\], .* use only numbers"),
        ({"a": float("nan")}, r"the float nan, found at \['a'\], .* send an array instead"),
        ([[1], np.zeros(3)], r"an ndarray, found at \[1\], .*\(\.tolist\(\)\)"),
        ({1: 2}, "a dict with an int as a key"),
        (2**64, "the int 18446744073709551616.* 64 bits"),
        ("\ud800", "a str with lone surrogates"),
        (object(), "an object cannot be sent without a pickle"),
    ],
)
def test_what_has_no_form_is_named_with_its_place_and_what_to_do(value, words):
    with pytest.raises(TypeError, match=words):
        travel(value, NO_PICKLE)


def test_what_cannot_be_pickled_is_named():
    with pytest.raises(TypeError, match="a generator cannot be pickled"):
        travel(x for x in ())


@pytest.mark.parametrize(
    "description",
    [None, 3, {}, {"json": 1, "bytes": 0}, {"dance": 1}, {"bytes": 5}, {"bytes": -1},
     {"bytes": True}, {"pickle": []}, {"pickle": 0}, {"array": 3}, {"array": {"dtype": "<f8"}},
     {"array": {"dtype": "<f8", "shape": [3], "buffer": 0}},
     {"array": {"dtype": "O", "shape": [1], "buffer": 0}},
     {"array": {"dtype": "<f8", "shape": [-1], "buffer": 0}},
     {"array": {"dtype": "nonsense", "shape": [1], "buffer": 0}},
     {"array": {"dtype": "<f8", "shape": "x", "buffer": 0}},
     {"array": {"dtype": "<f8", "shape": [1 << 62, 8], "buffer": 0}},
     {"reference": "x"}],
)  # fmt: skip
def test_a_bad_description_is_a_value_error(description):
    with pytest.raises(ValueError):
        values.decode(description, [bytes(8)])


def test_a_pickle_of_a_missing_module_says_what_is_missing():
    data = b"cmissing_module_of_mine\nthing\n."
    with pytest.raises(ModuleNotFoundError, match="missing_module_of_mine.* install it here"):
        values.decode({"pickle": [0]}, [data])


def test_numpy_is_asked_for_where_it_is_missing(monkeypatch):
    description = {"array": {"dtype": "<f8", "shape": [1], "buffer": 0}}
    monkeypatch.setitem(sys.modules, "numpy", None)
    with pytest.raises(ImportError, match="pip install numpy"):
        values.decode(description, [bytes(8)])
    assert travel([1, "a"], NO_PICKLE) == ("json", [1, "a"])


def results(items, accepts=NO_PICKLE):
    buffers = []
    description = values.encode_results(items, accepts, buffers, snapshot=math.inf)
    return next(iter(description)), values.decode(description, received(buffers))


def test_results_that_are_numbers_of_one_type_become_one_array():
    form, there = results([1.5, 2.5])
    assert form == "array" and same(there, np.array([1.5, 2.5]))
    assert same(results([1, 2])[1], np.array([1, 2]))
    assert same(results([np.float32(1)])[1], np.array([1], "f4"))
    assert same(results([np.zeros(3), np.ones(3)])[1], np.array([np.zeros(3), np.ones(3)]))


def test_results_of_several_types_stay_a_list():
    assert results([1, 2.5]) == ("json", [1, 2.5])
    assert results([]) == ("json", [])
    assert results(["a", "b"]) == ("json", ["a", "b"])
    assert results([1, 2], ["json"]) == ("json", [1, 2])


def test_results_for_python_keep_their_types():
    assert results([1.5, 2.5], FORMS) == ("pickle", [1.5, 2.5])
