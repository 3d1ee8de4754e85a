"""Knows which kept results a client holds, and tells engines which of them to free."""

import functools
import itertools
import os
import sys
import weakref

from polyxeus.results import completion
from polyxeus.serialize import ref_files, requests

__all__ = ["FreedByEngine", "KeptResults"]

_CLOSE_PATIENCE = 2.0  # seconds


class FreedByEngine:
    """Decides when an engine is told which results are freed: one message at a time for each engine."""

    def __init__(self):
        self._waiting = {}  # engine -> keys, where a message is under way

    def freed(self, engine, keys):
        """The keys to send to the engine now; none while a message to it is unanswered."""
        waiting = self._waiting.get(engine)
        if waiting is not None:
            waiting += keys
            return []
        self._waiting[engine] = []
        return list(keys)

    def answered(self, engine):
        """The engine has answered, or left. The keys to send now."""
        keys = self._waiting.pop(engine, [])
        return self.freed(engine, keys) if keys else []


class KeptResults:
    """The results that engines keep for one client.

    client      the Client, which owns this.
    connection  its connection file, as a dict.
    """

    def __init__(self, client, connection):
        self._client = weakref.ref(client)
        self._process = os.getpid()
        self._numbers = itertools.count(1)
        self._freed = FreedByEngine()
        self._held = {}  # key -> call, until it is freed
        self.session = client._connection.session_id
        self.folder = (connection.get("memory") or {}).get("folder")
        self.identity = ref_files.identity_of(self.folder) if self.folder else ""
        shares = self.folder and ref_files.has_entered(self.folder, self.session)
        self._shared = self.identity if shares else ""
        completion.start()  # not when the first Ref goes, which may be at any time

    def new_key(self):
        """The Key of a result.  errors  RuntimeError: the cluster has no shared memory."""
        if not self.folder:
            raise RuntimeError(
                "this cluster cannot keep results: they are in shared memory, which is off in its controller "
                "(POLYXEUS_SHARED_MEMORY=0, or no /dev/shm)"
            )
        return ref_files.Key(self.folder, self.session, next(self._numbers))

    def request(self, key, each):
        """The member `keep` of a request.  each  whether several engines get it, which keep one result each."""
        return {"folder": key.folder, "client": key.client, "number": key.number, "memory": self._shared, "each": each}

    def add(self, key, call):
        """A Ref was made."""
        self._held[key] = call

    def is_here(self, info):
        """Whether this process can map the file.  info  what the engine reported about it."""
        return bool(self.identity) and info["memory"] == self.identity

    # ------------------------------------------------------------ the end of a result

    def drop(self, key, call):
        """The last Ref was deleted; the call may still run. For __del__(): takes no lock, waits for nothing."""
        if os.getpid() != self._process or sys.is_finalizing():
            return
        if call.ready() and self._is_removed_here(key, call):
            return
        completion.call_when_ready(call._tasks, functools.partial(self._free, key, call))

    def _is_removed_here(self, key, call):
        """Removes the result if no engine is needed for that. Whether it did."""
        info = call._outcome()[0]
        if info is None:  # it failed; if the engine has died it may have kept the result before
            ref_files.remove_named(key, key.client)
        elif self.is_here(info):
            ref_files.remove_named(key, info["owner"])
        else:
            return False
        self._held.pop(key, None)
        return True

    def _free(self, key, call):
        if not self._is_removed_here(key, call):
            engine = call._outcome()[0]["engine"]
            self._send(engine, self._freed.freed(engine, [key]))

    def _send(self, engine, keys):
        """Tells the engine. Runs in the thread of completion."""
        client = self._client()
        while keys and client is not None and not client._closed:
            number = number_of(client, engine)
            if number is not None:
                work = requests.call(ref_files.remove, (keys,))
                tasks = client._connection.send_direct([number], [work], "null")
                completion.call_when_ready(tasks, functools.partial(self._answered, engine, keys))
                return
            self._forget(keys)  # it has left
            keys = self._freed.answered(engine)

    def _answered(self, engine, keys):
        self._forget(keys)
        self._send(engine, self._freed.answered(engine))

    def _forget(self, keys):
        for key in keys:
            self._held.pop(key, None)

    def close(self):
        """Frees results on other hosts. Those on this host are removed when this process ends, at the latest."""
        keys_by_engine = {}
        for key, call in list(self._held.items()):
            if call.ready() and (info := call._outcome()[0]) and not self.is_here(info):
                keys_by_engine.setdefault(info["engine"], []).append(key)
        client = self._client()
        for engine, keys in keys_by_engine.items():
            number = number_of(client, engine)
            if number is not None:
                tasks = client._connection.send_direct([number], [requests.call(ref_files.remove, (keys,))], "null")
                tasks.wait(_CLOSE_PATIENCE)


def number_of(client, engine):
    """The id of the engine of this uuid; None if it has left."""
    return next((number for number, uuid in client._engines.items() if uuid == engine), None)
