"""The futures of executors: AsyncResults that can be cancelled like concurrent.futures.Future objects."""

from __future__ import annotations

from typing import Any, TypeVar

from polyxeus.error import NoEnginesRegistered, TaskAborted, TaskCancelled
from polyxeus.results.async_result import AsyncResult
from polyxeus.results.slices import TimedOut

__all__ = ["ExecutorFuture"]

T = TypeVar("T")
_PATIENCE = 2.0  # seconds within which engines must answer


class ExecutorFuture(AsyncResult[T]):
    """The result of an executor's call. `executor.submit()` returns it.

    This class is an AsyncResult whose method `cancel` works as in concurrent.futures: the method
    cancels a call that has not begun, and ``result()`` then raises a CancelledError. AsyncResult
    describes the parameters.

    Examples
    --------
    >>> future = rc.executor().submit(pow, 2, 3)
    >>> future.result(), future.cancel(), future.cancelled()
    (8, False, False)
    """

    _is_withdrawn = False  # set by cancel(): the engines will not run the call

    def cancel(self) -> bool:
        """Cancels the call if it has not begun. The method asks the engines whether the call has
        begun, which takes about a millisecond.

        Returns
        -------
        bool
            Whether the call is cancelled. False if the call runs or is done, or if an engine that may be running the
            call does not answer.
        """
        if self.done():
            return self.cancelled()
        try:
            if self._runs():
                return False
            told = self._client.abort(self, targets=self._targets, block=False)
            if not told.wait(_PATIENCE) or self._runs():
                return False
        except NoEnginesRegistered:
            return False
        if not self._tasks.is_ready():
            self._is_withdrawn = True
            self._settle()
        return self.cancelled()

    def _runs(self):
        return self._client._runs_any(self.msg_ids, self._targets, _PATIENCE)

    def cancelled(self) -> bool:
        """Returns whether the call was cancelled before it ran, by cancel() or by a shutdown of the executor.

        Returns
        -------
        bool
            Whether the call was cancelled.
        """
        if self._is_withdrawn:
            return True
        tasks = self._tasks
        return tasks.is_ready() and all(tasks.outcome(i)[0] == "aborted" for i in range(len(tasks)))

    def running(self) -> bool:
        """Asks the engines whether one of them runs the call now.

        Returns
        -------
        bool
            Whether an engine runs the call. Also True if an engine that may be running the call does not answer.
        """
        if self.done():
            return False
        try:
            return self._runs()
        except NoEnginesRegistered:
            return False

    def ready(self) -> bool:
        """Returns whether all answers have arrived or the call was cancelled.

        Returns
        -------
        bool
            Whether all answers have arrived or the call was cancelled.
        """
        return self._is_withdrawn or super().ready()

    def wait(self, timeout: float | None = -1, return_when: Any = None) -> Any:
        """Waits until all answers have arrived, like AsyncResult.wait(), or until the call is cancelled.

        Parameters
        ----------
        timeout : float, optional
            Seconds to wait. None or a negative number means no limit.
        return_when : str, optional
            FIRST_COMPLETED, FIRST_EXCEPTION or ALL_COMPLETED of concurrent.futures: the event to wait for.

        Returns
        -------
        bool or tuple of two sets
            Whether the call is done. If `return_when` is given: two sets (done, pending) with a result for each
            request.
        """
        if self._is_withdrawn and return_when is None:
            return True
        return super().wait(timeout, return_when)

    def result(self, timeout: float | None = None) -> T:
        """Waits for the result and returns it.

        Parameters
        ----------
        timeout : float, optional
            Seconds to wait. Default: no limit.

        Returns
        -------
        Any
            The result. For a direct view of several engines, a list with the result of each engine.

        Raises
        ------
        TimeoutError
            The result has not arrived within `timeout` seconds; the call continues.
        CancelledError
            The call was cancelled before it ran.
        RemoteError
            The call failed. The error is also an instance of the class of the exception that was raised on the engine.
        """
        self._wait_for_result(timeout)
        return super().result()

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """Waits for the result and returns the exception that result() would raise.

        Parameters
        ----------
        timeout : float, optional
            Seconds to wait. Default: no limit.

        Returns
        -------
        BaseException or None
            The exception; None if the call succeeded.

        Raises
        ------
        TimeoutError
            The result has not arrived within `timeout` seconds.
        CancelledError
            The call was cancelled before it ran.
        """
        self._wait_for_result(timeout)
        problem = super().exception()
        if isinstance(problem, TaskCancelled):
            raise problem
        return problem

    def _wait_for_result(self, timeout):
        if timeout is not None and not self.wait(max(0, timeout)):
            raise TimedOut(self._not_ready())

    def _load(self, index):
        return TaskCancelled("the call was cancelled before it ran") if self._is_withdrawn else super()._load(index)

    def _problem(self, results):
        if results and all(isinstance(each, TaskAborted) for each in results):
            return TaskCancelled("the call was cancelled before it ran")
        return super()._problem(results)

    def _ending(self):
        kinds = {self._tasks.outcome(i)[0] for i in range(len(self._tasks))}
        if self._is_withdrawn or kinds == {"aborted"}:
            return "CANCELLED_AND_NOTIFIED", "add_cancelled"
        return "FINISHED", "add_result" if kinds == {"ok"} else "add_exception"
