"""The hosts, ranks, cores, GPUs and thread limits of a cluster's engines."""

from __future__ import annotations

from typing import Any

from polyxeus.client.engine_rows import EngineRows
from polyxeus.results.html_parts import table

__all__ = ["ClusterTopology"]

_HEADS = ["ENGINE", "HOST", "RANK", "PID", "CORES", "SOCKET", "NUMA", "GPU", "THREADS"]


class ClusterTopology(EngineRows):
    """A sequence of dicts, one for each engine, grouped by host.

    The sequence is printed as a table.

    Client.topology() returns it. Each dict has these keys:

    * engine, host, rank (in its MPI world), pid
    * cores: the numbers of the logical cores that the engine was allowed to use when it started. If this list, as text
      ("0,4,8,..."), is longer than 96 characters, it has only the first cores
    * sockets, numa_nodes: the numbers of the sockets and NUMA nodes of these cores
    * gpus: which of the host's GPUs the engine uses: "0", "2,3" or "all 4"
    * threads: the variables in the engine's environment that limit the threads of libraries: ``{"OMP_NUM_THREADS": "2",
      ...}``

    Values that are not known are None, or empty.

    Parameters
    ----------
    facts : dict
        Maps the id of each engine to the data that the engine reports about itself.

    Attributes
    ----------
    hosts : dict
        Maps the name of each host to the ids of its engines: ``{"node1": [0, 1], "node2": [2, 3]}``.
    """

    def __init__(self, facts: dict[int, dict[str, Any]]) -> None:
        rows = [_row(engine, facts[engine]) for engine in sorted(facts)]
        self._texts = {engine: facts[engine].get("cores", "") for engine in facts}
        self.hosts: dict[str | None, list[int]] = {}
        for row in rows:
            self.hosts.setdefault(row["host"], []).append(row["engine"])
        place = {host: number for number, host in enumerate(self.hosts)}
        self._rows = sorted(rows, key=lambda row: place[row["host"]])

    def _cells(self):
        return [
            [
                str(row["engine"]), _text(row["host"]), _text(row["rank"]), _text(row["pid"]),
                _text(self._texts[row["engine"]]), _joined(row["sockets"]), _joined(row["numa_nodes"]),
                _text(row["gpus"]), _threads_text(row["threads"]),
            ]
            for row in self._rows
        ]  # fmt: skip

    def __str__(self):
        lines = [_HEADS, *self._cells()]
        widths = [max(map(len, column)) for column in zip(*lines)]
        return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)

    def _repr_html_(self):
        return table(_HEADS, self._cells())


def _row(engine, facts):
    return {
        "engine": engine, "host": facts.get("host"), "rank": facts.get("rank"), "pid": facts.get("pid"),
        **{key: _numbers(facts.get(key, "")) for key in ("cores", "sockets", "numa_nodes")},
        "gpus": facts.get("gpus"), "threads": _variables(facts.get("threads", "")),
    }  # fmt: skip


def _numbers(text):
    """Returns a list of the numbers in a string such as "0-3,8". "..." at the end of the string is
    ignored."""
    numbers = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        if first.isdigit():
            numbers += range(int(first), int(last or first) + 1)
    return numbers


def _variables(text):
    """Returns {name of the environment variable: value} for a string such as "OMP=2 NUMBA=2"."""
    pairs = (word.partition("=") for word in text.split())
    return {f"{name}_NUM_THREADS": value for name, _, value in pairs}


def _threads_text(threads):
    """Returns the value, as text, if all variables have the same value; else each variable with its
    name and value."""
    if len(set(threads.values())) == 1:
        return next(iter(threads.values())) or "-"
    return " ".join(f"{name.removesuffix('_NUM_THREADS')}={value}" for name, value in threads.items()) or "-"


def _joined(numbers):
    return _text(",".join(map(str, numbers)))


def _text(value):
    return "-" if value is None or value == "" else str(value)
