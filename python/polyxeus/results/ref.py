"""Results that stay on the host of their engine."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from polyxeus import error
from polyxeus.results.completion import call_when_ready
from polyxeus.results.kept_results import number_of
from polyxeus.serialize import ref_files

if TYPE_CHECKING:
    from collections.abc import Iterator
    from polyxeus.results.async_result import AsyncResult

__all__ = ["Ref"]

T = TypeVar("T")
_this_thread = threading.local()


class Ref(Generic[T]):
    """A result that stays on the host of its engine. `apply_ref` and ``submit(..., keep=True)`` return it.

    In the arguments of further calls it is replaced by the value when the function runs: the value passes through neither the
    client nor the controller. A task starts when the calls of all its Refs have ended. The result is freed when the last Ref
    to it has been deleted and no unanswered call needs it.

    Parameters
    ----------
    kept : Any
        The client's table of kept results.
    key : Any
        Names the result.
    call : AsyncResult
        The call. Its value is what the engine reports about the result.
    is_task : bool
        Whether the controller chose the engine.

    Attributes
    ----------
    msg_id : str
        The id of the request that makes the result.

    Examples
    --------
    >>> balanced = rc.load_balanced_view()
    >>> numbers = balanced.apply_ref(list, range(1000))      # returns at once
    >>> balanced.apply_sync(sum, numbers)
    499500
    >>> numbers.get()[-1]
    999
    """

    def __init__(self, kept: Any, key: Any, call: AsyncResult[Any], is_task: bool) -> None:
        self._kept = kept
        self._key = key
        self._is_task = is_task
        self._call = call
        self.msg_id: str = call.msg_ids[0]
        kept.add(key, call)

    def __del__(self):
        if "_call" in self.__dict__:
            self._kept.drop(self._key, self._call)

    def __repr__(self):
        name = self._call._fname
        if not self.ready():
            return f"<Ref({name}): pending>"
        info, problem = self._call._outcome()
        if problem is not None:
            return f"<Ref({name}): failed>"
        return f"<Ref({name}): {info['kind']}, {info['bytes']} bytes on {info['host']}>"

    def __reduce__(self):
        found = getattr(_this_thread, "refs", None)
        if found is None:
            raise TypeError("a Ref can only be sent in the arguments of apply, submit and map; get() brings its value here")
        found[self._key] = self
        return ref_files.value_of, tuple(self._key)

    @property
    def engine_id(self) -> int | None:
        """The id of the engine that made the result; None until it is known."""
        return self._call.engine_id

    @property
    def nbytes(self) -> int:
        """How many bytes the result takes on its host. Waits for the call.

        Raises
        ------
        RemoteError
            The call failed.
        """
        return self._call.get()["bytes"]

    def ready(self) -> bool:
        """Tells whether the call has ended.

        Returns
        -------
        bool
            Whether it has ended, with a result or an error.
        """
        return self._call.ready()

    def wait(self, timeout: float | None = -1) -> bool:
        """Waits until the call has ended.

        Parameters
        ----------
        timeout : float, optional
            Seconds to wait; None or below 0: without a limit.

        Returns
        -------
        bool
            Whether it has ended.

        Examples
        --------
        >>> rc.load_balanced_view().apply_ref(pow, 2, 3).wait(10)
        True
        """
        return self._call.wait(timeout)

    def get(self, timeout: float | None = None) -> T:
        """Waits for the call and brings the value to this process.

        Parameters
        ----------
        timeout : float, optional
            Seconds to wait. Default: without a limit.

        Returns
        -------
        Any
            The value: a new object each time.

        Raises
        ------
        TimeoutError
            The call has not ended in time; it continues.
        RemoteError
            The call failed.
        ResultLost
            The engine that kept the result has ended.

        Examples
        --------
        >>> rc.load_balanced_view().apply_ref(pow, 2, 3).get()
        8
        """
        info = self._call.get(timeout)
        if self._kept.is_here(info):
            try:
                return ref_files.value_of(*self._key)
            except error.UnmetDependency:
                raise self._lost(info) from None
        client = self._call._client
        engine_id = number_of(client, info["engine"])
        if engine_id is None:
            raise self._lost(info)
        return client.direct_view(engine_id).apply_async(ref_files.value_of, *self._key).get(timeout)

    # ------------------------------------------------------------ failures

    def _lost(self, info):
        sentence = (
            f"the result of {self._call._fname} is lost: engine {self.engine_id}, which kept it on {info['host']}, has ended; "
            "call it again"
        )
        return error.remote_error("ResultLost", sentence, "", {})

    def _why_missing(self):
        """The exception for a call that failed because this result is missing; None: it failed for another reason."""
        if not self.ready():
            return None
        info, problem = self._call._outcome()
        if problem is not None:
            return problem
        client = self._call._client
        if self._kept.is_here(info) or client._closed or number_of(client, info["engine"]) is not None:
            return None
        return self._lost(info)

    def _host(self):
        """The host that keeps the result; None if it is not known."""
        info = self._call._outcome()[0] if self.ready() else None
        return None if info is None else info["host"]


class Uses:
    """Keeps the Refs in the arguments of a call, and so their results, until the call is answered.

    refs  some Refs.
    """

    def __init__(self, refs):
        self._refs = tuple(refs)
        self._cause = self._hosts = None  # when it has failed

    def sent(self, tasks):
        """Says that the call was sent."""
        call_when_ready(tasks, lambda: self._end(tasks))

    def _end(self, tasks):
        if any(tasks.outcome(index)[0] != "ok" for index in range(len(tasks))):
            self._look()
        self._refs = ()

    def _look(self):
        refs = self._refs
        if refs:
            self._hosts = ", ".join(sorted(set(filter(None, (ref._host() for ref in refs)))))
            self._cause = next(filter(None, (ref._why_missing() for ref in refs)), None)

    def explain(self, problem):
        """The exception for a failure of the call: if one of its Refs is the reason, the first cause."""
        if not isinstance(problem, error.ImpossibleDependency):
            return problem
        self._look()
        if self._cause is not None:
            return self._cause
        if not self._hosts or isinstance(problem, error.InvalidDependency):
            return problem
        sentence = (
            f"no engine that may run the call has the results that it uses: they are kept on {self._hosts}, and a call needs an "
            "engine on a host that has all of them"
        )
        return error.remote_error("ImpossibleDependency", sentence, "", {})


@contextmanager
def gathered() -> Iterator[dict[Any, Ref[Any]]]:
    """A context manager for code that makes requests: its dict has the Refs in them, by their keys."""
    before = getattr(_this_thread, "refs", None)
    _this_thread.refs = found = {}
    try:
        yield found
    finally:
        _this_thread.refs = before


def unfinished(refs):
    """The ids of the tasks for which a task with these Refs has to wait. Itself waits for the direct calls among them.

    errors  the errors of direct calls that failed.
    """
    ids = []
    for ref in refs:
        if ref.ready() and ref._call._outcome()[1] is None:
            continue
        if ref._is_task:
            ids.append(ref.msg_id)
        else:
            ref._call.get()
    return ids


def wait_for(refs):
    """Waits for the calls of these Refs.  errors  the errors of the calls."""
    for ref in refs:
        ref._call.get()
