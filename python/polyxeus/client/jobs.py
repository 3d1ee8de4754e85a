"""What clients have submitted, as the controller has it on record."""

from __future__ import annotations

import html

from polyxeus.client.engine_rows import EngineRows

__all__ = ["Jobs"]


class Jobs(EngineRows):
    """One dict for each job: a cell or a call, maybe on several engines. Printed as a table.

    Keys: msg_ids, engines, session (of the client), user, kind, text (the first line of the code,
    the name of the function), label, submitted (a date as text), and the numbers of its requests
    that are running, waiting, done and failed.
    """

    def __init__(self, rows: str, text: str) -> None:
        super().__init__(rows)
        self._text = text

    def __str__(self):
        return self._text.rstrip("\n")

    def _repr_html_(self):
        return f"<pre>{html.escape(str(self))}</pre>"
