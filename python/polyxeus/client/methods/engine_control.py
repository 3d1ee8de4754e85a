"""Control messages, which engines handle before the requests that wait in their queue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from polyxeus.error import ConnectionLost, NoEnginesRegistered
from polyxeus.results.async_result import AsyncResult
from polyxeus.serialize import requests

if TYPE_CHECKING:
    from polyxeus.hints import SomeRequests, Targets

__all__ = ["EngineControl"]


def _read_content(content, _buffers):
    return None


class EngineControl:
    """The methods of a Client that send control messages."""

    def _send_control(self, targets, kind, content, block):
        """Sends a control message to engines. If `block` is true, waits for the engines' replies
        and returns None. Otherwise, returns an AsyncResult."""
        ids = self._build_targets(targets)[1]
        tasks = self._connection.send_control(ids, kind, requests.dump(content))
        result = AsyncResult(
            self, tasks, _read_content, fname=kind.partition("_")[0], targets=ids
        )
        if not block:
            return result
        result.get()
        return None

    def _runs_any(self, msg_ids, targets, patience):
        """Returns whether an engine runs one of these requests now. The answer is also True if an engine does not
        answer within `patience` seconds."""
        ids = self._build_targets(targets)[1]
        tasks = self._connection.send_control(ids, "usage_request", "{}")
        answers = AsyncResult(self, tasks, lambda content, _: content, fname="usage", targets=ids)
        if not answers.wait(patience):
            return True
        known = [each for each in answers._raw_results if isinstance(each, dict)]
        return any((each.get("running") or {}).get("msg_id") in msg_ids for each in known)

    def _block(self, block):
        return self.block if block is None else block

    def send_signal(
        self, sig: int | str, targets: Targets = None, block: bool | None = None
    ) -> AsyncResult[Any] | None:
        """Sends a signal to the code that engines run.

        Parameters
        ----------
        sig : int or str
            The number of the signal, or its name, like "SIGUSR1".
        targets : int, slice, list of int or "all", optional
            The engines. Default: all.
        block : bool, optional
            Whether to wait until the engines have received the signal. Default: the client's `block`.

        Returns
        -------
        AsyncResult or None
            None if the call waits, else an AsyncResult.

        Raises
        ------
        TypeError
            `sig` is neither a number nor a string.
        """
        if isinstance(sig, bool) or not isinstance(sig, (int, str)):
            raise TypeError(f"a signal must be a number or a name like 'SIGINT', not {sig!r}")
        # An interrupt concerns only the requests that were sent before it.
        content = {"sig": sig if isinstance(sig, str) else int(sig), "spares_newer": True}
        return self._send_control(targets, "signal_request", content, self._block(block))

    def interrupt(self, targets: Targets = None, block: bool | None = None) -> AsyncResult[Any] | None:
        """Interrupts the code that engines run, as Ctrl-C does. The engines keep their variables.

        Parameters
        ----------
        targets : int, slice, list of int or "all", optional
            The engines. Default: all.
        block : bool, optional
            Whether to wait until the engines have received the signal. Default: the client's `block`.

        Returns
        -------
        AsyncResult or None
            None if the call waits, else an AsyncResult.

        Examples
        --------
        >>> pending = rc[0].execute("while True: pass")    # doctest: +SKIP
        >>> rc.interrupt(block=True)                       # doctest: +SKIP
        >>> pending.exception().ename                      # doctest: +SKIP
        'KeyboardInterrupt'
        """
        return self.send_signal("SIGINT", targets, block)

    def clear(self, targets: Targets = None, block: bool | None = None) -> AsyncResult[Any] | None:
        """Deletes all variables that were defined on the engines.

        An engine deletes its variables before it runs the requests that wait in its queue.

        Parameters
        ----------
        targets : int, slice, list of int or "all", optional
            The engines. Default: all.
        block : bool, optional
            Whether to wait until the variables are deleted. Default: the client's `block`.

        Returns
        -------
        AsyncResult or None
            None if the call waits, else an AsyncResult.

        Examples
        --------
        >>> view.push({"a": 5}).wait()
        True
        >>> rc.clear(block=True)
        >>> view.apply_sync(lambda: "a" in globals())
        [False, False, False, False]
        """
        return self._send_control(targets, "clear_request", {}, self._block(block))

    def abort(
        self, jobs: SomeRequests = None, targets: Targets = None, block: bool | None = None
    ) -> AsyncResult[Any] | None:
        """Cancels requests that have not started. The cancelled requests fail with TaskAborted.

        Parameters
        ----------
        jobs : AsyncResult, str or list of them, optional
            AsyncResults or ids of requests. Default: all requests that have no answer yet.
        targets : int, slice, list of int or "all", optional
            The engines that get the message. Default: all.
        block : bool, optional
            Whether to wait until the engines have received the message. Default: the client's `block`.

        Returns
        -------
        AsyncResult or None
            None if the call waits, else an AsyncResult.

        Raises
        ------
        TypeError
            `jobs` contains neither AsyncResults nor ids.
        """
        if jobs is None:
            jobs = list(self.outstanding)
        if isinstance(jobs, (str, AsyncResult)):
            jobs = [jobs]
        msg_ids = []
        for job in jobs:
            if isinstance(job, AsyncResult):
                msg_ids += job.msg_ids
            elif isinstance(job, str):
                msg_ids.append(job)
            else:
                raise TypeError(f"abort() takes msg_ids and AsyncResults, not {job!r}")
        content = {"msg_ids": msg_ids}
        return self._send_control(targets, "abort_request", content, self._block(block))

    def shutdown(
        self, targets: Targets = "all", restart: bool = False, hub: bool = False, block: bool | None = None
    ) -> None:
        """Ends engines.

        Parameters
        ----------
        targets : int, slice, list of int or "all"
            The engines.
        restart : bool
            Not supported: use restart_engines() instead.
        hub : bool
            Whether the controller ends, too. If the controller ends, all engines end, and this client is closed.
        block : bool, optional
            Whether to wait until the engines have ended. Default: the client's `block`.

        Raises
        ------
        NotImplementedError
            `restart` is set.
        NoEnginesRegistered
            There are no engines, and `hub` is not set.
        """
        if restart:
            raise NotImplementedError(
                "engines cannot restart themselves: use Cluster.restart_engines()"
            )
        wait = self._block(block) or hub
        try:
            targets = "all" if hub else targets
            self._send_control(targets, "shutdown_request", {"restart": False}, wait)
        except NoEnginesRegistered:
            if not hub:
                raise
        if hub:
            self._shut_down_controller()
            self.close()

    def _shut_down_controller(self):
        try:
            self._ask("shutdown_request", {})
        except ConnectionLost:
            pass  # the connection may close before the answer arrives
