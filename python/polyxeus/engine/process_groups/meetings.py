"""Lets all ranks agree, in the store, whether they act together or not at all."""

import time


class Refusal(RuntimeError):
    """A call may not begin, because of another rank."""

    def __init__(self, name, cause):
        super().__init__(f"{name} cannot begin: {cause}")
        self.cause = cause


Refusal.__name__ = Refusal.__qualname__ = "RuntimeError"  # what clients show


class Meeting:
    """The agreement of all ranks in the store before a group is made or reconnected."""

    def __init__(self, store, key, ranks, name):
        self.store, self.key, self.ranks = store, key, ranks
        self.name = name  # the call that needs it: "new_group", "all_reduce"
        self.began = time.monotonic()

    def is_complete(self):
        return self.store.check([f"{self.key}/{rank}" for rank in self.ranks])

    def decide(self, word):
        """Returns the decision that holds for all ranks, "go" or "no": the word of whichever rank calls this first."""
        return self.store.compare_set(f"{self.key}/decision", "", word).decode()

    def missing(self):
        try:
            return [rank for rank in self.ranks if not self.store.check([f"{self.key}/{rank}"])]
        except RuntimeError:  # rank 0, which has the store, has ended
            return []
