"""Functions for code that runs on engines under MPI: `polyxeus.mpi.stop_here()`."""


def stop_here() -> None:
    """Marks a place at which a stop may end the cell, on all ranks together.

    All ranks of the world must call it, like a barrier. In a cell that calls it, a stop (the stop button,
    `rc.interrupt()`, a timeout) waits for the next call, at most 10 s, and raises KeyboardInterrupt on all
    ranks at the same call; a second stop does not wait. Put it into a loop after each step that leaves a library that
    calls MPI in a usable state.

    It does nothing if MPI calls cannot be interrupted, and outside of an engine that was started by an MPI
    launcher. In worlds of several hosts it is a barrier that can be interrupted.

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
