"""The requests that clients have submitted, as the controller has recorded them."""

from __future__ import annotations

import html

from polyxeus.client.engine_rows import EngineRows

__all__ = ["Jobs"]


class Jobs(EngineRows):
    """A sequence of dicts, one for each call, printed as a table. A call may run on several engines.

    Client.jobs() returns it. Each dict has the keys msg_ids, engines, session (of the client), user, kind, text (the
    first line of the code, or the name of the function), label and submitted (a date as text). The values of the keys
    running, waiting, done and failed are the numbers of the call's requests in these states.

    Parameters
    ----------
    rows : str
        A list of objects as JSON text.
    text : str
        The text that is printed.
    """

    def __init__(self, rows: str, text: str) -> None:
        super().__init__(rows)
        self._text = text

    def __str__(self):
        return self._text.rstrip("\n")

    def _repr_html_(self):
        return f"<pre>{html.escape(str(self))}</pre>"
