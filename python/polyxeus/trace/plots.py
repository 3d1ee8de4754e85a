"""Makes plots as SVG text for a page that needs no other files. All functions are pure."""

from __future__ import annotations

from html import escape
from typing import Iterable, NamedTuple, Sequence

__all__ = ["Bar", "areas", "bars", "legend", "matrix", "rows_of_spans"]

WIDTH = 1000  # the width of a plot without the texts next to it
_LABEL, _ROW, _GAP = 150, 14, 4
_CELL = 16  # the size of a square of a matrix


class Bar(NamedTuple):
    """A row of a bar plot."""

    label: str
    parts: Sequence[tuple[float, str]]  #: (share of the width, colour), from left to right
    text: str = ""  #: the text to the right of the bar


def bars(rows: Sequence[Bar], title: str) -> str:
    """Returns a plot with a bar for each row, one below the other."""
    made = []
    for row, bar in enumerate(rows):
        top, left = row * (_ROW + _GAP), float(_LABEL)
        made.append(_text(0, top, bar.label))
        for share, colour in bar.parts:
            width = max(0.0, share) * (WIDTH - _LABEL)
            made.append(_rect(left, top, width, _ROW, colour))
            left += width
        made.append(_text(left + 5, top, bar.text))
    return _svg(_LABEL + WIDTH, len(rows) * (_ROW + _GAP), made, title)


def rows_of_spans(rows: Sequence[tuple[str, Iterable[tuple[int, int, str]]]], title: str) -> str:
    """Returns a chart that shows when each kind of work ran.

    rows  (label, [(first column, number of columns, colour), ...]); there are WIDTH columns
    """
    made = []
    for row, (label, spans) in enumerate(rows):
        top = row * (_ROW + _GAP)
        made.append(_text(0, top, label))
        made += [_rect(_LABEL + first, top, count, _ROW, colour) for first, count, colour in spans]
    return _svg(_LABEL + WIDTH, len(rows) * (_ROW + _GAP), made, title)


def areas(layers: Sequence[tuple[Sequence[float], str]], title: str, left: str, right: str) -> str:
    """Returns a chart of shares over time, as layers on top of each other.

    layers       [(values, colour), ...], the lowest layer first. Each layer has a value from 0 to 1 for each interval
                 of time; the sum of the values of all layers for one interval is at most 1
    left, right  the labels below the first and the last interval
    """
    height = 120
    count = len(layers[0][0])
    below = [0.0] * count
    made = [f"<path d='M{_LABEL} 0V{height}H{_LABEL + WIDTH}' class='axis'/>", _text(110, 0, "100 %"), _text(110, height - _ROW, "0 %"),
            _text(_LABEL, height, left), _text(_LABEL + WIDTH - 60, height, right)]  # fmt: skip
    for values, colour in layers:
        above = [low + value for low, value in zip(below, values)]
        edge = [*_steps(above, height), *reversed(list(_steps(below, height)))]
        made.append(f"<polygon points='{' '.join(f'{x:.1f},{y:.1f}' for x, y in edge)}' fill='{colour}'/>")
        below = above
    return _svg(_LABEL + WIDTH, height + _ROW, made, title)


def _steps(values, height):
    step = WIDTH / len(values)
    for place, value in enumerate(values):
        y = height * (1 - min(1.0, value))
        yield _LABEL + place * step, y
        yield _LABEL + (place + 1) * step, y


def matrix(labels: Sequence[str], values: dict[tuple[int, int], float], texts: dict[tuple[int, int], str], title: str) -> str:
    """Returns a plot with a square for each (row, column) in `values`. A larger value makes the square darker. The text
    of a square is shown when you point at it."""
    most = max(values.values(), default=0) or 1
    side = len(labels) * _CELL
    made = [f"<rect x='{_LABEL}' y='0' width='{side}' height='{side}' class='frame'/>"]
    made += [_text(0, row * _CELL, label) for row, label in enumerate(labels)]
    for (row, column), value in sorted(values.items()):
        square = f"<rect x='{_LABEL + column * _CELL}' y='{row * _CELL}' width='{_CELL}' height='{_CELL}' class='cell' "
        made.append(f"{square}fill-opacity='{0.1 + 0.9 * value / most:.2f}'><title>{escape(texts[row, column])}</title></rect>")
    return _svg(_LABEL + WIDTH, side, made, title)


def legend(kinds: Iterable[tuple[str, str]]) -> str:
    """Returns the legend of a plot. `kinds` is a list of (text, colour)."""
    return "<p>" + "".join(f"<i style='background:{colour}'></i>{escape(words)}" for words, colour in kinds) + "</p>"


def _text(x, top, text):
    return f"<text x='{x:g}' y='{top + 11:g}'>{escape(text)}</text>" if text else ""


def _rect(x, y, width, height, colour):
    return f"<rect x='{x:.6g}' y='{y}' width='{width:.6g}' height='{height}' fill='{colour}'/>"


def _svg(width, height, made, title):
    return f"<svg viewBox='0 0 {width} {max(1, height)}' role='img' aria-label='{escape(title)}'>{''.join(made)}</svg>"
