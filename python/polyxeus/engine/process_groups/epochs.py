"""Decides which collective calls may be matched with each other: only calls of the same epoch. This
module uses no torch, thread, store or clock.
"""

import json
from typing import NamedTuple

RAISED, INTERRUPTED, DIED = "raised", "interrupted", "died"


class Cause(NamedTuple):
    """The reason why an epoch has ended."""

    kind: str  #: RAISED, INTERRUPTED or DIED
    rank: int  #: the rank in the world
    text: str = ""  #: for RAISED: "ValueError: no data"

    def __str__(self):
        if self.kind == RAISED:
            return f"rank {self.rank} raised {self.text}"
        return f"rank {self.rank} {'was interrupted' if self.kind == INTERRUPTED else 'has died'}"

    def pack(self):
        return json.dumps(self)

    @classmethod
    def unpack(cls, text):
        return cls(*json.loads(text))


class Epochs:
    """Tracks the epochs of the ranks. An epoch ends when a rank dies, or when the code of a rank fails or is stopped,
    because the ranks may then have made different calls. A request that began in an ended epoch makes no further calls.
    The next request begins in the latest epoch. In a new epoch, each group is reconnected before its first call.
    """

    def __init__(self):
        self.current = 0  # the first epoch that is not known to have ended
        self.of_request = None  # the epoch in which the running request began; None: no request is running
        self.causes = {}  # {ended epoch: Cause}

    def ended(self, epoch, cause):
        """Records that `epoch` has ended, and the cause."""
        self.causes.setdefault(epoch, cause)
        self.current = max(self.current, epoch + 1)

    def begin_request(self):
        self.of_request = self.current

    def end_request(self):
        self.of_request = None

    def is_over(self):
        """Returns whether the epoch of the running request has ended."""
        return self.of_request is not None and self.of_request < self.current

    def runs_in(self, epoch):
        """Returns whether a request is running that began in `epoch` or in an earlier one."""
        return self.of_request is not None and self.of_request <= epoch

    def cause(self):
        """Returns the cause of the end of the epoch in which the running request began; None if
        this epoch has not ended."""
        return self.causes.get(self.of_request)
