"""Pieces of HTML for displays in notebooks. All text in them is escaped."""

from __future__ import annotations

from html import escape

__all__ = ["age", "bytes_text", "paragraph", "table"]

_MOST_CHARACTERS = 500  # in a cell of a table


def age(seconds: float) -> str:
    """Returns a duration as text: "12 s", "3 min 20 s", "2 h 5 min"."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def bytes_text(count: float) -> str:
    """Returns an amount of memory as text: "128 MiB", "12.5 GiB"."""
    mebibytes = count / (1 << 20)
    return f"{mebibytes:.0f} MiB" if mebibytes < 10_000 else f"{mebibytes / 1024:.1f} GiB"


def paragraph(text: str) -> str:
    """Returns the HTML of one paragraph."""
    return f"<p>{escape(text)}</p>"


def table(heads: list[str], rows: list[list[str]]) -> str:
    """Returns the HTML of a table of strings. Long strings are shortened."""

    def row(tag, cells):
        shown = (each if len(each) <= _MOST_CHARACTERS else each[:_MOST_CHARACTERS] + "..." for each in cells)
        return "<tr>" + "".join(f"<{tag}>{escape(each)}</{tag}>" for each in shown) + "</tr>"

    body = "".join(row("td", each) for each in rows)
    return f"<table><thead>{row('th', heads)}</thead><tbody>{body}</tbody></table>"
