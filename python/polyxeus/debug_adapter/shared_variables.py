"""Shows the variables that differ between ranks, in a scope that the session adds to a frame."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from polyxeus.debug_adapter.differences import MISSING, differences
from polyxeus.debug_adapter.numbers import Numbers

__all__ = ["SharedVariables"]

_MOST_FRAMES = 64  # the number of frames of a thread in which the function is searched
_MOST_RANKS = 8  # if more ranks have stopped, variables are compared only when the user opens the scope
Variables = list[dict[str, Any]]


class SharedVariables:
    """Compares the frames of one function on all ranks that have stopped in this function.

    numbers      the Numbers object of the session
    engines      the engine id of each adapter, in the order of the adapters
    names        the name of each engine, such as "rank 0"
    ask_several  a function that sends {place: (command, arguments)}, and calls another function with {place: response}.
                 A place is an index of `engines`
    """

    def __init__(self, numbers: Numbers, engines: list[int], names: list[str], ask_several: Callable[..., None]) -> None:
        self._numbers = numbers
        self._engines = engines
        self._names = names
        self._ask_several = ask_several
        self._frames: dict[tuple[int, int], dict[str, Any]] = {}  # (place, the adapter's number)
        self._scopes: dict[int, tuple[int, int, dict[int, int]]] = {}  # by the session's own number
        self._lists: dict[int, Variables] = {}
        self._last = 0

    def note_frames(self, place: int, frames: list[dict[str, Any]]) -> None:
        """Records the frames that the client has received."""
        for frame in frames:
            self._frames[place, frame["id"]] = frame

    def forget(self) -> None:
        """Deletes the comparisons, which are no longer valid when a rank continues to run."""
        self._frames.clear()
        self._scopes.clear()
        self._lists.clear()

    def scope(self, place: int, number: int, threads: dict[int, int]) -> dict[str, Any]:
        """Returns the scope in which a frame shows the variables that differ.

        threads  {place: a stopped thread of the rank at this place}
        """
        self._last += 1
        self._scopes[self._last] = place, number, threads
        return {"name": "Differs between ranks", "variablesReference": self._numbers.join(self._numbers.own, self._last),
                "expensive": len(threads) > _MOST_RANKS}  # fmt: skip

    def read(self, number: int, then: Callable[[Variables], None]) -> None:
        """Calls `then` with the variables that belong to `number`, a number that this object has
        assigned."""
        if number in self._lists:
            return then(self._lists[number])
        if number not in self._scopes:
            return then([])  # the number belongs to an earlier stop
        place, frame, threads = self._scopes[number]
        wanted = {
            each: ("stackTrace", {"threadId": thread, "startFrame": 0, "levels": _MOST_FRAMES})
            for each, thread in threads.items() if each != place
        }  # fmt: skip
        known = self._frames.get((place, frame), {})

        def with_frames(answers):
            frames = {place: frame}
            for each, answer in answers.items():
                found = [one for one in _body(answer).get("stackFrames") or [] if _is_same_code(one, known)]
                if found:
                    frames[each] = found[0]["id"]
            self._ask_several({each: ("scopes", {"frameId": one}) for each, one in frames.items()}, with_scopes)

        def with_scopes(answers):
            wanted = {}
            for each, answer in answers.items():
                scopes = _body(answer).get("scopes") or []
                local = [one for one in scopes if one.get("presentationHint") == "locals" or one.get("name") == "Locals"]
                if local:
                    wanted[each] = ("variables", {"variablesReference": local[0]["variablesReference"]})
            self._ask_several(wanted, with_variables)

        def with_variables(answers):
            listed = {place: _body(answer).get("variables") or [] for place, answer in answers.items()}
            then(self._shown(listed))

        return self._ask_several(wanted, with_frames)

    def _shown(self, listed: dict[int, Variables]) -> Variables:
        places = {self._engines[place]: place for place in listed}
        if len(listed) < 2:
            return [{"name": "(no other rank has stopped in this function)", "value": "", "variablesReference": 0}]
        shown = []
        for name, value, by_rank in differences({self._engines[place]: each for place, each in listed.items()}):
            children: Variables = []
            for rank, place in sorted(places.items()):
                variable = self._numbers.to_client(place, by_rank.get(rank, {"value": MISSING, "variablesReference": 0}))
                children.append({**variable, "name": self._names[place]})
            self._last += 1
            self._lists[self._last] = children
            shown.append({"name": name, "value": value,
                          "variablesReference": self._numbers.join(self._numbers.own, self._last)})  # fmt: skip
        return shown or [{"name": "(none)", "value": "", "variablesReference": 0}]


def _body(answer):
    return (answer.get("body") or {}) if answer.get("success") else {}


def _is_same_code(frame, other):
    def code(each):
        return each.get("name"), os.path.basename((each.get("source") or {}).get("path") or "")

    return code(frame) == code(other)
