"""The state of each engine of a cluster, at one moment."""

from __future__ import annotations

import html

from polyxeus.client.engine_rows import EngineRows, EngineSentences
from polyxeus.results.html_parts import paragraph

__all__ = ["ClusterMemory", "ClusterStatus"]

_MOST_ROWS = 200  # in HTML


class ClusterStatus(EngineRows):
    """A dict for each engine; printed as the table that `pxcluster status` shows.

    Client.status() makes it. Its keys:

    * engine, host, rank, pid, language
    * state: "idle", "busy", "no answer", or "lost": the engine ended although it was not asked to, and no other engine
      has its id
    * silent_for (for a lost engine: since it was lost), why_lost
    * runs: the first line of its code, or the name of its function; runs_for, msg_id, queue
    * memory (bytes), cpu (seconds of processor time), gpus ("0", "2,3" or "all 4" of those of its host)
    * mpi ("Open MPI v4.1.4"), mpi_interrupts (whether MPI calls can be interrupted: "on", or "off: " and why),
      world_broken (a sentence, if a rank of its MPI world has died)
    * measures: the dict of the engine in `Client.measures()`

    Times are seconds. Values that are not known are None.

    Parameters
    ----------
    rows : str
        A list of objects as JSON text.
    table : str
        The text that is printed.
    """

    def __init__(self, rows: str, table: str) -> None:
        super().__init__(rows)
        self._table = table

    def __str__(self):
        return self._table.rstrip("\n")

    def _repr_html_(self):
        table, _, notes = self._table.partition("\n\n")
        head, *lines = table.splitlines()
        starts = [head.index(word) for word in head.split()]
        ends = [*starts[1:], None]

        def row(tag, line):
            cells = (line[start:end].strip() for start, end in zip(starts, ends))
            return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

        shown = [row("td", line) for line in lines[:_MOST_ROWS]]
        left = len(lines) - len(shown)
        below = [*([f"... and {left} more engines"] if left else []), *notes.splitlines()]
        return f"<table>{row('th', head)}{''.join(shown)}</table>{''.join(map(paragraph, below))}"


class ClusterMemory(EngineSentences):
    """A dict for each host; printed as a line for each host that has large arrays in shared memory.

    Client.memory() makes it. Its keys: host, bytes (of all its segments), free and size (bytes of /dev/shm), and
    segments: a list of dicts with bytes, engines (the ids of the engines that have mapped it) and client (whether
    this client has mapped it). A segment holds the large arrays of one message.

    Parameters
    ----------
    rows : str
        A list of objects as JSON text.
    text : str
        The text that is printed.
    """

    def __init__(self, rows: str, text: str) -> None:
        super().__init__(rows, text.splitlines() or ["no large arrays lie in shared memory"])
