"""The ids of the requests that were sent."""

__all__ = ["History"]

_LEAST_KEPT = 50_000


class History(list[str]):
    """A list of msg_ids, the oldest first. The list contains at least the latest 50,000 msg_ids,
    and all msg_ids of unanswered requests. Older msg_ids are removed, so that the memory of a long
    program does not grow.

    outstanding  a function that returns the set of the msg_ids of unanswered requests
    """

    def __init__(self, outstanding):
        super().__init__()
        self._outstanding = outstanding
        self._longest = 2 * _LEAST_KEPT

    def extend(self, msg_ids):
        """Adds the msg_ids of new requests."""
        super().extend(msg_ids)
        if len(self) <= self._longest:
            return
        outstanding = self._outstanding()
        self[:-_LEAST_KEPT] = [each for each in self[:-_LEAST_KEPT] if each in outstanding]
        self._longest = len(self) + _LEAST_KEPT
