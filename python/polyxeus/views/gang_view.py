"""Views of engines that have an MPI communicator of their own."""

from __future__ import annotations

import keyword
from typing import TYPE_CHECKING, Iterable

from polyxeus.engine_calls import gangs
from polyxeus.serialize import requests
from polyxeus.views.direct_view import DirectView
from polyxeus.views.stopping import stops_on_interrupt

if TYPE_CHECKING:
    from typing_extensions import Unpack
    from polyxeus.client.client import Client
    from polyxeus.hints import ViewFlags

__all__ = ["GangView"]

_START = "start the engines with `pxcluster start --engines=mpi`"


class GangView(DirectView):
    """A DirectView whose engines have an MPI communicator of their own. ``client.gang([0, 1, 4])`` makes it.

    The communicator is the variable `comm` of these engines. Its ranks have the order of the engines in the gang. The other
    ranks of the world take no part: they may run anything, also in gangs of their own.

    Parameters
    ----------
    client : Client
        The connection.
    targets : list of int
        The engines: Python engines of one MPI world whose ids are their ranks.
    name : str
        The name of the communicator on the engines. An engine of several gangs needs a name for each.
    **flags : Any
        `block`, `track` and `label`, as in View.

    Attributes
    ----------
    name : str
        The name of the communicator on the engines.

    Raises
    ------
    ValueError
        An engine is named twice, there is none, or `name` cannot be the name of a variable.
    RuntimeError
        The engines are not Python engines of one MPI world.

    Examples
    --------
    >>> gang = rc.gang([0, 1, 4])    # doctest: +SKIP
    >>> gang.apply_sync(lambda: comm.allreduce(comm.rank))    # doctest: +SKIP
    [3, 3, 3]
    >>> gang.apply_sync(solve, px.Reference("comm"))    # doctest: +SKIP
    """

    def __init__(
        self, client: Client, targets: Iterable[int], name: str = "comm", **flags: Unpack[ViewFlags]
    ) -> None:
        engines = list(targets)
        if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
            raise ValueError(f"{name!r:.80} cannot be the name of a variable")
        if not engines:
            raise ValueError("a gang needs at least one engine")
        if len(set(engines)) < len(engines):
            raise ValueError(f"an engine is named twice: {engines}")
        self.name = name
        super().__init__(client, client._build_targets(engines)[1], **flags)
        self._make(is_new=False)

    def renew(self) -> None:
        """Makes a new communicator for the same engines, e.g. if an error says that the present one was lost.

        Raises
        ------
        RuntimeError
            The engines are not Python engines of one MPI world any more.
        CompositeError
            MPI cannot make it.

        Examples
        --------
        >>> gang.renew()    # doctest: +SKIP
        """
        self._make(is_new=True)

    @stops_on_interrupt
    def _make(self, is_new):
        engines = self.targets
        languages = self.client.languages
        others = [engine for engine in engines if languages.get(engine) != "python"]
        if others:
            raise RuntimeError(f"a gang needs Python engines of polyxeus, which engines {others} are not")
        # Also shows that all of them are idle: none waits in MPI for one that is busy with an earlier request.
        places = self._ask(gangs.look, engines)
        number = _number_of(places, engines, is_new)
        self._ask(gangs.join, engines, number, self.name)

    def _ask(self, function, *args):
        """The results of all engines of the gang, also if there is one."""
        return self._send(requests.call(function, args), fname=function.__name__).get()


def _number_of(places, engines, is_new):
    """The number of the communicator that the engines use.

    places  what gangs.look() has found on each of them
    is_new  they make one in any case
    """
    ranks = [rank for rank, *_ in places]
    if any(size == 1 for _, size, *_ in places):
        raise RuntimeError(f"a gang needs engines in an MPI world: {_START}")
    worlds = {(size, run) for _, size, run, _ in places}
    if ranks != engines or len(worlds) > 1:
        raise RuntimeError(
            f"a gang needs engines of one MPI world whose ids are their ranks; engines {engines} are ranks {ranks}"
        )
    numbers = {number for *_, number in places}
    return numbers.pop() if len(numbers) == 1 and 0 not in numbers and not is_new else max(numbers) + 1
