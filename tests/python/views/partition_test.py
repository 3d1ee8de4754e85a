"""How sequences are cut for engines and joined again, without a cluster."""

from pathlib import Path

import numpy
import pandas
import pytest
from polyxeus.views.joining import can_join, join
from polyxeus.views.partition import by_color, dists

VECTOR_FILE = Path(__file__).parents[2] / "partition_vectors.txt"
VECTORS = [line.split(":") for line in VECTOR_FILE.read_text().splitlines()
           if not line.startswith("#")]


@pytest.mark.parametrize("numbers, sizes", VECTORS)
def test_the_first_blocks_are_longer_by_one_as_in_cpp(numbers, sizes):
    count, engines = map(int, numbers.split())
    parts = parts_of(list(range(count)), "b", engines)
    assert [len(part) for part in parts] == list(map(int, sizes.split()))
    assert sum(parts, []) == list(range(count))


def parts_of(whole, dist, engines):
    cutter = dists[dist]()
    return [cutter.getPartition(whole, index, engines) for index in range(engines)]


FRAME = pandas.DataFrame({"n": range(10), "name": list("abcdefghij")})
WHOLES = {
    "a list": list(range(10)),
    "a range": range(10),
    "an array of rows": numpy.arange(20.0).reshape(10, 2),
    "a masked array": numpy.ma.masked_greater(numpy.arange(10), 4),
    "a data frame": FRAME,
    "a frame whose index is of floats": FRAME.set_index(numpy.linspace(3.0, 0.0, 10)),
    "a column": FRAME["name"].astype("category"),
    "an index": pandas.date_range("2026-01-01", periods=10),
}


@pytest.mark.parametrize("dist", ["b", "r"])
@pytest.mark.parametrize("engines", [1, 3, 4, 12])
@pytest.mark.parametrize("kind", WHOLES)
def test_parts_are_joined_to_what_was_cut(kind, engines, dist):
    whole = WHOLES[kind]
    back = join(parts_of(whole, dist, engines), is_dealt=dist == "r")
    assert type(back) is (list if kind == "a range" else type(whole))
    if hasattr(whole, "equals"):
        assert back.equals(whole)
    else:
        numpy.testing.assert_array_equal(back, whole)
    if isinstance(whole, numpy.ma.MaskedArray):
        assert list(back.mask) == list(whole.mask)


def test_ranges_are_joined_with_lists_that_engines_made_of_them():
    assert join([range(2), [20, 30], (4,)]) == [0, 1, 20, 30, 4]


def test_parts_keep_the_wider_of_their_types():
    parts = [numpy.array([1, 2]), numpy.array([0.5])]
    assert list(join(parts)) == [1.0, 2.0, 0.5]
    assert list(join(parts, is_dealt=True)) == [1.0, 0.5, 2.0]


@pytest.mark.parametrize("part", [3, "text", {"a": 1}, None, numpy.array(1.0)])
def test_values_that_are_no_sequences_stay_a_list(part):
    assert not can_join(part)
    assert join([part, part]) == [part, part]


@pytest.mark.parametrize("parts, why", [
    ([[1], 2], "cannot join parts of the types list and int: use pull() instead of gather()"),
    ([FRAME, 2], "cannot join parts of the types DataFrame and int: use pull() instead of gather()"),
    ([numpy.ones((1, 2)), numpy.ones((1, 3))],
     "cannot join arrays of the shapes (1, 2) and (1, 3): use pull() instead of gather()"),
])  # fmt: skip
def test_parts_that_do_not_fit_together_are_named(parts, why):
    with pytest.raises((TypeError, ValueError)) as caught:
        join(parts)
    assert str(caught.value) == why


class StandardArray:
    """Has only what the array API standard demands of arrays, as JAX's do."""

    def __init__(self, values):
        self.values = numpy.asarray(values)
        self.shape, self.ndim = self.values.shape, self.values.ndim

    def __len__(self):
        return len(self.values)

    def __array_namespace__(self):
        return StandardNamespace


class StandardNamespace:
    @staticmethod
    def concat(arrays):
        return StandardArray(numpy.concatenate([each.values for each in arrays]))

    @staticmethod
    def asarray(values):
        return StandardArray(values)

    @staticmethod
    def take(array, indices, *, axis):
        assert isinstance(indices, StandardArray), "the standard takes an array of indices"
        return StandardArray(array.values.take(indices.values, axis))


@pytest.mark.parametrize("is_dealt", [False, True])
def test_arrays_of_other_libraries_are_joined_as_the_array_standard_says(is_dealt):
    whole = numpy.arange(14).reshape(7, 2)
    parts = [whole[i::3] for i in range(3)] if is_dealt else [whole[:3], whole[3:5], whole[5:]]
    joined = join([StandardArray(part) for part in parts], is_dealt)
    assert type(joined) is StandardArray and joined.values.tolist() == whole.tolist()


def test_arrays_of_two_libraries_are_not_joined():
    with pytest.raises(TypeError, match="cannot join parts of the types StandardArray and ndarray: use pull"):
        join([StandardArray([1, 2]), numpy.array([3])])


def test_engines_are_split_by_their_colors():
    assert by_color([4, 2, 7, 5], ["b", "a", "b", None]) == {"b": [4, 7], "a": [2]}
    assert by_color([4, 2, 7], lambda engine: engine % 2) == {0: [4, 2], 1: [7]}


def test_each_engine_needs_a_color():
    with pytest.raises(ValueError, match="for each of the 3 engines, not 2"):
        by_color([0, 1, 2], "ab")
