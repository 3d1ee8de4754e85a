"""Decides what JupyterLab shows in the boxes below a running cell; each box stands for a rank. Uses
no socket and no clock."""

import math

from polyxeus.counted import ranges

__all__ = ["RankBoxes"]

_MOST_GROUPS = 8
_CLOCK_ERROR = 0.2  # seconds
_SURELY_NEWER = 3.0  # seconds after the beginning of a cell; measures are at most about a second old
# The order of groups with equally many ranks: first the states that need the user's attention.
_ORDER = ("lost", "silent", "failed", "waits", "busy", "done")


class RankBoxes:
    """Makes the boxes of one cell from the measures of the controller (Client.measures()).

    session  the id of the client that sent the cell
    """

    def __init__(self, session):
        self._session = session
        self._cell = None  # the id of the cell in the measures, as soon as they contain it
        self._is_sure = False  # True: self._cell is certainly not the id of the previous cell
        self._engines = set()  # the engines on which the cell was seen

    def look(self, measures, age=math.inf):
        """Returns a dict with the boxes and with the groups of equal boxes; None if the measures do
        not contain the cell yet.

        age       the time since the cell began, in seconds. The measures may be a second old and
                  then still show the previous cell: a cell in the measures that has run for longer
                  than `age` is the previous cell
        "boxes"   one for each engine of the cell, by its id: {"id", "state", "host", "line", "call", "seconds" (of the
                  call, else of the cell), "memory" (bytes), "cpu" (cores in use), "gpu" (text), "error"}; unknown
                  values are left out. States: "busy"; "waits" in an MPI or torch.distributed call; "done"; "failed";
                  "silent": the engine does not answer; "lost": the engine is no longer registered
        "groups"  boxes with the same state, line and call, the smallest group first: {"ranks": "0-3,5", "count",
                  "state", "text"}. "more": the number of groups that are left out
        """
        cell = self._find(measures, age)
        if cell is None:
            return None
        rows = {row["id"]: row for row in measures.get("engines", ())}
        parts = {part["engine"]: part for part in cell["parts"]}
        self._note_engines(rows, parts, cell)
        boxes = [_box(engine, rows.get(engine), parts.get(engine)) for engine in sorted(self._engines)]
        groups = _groups(boxes)
        return {"boxes": boxes, "groups": groups[:_MOST_GROUPS], "more": max(0, len(groups) - _MOST_GROUPS)}

    def _find(self, measures, age):
        """Returns the measures of the cell; None if the measures do not contain the cell. In the
        first seconds of a cell the measures may still be older than the cell. During this time, the
        client's latest unfinished cell counts as this cell."""
        cells = measures.get("cells", ())
        if not self._is_sure:
            latest = next((each for each in reversed(cells) if each.get("session") == self._session), None)
            if latest is None or not latest.get("unfinished"):
                return None
            if measures["time"] - latest["submitted"] > age + _CLOCK_ERROR:
                return None
            if latest["id"] != self._cell:
                self._cell = latest["id"]
                self._engines.clear()
            self._is_sure = age > _SURELY_NEWER
        return next((each for each in cells if each["id"] == self._cell), None)

    def _note_engines(self, rows, parts, cell):
        """Records the engines of the cell. If a cell has many engines, the measures list only some
        of them. In this case each engine that runs a direct request also counts as an engine of the
        cell."""
        self._engines.update(parts)
        count = cell.get("engines", 0)
        if len(self._engines) >= count:
            return
        if count >= len(rows):
            self._engines.update(rows)
        else:
            self._engines.update(id for id, row in rows.items() if row.get("state") == "busy" and row.get("direct"))


def _box(engine, row, part):
    """Returns the box of an engine. `part` is this engine's part of the cell; None if the measures do not list it."""
    box = {"id": engine, "state": _state(row, part)}
    if row is None:
        return box
    ago = row.get("measured_ago", 0.0)
    _set(box, "host", row.get("host"))
    _set(box, "memory", row.get("process", {}).get("memory"))
    _set(box, "cpu", round(row.get("cpu_share", 0.0), 2))
    _set(box, "gpu", _gpu_text(row.get("gpu_use", ())))
    if box["state"] == "failed":
        _set(box, "error", (part or {}).get("error"))
    if box["state"] not in ("busy", "waits"):
        return box
    if not _is_fresh(row):
        box["seconds"] = round(row.get("state_seconds", 0.0), 1)
        return box
    call = row.get("mpi") or row.get("torch") or {}
    _set(box, "line", row.get("line") or row.get("runs"))
    _set(box, "call", _call_text(call) or ("C code that holds Python's lock" if row.get("holds_lock") else ""))
    box["seconds"] = round((call.get("seconds", 0.0) if call else row.get("runs_for", 0.0)) + ago, 1)
    return box


def _state(row, part):
    has_ended = part is not None and part.get("state", "waits") != "waits"
    if row is None:
        return "lost"
    if row.get("state") == "silent":
        return "silent"
    if has_ended:
        return "done" if part["state"] == "ok" else "failed"
    if part is None and row.get("state") == "idle":
        return "done"
    return "waits" if _is_fresh(row) and (row.get("mpi") or row.get("torch")) else "busy"


def _is_fresh(row):
    """Returns whether the engine's latest report was made after the engine began its current
    request."""
    return "msg_id" in row and row.get("measured_ago", 0.0) <= row.get("state_seconds", 0.0)


def _call_text(call):
    """Returns a call of MPI or torch.distributed as text, like "MPI_Recv, peer 1" or
    "all_reduce"."""
    peer = call.get("peer")
    return call.get("call", "") + ("" if peer is None else f", {'any peer' if peer == 'any' else f'peer {peer}'}")


def _gpu_text(gpus):
    """Returns the load of GPUs and their used memory as text, like "GPU 0: 35 %, 2.1 GB"."""
    texts = []
    for gpu in gpus:
        facts = [f"{100 * gpu['busy']:.0f} %"] if "busy" in gpu else []
        facts += [f"{gpu['used_memory'] / 1e9:.1f} GB"] if "used_memory" in gpu else []
        texts.append(f"GPU {gpu.get('number', 0)}" + (": " + ", ".join(facts) if facts else ""))
    return "; ".join(texts)


def _set(box, name, value):
    if value:
        box[name] = value


def _groups(boxes):
    members = {}
    for box in boxes:
        key = box["state"], box.get("call", ""), box.get("line", ""), box.get("error", "")
        members.setdefault(key, []).append(box)
    groups = [
        {"ranks": ranges([each["id"] for each in group]), "count": len(group), "state": key[0], "text": _text(*key, group)}
        for key, group in members.items()
    ]
    return sorted(groups, key=lambda each: (each["count"], _ORDER.index(each["state"])))


def _text(state, call, line, error, group):
    """Returns the text of a group of equal boxes, like "in MPI_Barrier for 41 s:
    comm.Barrier()"."""
    if state in ("busy", "waits"):
        seconds = max(each.get("seconds", 0.0) for each in group)
        words = f"{'in ' + call if call else 'runs'} for {seconds:.0f} s"
        return f"{words}: {line}" if line else words
    if state == "failed":
        return f"failed: {error}" if error else "failed"
    return {"done": "done", "silent": "does not answer", "lost": "not registered any more"}[state]
