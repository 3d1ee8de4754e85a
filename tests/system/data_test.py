"""Objects and arrays of every size travel to the engines and back unchanged."""

import hashlib
import os

import ipyparallel as ipp
import numpy as np
import pandas
import pytest


@ipp.interactive
def digest(name):
    import hashlib

    return hashlib.sha256(globals()[name].tobytes()).hexdigest()


MAKES_A_CLOSURE = """
def scale_by(factor):
    def scaled(x):
        return [factor * y for y in x]
    return scaled
"""


@pytest.mark.parametrize("mebibytes", [1, 16, 64])
def test_an_array_is_pushed_and_pulled_unchanged(local_rc, mebibytes):
    array = np.frombuffer(os.urandom(mebibytes * 2**20), dtype="u8")
    view = local_rc[1]
    view.push({"array": array}, block=True)
    assert view.apply_sync(digest, "array") == hashlib.sha256(array).hexdigest()
    assert np.array_equal(view.pull("array", block=True), array)


def test_an_array_is_pushed_to_all_engines(local_rc):
    array = np.random.default_rng(1).normal(size=(1000, 257))
    local_rc[:].push({"array": array}, block=True)
    for copy in local_rc[:].pull("array", block=True):
        assert copy.shape == array.shape and np.array_equal(copy, array)


def test_empty_strided_and_zero_dimensional_arrays_survive(local_rc):
    view = local_rc[0]
    arrays = {
        "empty": np.zeros((0, 3)),
        "strided": np.arange(10_000).reshape(100, 100)[::3, ::-2],
        "scalar": np.array(7.5),
        "text": np.array(["a", "bcd"]),
        "record": np.zeros(300, dtype=[("x", "f8"), ("n", "i4")]),
    }
    view.push(arrays, block=True)
    for name, array in arrays.items():
        back = view.pull(name, block=True)
        assert back.dtype == array.dtype and np.array_equal(back, array), name


def test_objects_of_all_kinds_survive(local_rc):
    kinds = {
        "text": "grüße \U0001f600 \0 end",
        "bytes": bytes(range(256)) * 40,
        "nested": {"a": [1, (2, {3, 4})], "b": {5: None}},
        "number": 2**200,
        "long": list(range(1000)),
    }
    view = local_rc[:]
    view.push(kinds, block=True)
    for name, value in kinds.items():
        assert view.pull(name, block=True) == [value] * 4, name


def test_a_data_frame_survives(local_rc):
    frame = pandas.DataFrame({"n": range(5000), "name": ["x"] * 5000})
    local_rc[0].push({"frame": frame}, block=True)
    assert local_rc[0].pull("frame", block=True).equals(frame)


@pytest.mark.parametrize("length", [0, 1, 3, 4, 5, 1001])
def test_sequences_of_any_length_are_scattered_evenly_and_gathered_in_order(local_rc, length):
    view = local_rc[:]
    whole = list(range(length))
    view.scatter("piece", whole, block=True)
    lengths = [len(piece) for piece in view["piece"]]
    assert max(lengths) - min(lengths) <= 1
    assert view.gather("piece", block=True) == whole


def test_arrays_are_scattered_by_rows(local_rc):
    view = local_rc[:]
    matrix = np.arange(7 * 5.0).reshape(7, 5)
    view.scatter("rows", matrix, block=True)
    assert [rows.shape[1] for rows in view["rows"]] == [5] * 4
    assert np.array_equal(view.gather("rows", block=True), matrix)


def test_a_flat_scatter_gives_each_engine_its_element(local_rc):
    local_rc[:].scatter("mine", [10, 11, 12, 13], flatten=True, block=True)
    assert local_rc[:]["mine"] == [10, 11, 12, 13]


def test_a_reference_is_resolved_on_the_engine(local_rc):
    local_rc[:].scatter("part", range(40), block=True)
    total = local_rc[:].apply_sync(sum, ipp.Reference("part"))
    assert total == [sum(range(10 * n, 10 * n + 10)) for n in range(4)]


def test_an_unknown_name_is_a_name_error_of_the_engine_asked(local_rc):
    with pytest.raises(ipp.RemoteError, match="NameError") as raised:
        local_rc[2].pull("nowhere", block=True)
    assert raised.value.engine_info["engine_id"] == 2


@pytest.mark.parametrize("library", ["dill", "cloudpickle"])
def test_closures_travel_with_another_pickle(local_rc, library):
    view = local_rc[:]
    getattr(view, f"use_{library}")()
    try:
        namespace = {"__name__": "__main__"}  # so it travels by value, and drags no globals along
        exec(MAKES_A_CLOSURE, namespace)
        scaled = namespace["scale_by"](3)
        assert view.apply_sync(scaled, [1, 2]) == [[3, 6]] * 4
    finally:
        view.use_pickle()


def test_remote_and_parallel_functions_run_on_the_engines(local_rc):
    view = local_rc[:]

    @view.remote(block=True)
    @ipp.interactive
    def add(a, b):
        return a + b

    @view.parallel(block=True)
    @ipp.interactive
    def squares(piece):
        return [x * x for x in piece]

    assert add(1, 2) == [3] * 4
    assert list(squares(range(10))) == [x * x for x in range(10)]


def test_direct_maps_keep_the_order_of_any_number_of_items(local_rc):
    square = ipp.interactive(lambda x: x * x)
    for count in (1, 3, 4, 1000):
        assert list(local_rc[:].map_sync(square, range(count))) == [x * x for x in range(count)]


def test_imports_are_made_on_engines_and_client(local_rc):
    view = local_rc[:]
    with view.sync_imports(quiet=True):
        import colorsys
    assert colorsys is not None
    view.execute("black = colorsys.rgb_to_hsv(0, 0, 0)", block=True)
    assert view["black"] == [(0.0, 0.0, 0)] * 4


def test_clear_empties_the_namespace_of_the_engines_asked(local_rc):
    local_rc[:].push({"kept": 1}, block=True)
    local_rc.clear(targets=[0, 1], block=True)
    assert local_rc[[2, 3]]["kept"] == [1, 1]
    with pytest.raises(ipp.CompositeError, match="NameError"):
        local_rc[[0, 1]].pull("kept", block=True)
