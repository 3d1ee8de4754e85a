"""The engines of a cluster as a table in a notebook."""

from __future__ import annotations

from typing import Any

from polyxeus.results.html_parts import age, bytes_text, paragraph, table

__all__ = ["engines_html", "look_at_engines"]

_MOST_ROWS = 200
_PATIENCE = 0.5  # seconds, for the controller and then for the engines: a repr takes a second at most
_HEADS = ["ENGINE", "HOST", "RANK", "PID", "GPU", "STATE", "SINCE", "QUEUE", "MEMORY", "RUNS"]


def look_at_engines(client: Any) -> list[dict[str, Any]]:
    """Returns the state of each engine as Client.status() does, but waits for no longer than about
    one second.

    Raises no exception: if the controller does not answer, the result contains the engines that the client knows, all
    with the state "no answer".
    """
    try:
        if not client._closed:
            return list(client._status(_PATIENCE, _PATIENCE))
    except Exception:  # e.g. the controller does not answer, or the last engine has just left
        return [{"engine": engine_id, "state": "no answer"} for engine_id in client.ids]
    return []


def engines_html(rows: list[dict[str, Any]], ids: list[int] | None = None) -> str:
    """Returns the table of engines as HTML, including engines that do not answer.

    rows  the result of look_at_engines()
    ids   the engines to show, in this order; they may have left. None means all engines
    """
    if ids is not None:
        known = {row["engine"]: row for row in rows}
        rows = [known.get(each, {"engine": each, "state": "not there"}) for each in ids]
    if not rows:
        return ""
    shown = [_cells(row) for row in rows[:_MOST_ROWS]]
    heads = _HEADS
    if not any(row.get("gpus") for row in rows):
        place = heads.index("GPU")
        heads = [*heads[:place], *heads[place + 1 :]]
        shown = [[*cells[:place], *cells[place + 1 :]] for cells in shown]
    left = len(rows) - len(shown)
    notes = dict.fromkeys(row["world_broken"] for row in rows if row.get("world_broken"))
    more = [f"... and {left} more engines"] if left else []
    return table(heads, shown) + "".join(map(paragraph, [*more, *notes]))


def state_of(row: dict[str, Any]) -> str:
    """Returns the state of an engine as text, such as "busy", "no answer for 12 s" or "lost 20 s
    ago: its process was killed by SIGKILL"."""
    silent = row.get("silent_for")
    if row["state"] == "lost":
        why = f": {row['why_lost']}" if row.get("why_lost") else ""
        return f"lost {age(silent)} ago{why}" if silent is not None else f"lost{why}"
    if row["state"] == "no answer" and silent is not None:
        return f"no answer for {age(silent)}"
    return row["state"]


def _cells(row):
    def text(key, form=str):
        value = row.get(key)
        return "-" if value is None else form(value)

    return [
        text("engine"), text("host"), text("rank"), text("pid"), text("gpus"), state_of(row),
        text("runs_for", age), text("queue"), text("memory", bytes_text), row.get("runs") or "",
    ]  # fmt: skip
