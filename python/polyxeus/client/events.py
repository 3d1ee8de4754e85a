"""The events that a cluster's controller has recorded."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from typing import Any

from polyxeus.client.engine_rows import EngineSentences
from polyxeus.results.metadata import parse_date

__all__ = ["ClusterEvents", "date_text"]


class ClusterEvents(EngineSentences):
    """A sequence of dicts, one for each event, oldest first.

    The sequence is printed as the lines that `pxcluster events` shows.

    Client.events() returns it. Each dict has the keys time (a UTC date as a string), kind, engine, host, and text (a
    sentence). The kind is "started", "joined", "silent", "back", "drained", "resumed", "left", "died", "ending",
    "broken", "retried", "overloaded", "journal", "stopping" or "stopped". The values of `engine` and `host` are None if
    the event does not concern an engine.

    Parameters
    ----------
    events : list of dict
        The events.
    """

    def __init__(self, events: list[dict[str, Any]]) -> None:
        super().__init__(json.dumps(events), [_line_of(each) for each in events])


def _line_of(event):
    who = ""
    if event.get("engine") is not None:
        host = f" ({event['host']})" if event.get("host") else ""
        who = f"engine {event['engine']}{host}: "
    time = event.get("time", "")[:19].replace("T", " ")
    return f"{time}Z  {event.get('kind', ''):<10}  {who}{event.get('text', '')}"


def date_text(since: Any) -> str | None:
    """Returns a date as the string that the controller expects; None if `since` is None.

    since  a date, a string with an ISO date, or a number of seconds before now
    """
    if since is None:
        return None
    if isinstance(since, (int, float)) and not isinstance(since, bool):
        since = datetime.now(timezone.utc) - timedelta(seconds=since)
    since = parse_date(since)
    if isinstance(since, str):
        raise ValueError(f"since must be a date, seconds or ISO text, not {since!r:.80}")
    if not isinstance(since, datetime):
        raise TypeError(f"since must be a date, seconds or ISO text, not {since!r:.80}")
    utc = since.astimezone(timezone.utc) if since.tzinfo else since.replace(tzinfo=timezone.utc)
    return utc.isoformat().replace("+00:00", "Z")
