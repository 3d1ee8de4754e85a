"""Results that are stored in Client.results."""

from polyxeus.results.async_result import AsyncResult

__all__ = ["CachedResult", "CachedTasks"]


class CachedTasks:
    """Stored results, with the methods that an AsyncResult calls on its tasks."""

    def __init__(self, entries):
        self._entries = entries  # [(msg_id, result, Metadata)]

    @classmethod
    def joined(cls, all_tasks):
        return cls([entry for tasks in all_tasks for entry in tasks._entries])

    def select(self, which):
        return CachedTasks([self._entries[i] for i in which])

    def __len__(self):
        return len(self._entries)

    def msg_ids(self):
        return [entry[0] for entry in self._entries]

    def answered(self):
        return len(self._entries)

    def is_answered(self, index):
        return True

    def is_ready(self):
        return True

    def wait(self, seconds=None):
        return True

    wait_output = wait_sent = wait

    def outcome(self, index):
        is_failure = isinstance(self._entries[index][1], Exception)
        return "error" if is_failure else "ok", None, None


class CachedResult(AsyncResult):
    """An AsyncResult with results from Client.results."""

    def _load(self, index):
        return self._tasks._entries[index][1]

    def _metadata_at(self, index, with_output=True):
        return self._tasks._entries[index][2]

    _live_at = _metadata_at
