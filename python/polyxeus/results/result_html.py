"""The display of a result in a notebook: the progress of each engine, and the errors."""

from __future__ import annotations

import time
from html import escape
from typing import Any

from polyxeus import error
from polyxeus.counted import counted
from polyxeus.results.html_parts import age, paragraph, table

__all__ = ["how_to_stop", "result_html", "summary_of"]

_MOST_TASKS = 2000  # the largest number of tasks whose states are read one by one
_MOST_ROWS = 100  # the largest number of rows of engines
_MOST_FAILURES = 200  # the largest number of failures that are grouped

how_to_stop = (
    "To stop it: its cancel() aborts what has not begun, and interrupt() of the client interrupts what the engines run."
)


class _Share:
    """The part of a result that comes from one engine."""

    def __init__(self) -> None:
        self.tasks = self.done = self.failed = 0
        self.running: dict[str, Any] | None = None  # the engine's row, while it runs one of the tasks
        self.seconds = 0.0  # the time that the finished tasks ran
        self.failure = ""  # the name of the first exception


def summary_of(result: Any) -> str:
    """Returns a summary of a result: "2 of 4 requests answered, 1 failed, for 3 s"."""
    tasks = result._tasks
    count, answered = len(tasks), tasks.answered()
    parts = [f"{answered:,} of {counted(count, 'request')} answered"]
    if count > _MOST_TASKS:
        return parts[0]
    failed = sum(1 for i in range(count) if tasks.is_answered(i) and tasks.outcome(i)[0] != "ok")
    if failed:
        parts.append(f"{failed} failed")
    known = [tasks.metadata(i) for i in range(count)]
    submitted = [each["submitted"] for each in known if each.get("submitted") is not None]
    if submitted:
        received = [each["received"] for each in known if each.get("received") is not None]
        is_over = answered == count and received
        end = max(received) if is_over else time.time() * 1e6
        parts.append(f"{'in' if is_over else 'for'} {_seconds((end - min(submitted)) / 1e6)}")
    return ", ".join(parts)


def result_html(result: Any, engines: list[dict[str, Any]]) -> str:
    """Returns the whole display: the summary, a bar while the result is pending, a row for each engine, and the errors.

    engines  the state of each engine, as Client.status() returns it; may be empty
    """
    tasks = result._tasks
    is_ready = tasks.is_ready()
    parts = [paragraph(f"{result!r}: {summary_of(result)}")]
    if not is_ready:
        parts.append(f"<progress max='{len(result)}' value='{result.progress}' style='width:20em'></progress>")
    if len(tasks) <= _MOST_TASKS:
        shares = _shares(tasks, engines)
        if len(shares) > 1 or not is_ready:
            parts.append(_table_of(shares, {row["engine"]: row for row in engines}))
    parts.append(_errors_html(result))
    return "".join(parts)


def _shares(tasks, engines):
    """Returns {engine id: the _Share of this engine}. The key None is for tasks whose engine is not known."""
    runs = {row["msg_id"]: row for row in engines if row.get("msg_id")}
    shares: dict[Any, _Share] = {}
    for index in range(len(tasks)):
        known = tasks.metadata(index)
        is_answered = tasks.is_answered(index)
        running = None if is_answered else runs.get(known["msg_id"])
        engine = known.get("engine_id")
        share = shares.setdefault(running["engine"] if running else engine, _Share())
        share.tasks += 1
        if running:
            share.running = running
        if not is_answered:
            continue
        status, _, rest = tasks.outcome(index)
        share.done += 1
        if status != "ok":
            share.failed += 1
            share.failure = share.failure or rest[0]
        if known.get("started") is not None and known.get("completed") is not None:
            share.seconds += max(0.0, (known["completed"] - known["started"]) / 1e6)
    return dict(sorted(shares.items(), key=lambda item: (item[0] is None, item[0])))


def _table_of(shares, engines):
    rows = []
    for engine, share in list(shares.items())[:_MOST_ROWS]:
        name = "not known yet" if engine is None else str(engine)
        done = f"{share.done} of {share.tasks}"
        spent = _seconds(share.seconds) if share.seconds else "-"
        rows.append([name, _state_of(share, engines.get(engine)), done, spent])
    left = len(shares) - len(rows)
    more = paragraph(f"... and {left} more engines") if left else ""
    return table(["ENGINE", "STATE", "DONE", "RAN FOR"], rows) + more


def _state_of(share, engine):
    if share.running:
        for_how_long = share.running.get("runs_for")
        return "running" if for_how_long is None else f"running for {age(for_how_long)}"
    if share.done == share.tasks:
        if not share.failed:
            return "done"
        return f"failed: {share.failure}" if share.tasks == 1 else f"done, {share.failed} failed: {share.failure}"
    if engine is not None and engine["state"] in ("no answer", "lost"):
        return engine["state"]
    return "waiting"


def _errors_html(result):
    entries = []
    tasks = result._tasks
    count = len(tasks)
    if tasks.answered() == 0:
        return ""
    for index in range(min(count, 50 * _MOST_TASKS)):
        if len(entries) == _MOST_FAILURES:
            break
        if tasks.is_answered(index):
            status, _, rest = tasks.outcome(index)
            if status != "ok":
                entries += error.entries_of(result._failure(rest))
    more = "<p>... and maybe more errors</p>" if len(entries) == _MOST_FAILURES else ""
    return error.errors_html(entries) + more


def _seconds(seconds):
    return f"{seconds:.2f} s" if seconds < 10 else escape(age(seconds))
