"""The two short tables of docs/performance.md, made from the records of several benches."""

from dataclasses import dataclass

from figures import Row
from provenance import check
from tables import number, where_text

PEERS_BENCH = "compare_peers"
COLUMNS = ("polyxeus", "ray", "dask", "mpi4py.futures", "joblib", "ipyparallel")
# what the bench calls a figure: (in words, whether the smallest value is the best)
FIGURES = {
    "start until four workers have answered, imports included": ("start of four workers", True),
    "tasks, each submitted by a separate call": ("tasks, one call for each", False),
    "submit one task and wait for it": ("round trip of one task", True),
    "map of a tiny function, with default settings": ("map of a tiny function", False),
    "64 MiB to one worker": ("64 MiB to one worker", False),
    "the same 64 MiB to all four, sum of the received bytes": ("64 MiB to all four, sum", False),
}


def render_summary(record, source):
    """A line for each figure, a column for each peer, the best value in bold."""
    check(record, source)
    if record.get("failed"):
        return f"**{PEERS_BENCH} failed: {record['failed']}.** {where_text(record)}"
    rows = [Row.from_json(each) for each in record["rows"]]
    lines = [["", *COLUMNS], ["---"] * (len(COLUMNS) + 1)]
    for what, (words, smallest_is_best) in FIGURES.items():
        line = {row.peer: row for row in rows if row.what == what and row.peer in COLUMNS}
        if not line:
            continue
        values = [row.value for row in line.values()]
        best = min(values) if smallest_is_best else max(values)
        unit = next(iter(line.values())).unit
        lines.append([f"{words}, {unit}", *(_cell(line.get(peer), best) for peer in COLUMNS)])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + f"\n\nMedians. {where_text(record)}"


def _cell(row, best):
    if row is None:
        return ""
    return f"**{number(row.value)}**" if row.value == best else number(row.value)


@dataclass(frozen=True)
class Push:
    """One of the figures of a push, and what it measures."""

    bench: str
    what: str
    peer: str
    client: str  # whose client sends
    path: str  # how the bytes reach the engine
    memory: str  # the memory that is written, and what happens between two pushes


PUSHES = [
    Push("compare_ipyparallel", "push of 64 MiB to one engine", "polyxeus", "ipyparallel's, unmodified",
         "Unix sockets and the controller", "new for each hop"),
    Push("arrays_bench", "push to one engine: 64 MiB", "through the controller", "Python, `POLYXEUS_SHARED_MEMORY=0`",
         "Unix sockets and the controller", "new for each hop"),
    Push("far_arrays_bench", "push to one engine", "TCP, encrypted", "Python, as from another host",
         "encrypted stream through the controller", "new for each hop"),
    Push("compare_peers", "64 MiB to one worker", "polyxeus", "Python",
         "shared memory", "the first five arrays of a new cluster, each pulled back and compared"),
    Push("client_bench", "push of 64 MiB to one engine", "Python engines", "C++",
         "shared memory", "the first five arrays of a new cluster, one push after another"),
    Push("arrays_bench", "push to one engine: 64 MiB", "shared memory", "Python",
         "shared memory", "used before, one push after another"),
]  # fmt: skip
BYTES = {"MiB/s": 2**20, "MB/s": 1e6, "GB/s": 1e9}


def render_pushes(records):
    """A line for each push that was measured. records: {bench: record}."""
    lines = ["| bench | client | path | memory | GB/s |", "|---|---|---|---|---|"]
    for push in PUSHES:
        for row in (Row.from_json(each) for each in records.get(push.bench, {"rows": []})["rows"]):
            if (row.what, row.peer) == (push.what, push.peer):
                rate = number(row.value * BYTES[row.unit] / 1e9)
                lines.append(f"| {push.bench} | {push.client} | {push.path} | {push.memory} | {rate} |")
    return "\n".join(lines) if len(lines) > 2 else "Nothing is measured yet: run `bench/report`."
