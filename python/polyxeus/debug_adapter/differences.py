"""Compares ranks that have stopped in the same function, and finds the variables that differ."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from polyxeus.counted import ranges

__all__ = ["Difference", "differences", "fold"]

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")
MISSING = "not defined"


class Difference(NamedTuple):
    """A variable that has different values on different ranks."""

    name: str
    value: str  # "0-2: 4 | 3: 5"
    by_rank: dict[int, dict[str, Any]]  # by engine: the protocol's Variable; engines without this variable are left out


def fold(texts: dict[int, str]) -> list[tuple[str, str]]:
    """Returns [(ranks, text)]: each text once, with the ranks that have this text. The text of the lowest rank comes
    first."""
    ranks_of: dict[str, list[int]] = {}
    for rank in sorted(texts):
        ranks_of.setdefault(texts[rank], []).append(rank)
    return [(ranges(ranks), text) for text, ranks in ranks_of.items()]


def differences(variables: dict[int, list[dict[str, Any]]]) -> list[Difference]:
    """Returns the variables that do not have the same value on all of these engines, in the order of their first
    appearance.

    Addresses in values, as in `<solver.Mesh object at 0x7f0c>`, are not compared.
    """
    names = dict.fromkeys(each["name"] for listed in variables.values() for each in listed)
    found = []
    for name in names:
        by_rank = {rank: each for rank, listed in variables.items() for each in listed if each["name"] == name}
        shown = {rank: by_rank[rank]["value"] if rank in by_rank else MISSING for rank in variables}
        if len({_ADDRESS.sub("0x", value) for value in shown.values()}) > 1:
            found.append(Difference(name, " | ".join(f"{who}: {text}" for who, text in fold(shown)), by_rank))
    return found
