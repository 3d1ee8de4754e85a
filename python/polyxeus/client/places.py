"""The MPI call or the line of code that each engine of a cluster is executing, at one moment."""

from __future__ import annotations

from polyxeus.client.engine_rows import EngineSentences

__all__ = ["EnginePlaces"]


class EnginePlaces(EngineSentences):
    """A sequence of dicts, one for each engine, printed as the text that `pxcluster where` shows.

    Client.where() returns it. Each dict has these keys:

    * engine, msg_id
    * state: "idle", "busy", "no answer", or "unknown" for engines that do not support this request
    * runs (the first line of the running code, or the name of the running function), seconds (how long it has been
      running)
    * file, line, function and source of the user's line, is_cell (whether this line is in the running cell)
    * holds_lock: whether C code holds Python's global lock. If so, the line is not known
    * mpi: None, or a dict about the MPI call with the keys call, seconds, communicator, size, peer, tag
    * torch: None, or a dict about the latest torch.distributed call with the keys call, seconds, bytes, count, group,
      peer, is_inside
    * mpi_library ("Open MPI v4.1.4"), mpi_interrupts (whether MPI calls can be interrupted: "on", or "off: " and the
      reason)
    * last_error: the type of the exception that ended the last cell of the engine

    Values that are not known are None.

    Parameters
    ----------
    rows : str
        A list of objects as JSON text.
    sentences : list of str
        The text that is printed.
    """
