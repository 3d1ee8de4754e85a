"""Views of engines that share an MPI communicator without other ranks."""

from __future__ import annotations

import keyword
from typing import TYPE_CHECKING, Iterable

from polyxeus.engine_calls import gangs
from polyxeus.serialize import requests
from polyxeus.serialize.values import NO_PICKLE
from polyxeus.views.direct_view import DirectView
from polyxeus.views.stopping import stops_on_interrupt

if TYPE_CHECKING:
    from typing_extensions import Unpack
    from polyxeus.client.client import Client
    from polyxeus.hints import ViewFlags

__all__ = ["GangView"]

_START = "start the engines with `pxcluster start --engines=mpi`"


class GangView(DirectView):
    """A DirectView with an MPI communicator that contains only its engines. ``client.gang([0, 1, 4])`` returns it.

    The communicator is the variable `comm` of these engines, mpi4py's MPI.Comm or, in C++, an
    MPI_Comm. The ranks of the communicator have the order of the engines in the gang. The other
    ranks of the world do not take part, and may run other code at the same time, even in other
    gangs.

    Parameters
    ----------
    client : Client
        The connection.
    targets : list of int
        The engines. They must be in one MPI world.
    name : str
        The name of the communicator on the engines. If an engine is in several gangs, each of these gangs needs a
        different name.
    **flags : Any
        `block`, `track` and `label`, as in View.

    Attributes
    ----------
    name : str
        The name of the communicator on the engines.

    Raises
    ------
    ValueError
        An engine is named twice, `targets` is empty, or `name` cannot be the name of a variable.
    RuntimeError
        The engines are not ranks of one MPI world.

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
        """Makes a new communicator for the same engines.

        Use this method, for example, after an error about a lost communicator.

        Raises
        ------
        RuntimeError
            The engines are no longer ranks of one MPI world.
        CompositeError
            MPI cannot make the communicator.

        Examples
        --------
        >>> gang.renew()    # doctest: +SKIP
        """
        self._make(is_new=True)

    @stops_on_interrupt
    def _make(self, is_new):
        languages = {engine: self.client.languages.get(engine) for engine in self.targets}
        if others := [engine for engine, language in languages.items() if language not in ("python", "cpp")]:
            raise RuntimeError(f"a gang needs engines of polyxeus, but engines {others} are of ipyparallel")
        python, cpp = ([each for each in self.targets if languages[each] == name] for name in ("python", "cpp"))
        # The answers also show that all engines are idle: no engine waits in MPI for an engine with an earlier request.
        places = self._look(python, cpp, self.targets)
        ranks = [rank for rank, *_ in places]
        if ranks != self.targets:
            places = self._look(python, cpp, ranks)
        number = _number_of(places, self.targets, is_new)
        joining = []
        if python:
            work = requests.call(gangs.join, (ranks, number, self.name))
            joining.append(self._send(work, python, fname="gang"))
        if cpp:
            code = f"MPI_Comm {self.name} = px::gangs::join({_list_in_cpp(ranks)}, {number});"
            joining.append(self.execute(code, targets=cpp, block=False))
        for result in joining:
            result.get()

    def _look(self, python, cpp, ranks):
        """Calls gangs.look(ranks) on the engines, and returns the results in the order of the gang.
        Each result has the rank, the size of the world, the number of the last communicator of
        these ranks and the id of the MPI run."""
        works = [
            (python, requests.call(gangs.look, (ranks,))),
            (cpp, requests.call("px::gangs::look", (ranks,), forms=NO_PICKLE)),
        ]
        places = {}
        for engines, result in [(each, self._send(work, each, fname="gang")) for each, work in works if each]:
            for engine, text in zip(engines, result.get()):
                *numbers, run = text.split(" ", 3)
                places[engine] = (*map(int, numbers), run)
        return [places[engine] for engine in self.targets]


def _list_in_cpp(ranks):
    return f"{{{', '.join(map(str, ranks))}}}"


def _number_of(places, engines, is_new):
    """Returns the number of the communicator that the engines use for the gang: the number of their
    common communicator, or a new number.

    places  the results of gangs.look(), in the order of `engines`
    is_new  whether to make a new communicator even if the engines have a common one
    """
    if any(size == 1 for _, size, _, _ in places):
        raise RuntimeError(f"a gang needs engines in an MPI world: {_START}")
    worlds = {(size, run) for _, size, _, run in places}
    ranks = [rank for rank, *_ in places]
    if len(worlds) > 1 or len(set(ranks)) < len(ranks):
        raise RuntimeError(f"a gang needs engines of one MPI world; engines {engines} are of several")
    if ranks != engines and places[0][-1] == "":
        raise RuntimeError(
            "a gang needs engines of one MPI world; as this MPI launcher gives its worlds no names, the ids of the "
            f"engines must be their ranks, but engines {engines} are ranks {ranks}"
        )
    numbers = {number for _, _, number, _ in places}
    return numbers.pop() if len(numbers) == 1 and 0 not in numbers and not is_new else max(numbers) + 1
