"""The number of engines that run a task together."""

from __future__ import annotations

from typing import Any

from polyxeus.serialize.reference import Reference

__all__ = ["Ranks"]

_Anything: Any = object  # for type checkers: a Ranks may be passed as an argument of any type


class Ranks(_Anything):
    """An argument of a call. Several engines of one MPI world then run this call together, as one task.

    In a call on a load-balanced view or an executor, the function gets the communicator of these engines instead of
    this argument. The function runs once on each of these engines. The result of the task is the result of the first
    rank.

    Parameters
    ----------
    least : int
        The number of engines that the task needs.
    most : int, optional
        The largest number of engines that the task may get. The task gets more than `least` engines only if no other
        task can use them. Default: `least`.

    Raises
    ------
    TypeError
        A number is not an int.
    ValueError
        `least` is less than 1, or greater than `most`.

    Examples
    --------
    >>> px.Ranks(2, 8)
    Ranks(2, 8)
    >>> balanced = rc.load_balanced_view()    # doctest: +SKIP
    >>> balanced.submit(solve, px.Ranks(4)).get()    # doctest: +SKIP
    """

    def __init__(self, least: int, most: int | None = None) -> None:
        most = least if most is None else most
        for each in (least, most):
            if isinstance(each, bool) or not isinstance(each, int):
                raise TypeError(f"ranks must be a number of engines, not {each!r:.80}")
        if not 1 <= least <= most:
            raise ValueError(f"ranks must be numbers of at least 1, the smaller one first, not {(least, most)}")
        self.least = least
        self.most = most

    def __repr__(self):
        return f"Ranks({self.least})" if self.least == self.most else f"Ranks({self.least}, {self.most})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ranks) and (other.least, other.most) == (self.least, self.most)

    def __hash__(self) -> int:
        return hash((Ranks, self.least, self.most))

    def __reduce__(self):
        from polyxeus.serialize import communicators

        return communicators.communicator, ()  # the call that the engine makes when it unpickles


def ranks_of(wanted):
    """Returns the Ranks for the value of a flag: a number, two numbers or Ranks. If the value is
    None, the task runs on one engine, and the function returns None."""
    if wanted is None or isinstance(wanted, Ranks):
        return wanted
    if isinstance(wanted, (tuple, list)):
        if len(wanted) != 2:
            raise ValueError(f"ranks must be a number, or the smallest and the largest number, not {wanted!r:.80}")
        return Ranks(*wanted)
    return Ranks(wanted)


def ranks_in(args, kwargs):
    """Returns the Ranks among the arguments of a call; None if no argument is a Ranks."""
    found = [each for each in args if isinstance(each, Ranks)]
    if kwargs:
        found += [each for each in kwargs.values() if isinstance(each, Ranks)]
    if len(found) > 1:
        raise TypeError(f"a call may have only one argument that is a Ranks, not {len(found)}")
    return found[0] if found else None


def in_cpp(args):
    """Returns the arguments of a call of a C++ function, with an expression for the communicator instead of a Ranks."""
    return [Reference("px::comm()") if isinstance(each, Ranks) else each for each in args]


def as_metadata(ranks):
    """Returns the member `ranks` of a task's metadata, as JSON text."""
    return "null" if ranks is None or ranks.most == 1 else f"[{ranks.least},{ranks.most}]"


def on_one_rank(works):
    """Returns the requests with the member `gang`: {} in their content. This member makes an engine run a request as a
    gang of one rank, so the function gets a communicator of one rank."""
    return [(kind, '{"gang":{},' + content[1:], buffers) for kind, content, buffers in works]
