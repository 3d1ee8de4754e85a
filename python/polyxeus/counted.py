"""Numbers in sentences."""

from __future__ import annotations

import re
from typing import Iterable

__all__ = ["counted", "engine_names", "ranges", "read_ranges"]

_RANGE = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")
_MOST_ENGINES = 100_000  # in a range, so that a typing error does not fill the memory


def counted(count: int, word: str) -> str:
    """Returns a number and a word as text: "1 engine", "1,204 engines". The word gets an s in the plural."""
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def ranges(numbers: list[int]) -> str:
    """Returns ascending numbers as text like "0-3,5": three or more consecutive numbers become a range."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    short = [[f"{run[0]}-{run[-1]}"] if len(run) > 2 else map(str, run) for run in runs]
    return ",".join(each for run in short for each in run)


def engine_names(numbers: Iterable[int]) -> str:
    """Returns the engines with these ids as text: "engine 3", "engines 0-3,5"."""
    ids = sorted(numbers)
    return f"engine{'' if len(ids) == 1 else 's'} {ranges(ids)}"


def read_ranges(text: str) -> list[int]:
    """Returns the numbers that a string like "0-3,5" or "0 2" names, each once, in the order of the string.

    read_ranges() is the inverse of ranges().

    errors  ValueError: an item is not a number or a range, or a range counts backwards or is too long.
    """
    numbers: dict[int, None] = {}
    for item in text.replace(",", " ").split():
        found = _RANGE.fullmatch(item)
        if found is None:
            raise ValueError(f"{item!r} names no engines: write them like 2 or 0-3,5")
        first, last = int(found[1]), int(found[2] or found[1])
        if last < first:
            raise ValueError(f"{item!r} counts backwards: write the lower number first, `{last}-{first}`")
        if last - first >= _MOST_ENGINES:
            raise ValueError(f"{item!r} names more than {_MOST_ENGINES} engines: write fewer, or `all`")
        numbers.update(dict.fromkeys(range(first, last + 1)))
    return list(numbers)
