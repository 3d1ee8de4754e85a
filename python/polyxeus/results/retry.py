"""Runs the failed requests of a call again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from polyxeus.counted import counted
from polyxeus.serialize import requests

if TYPE_CHECKING:
    from polyxeus.results.async_result import AsyncResult

__all__ = ["retried"]

# The attributes that the new AsyncResult does not copy from the old one.
_OF_THE_FIRST_RUN = frozenset(
    ["_results", "_value", "_parts", "_metadata", "_ids", "_ref", "_uses", "_origin", "_records", "_tasks", "_targets"]
)
_KEYS = ["msg_id", "queue"]
_CALL_AGAIN = "call the function again"
_LONGEST_POSITION = 255  # bytes of a buffer that names a place in shared memory


def retried(result: AsyncResult[Any], state: frozenset[str]) -> AsyncResult[Any]:
    """Returns an AsyncResult with the requests of `result` that succeeded, and with a new request
    instead of each request that failed. The order of the requests stays the same.

    state  further attributes that the new AsyncResult does not take from `result`
    """
    if not result.ready():
        raise RuntimeError("the result is not ready: wait for it before retry()")
    tasks, msg_ids = result._tasks, result.msg_ids
    failed = [index for index in range(len(tasks)) if tasks.outcome(index)[0] != "ok"]
    if not failed:
        return result
    if result._ref is not None:
        raise ValueError(f"retry() cannot run a call again whose result is kept on its engine: {_CALL_AGAIN}")
    targets = list(result._targets or [None] * len(tasks))
    again = dict(zip(failed, _sent_again(result._client, [msg_ids[index] for index in failed],
                                         [targets[index] for index in failed])))  # fmt: skip
    parts = [again[index] if index in again else tasks.select([index]) for index in range(len(tasks))]
    new: AsyncResult[Any] = object.__new__(type(result))
    left_out = _OF_THE_FIRST_RUN | state
    new.__dict__.update((name, value) for name, value in vars(result).items() if name not in left_out)
    new._tasks = type(tasks).joined(parts) if len(parts) > 1 else parts[0]
    new._targets = result._targets
    return new


def _sent_again(client, msg_ids, targets):
    """Sends each of these requests again; returns the new requests."""
    records = {each["msg_id"]: each["queue"] for each in client.db_query({"msg_id": {"$in": msg_ids}}, keys=_KEYS)}
    missing = [each for each in msg_ids if each not in records]
    if missing:
        raise ValueError(
            f"the controller has no record of {counted(len(missing), 'failed request')}, so it cannot run again: {_CALL_AGAIN}"
        )
    new = {}
    anywhere = [each for each in msg_ids if records[each] == "task"]
    there = {each: target for each, target in zip(msg_ids, targets) if records[each] != "task"}
    works = {each: _work_of(client, each) for each in there}
    if there:
        client._build_targets(list(there.values()))  # raises an error that names an engine that has left
    if anywhere:
        tasks = client.resubmit(anywhere, block=False)._tasks
        new.update((each, tasks.select([place])) for place, each in enumerate(anywhere))
    for each, (work, label) in works.items():
        new[each] = client._connection.send_direct([there[each]], [work], label)
    return [new[each] for each in msg_ids]


def _work_of(client, msg_id):
    """Returns (request, label) of a request that was sent to one engine and not as a task."""
    (record,) = client.db_query({"msg_id": msg_id}, keys=["msg_id", "header", "metadata", "content", "buffers"])
    if _lacks_arrays(record):
        raise ValueError(
            f"the arrays of {msg_id} are not kept, because its engine got them through shared memory: {_CALL_AGAIN}"
        )
    work = record["header"]["msg_type"], requests.dump(record["content"]), list(record["buffers"])
    return work, requests.dump((record.get("metadata") or {}).get("label"))


def _lacks_arrays(record):
    """Returns whether buffers of the request were in shared memory: the record then has only their positions."""
    buffers = record["buffers"]
    segments = (record.get("metadata") or {}).get("segments") or ()
    return any(index < len(buffers) and len(memoryview(buffers[index])) <= _LONGEST_POSITION for index in segments)
