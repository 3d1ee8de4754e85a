"""Numbers in sentences."""

import pytest
from polyxeus.counted import counted, engine_names, ranges, read_ranges


@pytest.mark.parametrize("count, text", [(0, "0 engines"), (1, "1 engine"), (4, "4 engines"), (1204, "1,204 engines")])
def test_the_word_follows_the_number(count, text):
    assert counted(count, "engine") == text


@pytest.mark.parametrize("ids, text", [([3], "engine 3"), ([1, 0], "engines 0,1"), ([7, 1, 0, 2], "engines 0-2,7")])
def test_engines_are_named_in_short(ids, text):
    assert engine_names(ids) == text


def test_ranges_are_read_as_they_are_written():
    assert read_ranges("5,0-2 7,1") == [5, 0, 1, 2, 7]
    assert read_ranges(ranges([0, 1, 2, 3, 5, 7, 8])) == [0, 1, 2, 3, 5, 7, 8]


@pytest.mark.parametrize("text, said", [
    ("3-0", "'3-0' counts backwards: write the lower number first, `0-3`"),
    ("0-999999999", "'0-999999999' names more than 100000 engines")])  # fmt: skip
def test_a_wrong_range_is_refused(text, said):
    with pytest.raises(ValueError, match=said):
        read_ranges(text)
