"""Keeps the requests to the engines' debug adapters until the requests are answered. This module
uses no socket and no clock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["Requests"]

Answer = dict[str, Any]
_ENDED: Answer = {"success": False, "message": "it is no longer debugged, because it has ended"}


class _Gathered:
    """The answers of several adapters to one request of the client."""

    def __init__(self, places, deadline, then):
        self.missing = set(places)
        self.deadline = deadline
        self.answers: dict[int, Answer] = {}
        self.then: Callable[[dict[int, Answer]], None] | None = then

    def take(self, place, answer):
        if place in self.missing:
            self.missing.discard(place)
            self.answers[place] = answer
        self.finish_if_complete()

    def finish_if_complete(self):
        if not self.missing and self.then is not None:
            then, self.then = self.then, None
            then(self.answers)


class Requests:
    """Numbers the requests to each adapter, and passes each answer to a function.

    count  the number of adapters
    send   a function that is called with (place, request); the place is the position of the adapter
           in the list of adapters
    """

    def __init__(self, count: int, send: Callable[[int, dict[str, Any]], None]) -> None:
        self._send = send
        self._last = [0] * count
        self._waiting: list[dict[int, Callable[[Answer], None]]] = [{} for _ in range(count)]
        self._gathered: list[_Gathered] = []
        self.alive = list(range(count))

    def ask(self, place: int, command: str, arguments: Any, then: Callable[[Answer], None]) -> None:
        """Sends a request, and calls `then` with the response. If the adapter ends before it answers, the response has
        success=False."""
        if place not in self.alive:
            return then(dict(_ENDED))
        self._last[place] += 1
        self._waiting[place][self._last[place]] = then
        request = {"seq": self._last[place], "type": "request", "command": command}
        return self._send(place, request if arguments is None else {**request, "arguments": arguments})

    def ask_several(
        self, wanted: dict[int, tuple[str, Any]], then: Callable[[dict[int, Answer]], None], deadline: float
    ) -> None:
        """Sends each adapter its request: `wanted` maps the adapter's place to (command,
        arguments). Calls `then` with all answers, or, at the deadline, with the answers that have
        arrived."""
        gathered = _Gathered(wanted, deadline, then)
        self._gathered.append(gathered)
        for place, (command, arguments) in wanted.items():
            self.ask(place, command, arguments, lambda answer, place=place: gathered.take(place, answer))
        gathered.finish_if_complete()
        self._drop_finished()

    def on_response(self, place: int, response: Answer) -> None:
        """Passes an adapter's answer to the function that waits for it."""
        then = self._waiting[place].pop(response.get("request_seq", 0), None)
        if then is not None:
            then(response)
        self._drop_finished()

    def on_end(self, place: int) -> None:
        """Handles the end of the connection to an adapter. The unanswered requests to this adapter
        get an error as their answer."""
        if place in self.alive:
            self.alive.remove(place)
        waiting, self._waiting[place] = self._waiting[place], {}
        for then in waiting.values():
            then(dict(_ENDED))
        self._drop_finished()

    def on_time(self, now: float) -> None:
        """Finishes the requests whose deadline has passed, with the answers that have arrived."""
        for gathered in self._gathered:
            if gathered.deadline <= now:
                gathered.missing.clear()
                gathered.finish_if_complete()
        self._drop_finished()

    def next_deadline(self) -> float | None:
        """Returns the time at which on_time() must be called next; None if no request has a
        deadline."""
        return min((gathered.deadline for gathered in self._gathered), default=None)

    def _drop_finished(self):
        self._gathered = [each for each in self._gathered if each.then is not None]
