"""Results of requests. A result may not have arrived yet."""

from __future__ import annotations

import concurrent.futures
import threading
import time
import warnings
from concurrent.futures import FIRST_COMPLETED, FIRST_EXCEPTION, Future
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, overload

from polyxeus import error
from polyxeus.counted import counted
from polyxeus.results.callers_traceback import ends_at_caller
from polyxeus.results.completion import call_in_turn, call_when_ready
from polyxeus.results.displays import DisplayMixin
from polyxeus.results.metadata import (
    KEYS, ExecuteReply, known_of, live_metadata, metadata_of, needs_output, remote_error
)  # fmt: skip
from polyxeus.results.progress import shows_text_alone
from polyxeus.results.result_html import result_html
from polyxeus.results.retry import retried
from polyxeus.results.slices import slices
from polyxeus.results.timings import TimingMixin, is_reached
from polyxeus.serialize import requests
from polyxeus.trace import recording

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from polyxeus.client.client import Client
    from polyxeus.hints import Anything, ReturnWhen
    from polyxeus.results.ref import Ref

__all__ = ["AsyncHubResult", "AsyncResult"]

_FUTURE_STATE = frozenset(
    ["_condition", "_state", "_result", "_exception", "_waiters", "_done_callbacks"]
)
_OVER = ("FINISHED", "CANCELLED", "CANCELLED_AND_NOTIFIED")  # states of a Future
_future_lock = threading.Lock()
_MISSING = object()
T = TypeVar("T")


def _seconds(timeout):
    """Returns the timeout in seconds; None if `timeout` is None or a negative number, which means
    no limit."""
    if timeout is not None and not isinstance(timeout, (int, float)):
        raise TypeError(f"timeout must be a number of seconds, not {timeout!r:.80}")
    return None if timeout is None or timeout < 0 else timeout


class AsyncResult(DisplayMixin, TimingMixin, Future[T]):
    """The result of a call. The result may not have arrived yet.

    The methods of views return an AsyncResult. It is a concurrent.futures.Future, and you can ``await`` it. A call on
    one engine has one result; a call on several engines has a list of results. The keys of Metadata are attributes:
    ``result.stdout``, ``result.engine_id``, ``result.started`` and so on.

    Parameters
    ----------
    client : Client
        The client that has sent the requests.
    tasks : Any
        The requests, as objects of the C++ library.
    read : callable
        A function that reads the value of an answer.
    fname : str
        The name of the function, as messages show it.
    targets : list of int, optional
        The engines, one for each request.
    single : bool
        Whether the result is the value of the only request. If False, the result is a list.
    owner : bool
        If True, results that come from the controller's records are not stored in the client's `results`.
    return_exceptions : bool, optional
        Whether exceptions are returned as items instead of being raised.
    chunk_sizes : list of int, optional
        If the call is a map, the number of items in each request.

    Examples
    --------
    >>> pending = rc[:].apply_async(pow, 2, 3)
    >>> pending.get(timeout=10)
    [8, 8, 8, 8]
    >>> pending.engine_id
    [0, 1, 2, 3]
    >>> pending.get_dict()
    {0: 8, 1: 8, 2: 8, 3: 8}
    """

    if TYPE_CHECKING:  # a call on several engines has a list in each attribute
        msg_id = submitted = started = completed = received = engine_uuid = engine_id = follow = Anything
        after = status = execute_input = execute_result = error = stdout = stderr = outputs = data = Anything
        label = Anything

    owner = False
    _return_exceptions = False
    _chunks = None  # the number of items of each task; None: one item each
    _results = None  # the results that were read, with failures as exceptions
    _origin = None  # (the AsyncResult from which this one was split off, the indices of the tasks)
    _metadata = None  # the Metadata of the tasks, shared with other objects
    _value = None  # (result, exception)
    _ref = None  # the Ref of a call whose result is kept
    _uses = None  # the Refs in its arguments
    _parts = None

    def __init__(
        self,
        client: Client,
        tasks: Any,
        read: Callable[..., Any] = requests.read,
        *,
        fname: str = "unknown",
        targets: Any = None,
        single: bool = False,
        owner: bool = False,
        return_exceptions: bool | None = False,
        chunk_sizes: list[int] | None = None,
    ) -> None:
        # The state of the Future is made when it is first used: see __getattr__.
        self._client = client
        self._tasks = tasks
        self._read = read
        self._fname = fname
        self._targets = targets
        self._single_result = single
        self.owner = owner
        if return_exceptions:
            self._return_exceptions = return_exceptions
        if chunk_sizes is not None:
            self._chunks = chunk_sizes

    # ------------------------------------------------------------ the Future

    def _become_future(self):
        with _future_lock:
            if "_state" in self.__dict__:
                return
            Future.__init__(self)
        if self._is_over():
            self._settle()
        else:
            self._call_when_over(lambda: self._settle(call_in_turn))

    def _settle(self, call=lambda function: function()):
        """Puts the Future into its final state, and wakes the threads that wait for it. The method does not read the
        value of the result: the thread that requests the value reads it.

        call  a function that runs the callbacks of add_done_callback(), which may wait for other results
        """
        with self._condition:
            if self._state in _OVER:
                return
            self._state, told = self._ending()
            for waiter in self._waiters:
                getattr(waiter, told)(self)
            self._condition.notify_all()
        call(self._invoke_callbacks)

    def _ending(self):
        """Returns the final state of the Future, and the name of the method to call on each object
        that waits for the Future."""
        return "FINISHED", "add_exception" if self._has_failed() else "add_result"

    def _has_failed(self):
        return any(self._tasks.outcome(i)[0] != "ok" for i in range(len(self._tasks)))

    def __await__(self) -> Generator[Any, None, T]:
        import asyncio

        return asyncio.wrap_future(self).__await__()

    def cancel(self) -> bool:
        """Cancels the requests that have not started.

        Returns
        -------
        bool
            Always False, because the call does not wait to learn whether the requests had started.
        """
        if not self.ready():
            self._client.abort(self, block=False)
        return False

    def cancelled(self) -> bool:
        """Returns False, because cancelled requests count as failed: their exception is TaskAborted.

        Returns
        -------
        bool
            False.
        """
        return False

    def running(self) -> bool:
        """Returns whether an answer is still missing.

        Returns
        -------
        bool
            True if an answer is still missing.
        """
        return not self.done()

    def done(self) -> bool:
        """Returns whether all answers have arrived, as ready() does.

        Returns
        -------
        bool
            True if all answers have arrived.
        """
        return self.ready()

    def result(self, timeout: float | None = None) -> T:
        """Waits for the result and returns it.

        Parameters
        ----------
        timeout : float, optional
            Seconds to wait. Default: no limit.

        Returns
        -------
        Any
            One result, or a list with the result of each request.

        Raises
        ------
        TimeoutError
            The result has not arrived within `timeout` seconds; the request continues.
        RemoteError
            The request failed; see polyxeus.error for its subclasses.
        CompositeError
            The result is a list, and at least one request failed.
        TaskAborted
            The request was cancelled before it ran.

        Examples
        --------
        >>> rc[0].apply_async(pow, 2, 3).result()
        8
        """
        if not self.wait(-1 if timeout is None else timeout):
            raise TimeoutError(self._not_ready())
        value, problem = self._outcome()
        if problem is not None:
            raise problem
        return value

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """Waits for the result and returns the exception that result() would raise.

        Parameters
        ----------
        timeout : float, optional
            Seconds to wait. Default: no limit.

        Returns
        -------
        BaseException or None
            None if no request failed.

        Raises
        ------
        TimeoutError
            The result has not arrived within `timeout` seconds.

        Examples
        --------
        >>> rc[0].apply_async(lambda: 1 / 0).exception().ename
        'ZeroDivisionError'
        """
        if not self.wait(-1 if timeout is None else timeout):
            raise TimeoutError(self._not_ready())
        return self._outcome()[1]

    # ------------------------------------------------------------ reading results

    def _load(self, index):
        """Returns the result of one task, or the task's exception."""
        status, content, rest = self._tasks.outcome(index)
        if status != "ok":
            return self._failure(rest)
        try:
            content = requests.load(content.decode())
            if "execution_count" in content:
                return self._execute_reply(index, content)
            return self._read(content, rest)
        except Exception as problem:  # e.g. a class that this process cannot import
            return error.RemoteError(
                type(problem).__name__, f"the result cannot be read here: {problem}", "", {}
            )

    def _load_traced(self, index):
        began = recording.begin()
        result = self._load(index)
        if began is not None and self._tasks is not None:
            known = self._tasks.metadata(index)
            recording.end("decode", f"decode {self._fname}", began, {"msg_id": known["msg_id"]})
            if known.get("received") is not None:
                recording.end("answer", self._fname, began, {"msg_id": known["msg_id"], "received": known["received"]})
        return result

    def _failure(self, failure):
        problem = remote_error(failure)
        return problem if self._uses is None else self._uses.explain(problem)

    def _execute_reply(self, index, content):
        msg_id, task = self.msg_ids[index], self._tasks.select([index])
        return ExecuteReply(msg_id, content, partial(live_metadata, msg_id, partial(known_of, task)))

    def _result_at(self, index):
        """Returns the result of one task, or the task's exception. Each call returns the same object."""
        if self._origin is not None:
            whole, place = self._origin
            return whole._result_at(place)
        results = self._results
        if results is None:
            results = self._results = [_MISSING] * len(self._tasks)
        if results[index] is _MISSING:
            load = self._load_traced if recording.recorders else self._load
            results[index] = load(index)
        return results[index]

    @property
    def _raw_results(self):
        return [self._result_at(i) for i in range(len(self._tasks))]

    def _outcome(self):
        """Returns (result, exception). Precondition: all answers have arrived."""
        outcome = self._value
        if outcome is None:
            results = self._raw_results
            problem = None
            if not self._return_exceptions or self._single_result:
                problem = self._problem(results)
            value = None if problem is not None else self._reconstruct_result(results)
            outcome = self._value = value, problem
        return outcome

    def _problem(self, results):
        if self._single_result:
            return results[0] if isinstance(results[0], Exception) else None
        try:
            error.collect_exceptions(results, self._fname)
        except error.CompositeError as problem:
            return problem
        return None

    def _collect_exceptions(self, results):
        return results if self._return_exceptions else error.collect_exceptions(
            results, self._fname
        )

    def _reconstruct_result(self, results):
        """Returns the value for the caller, made from the list of all results."""
        return results[0] if self._single_result else results

    # ------------------------------------------------------------ waiting

    @property
    def msg_ids(self) -> list[str]:
        """The ids of the requests."""
        ids = self.__dict__.get("_ids")
        if ids is None:
            ids = self._ids = self._tasks.msg_ids()
        return ids

    def ready(self) -> bool:
        """Returns whether all answers have arrived.

        Returns
        -------
        bool
            Whether all answers have arrived.

        Examples
        --------
        >>> pending = rc[0].apply_async(pow, 2, 3)
        >>> pending.wait(10)
        True
        >>> pending.ready()
        True
        """
        return self._is_over()

    def _is_over(self):
        """Returns whether all answers have arrived and are final. An answer is not final if the call is sent again
        because one of its arguments was lost."""
        uses = self._uses
        if uses is None or uses.tasks is None:
            return self._tasks.is_ready()
        is_over = uses.look()
        if self._tasks is not uses.tasks:
            self._tasks, self._ids, self._metadata = uses.tasks, None, None
        return is_over

    def _call_when_over(self, function):
        """Calls `function()` in the thread of results.completion when all answers have arrived and are final.
        `function` must not wait."""
        call_when_ready(self._tasks, partial(self._call_if_over, function))

    def _call_if_over(self, function):
        if self._is_over():
            function()
        else:
            call_when_ready(self._uses.awaited(), partial(self._call_if_over, function))

    @overload
    def wait(self, timeout: float | None = -1, return_when: None = None) -> bool: ...

    @overload
    def wait(
        self, timeout: float | None = -1, *, return_when: ReturnWhen
    ) -> tuple[set[AsyncResult[Any]], set[AsyncResult[Any]]]: ...

    def wait(self, timeout: float | None = -1, return_when: Any = None) -> Any:
        """Waits until all answers have arrived.

        Parameters
        ----------
        timeout : float, optional
            Seconds to wait. None or a negative number means no limit.
        return_when : str, optional
            FIRST_COMPLETED, FIRST_EXCEPTION or ALL_COMPLETED of concurrent.futures: the event to wait for.

        Returns
        -------
        bool or tuple of two sets
            Whether all answers have arrived. If `return_when` is given: two sets of AsyncResults (done, pending), one
            AsyncResult for each request.

        Raises
        ------
        TypeError
            `timeout` is not a number.

        Examples
        --------
        >>> rc[:].apply_async(pow, 2, 3).wait(10)
        True
        """
        if return_when is None:
            is_ready = self._wait(_seconds(timeout))
            if is_ready and "_state" in self.__dict__:
                self._settle()
            return is_ready
        parts = self.split()
        for part in parts:
            if part.ready() and "_state" in part.__dict__:
                part._settle()
        for seconds in slices(_seconds(timeout)):
            with ends_at_caller:
                found = concurrent.futures.wait(parts, seconds, return_when)
            if is_reached(return_when, *found):
                break
        return found

    def _wait(self, seconds):
        uses = self._uses
        if uses is None or uses.tasks is None:
            return self._client._wait_for(self._tasks, seconds)
        end = None if seconds is None else time.monotonic() + seconds
        while not self._is_over():
            if not self._client._wait_for(uses.awaited(), None if end is None else max(0.0, end - time.monotonic())):
                return False
        return True

    def wait_for_output(self, timeout: float | None = -1) -> bool:
        r"""Waits until all answers and all output of the requests have arrived.

        Parameters
        ----------
        timeout : float, optional
            Seconds to wait. None or a negative number means no limit.

        Returns
        -------
        bool
            Whether all answers and all output have arrived.

        Examples
        --------
        >>> pending = rc[0].execute("print('done')")
        >>> pending.wait_for_output(10)
        True
        >>> pending.stdout
        'done\n'
        """
        with ends_at_caller:
            return self._tasks.wait_output(_seconds(timeout))

    def get(
        self,
        timeout: float | None = None,
        return_exceptions: bool | None = None,
        return_when: ReturnWhen | None = None,
    ) -> T:
        """Waits for the result and returns it.

        Parameters
        ----------
        timeout : float, optional
            Seconds to wait. Default: no limit.
        return_exceptions : bool, optional
            Whether exceptions are returned as items instead of being raised. Default: the `return_exceptions` of this
            AsyncResult.
        return_when : str, optional
            If this is FIRST_EXCEPTION, get() raises the error as soon as one request fails.

        Returns
        -------
        Any
            One result, or a list with the result of each request.

        Raises
        ------
        TimeoutError
            The result has not arrived within `timeout` seconds; the request continues.
        RemoteError
            The request failed; see polyxeus.error for its subclasses.
        CompositeError
            The result is a list, and at least one request failed.
        TaskAborted
            The request was cancelled before it ran.

        Examples
        --------
        >>> rc[:].apply_async(pow, 2, 3).get()
        [8, 8, 8, 8]
        """
        if return_when == FIRST_COMPLETED:
            warnings.warn(
                "get() ignores return_when=FIRST_COMPLETED and waits for all: use wait()", stacklevel=2
            )
        if return_when == FIRST_EXCEPTION and not self.ready():
            done, pending = self.wait(timeout, return_when=return_when)
            for part in done if pending else ():
                if not part.successful():
                    return part.get(return_exceptions=return_exceptions)
        if not self.wait(timeout):
            raise TimeoutError(self._not_ready())
        if return_exceptions is None:
            return_exceptions = self._return_exceptions
        value, problem = self._outcome()
        if problem is None:
            return value
        if return_exceptions:
            return self._reconstruct_result(self._raw_results)
        raise problem

    def _not_ready(self):
        tasks = self._tasks
        is_or_are = "is" if tasks.answered() == 1 else "are"
        text = f"result not ready: {tasks.answered()} of {counted(len(tasks), 'request')} {is_or_are} answered"
        failures = self._failures_so_far()
        if not failures:
            return text
        more = f", and {len(failures) - 1} more" if len(failures) > 1 else ""
        return f"{text}; {failures[0]} was raised already{more}: other engines may be waiting for the one that failed"

    def _failures_so_far(self):
        """Returns a list with the message of each failure that has arrived so far."""
        failures = []
        for index in range(len(self._tasks)):
            if self._tasks.is_answered(index):
                status, _, rest = self._tasks.outcome(index)
                if status != "ok":
                    failures.append(str(self._failure(rest)).strip())
        return failures

    def _check_ready(self):
        if not self.ready():
            raise TimeoutError(self._not_ready())

    def successful(self) -> bool:
        """Returns whether all requests succeeded.

        Returns
        -------
        bool
            True if no request failed.

        Raises
        ------
        RuntimeError
            The result has not arrived yet.

        Examples
        --------
        >>> pending = rc[0].apply_async(lambda: 1 / 0)
        >>> pending.wait(10)
        True
        >>> pending.successful()
        False
        """
        if not self.ready():
            raise RuntimeError("the result is not ready: wait for it before successful()")
        return self._outcome()[1] is None

    def get_dict(self, timeout: float | None = -1) -> dict[int, Any]:
        """Waits for the results and returns a dict that maps the id of each engine to its result.

        Parameters
        ----------
        timeout : float, optional
            Seconds to wait. None or a negative number means no limit.

        Returns
        -------
        dict
            ``{engine id: result}``.

        Raises
        ------
        ValueError
            An engine has several results.
        TimeoutError
            The results have not arrived within `timeout` seconds.

        Examples
        --------
        >>> rc[:2].apply_async(pow, 2, 3).get_dict()
        {0: 8, 1: 8}
        """
        results = self.get(timeout)
        if self._single_result:
            results = [results]
        by_engine = {}
        for engine_id, result in zip(self._values("engine_id"), results):
            if engine_id in by_engine:
                raise ValueError(f"engine {engine_id} has several results, but a dict can hold only one per engine")
            by_engine[engine_id] = result
        return by_engine

    @property
    def ref(self) -> Ref[Any]:
        """The Ref to the kept result of a call such as ``submit(..., keep=True)``.

        The Ref exists as soon as the call has been sent.

        Raises
        ------
        ValueError
            The call was made without ``keep=True``.

        Examples
        --------
        >>> balanced = rc.load_balanced_view()
        >>> numbers = balanced.submit(range, 4, keep=True)
        >>> balanced.submit(sum, numbers.ref).get()
        6
        """
        if self._ref is None:
            raise ValueError("this call does not keep its result: use submit(..., keep=True) or apply_ref()")
        return self._ref

    def __reduce_ex__(self, protocol):
        return super().__reduce_ex__(protocol) if self._ref is None else self._ref.__reduce__()

    @property
    def r(self) -> T:
        """The result, as get() returns it.

        Examples
        --------
        >>> rc[0].apply_async(pow, 2, 3).r
        8
        """
        return self.get()

    @property
    def result_dict(self) -> dict[int, Any]:
        """A dict that maps the id of each engine to its result, as get_dict() returns it."""
        return self.get_dict()

    def abort(self) -> None:
        """Cancels the requests that have not started, and waits until the engines have received this command.

        Raises
        ------
        RuntimeError
            All answers have arrived already.
        """
        if self.ready():
            raise RuntimeError("nothing to abort: the result is already there")
        return self._client.abort(self.msg_ids, targets=self._targets, block=True)

    def retry(self) -> AsyncResult[T]:
        """Repeats the requests that failed, with the same arguments. Requests that succeeded are not repeated.

        Failed tasks of a load-balanced view run on any engine. Other failed calls run on the same engine as before. The
        function and the arguments come from the controller's records, as they were sent in the first call.

        Returns
        -------
        AsyncResult
            All results, old and new, in the original order. If no request failed, this is the same AsyncResult.

        Raises
        ------
        RuntimeError
            The result has not arrived yet.
        ValueError
            The controller has no record of a failed request or of its arrays, or the call keeps its result on the
            engine's host.
        IndexError
            The engine of a direct call is no longer registered.

        Examples
        --------
        >>> view = rc[:2]
        >>> view.scatter("divisor", [0, 2], flatten=True, block=True)
        >>> first = view.apply_async(lambda number: 10 / number, px.Reference("divisor"))
        >>> first.exception().elist[0][0]
        'ZeroDivisionError'
        >>> rc[0].push({"divisor": 5}, block=True)
        >>> first.retry().get()
        [2.0, 5.0]
        """
        return retried(self, _FUTURE_STATE)

    @property
    def sent(self) -> bool:
        """Whether you may change the arrays of at least 256 KiB that were sent.

        You may always change smaller arrays.
        """
        return self._tasks.wait_sent(0)

    def wait_for_send(self, timeout: float | None = -1) -> None:
        """Waits until you may change the arrays that were sent; see `sent`.

        Parameters
        ----------
        timeout : float, optional
            Seconds to wait. None or a negative number means no limit.

        Raises
        ------
        TimeoutError
            The arrays were not sent within `timeout` seconds.

        Examples
        --------
        >>> pending = rc[0].apply_async(len, bytearray(1_000_000))
        >>> pending.wait_for_send(10)
        """
        if not self._tasks.wait_sent(_seconds(timeout)):
            raise TimeoutError("timed out: the request is not sent yet")

    # ------------------------------------------------------------ parts

    def split(self) -> tuple[AsyncResult[Any], ...]:
        """Returns one AsyncResult for each request.

        Returns
        -------
        tuple of AsyncResult
            The AsyncResults, in the order of the requests.

        Examples
        --------
        >>> [each.get() for each in rc[:].apply_async(pow, 2, 3).split()]
        [8, 8, 8, 8]
        """
        if len(self._tasks) == 1:
            return (self,)
        if self._parts is None:
            targets = self._targets or [None] * len(self._tasks)
            self._parts = tuple(self._part(i, target) for i, target in enumerate(targets))
        return self._parts

    def _part(self, index, target):
        part = AsyncResult(
            self._client,
            self._tasks.select([index]),
            self._read,
            fname=self._fname,
            targets=[target],
            single=True,
            return_exceptions=self._return_exceptions,
        )
        part._origin = self, index
        return part

    @classmethod
    def join(cls, *async_results: AsyncResult[Any]) -> AsyncResult[Any]:
        """Makes one AsyncResult from several AsyncResults. This is the inverse of split().

        Parameters
        ----------
        *async_results : AsyncResult
            The AsyncResults to join.

        Returns
        -------
        AsyncResult
            An AsyncResult with all requests of `async_results`.

        Raises
        ------
        ValueError
            No AsyncResult is given.

        Examples
        --------
        >>> px.AsyncResult.join(rc[0].apply_async(abs, -1), rc[1].apply_async(abs, -2)).get()
        [1, 2]
        """
        if not async_results:
            raise ValueError("join() needs at least one AsyncResult")
        first = async_results[0]
        if len(async_results) == 1:
            return first
        targets = [target for each in async_results for target in each._targets or [None]]
        return cls(
            first._client,
            type(first._tasks).joined([each._tasks for each in async_results]),
            first._read,
            fname=first._fname,
            targets=targets,
            return_exceptions=first._return_exceptions,
        )

    def __iter__(self) -> Iterator[Any]:
        if self._single_result:
            raise TypeError("the result of a single request is not iterable: use get()")
        if self.ready():
            yield from self.get()
            return
        for part in self.split():
            part.wait()
            yield self._collect_exceptions([part._raw_results[0]])[0]

    def __len__(self) -> int:
        return len(self._tasks) if self._chunks is None else sum(self._chunks)

    @property
    def progress(self) -> int:
        """The number of items that are done; ``len(self)`` is the number of all items.

        Examples
        --------
        >>> pending = rc[:].apply_async(pow, 2, 3)
        >>> pending.wait(10)
        True
        >>> pending.progress, len(pending)
        (4, 4)
        """
        if self._chunks is None:
            return self._tasks.answered()
        return sum(n for i, n in enumerate(self._chunks) if self._tasks.is_answered(i))

    # ------------------------------------------------------------ metadata

    def _metadata_at(self, index, with_output=True):
        if self._origin is not None:
            whole, place = self._origin
            return whole._metadata_at(place, with_output)
        return metadata_of(self._tasks, index, with_output)

    def _live_at(self, index):
        """Returns the Metadata of one task, as an object that updates itself. Each call returns the same object."""
        if self._origin is not None:
            whole, place = self._origin
            return whole._live_at(place)
        task = self._tasks.select([index])
        return live_metadata(self.msg_ids[index], partial(known_of, task), task)

    def _values(self, key):
        with_output = needs_output(key)
        count = range(len(self._tasks))
        return [self._metadata_at(i, with_output)[key] for i in count]

    @property
    def metadata(self) -> Any:
        """The Metadata of the request, or a list of the Metadata of all requests.

        The Metadata update themselves while a request runs.

        Examples
        --------
        >>> pending = rc[0].apply_async(pow, 2, 3)
        >>> pending.get()
        8
        >>> pending.metadata.engine_id, pending.metadata["status"]
        (0, 'ok')
        """
        self._metadata = [self._live_at(i) for i in range(len(self._tasks))]
        return self._metadata[0] if self._single_result else list(self._metadata)

    def __getitem__(self, key: int | slice | str) -> Any:
        """Returns results for a number or a slice (ar[0], ar[1:3]), and metadata for a key (ar["stdout"])."""
        if isinstance(key, str):
            if key not in KEYS:
                raise KeyError(key)
            values = self._values(key)
            return values[0] if self._single_result else values
        if isinstance(key, int):
            self._check_ready()
            return self._collect_exceptions([self.get()[key]])[0]
        if isinstance(key, slice):
            self._check_ready()
            return self._collect_exceptions(self.get()[key])
        raise TypeError(f"an AsyncResult is indexed by int, slice or text, not {key!r}")

    if not TYPE_CHECKING:  # type checkers would accept any name as an attribute

        def __getattr__(self, key):
            if key in _FUTURE_STATE:
                self._become_future()
                return self.__dict__[key]
            if key in KEYS:
                return self[key]
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {key!r}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *KEYS]

    def __repr__(self):
        tasks = self._tasks
        state = "pending"
        if tasks.is_ready():
            state = "failed" if self._has_failed() else "finished"
        elif len(tasks) > 1:
            state += f", {tasks.answered()} of {len(tasks)} answered"
        return f"<{type(self).__name__}({self._fname}): {state}>"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """In a notebook, shows an unfinished result in a separate display, and updates this display."""
        from polyxeus.results.live_display import show_live

        if shows_text_alone():
            return {"text/plain": repr(self)}
        if not self.ready() and show_live(self):
            return {"text/plain": f"<{type(self).__name__}({self._fname})>"}  # this text is never updated
        engines = [] if self.ready() else self._client._engines_now()
        return {"text/plain": repr(self), "text/html": result_html(self, engines)}

    def _stop(self) -> None:
        """Interrupts the requests that run, and aborts those that have not begun. Returns at once."""
        self._client._connection.stop(self._tasks)


class AsyncHubResult(AsyncResult[T]):
    """The result of requests of any client, from the controller's records.

    Client.get_result() returns an AsyncHubResult for requests that another client has sent. AsyncResult describes the
    parameters.

    Examples
    --------
    >>> other = px.Client(rc.cluster.connection_file)
    >>> sent = rc[0].apply_async(pow, 2, 3)
    >>> sent.wait(10)                              # the controller has it, too
    True
    >>> other.get_result(sent.msg_ids[0]).get(10)
    8
    >>> other.close()
    """

    def _load(self, index):
        result = super()._load(index)
        if not self.owner:  # a later get_result() then does not ask the controller
            metadata = self._metadata_at(index)
            self._client.results[metadata["msg_id"]] = result
            self._client.metadata[metadata["msg_id"]] = metadata
        return result

    _KEYS = ["submitted", "started", "completed", "received", "engine_uuid", "label"]
    _records = None

    def _live_at(self, index):
        return live_metadata(self.msg_ids[index], partial(self._known_at, index))

    def _known_at(self, index):
        return self._metadata_at(index), self.ready()

    def _metadata_at(self, index, with_output=True):
        metadata = metadata_of(self._tasks, index, with_output)
        record = self._recorded().get(metadata["msg_id"], {})
        for key in self._KEYS:
            if record.get(key) is not None:
                metadata[key] = record[key]
        for engine_id, uuid in self._client._engines.items():
            if uuid == metadata["engine_uuid"]:
                metadata["engine_id"] = engine_id
        return metadata

    def _recorded(self):
        """Returns a dict that maps msg_ids to the controller's records of the requests."""
        if self._records is not None:
            return self._records
        found = self._client.db_query({"msg_id": {"$in": self.msg_ids}}, keys=self._KEYS)
        records = {record["msg_id"]: record for record in found}
        if self.ready():
            self._records = records
        return records
