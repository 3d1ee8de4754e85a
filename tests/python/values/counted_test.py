"""Numbers in sentences."""

import pytest
from polyxeus.counted import counted


@pytest.mark.parametrize("count, text", [(0, "0 engines"), (1, "1 engine"), (4, "4 engines"), (1204, "1,204 engines")])
def test_the_word_follows_the_number(count, text):
    assert counted(count, "engine") == text
