"""The ranks come together before they act, or none of them does."""

import time


class Refusal(RuntimeError):
    """A call may not begin, for what another rank did."""

    def __init__(self, name, cause):
        super().__init__(f"{name} cannot begin: {cause}")
        self.cause = cause


Refusal.__name__ = Refusal.__qualname__ = "RuntimeError"  # what clients show


class Meeting:
    """All ranks come together in the store before a group is made, or connected anew."""

    def __init__(self, store, key, ranks, name):
        self.store, self.key, self.ranks = store, key, ranks
        self.name = name  # the call that needs it: "new_group", "all_reduce"
        self.began = time.monotonic()

    def is_complete(self):
        return self.store.check([f"{self.key}/{rank}" for rank in self.ranks])

    def decide(self, word):
        """The action of all ranks, as the first of them has said: "go" or "no"."""
        return self.store.compare_set(f"{self.key}/decision", "", word).decode()

    def missing(self):
        try:
            return [rank for rank in self.ranks if not self.store.check([f"{self.key}/{rank}"])]
        except RuntimeError:  # rank 0, which has the store, has ended
            return []
