"""In which MPI call or line of its code each engine of a cluster is, at one moment."""

from __future__ import annotations

from polyxeus.client.engine_rows import EngineSentences

__all__ = ["EnginePlaces"]


class EnginePlaces(EngineSentences):
    """A dict for each engine; printed as the text that `pxcluster where` shows.

    Client.where() makes it. Its keys:

    * engine, msg_id
    * state: "idle", "busy", "no answer", or "unknown" for engines that do not support this request
    * runs (the first line of its code, or the name of its function), seconds (how long it has been running)
    * file, line, function and source of the user's line, is_cell (whether it is a line of the running cell)
    * holds_lock: C code holds Python's lock, so the line is not known
    * mpi: None, or the MPI call: call, seconds, communicator, size, peer, tag
    * torch: None, or the latest call of torch.distributed: call, seconds, bytes, count, group, peer, is_inside
    * mpi_library ("Open MPI v4.1.4"), mpi_interrupts (whether its MPI calls can be interrupted: "on", or "off: " and why)
    * last_error: the type of the exception that ended its last cell

    Values that are not known are None.

    Parameters
    ----------
    rows : str
        A list of objects as JSON text.
    sentences : list of str
        The text that is printed.
    """
