"""Which collective calls may meet: those of one epoch. Decides; has no torch, thread, store or clock."""

import json
from typing import NamedTuple

RAISED, INTERRUPTED, DIED = "raised", "interrupted", "died"


class Cause(NamedTuple):
    """Why an epoch has ended."""

    kind: str  #: RAISED, INTERRUPTED or DIED
    rank: int  #: of the world
    text: str = ""  #: of RAISED: "ValueError: no data"

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
    """An epoch ends when the code of one rank fails, is stopped or dies: the ranks may then have made different
    calls. A request that began in an epoch that has ended makes no further call; the next request begins in the
    latest one, for which each group is renewed before its first call.
    """

    def __init__(self):
        self.current = 0  # the first that is not known to have ended
        self.of_request = None  # in which the request began that runs; None: none runs
        self.causes = {}  # of the epochs that have ended

    def ended(self, epoch, cause):
        """It is known now that `epoch` has ended."""
        self.causes.setdefault(epoch, cause)
        self.current = max(self.current, epoch + 1)

    def begin_request(self):
        self.of_request = self.current

    def end_request(self):
        self.of_request = None

    def is_over(self):
        """Whether the epoch of what runs now has ended."""
        return self.of_request is not None and self.of_request < self.current

    def runs_in(self, epoch):
        """Whether a request runs that began in `epoch` or before."""
        return self.of_request is not None and self.of_request <= epoch

    def cause(self):
        """Why it has ended."""
        return self.causes.get(self.of_request)
