"""Lets ranks agree, through the store, that either all of them make or reconnect a process group,
or none of them does."""

import time


class Refusal(RuntimeError):
    """Raised if a call cannot begin because another rank raised an error, was interrupted or died."""

    def __init__(self, name, cause):
        super().__init__(f"{name} cannot begin: {cause}")
        self.cause = cause


Refusal.__name__ = Refusal.__qualname__ = "RuntimeError"  # the name that clients show


class Meeting:
    """An agreement that the ranks of a group make through the store before the group is made or
    reconnected."""

    def __init__(self, store, key, ranks, name):
        self.store, self.key, self.ranks = store, key, ranks
        self.name = name  # the call that needs the meeting: "new_group", "all_reduce"
        self.began = time.monotonic()

    def is_complete(self):
        return self.store.check([f"{self.key}/{rank}" for rank in self.ranks])

    def decide(self, word):
        """Returns the decision for all ranks, "go" or "no". The decision is the `word` of the rank that calls this
        function first."""
        return self.store.compare_set(f"{self.key}/decision", "", word).decode()

    def missing(self):
        try:
            return [rank for rank in self.ranks if not self.store.check([f"{self.key}/{rank}"])]
        except RuntimeError:  # rank 0, which has the store, has ended
            return []
