"""The communicators of gangs on an engine, and the communicator of the multi-rank task that the engine is running."""

import contextlib
import functools
import inspect
import sys

__all__ = ["communicator", "made_for", "number_of", "running", "with_communicator"]

# Tags of the calls that make communicators. Every MPI allows tags up to 32767.
_FIRST_TAG = 21000
_TAG_COUNT = 1000

_made = {}  # key -> (number, communicator)


def number_of(key):
    """Returns the number of the communicator that was last made for this key; 0 if there is none."""
    return _made.get(key, (0, None))[0]


def _free(key):
    """Frees the communicator with this key. MPI frees it when the other ranks have freed it, too."""
    _, unneeded = _made.pop(key, (0, None))
    if unneeded:  # the user's code may have freed it
        unneeded.Free()


def made_for(key, ranks, number, is_freed=False):
    """Returns the communicator for this key that has this number.

    If the communicator that was last made for this key has a different number, or the user's code
    has freed it, the function makes a new communicator of these ranks.

    key       the ranks, or a tuple that ends with the ranks. Each key has its own communicator
    is_freed  whether to free the communicator that was last made for this key, if it has a different
              number
    """
    from mpi4py import MPI

    made, result = _made.get(key, (0, None))
    if made != number or not result:  # the user's code may have freed it
        if is_freed:
            _free(key)
        world = MPI.COMM_WORLD.Get_group()
        group = world.Incl(ranks)
        try:
            result = MPI.COMM_WORLD.Create_group(group, _FIRST_TAG + number % _TAG_COUNT)
        finally:
            group.Free()
            world.Free()
        _made[key] = number, result
    return result


# ---------------------------------------------------------------- tasks of several ranks

_running = []  # contains the communicator of the running task of several ranks


def communicator():
    """Returns the communicator of the multi-rank task that this engine is running."""
    if not _running:
        raise RuntimeError(
            "this is not a task of several ranks: ask for ranks in a call on a load-balanced view or an executor, e.g. "
            "submit(f, px.Ranks(4)) or map(f, items, ranks=4)"
        )
    return _running[-1]


@contextlib.contextmanager
def running(gang):
    """A context manager around a task of several ranks. In the `with` block, `communicator()`
    returns the communicator of the task.

    gang  the member `gang` of the request's header. If this member is empty, the task has only this rank
    """
    _running.append(_communicator_of(gang))
    try:
        yield _running[-1]
    finally:
        _running.pop()


def _communicator_of(gang):
    if "mpi4py.MPI" not in sys.modules:  # importing it now would wait for all ranks of the world
        raise RuntimeError(
            "a task of several ranks needs MPI, which this engine has not loaded: install mpi4py where the engines run, "
            "and start them with `pxcluster start --engines=mpi`"
        )
    from mpi4py import MPI

    if not gang:
        return MPI.COMM_SELF
    ranks, number = gang["ranks"], gang["number"]
    if MPI.COMM_WORLD.Get_rank() not in ranks:
        raise RuntimeError(
            f"the launcher and MPI disagree about the rank of this engine: it is rank {MPI.COMM_WORLD.Get_rank()} of MPI, "
            f"and not among the ranks {ranks} of the task"
        )
    for each in gang.get("unneeded", ()):
        key = "task", *each["ranks"]
        if number_of(key) == each["number"]:
            _free(key)
    return made_for(("task", *ranks), ranks, number, is_freed=True)


def with_communicator(function, comm, args, kwargs):
    """Returns the function, or a wrapper of it. If the function has a parameter `comm` that the
    call does not set, the wrapper sets this parameter to the communicator `comm`."""
    try:
        signature = inspect.signature(function)
        parameter = signature.parameters.get("comm")
        if parameter is None or parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            return function
        is_set = "comm" in signature.bind_partial(*args, **kwargs).arguments
    except (TypeError, ValueError):  # the call then raises the error
        return function
    if is_set:
        return function
    bound = functools.partial(function, comm=comm)
    bound.__name__ = getattr(function, "__name__", type(function).__name__)
    return bound
