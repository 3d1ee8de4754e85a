"""Breakpoints that the client sets once, for all ranks or for some ranks."""

from __future__ import annotations

import re
from typing import Any

from polyxeus.counted import ranges, read_ranges

__all__ = ["Breakpoints", "read_ranks"]

_RANKS = re.compile(r"\s*@([\d,\-]+)(?:\s+(.*))?$", re.DOTALL)


def read_ranks(text: str) -> tuple[list[int] | None, str]:
    """Splits a string like "@0-3 x > 1" into the ranks and the rest. If the string does not begin with @, the ranks are
    None.

    errors  ValueError: the text after the @ is not a list of ranks.
    """
    found = _RANKS.match(text or "")
    if found is None:
        return None, text
    return read_ranges(found[1]), (found[2] or "").strip()


class Breakpoints:
    """The breakpoints in one source file, or all breakpoints on functions, as the client's last request has set them.

    engines  the engine id of each adapter, in the order of the adapters
    wished   the member "breakpoints" of the client's request
    first    the client's id of the first of these breakpoints
    """

    def __init__(self, engines: list[int], wished: list[dict[str, Any]], first: int) -> None:
        self._states: list[dict[int, dict[str, Any]]] = [{} for _ in wished]  # for each breakpoint: {place: answer}
        self._first = first
        self._errors: list[str] = [""] * len(wished)
        self._own: dict[tuple[int, int], int] = {}  # (place, the adapter's id) -> index
        self._sent: dict[int, list[int]] = {place: [] for place in range(len(engines))}
        self.wished: dict[int, list[dict[str, Any]]] = {place: [] for place in range(len(engines))}
        self._add(engines, wished)

    def _add(self, engines, wished):
        for index, wish in enumerate(wished):
            try:
                ranks, condition = read_ranks(wish.get("condition") or "")
            except ValueError as problem:
                self._errors[index] = str(problem)
                continue
            chosen = [place for place, engine in enumerate(engines) if ranks is None or engine in ranks]
            if not chosen:
                missing = ranges(ranks or [])
                self._errors[index] = f"there is no rank {missing}: this session debugs the ranks {ranges(engines)}"
            passed = {**wish, "condition": condition}
            if not condition:
                del passed["condition"]
            for place in chosen:
                self._sent[place].append(index)
                self.wished[place].append(passed)

    def answer(self, place: int, response: dict[str, Any]) -> None:
        """Records the answer of an adapter to the request that sets these breakpoints."""
        if not response.get("success"):
            for index in self._sent[place]:
                self._states[index][place] = {"verified": False, "message": response.get("message") or "refused"}
            return
        for index, state in zip(self._sent[place], (response.get("body") or {}).get("breakpoints") or []):
            self._states[index][place] = state
            if state.get("id") is not None:
                self._own[place, state["id"]] = index

    def change(self, place: int, state: dict[str, Any]) -> dict[str, Any] | None:
        """Records that a breakpoint has changed in an adapter. Returns the breakpoint's new state
        for the client; None if this object does not have the breakpoint."""
        index = self._own.get((place, state.get("id", -1)))
        if index is None:
            return None
        self._states[index][place] = {**self._states[index].get(place, {}), **state}
        return self._state(index)

    def id_of(self, place: int, number: int) -> int | None:
        """Returns the id that the client uses for a breakpoint of an adapter; None if this object
        does not have the breakpoint."""
        index = self._own.get((place, number))
        return None if index is None else self._first + index

    def states(self) -> list[dict[str, Any]]:
        """Returns the state of each breakpoint for the client."""
        return [self._state(index) for index in range(len(self._states))]

    def _state(self, index):
        states = [state for _, state in sorted(self._states[index].items())]
        good = [state for state in states if state.get("verified")]
        told = dict((good or states or [{}])[0])
        if "source" in told:  # the client needs only the path: the numbers in a source belong to one adapter
            told["source"] = {name: told["source"][name] for name in ("name", "path") if told["source"].get(name)}
        told.update(id=self._first + index, verified=bool(good))
        if good:
            told.pop("message", None)
        elif self._errors[index]:
            told["message"] = self._errors[index]
        return {name: value for name, value in told.items() if name != "instructionReference"}
