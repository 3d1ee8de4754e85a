"""Describes the variables of engines so that they can be compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polyxeus.engine_calls import described_variables

if TYPE_CHECKING:
    from polyxeus.views.direct_view import DirectView

__all__ = ["describe"]


def describe(view: DirectView, expressions: list[str] | None) -> dict[int, dict[str, tuple[str, str, str | None]]]:
    """Returns {engine: {expression: (type, text, digest)}}; engine_calls.described_variables explains the values.

    view         a view whose engines run Python
    expressions  the expressions to describe; None for all variables that the user has defined on the engines
    """
    result = view.apply_async(described_variables.describe, expressions)
    try:
        return dict(zip(view.client._build_targets(view.targets)[1], result.get()))
    except KeyboardInterrupt:
        result.abort()
        raise
