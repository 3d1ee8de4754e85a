"""Translates the numbers of threads, frames and variables: the client and the adapters use different numbers."""

from __future__ import annotations

from typing import Any

__all__ = ["Numbers"]

# The members of the protocol that contain such numbers; in the last two, 0 means "none".
_ALWAYS = ("threadId", "frameId", "id", "targetId")
_UNLESS_ZERO = ("variablesReference", "namedVariablesReference", "sourceReference", "valueLocationReference",
                "declarationLocationReference")  # fmt: skip
# Left out for the client: they are valid for one adapter only, and clients use them to request memory and disassembly.
_DROPPED = ("memoryReference", "instructionPointerReference", "moduleId", "valueLocationReference",
            "declarationLocationReference")  # fmt: skip


class Numbers:
    """Combines two numbers into one: the position ("place") of an adapter in the list of adapters,
    and a number that this adapter uses. A Numbers object also splits such combined numbers.

    count  the number of adapters. The place `count` stands for the session's own variables
    """

    def __init__(self, count: int) -> None:
        self._stride = count + 1
        self.own = count

    def join(self, place: int, number: int) -> int:
        """Combines `place` and `number`, a number of the adapter at this place, into the number
        that the client uses."""
        return number * self._stride + place

    def split(self, number: int) -> tuple[int, int]:
        """Returns (place, number of the adapter) for a number that the client has sent."""
        own, place = divmod(number, self._stride)
        return place, own

    def to_client(self, place: int, content: Any, with_ids: bool = False) -> Any:
        """Returns a copy of the content of an adapter's message, in which the client's numbers
        replace those of the adapter.

        with_ids  whether the members "id" (of threads, frames and targets) are converted, too
        """
        if isinstance(content, list):
            return [self.to_client(place, each, with_ids) for each in content]
        if not isinstance(content, dict):
            return content
        made = {}
        for name, value in content.items():
            if name in _DROPPED:
                continue
            if isinstance(value, int) and not isinstance(value, bool) and self._is_number(name, value, with_ids):
                made[name] = self.join(place, value)
            else:
                # The ids in sources are texts or belong to the client.
                made[name] = self.to_client(place, value, with_ids and name != "source")
        return made

    @staticmethod
    def _is_number(name, value, with_ids):
        if name in _UNLESS_ZERO:
            return value != 0
        return name in _ALWAYS and (name != "id" or with_ids)

    def place_of(self, arguments: dict[str, Any]) -> int | None:
        """Returns the place of the adapter to which the arguments of a request belong; None if the arguments name no
        adapter."""
        for name in ("threadId", "frameId", "variablesReference", "targetId", "sourceReference"):
            if arguments.get(name):
                return self.split(arguments[name])[0]
        reference = (arguments.get("source") or {}).get("sourceReference")
        return self.split(reference)[0] if reference else None

    def to_adapter(self, content: Any) -> Any:
        """Returns a copy of the arguments of a client's request, in which the adapter's own numbers
        replace those of the client."""
        if isinstance(content, list):
            return [self.to_adapter(each) for each in content]
        if not isinstance(content, dict):
            return content
        return {
            name: self.split(value)[1]
            if isinstance(value, int) and (name in ("threadId", "frameId", "targetId") or name in _UNLESS_ZERO)
            else self.to_adapter(value)
            for name, value in content.items()
        }
