"""Tracks the results that engines keep for a client, and tells the engines which of these results to free."""

import functools
import itertools
import os
import sys
import threading
import weakref

from polyxeus.results import completion
from polyxeus.results.recomputing import Memory, Recipe
from polyxeus.serialize import ref_files, requests

__all__ = ["FreedByEngine", "KeptResults"]

_CLOSE_PATIENCE = 2.0  # seconds


class FreedByEngine:
    """Decides when an engine gets a message about the results to free. Each engine gets the next
    message only after it has answered the previous one."""

    def __init__(self):
        self._waiting = {}  # engine -> keys to send later; only for engines with an unanswered message

    def freed(self, engine, keys):
        """Returns the keys to send to the engine now; no keys while a message to this engine is unanswered."""
        waiting = self._waiting.get(engine)
        if waiting is not None:
            waiting += keys
            return []
        self._waiting[engine] = []
        return list(keys)

    def answered(self, engine):
        """Returns the keys to send to the engine next. Called when the engine has answered the
        previous message or has left."""
        keys = self._waiting.pop(engine, [])
        return self.freed(engine, keys) if keys else []


class KeptResults:
    """The results that engines keep for one client.

    client      the Client, which owns this object.
    connection  the client's connection file, as a dict.
    """

    def __init__(self, client, connection):
        self._client = weakref.ref(client)
        self._process = os.getpid()
        self._numbers = itertools.count(1)
        self._freed = FreedByEngine()
        self._held = {}  # key -> call, until the result is freed
        self._staying = set()  # keys of results that are not freed with their Refs: see let_stay()
        self._recipes = Memory()
        self.places = {}  # engine -> the address at which it listens for engines of other hosts that fetch results
        self.engines_on = {}  # identity of a folder -> the engines that use it, as far as this client knows
        self.location = connection.get("location") or ""
        self.repairing = threading.RLock()  # held while this client decides which calls are sent again, and sends them
        self.session = client._connection.session_id
        self.folder = (connection.get("memory") or {}).get("folder")
        self.identity = ref_files.identity_of(self.folder) if self.folder else ""
        shares = self.folder and ref_files.has_entered(self.folder, self.session)
        self._shared = self.identity if shares else ""
        completion.start()  # starts the thread now, because a Ref may be deleted at any time

    def new_key(self):
        """Returns the Key of a new result. Raises a RuntimeError if the cluster has no shared memory."""
        if not self.folder:
            raise RuntimeError(
                "this cluster cannot keep results: they are in shared memory, which is off in its controller "
                "(POLYXEUS_SHARED_MEMORY=0, or no /dev/shm)"
            )
        return ref_files.Key(self.folder, self.session, next(self._numbers))

    def request(self, key, each):
        """Returns the member `keep` of a request. If `each` is True, each of several engines keeps a result."""
        return {"folder": key.folder, "client": key.client, "number": key.number, "memory": self._shared, "each": each}

    def add(self, key, call):
        """Records the call that makes a kept result; the record exists until the result is freed.
        Called when a Ref to the result was made."""
        if key.number and key not in self._staying:  # a published result is not freed with its Refs
            self._held[key] = call

    def let_stay(self, key, maker=None):
        """Makes a result stay after its Refs are deleted and after this client ends. Returns False
        if no engine can keep the result.

        maker  the uuid of the engine that has made the result; None if this engine is not known yet.
        """
        if key.number and self._shared:  # otherwise, an engine owns the file
            engines = self.client()._engines.values()
            if not ref_files.let_stay(key, sorted(engines, key=lambda each: each != maker)):
                return False
        self._staying.add(key)
        self._held.pop(key, None)
        return True

    def let_go(self, key):
        """Undoes let_stay() on this host; returns whether this host had the result."""
        self._staying.discard(key)
        return bool(self.identity) and ref_files.let_go(key)

    def recipe(self, name, key, task, refs):
        """Returns the Recipe (see recomputing.py) with which the kept result of a call can be recomputed.

        task  a SentTask; None if the task cannot be sent again.
        refs  the Refs in the arguments of the call.
        """
        if task is None or not task.retries:
            return Recipe(name)
        made = Recipe(name, key, task, (ref._recipe for ref in refs if ref._recipe is not None))
        self._recipes.add(made)
        return made

    def client(self):
        """Returns the Client; None if it was deleted."""
        return self._client()

    def alive_on(self, info):
        """Returns the uuids of the registered engines on the host of a result. The engine that made the result comes
        first."""
        known = self.engines_on.setdefault(info["memory"], {})
        known[info["engine"]] = None
        registered = set(self.client()._engines.values())
        first = [info["engine"]] if info["engine"] in registered else []
        return first + [each for each in known if each in registered and each not in first]

    def is_here(self, info):
        """Returns whether this process can map the file of a result. `info` is the engine's description of the
        result."""
        return bool(self.identity) and info["memory"] == self.identity

    def outlives_engines(self, info):
        """Returns whether the file of a result stays when the engine that made the result ends."""
        return self.is_here(info) and info["owner"] == self.session

    # ------------------------------------------------------------ the end of a result

    def drop(self, key, call):
        """Frees a result whose last Ref was deleted; the call may still run. Because __del__()
        calls this method, the method takes no lock and does not wait."""
        if not key.number or os.getpid() != self._process or sys.is_finalizing():
            return
        if call._uses is None or call._uses.is_final or call._uses.tasks is None:
            if call.ready() and self._is_removed_here(key, call):
                return
        call._call_when_over(functools.partial(self._free, key, call))

    def _is_removed_here(self, key, call):
        """Removes the result if this process can do so without an engine. Returns whether the
        result was removed."""
        info = call._outcome()[0]
        if info is None:  # the call failed; if the engine has died, it may have kept the result before
            ref_files.remove_named(key, key.client)
        elif key in self._staying and info["owner"] != self.session:
            pass  # the engine that owns it keeps it
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
        """Tells the engine which results to free. The thread of results/completion.py calls this method."""
        client = self._client()
        while keys and client is not None and not client._closed:
            number = number_of(client, engine)
            if number is not None:
                work = requests.call(ref_files.remove, (keys,))
                tasks = client._connection.send_direct([number], [work], "null")
                completion.call_when_ready(tasks, functools.partial(self._answered, engine, keys))
                return
            self._forget(keys)  # the engine has left
            keys = self._freed.answered(engine)

    def _answered(self, engine, keys):
        self._forget(keys)
        self._send(engine, self._freed.answered(engine))

    def _forget(self, keys):
        for key in keys:
            self._held.pop(key, None)

    def close(self):
        """Frees results on other hosts. Results on this host are removed when this process ends, or earlier."""
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
    """Returns the id of the engine with this uuid; None if the engine has left."""
    return next((number for number, uuid in client._engines.items() if uuid == engine), None)
