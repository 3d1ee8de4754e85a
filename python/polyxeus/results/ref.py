"""Results that stay on the host of their engine."""

from __future__ import annotations

import os
import re
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from polyxeus import error
from polyxeus.counted import counted
from polyxeus.results import completion
from polyxeus.results.async_result import AsyncResult
from polyxeus.results.completion import call_when_ready
from polyxeus.results.kept_results import number_of
from polyxeus.results.metadata import remote_error
from polyxeus.results.recomputing import NotRepeatable, Recipe, plan
from polyxeus.serialize import published_results, ref_files, ref_streams, requests

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Ref", "unpickled"]

T = TypeVar("T")
_NAME = re.compile(r"[A-Za-z0-9_-]{1,40}")
_ID = re.compile(r"([A-Za-z0-9-]+)_[A-Za-z0-9_-]+\.([1-9][0-9]*)(?:\.([A-Za-z0-9-]+))?")
_this_thread = threading.local()  # refs: see gathered()


class Ref(Generic[T]):
    """A reference to a result that stays on the host of its engine.

    `apply_ref` and ``submit(..., keep=True)`` return a Ref.

    If a Ref is in the arguments of another call, the called function gets the result instead of the
    Ref. The result passes through neither the client nor the controller. A task with Refs in its
    arguments starts when the calls that make the results of these Refs have ended. A result is
    freed when the last Ref to the result has been deleted and no unanswered call needs the result.

    A program can also pickle the Ref itself, even before the call that makes the result has ended.
    Any program that has a Client of the cluster can use the unpickled Ref. A result whose Ref was
    pickled is not freed when its Refs are deleted or the program ends. Such a result stays until
    ``rc.unpublish(ref.id)`` is called, or until the engine that made the result ends.

    Parameters
    ----------
    kept : Any
        The client's table of kept results.
    key : Any
        The key that names the result.
    call : AsyncResult
        The call that makes the kept result. The answer of this call is the engine's description of
        the result.
    is_task : bool
        Whether the call is a task, for which the controller chooses the engine.
    recipe : Any, optional
        The object that describes how the result is recomputed if it is lost.

    Examples
    --------
    >>> balanced = rc.load_balanced_view()
    >>> numbers = balanced.apply_ref(list, range(1000))      # returns at once
    >>> balanced.apply_sync(sum, numbers)
    499500
    >>> numbers.get()[-1]
    999
    """

    _origin: tuple[str, str, str, Any]  # the arguments of unpickled(); only in a Ref that was made by it, which frees nothing
    _is_awaited = True  # whether direct calls wait for the result if it is an argument

    _is_gone = False  # True if the engine runs, but does not have the result any more

    def __init__(self, kept: Any, key: Any, call: AsyncResult[Any], is_task: bool, recipe: Any = None) -> None:
        self._kept = kept
        self._key = key
        self._is_task = is_task
        self._recipe = Recipe(call._fname) if recipe is None else recipe
        self._recipe.set_ref(self)
        self._set_call(call)

    if not TYPE_CHECKING:

        def __getattr__(self, name):
            if name not in ("_call", "_kept", "_recipe") or "_origin" not in self.__dict__:
                raise AttributeError(f"'Ref' object has no attribute {name!r}")
            self._attach(self._find_client())
            return self.__dict__[name]

    def _set_call(self, call):
        self._call = call
        self._is_gone = False
        if "_origin" not in self.__dict__:
            self._kept.add(self._key, call)

    def __del__(self):
        if "_call" in self.__dict__ and "_origin" not in self.__dict__:
            self._kept.drop(self._key, self._call)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __repr__(self):
        if "_call" not in self.__dict__:
            return f"<Ref({self._origin[2]}): {self.id}>"
        name = self._call._fname
        if not self.ready():
            return f"<Ref({name}): pending>"
        info, problem = self._call._outcome()
        if problem is not None:
            return f"<Ref({name}): failed>"
        return f"<Ref({name}): {info['kind']}, {info['bytes']} bytes on {info['host']}>"

    def __reduce__(self):
        found = getattr(_this_thread, "refs", None)
        if found is not None:
            found[self._key] = self
            return ref_files.value_of, tuple(self._key)
        return unpickled, self._stay()

    @property
    def id(self) -> str:
        """The id of the result: in any program, ``rc.ref(id)`` returns a Ref to the result.

        For a Ref from `Client.published()`, the id is the name of the result. A result can be freed
        although a program has stored its id: see `Client.ref()`.
        """
        if "_call" not in self.__dict__:
            return self._origin[0]
        if not self._key.number:
            return self._key.client
        return ".".join([self.msg_id, str(self._key.number), *filter(None, [self._key.engine])])

    @property
    def msg_id(self) -> str:
        """The id of the request that makes the result.

        If the call was sent again, this is the id of the latest request.
        """
        self._call.ready()
        return self._call.msg_ids[0]

    @property
    def engine_id(self) -> int | None:
        """The id of the engine that made the result; None until it is known."""
        return self._call.engine_id

    @property
    def nbytes(self) -> int:
        """The number of bytes that the result takes on its host. Reading this attribute waits until the call has ended.

        Raises
        ------
        RemoteError
            The call failed.
        """
        return self._call.get()["bytes"]

    def ready(self) -> bool:
        """Returns whether the call that makes the result has ended.

        Returns
        -------
        bool
            Whether the call has ended, with a result or an error.
        """
        return self._call.ready()

    def wait(self, timeout: float | None = -1) -> bool:
        """Waits until the call that makes the result has ended.

        Parameters
        ----------
        timeout : float, optional
            Seconds to wait. None or a negative number means no limit.

        Returns
        -------
        bool
            Whether the call has ended.

        Examples
        --------
        >>> rc.load_balanced_view().apply_ref(pow, 2, 3).wait(10)
        True
        """
        return self._call.wait(timeout)

    def get(self, timeout: float | None = None) -> T:
        """Waits until the call that makes the result has ended, and returns a copy of the result.

        Parameters
        ----------
        timeout : float, optional
            Seconds to wait. Default: no limit.

        Returns
        -------
        Any
            A copy of the result. Each call returns a new copy.

        Raises
        ------
        TimeoutError
            The call has not ended in time; the call continues.
        RemoteError
            The call failed.
        ResultLost
            The engine that kept the result has ended.
        RuntimeError
            The Ref was unpickled in a process that has no client of its cluster.

        Examples
        --------
        >>> rc.load_balanced_view().apply_ref(pow, 2, 3).get()
        8
        """
        end = None if timeout is None else time.monotonic() + timeout
        if "_call" not in self.__dict__ and ref_files.engine() and ref_files.has(*self._key):
            return ref_files.value_of(*self._key)  # engines have no client
        while True:
            left = None if end is None else max(0, end - time.monotonic())
            call = self._call
            info = call.get(left)
            client = call._client
            engine_id = number_of(client, info["engine"])
            try:
                if self._kept.is_here(info):
                    return ref_files.value_of(*self._key)
                if engine_id is not None:
                    return client.direct_view(engine_id).apply_async(ref_files.value_of, *self._key).get(left)
            except (error.UnmetDependency, error.EngineError, error.NoEnginesRegistered):
                pass  # the engine or the result does not exist any more
            with self._kept.repairing:
                if self._call is call:
                    self._is_gone = True
                    self._compute_again()

    def publish(self, name: str) -> None:
        """Gives the result a name, under which other programs find it: see `Client.published()`.

        A published result stays after this program has ended. The result is lost when the cluster
        ends or the engine that made the result ends. `Client.unpublish()` removes the name.

        Parameters
        ----------
        name : str
            Letters, digits, "-" and "_"; at most 40 characters.

        Raises
        ------
        ValueError
            The name is invalid, or another result has this name.
        RemoteError
            The call failed.
        ResultLost
            The engine that made the result has ended.

        Examples
        --------
        >>> squares = rc.load_balanced_view().apply_ref(lambda: [x * x for x in range(3)])
        >>> squares.publish("squares")
        >>> rc.published()["squares"].get()
        [0, 1, 4]
        >>> rc.unpublish("squares")
        """
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise ValueError(f"the name of a result is letters, digits, - and _, at most 40, not {name!r:.80}")
        call = self._call
        info = call.get()
        engine_id = number_of(call._client, info["engine"])
        if engine_id is None:
            raise self._lost(info, "a published result stays with the engine that made it")
        call._client.direct_view(engine_id).apply_sync(published_results.publish, tuple(self._key), name)

    # ------------------------------------------------------------ pickles

    def _stay(self):
        """Keeps the result from being freed when its Refs are deleted. Returns the arguments with
        which unpickled() makes this Ref in another process."""
        if "_origin" in self.__dict__ and ("_call" not in self.__dict__ or self._call._client._closed):
            return self._origin
        info = None
        if self.ready() or not self._key.number:  # what is known of a published result is known soon
            self._call.wait()
            info = self._call._outcome()[0]
        if not self._kept.let_stay(self._key, info and info["engine"]):
            name = self._call._fname
            sentence = (
                f"the engine that made the result of {name} has ended, so no engine can keep the result for other programs: pickle "
                f"ref.get() instead of the Ref, or call {name} again"
            )
            raise error.remote_error("ResultLost", sentence, "", {})
        return self.id, self._key.folder, self._call._fname, info

    def _find_client(self):
        """Returns a client of this process that this unpickled Ref can use."""
        _, folder, name, _ = self._origin
        clients = completion.open_clients()
        found = next((each for each in clients if each._kept_results.folder == folder), None)
        if found is not None:
            return found
        if ref_files.engine():
            raise RuntimeError(
                f"engine {ref_files.engine()[:8]} on {os.uname().nodename} has no client, so it can only get() the result of "
                f"{name} when this host has it: pass the Ref in the arguments of a call, which waits for the result and gets the value"
            )
        has = f"this process has {counted(len(clients), 'client')}, but none" if clients else "this process has no client"
        raise RuntimeError(
            f"{has} of the cluster that keeps the result of {name}: make one, e.g. rc = px.Client(), and use the Ref again. "
            f"The connection file of the cluster names the folder {folder}; if there is no such file, the cluster has ended"
        )

    def _attach(self, client):
        """Lets a Ref that was unpickled use this client.

        errors  ResultLost: neither the controller nor an engine knows the result.
        """
        Ref.__init__(self, client._kept_results, self._key, client._call_of(self._key, *self._origin), self._is_task)
        self._recipe.why_not = (
            "only the program that made the call can make it again; a result outlives this program only if its Ref was "
            "pickled or published"
        )

    # ------------------------------------------------------------ failures

    def _is_lost(self):
        """Returns whether the result was kept and then lost, as far as this client knows."""
        if not self.ready():
            return False
        info, problem = self._call._outcome()
        if problem is not None:
            return False
        return self._is_gone or not (self._kept.outlives_engines(info) or number_of(self._call._client, info["engine"]) is not None)

    def _is_usable(self):
        """Returns whether the result exists, or an unfinished call may still make the result."""
        return not self.ready() or (self._call._outcome()[1] is None and not self._is_lost())

    def _compute_again(self):
        """Sends the call again. If results in the arguments of the call are lost or freed, the
        calls that make these results are sent first.

        Precondition: the result of this Ref is lost, and the caller holds the lock `repairing`.

        errors  ResultLost: one of the calls cannot be sent again.
        """
        try:
            recipes = plan(self._recipe, lambda recipe: (ref := recipe.ref()) is not None and ref._is_usable())
        except NotRepeatable as why:
            raise self._lost(self._call._outcome()[0], str(why)) from None
        made = {}  # keeps new Refs, for which the program has none, until the calls that need them are sent
        for recipe in recipes:
            inputs = [made.get(each) or each.ref() for each in recipe.inputs]
            made[recipe] = _send_again(self._kept, recipe, inputs)

    def _ask(self):
        """Asks the engine that made the result whether it still has the result. Returns the
        request; None if this engine has ended, or if the result does not need the engine."""
        info = self._call._outcome()[0]
        client = self._call._client
        engine_id = number_of(client, info["engine"])
        if engine_id is None or self._kept.outlives_engines(info):
            return None
        return client._connection.send_direct([engine_id], [requests.call(ref_files.has, tuple(self._key))], "null")

    def _lost(self, info, why_not):
        is_there = number_of(self._call._client, info["engine"]) is not None
        engine = info["engine"][:8] if self.engine_id is None else self.engine_id
        what = "does not have it any more" if is_there else "has ended"
        sentence = (
            f"the result of {self._call._fname} is lost: engine {engine}, which kept it on {info['host']}, {what}, and "
            f"{why_not}; call it again"
        )
        return error.remote_error("ResultLost", sentence, "", {})

    def _why_missing(self):
        """Returns the exception for a call that failed because this result is missing; None if the call failed for
        another reason."""
        if not self.ready():
            return None
        info, problem = self._call._outcome()
        if problem is not None:
            return problem
        if self._call._client._closed or not self._is_lost():
            return None
        return self._lost(info, self._recipe.why_not)

    def _host(self):
        """Returns the host that keeps the result; None if it is not known."""
        info = self._call._outcome()[0] if self.ready() else None
        return None if info is None else info["host"]


def unpickled(identifier: str, folder: str, name: str, info: dict[str, Any] | None) -> Ref[Any]:
    """Makes a Ref from the content of a pickle.

    The Ref looks for a client of this process when it first needs a client.

    Parameters
    ----------
    identifier : str
        The id of the result.
    folder : str
        The cluster's folder in shared memory, which identifies the cluster.
    name : str
        The name of the called function, for error messages.
    info : dict or None
        The engine's description of the result; None if it is not known.

    Returns
    -------
    Ref
        The Ref.

    Raises
    ------
    ValueError
        The id is invalid.
    """
    text = identifier if isinstance(identifier, str) else ""
    parts = _ID.fullmatch(text)
    if parts is None and not _NAME.fullmatch(text):
        raise ValueError(f"{identifier!r:.80} is not the id of a result: see the attribute `id` of a Ref")
    ref: Ref[Any] = Ref.__new__(Ref)
    ref._origin = identifier, folder, name, info
    ref._key = ref_files.Key(folder, parts[1], int(parts[2]), parts[3] or "") if parts else ref_files.Key(folder, identifier, 0)
    ref._is_task = parts is not None and not ref._key.engine
    return ref


def _send_again(kept, recipe, inputs):
    """Sends again the call that a Recipe describes; returns the Ref of the call's result.

    inputs  the Refs in the arguments of the call
    """
    recipe.use()
    uses = Uses(inputs, recipe.task, kept) if inputs else None
    tasks = recipe.task.again(inputs)
    if uses is not None:
        uses.sent(tasks)
    call: AsyncResult[Any] = AsyncResult(kept.client(), tasks, fname=recipe.name, single=True, owner=True)
    call._uses = uses
    ref = recipe.ref()
    if ref is None:
        return Ref(kept, recipe.key, call, True, recipe)
    ref._set_call(call)
    return ref


class Uses:
    """Holds the Refs in the arguments of a call until the call is answered, so that their results
    are not freed. If the call fails because one of these results is lost, the Uses object
    recomputes the lost result, if possible, and sends the call again.

    refs  the Refs.
    task  the call as it was sent; if None, the call is never sent again.
    kept  the client's table of kept results.
    """

    def __init__(self, refs, task=None, kept=None):
        self._refs = tuple(refs)
        self._task = task
        self._kept = kept
        self._cause = self._hosts = None  # set when the call has failed
        self._probe = None  # requests that ask engines for the results
        self._has_asked = self._has_brought = False
        self._inputs = self._ids()  # read before the call is sent, so that a later change is noticed
        self.tasks = None  # the tasks that were sent last; None: the call is never sent again
        self.is_final = False

    def sent(self, tasks):
        """Records the requests of the call after they were sent."""
        if self._task is not None:
            self.tasks = tasks
            call_when_ready(tasks, self.look)
        else:
            call_when_ready(tasks, lambda: self._end(tasks))

    def _end(self, tasks):
        if any(tasks.outcome(index)[0] != "ok" for index in range(len(tasks))):
            self._look()
        self._refs = ()
        self.is_final = True

    # ------------------------------------------------------------ calls that are sent again

    def awaited(self):
        """Returns the requests whose answers are needed next: the call, or requests that ask
        engines for the results in its arguments."""
        return self._probe or self.tasks

    def look(self):
        """Returns whether the call has its final answer. If the answer is not final, but the requests
        that awaited() returns are answered, the method sends the next request."""
        if self.is_final:
            return True
        if not self.awaited().is_ready():
            return False
        with self._kept.repairing:
            undecided = [self]
            while undecided:  # decides a call after the undecided calls whose results it uses
                last = undecided[-1]
                before = last._undecided_inputs() if last._is_undecided() else ()
                undecided += before
                if not before:
                    undecided.pop()
                    last._decide()
            return self.is_final

    def _is_undecided(self):
        return self.tasks is not None and not self.is_final and self.awaited().is_ready()

    def _undecided_inputs(self):
        return [each for each in (ref._call._uses for ref in self._refs) if each is not None and each._is_undecided()]

    def _decide(self):
        if not self._is_undecided():
            return
        if self._probe is not None:
            self._take_probe()
        if not self._goes_on():
            if self.tasks.outcome(0)[0] != "ok":
                self._look()
            self.is_final = True
            self._refs = ()

    def _goes_on(self):
        """Sends the next request that the call needs. Returns False if the call needs no further
        request and thus has ended."""
        if self.tasks.outcome(0)[0] == "ok":
            return False
        problem = remote_error(self.tasks.outcome(0)[2])
        if not isinstance(problem, error.ImpossibleDependency) or isinstance(problem, error.InvalidDependency):
            return False
        is_worth_it = self._ids() != self._inputs  # a result was computed again in the meantime
        for ref in self._refs:
            if not ref.ready():
                is_worth_it = True
            elif ref._call._outcome()[1] is not None:
                return False
            elif ref._is_lost():
                try:
                    ref._compute_again()
                except error.RemoteError as lost:
                    self._cause = lost
                    return False
                is_worth_it = True
        if is_worth_it:
            self._has_asked = self._has_brought = False
            self._send()
            return True
        return (not self._has_asked and self._ask()) or (not self._has_brought and self._bring())

    def _send(self, *where):
        self._inputs = self._ids()
        self.tasks = self._task.again(self._refs, *where)
        call_when_ready(self.tasks, self.look)

    def _ids(self):
        return [ref.msg_id for ref in self._kept_refs()]

    def _kept_refs(self):
        return [ref for ref in self._refs if isinstance(ref, Ref)]

    def _bring(self):
        """Sends the call again, to an engine of the host that has most of the call's input data: the
        results in the call's arguments, counted in bytes. The request contains the addresses from
        which this engine fetches the results on other hosts. The method does nothing and returns
        False if all results are on one host, or if another host has a result that no engine can
        send."""
        bytes_on, infos = {}, {}
        for ref in self._kept_refs():
            infos[ref] = info = ref._call._outcome()[0]
            bytes_on[info["memory"]] = bytes_on.get(info["memory"], 0) + info["bytes"]
        if len(bytes_on) < 2:
            return False
        home = max(bytes_on, key=lambda memory: bytes_on[memory])
        wanted = []
        for ref, info in infos.items():
            if info["memory"] != home:
                place = next(filter(None, map(self._kept.places.get, self._kept.alive_on(info))), None)
                if place is None:
                    return False
                wanted.append([list(ref._key), place])
        self._has_brought = True
        self._send(wanted, [each for ref in infos if infos[ref]["memory"] == home for each in self._kept.alive_on(infos[ref])])
        return True

    def _ask(self):
        """Asks the engines whether they have the results, because this client may not know yet that an engine has
        ended. If the results are on several hosts, also makes engines listen, so that engines of other hosts can
        fetch the results. Returns False if there is no engine to ask."""
        self._has_asked = True
        probes = [(ref, ref._call, probe) for ref in self._refs if (probe := ref._ask()) is not None]
        infos = [ref._call._outcome()[0] for ref in self._kept_refs()]
        if len({info["memory"] for info in infos}) > 1:
            givers = {next(iter(self._kept.alive_on(info)), None) for info in infos}
            work = requests.call(ref_streams.serve, (self._kept.location,))
            for giver in givers - {None} - set(self._kept.places):
                number = number_of(self._kept.client(), giver)
                probes.append((None, giver, self._kept.client()._connection.send_direct([number], [work], "null")))
        if not probes:
            return False
        self._asked = probes
        tasks = [probe for _, _, probe in probes]
        self._probe = type(tasks[0]).joined(tasks) if len(tasks) > 1 else tasks[0]
        call_when_ready(self._probe, self.look)
        return True

    def _take_probe(self):
        for ref, call, probe in self._asked:
            status, content, rest = probe.outcome(0)
            if ref is None:
                if status == "ok":
                    self._kept.places[call] = requests.read(requests.load(content.decode()), rest)
                continue
            if ref._call is not call:
                continue
            if status != "ok" or requests.load(content.decode()).get("value") == {"json": False}:
                ref._is_gone = True
        self._probe = self._asked = None

    # ------------------------------------------------------------ what failed

    def _look(self):
        refs = self._refs
        if refs:
            self._hosts = ", ".join(sorted(set(filter(None, (ref._host() for ref in refs)))))
            self._cause = self._cause or next(filter(None, (ref._why_missing() for ref in refs)), None)

    def explain(self, problem):
        """Returns the exception for a failure of the call. If the call failed because of one of its Refs, the exception
        describes the original failure."""
        if not isinstance(problem, error.UnmetDependency):
            return problem
        self._look()
        if self._cause is not None:
            return self._cause
        if not self._hosts or not isinstance(problem, error.ImpossibleDependency) or isinstance(problem, error.InvalidDependency):
            return problem
        sentence = (
            "no engine that may run the call can get all results in its arguments, which are kept on "
            f"{self._hosts}: call it on a load-balanced view, and let engines of these hosts connect to each other by TCP"
        )
        return error.remote_error("ImpossibleDependency", sentence, "", {})


@contextmanager
def gathered() -> Iterator[dict[Any, Ref[Any]]]:
    """A context manager for code that makes requests. The context manager yields a dict that maps the key of each Ref
    in these requests to the Ref."""
    before = getattr(_this_thread, "refs", None)
    _this_thread.refs = found = {}
    try:
        yield found
    finally:
        _this_thread.refs = before


class ObjectUse:
    """Stands for an Actor in the dict that gathered() yields. An ObjectUse keeps the Actor's objects
    on the engines alive until the call is answered, as a Uses object does for results.

    home     the ActorHome, which owns the objects.
    spawned  the AsyncResult of the calls of the constructors. Tasks that have the Actor in their
             arguments wait until the constructors have returned.
    """

    _is_task = _is_awaited = False  # the engine of a direct call runs the constructor first
    _recipe = None

    def __init__(self, home, spawned):
        self._home = home
        self._call = spawned

    def ready(self):
        return self._call.ready()

    def _why_missing(self):
        return None

    _host = _ask = _why_missing

    def _is_lost(self):
        return False


def note_object(key, home, spawned):
    """Records that an Actor is in the arguments of the call that this thread is making. Does nothing
    if the thread is making no call."""
    found = getattr(_this_thread, "refs", None)
    if found is not None:
        found[key] = ObjectUse(home, spawned)


def unfinished(refs):
    """Returns the ids of the unfinished tasks for which a task with these Refs in its arguments
    must wait. If a Ref comes from a direct call, unfinished() waits for this call. Lost results are
    recomputed, if possible.

    errors  the errors of failed direct calls
    """
    ids = []
    for ref in refs:
        if ref.ready() and ref._call._outcome()[1] is None and not _sent_again(ref):
            continue
        if ref._is_task:
            ids.append(ref.msg_id)
        else:
            ref._call.get()
    return ids


def _sent_again(ref):
    """Recomputes the result of a Ref if the result is lost. Returns whether the result is being
    recomputed."""
    if not ref._is_lost():
        return False
    with ref._kept.repairing:
        try:
            if ref._is_lost():
                ref._compute_again()
        except error.ResultLost:
            return False  # the call that needs the result raises the error
    return True


def wait_for(refs):
    """Waits until the calls that make the results of these Refs have ended. If a call failed,
    raises its error."""
    for ref in refs:
        if ref._is_awaited:
            ref._call.get()
            while _sent_again(ref):
                ref._call.get()
