"""Finds out which ranks wait for which other ranks, and makes the error messages about these waits. All functions are
pure."""

from typing import NamedTuple, Optional

_NAMES = {
    "ALLREDUCE": "all_reduce", "ALLREDUCE_COALESCED": "all_reduce_coalesced", "ALLGATHER": "all_gather",
    "ALLGATHER_BASE": "all_gather_into_tensor", "ALLGATHER_COALESCED": "all_gather_coalesced",
    "ALLGATHER_INTO_TENSOR_COALESCED": "all_gather_into_tensor", "REDUCE_SCATTER_BASE": "reduce_scatter_tensor",
    "REDUCE_SCATTER_TENSOR_COALESCED": "reduce_scatter_tensor", "ALLTOALL": "all_to_all",
    "ALLTOALL_BASE": "all_to_all_single",
}
_ONE_TO_ONE = ("send", "recv")


class TorchCall(NamedTuple):
    """A torch.distributed call that a rank has begun."""

    name: str  #: "all_reduce"
    size: int  #: the number of bytes that this rank sends or receives
    count: int  #: the number of collective calls that this rank has begun in the group, including this one
    began: float  #: the time.monotonic() at which it began
    peer: Optional[int] = None  #: for send and recv: the other rank in the group; None: any rank

    @property
    def is_collective(self):
        return is_collective(self.name)


def is_collective(name):
    """Returns whether the call with this name is collective, which is true for all calls except
    send and recv."""
    return name not in _ONE_TO_ONE


def name_of(operation):
    """Returns the name of the function of torch.distributed for the name of an operation in torch's
    enum HookOpName."""
    return _NAMES.get(operation, operation.lower())


def missing(call, group_ranks, counts):
    """Returns the ranks of the world that have not begun the collective call `call` of a group.

    group_ranks  the ranks of the group, in the order of the group.
    counts       {rank of the world: number of calls that this rank has begun in this group}, for the ranks that have
                 reported this number.
    """
    return [rank for rank in group_ranks if rank in counts and counts[rank] < call.count]


def name_ranks(ranks):
    """Returns ranks as text: "rank 2", "ranks 1, 2"."""
    return f"rank{'s' if len(ranks) > 1 else ''} {', '.join(map(str, ranks))}"


def described(call, group_ranks):
    """Returns a call as text: "all_reduce", "recv from rank 2"."""
    if call.is_collective:
        return call.name
    other = "any rank" if call.peer is None else f"rank {group_ranks[call.peer]}"
    return f"{call.name} {'to' if call.name == 'send' else 'from'} {other}"


def interrupted_in(call, group_ranks, counts):
    """Returns the text of a KeyboardInterrupt in `call`."""
    absent = missing(call, group_ranks, counts) if call.is_collective else []
    return interrupted_at(described(call, group_ranks), absent)


def interrupted_at(name, absent):
    """Returns the text of a KeyboardInterrupt in the call `name`, which the ranks `absent` have not begun."""
    return f"in {name}, which {name_ranks(absent)} had not reached" if absent else f"in {name}"


def cannot_end(call, cause, group_ranks, counts):
    """Returns the error text for a call that cannot end because of `cause`: a rank has failed, was
    interrupted or has died."""
    absent = [rank for rank in missing(call, group_ranks, counts) if rank != cause.rank]
    also = f"; {name_ranks(absent)} had not reached it" if call.is_collective and absent else ""
    return f"{described(call, group_ranks)} cannot end: {cause}{also}"


def too_late(call, group_ranks, counts):
    """Returns the error text for a call that took longer than the group's time limit."""
    absent = missing(call, group_ranks, counts) if call.is_collective else []
    why = f": {name_ranks(absent)} had not reached it" if absent else ""
    return f"{call.name} did not end within the time limit of its process group{why}"
