"""The state of each engine of a cluster, at one moment."""

from __future__ import annotations

import html

from polyxeus.client.engine_rows import EngineRows, EngineSentences
from polyxeus.results.html_parts import paragraph

__all__ = ["ClusterMemory", "ClusterStatus"]

_MOST_ROWS = 200  # the largest number of rows in HTML


class ClusterStatus(EngineRows):
    """A sequence of dicts, one for each engine, printed as the table that `pxcluster status` shows.

    Client.status() returns it. Each dict has these keys:

    * engine, host, rank, pid, language
    * state: "idle", "busy", "no answer", or "lost". A lost engine has ended although no command ended it, and no new
      engine has got its id
    * silent_for: the time since the engine's last message (for a lost engine: since it was lost); why_lost: the reason
      why the engine was lost
    * runs: the first line of the code that runs, or the name of the function; runs_for: for how long it has run;
      msg_id: the id of its request; queue: the number of requests that wait
    * memory (bytes), cpu (seconds of processor time), gpus (which of the host's GPUs the engine uses: "0", "2,3" or
      "all 4")
    * mpi ("Open MPI v4.1.4"), mpi_interrupts (whether MPI calls can be interrupted: "on", or "off: " and the reason),
      world_broken (a sentence, if a rank of the engine's MPI world has died)
    * job, job_ends: the batch job in which the engine runs, and when this job ends (seconds since the epoch). These
      keys exist only if engines of the cluster may run in batch jobs
    * measures: the engine's dict in `Client.measures()`

    Times are in seconds. Values that are not known are None.

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
    """A sequence of dicts, one for each host. Each host that has large arrays in shared memory is printed as a line.

    Client.memory() returns it. Each dict has the keys host, bytes (of all segments on the host), free and size (bytes
    of /dev/shm), and segments. A segment holds the large arrays of one message. The dict of a segment has the keys
    bytes, engines (the ids of the engines that have mapped the segment) and client (whether this client has mapped the
    segment).

    Parameters
    ----------
    rows : str
        A list of objects as JSON text.
    text : str
        The text that is printed.
    """

    def __init__(self, rows: str, text: str) -> None:
        super().__init__(rows, text.splitlines() or ["no large arrays are in shared memory"])
