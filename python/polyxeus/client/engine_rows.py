"""Sequences with data about each engine of a cluster."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from typing import Any, overload


class EngineRows(Sequence):
    """A sequence with one dict for each engine. Subclasses define how the sequence is printed."""

    def __init__(self, rows: str) -> None:
        """rows  a list of objects, as JSON text"""
        self._rows = json.loads(rows)

    @overload
    def __getitem__(self, index: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, index: slice) -> list[dict[str, Any]]: ...
    def __getitem__(self, index):
        return self._rows[index]

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self):
        return str(self)


class EngineSentences(EngineRows):
    """A sequence of dicts, one for each engine. The sequence is printed as sentences. In HTML, each
    sentence is a line."""

    def __init__(self, rows: str, sentences: list[str]) -> None:
        super().__init__(rows)
        self._sentences = sentences

    def __str__(self):
        return "\n".join(self._sentences)

    def _repr_html_(self):
        return "".join(f"<div>{html.escape(sentence)}</div>" for sentence in self._sentences)
