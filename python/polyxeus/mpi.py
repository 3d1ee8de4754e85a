"""Functions for code that runs on engines under MPI: `polyxeus.mpi.comm()`, `polyxeus.mpi.stop_here()`."""

from __future__ import annotations

from typing import Any


def comm() -> Any:
    """Returns the communicator of the task that is now running on several ranks.

    Returns
    -------
    MPI.Comm
        The communicator of the engines that run the task, as mpi4py's MPI.Comm.

    Raises
    ------
    RuntimeError
        No task of several ranks is running.

    Examples
    --------
    >>> def mean(values):
    ...     comm = px.mpi.comm()
    ...     return comm.allreduce(sum(values[comm.rank :: comm.size])) / len(values)
    >>> rc.load_balanced_view().map(mean, data, ranks=4)    # doctest: +SKIP
    """
    from polyxeus.serialize import communicators

    return communicators.communicator()


def stop_here() -> None:
    """Marks a place in the code where a stop can end the cell on all ranks together.

    As with a barrier, all ranks of the world must call this function. If a cell calls this function, a stop (the stop
    button, `rc.interrupt()`, or a timeout) waits at most 10 s for the next call of this function. At that call, all
    ranks raise KeyboardInterrupt. A second stop takes effect at once, without waiting for the next call. If a loop uses
    a library that calls MPI, call this function after each step that leaves the library in a usable state.

    This function does nothing if MPI calls cannot be interrupted, or if the code does not run on an engine that an MPI
    launcher has started. In MPI worlds on several hosts, this function is a barrier that can be interrupted.

    Raises
    ------
    KeyboardInterrupt
        The cell was stopped.

    Examples
    --------
    >>> while not solver.is_done():    # doctest: +SKIP
    ...     solver.step()
    ...     polyxeus.mpi.stop_here()
    """
    from polyxeus.engine import mpi

    mpi.stop_here()
