"""Control messages: engines read them before the requests that wait in their queue."""

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
    """The part of a Client that sends control messages."""

    def _send_control(self, targets, kind, content, block):
        """Sends a control message to engines; None after waiting for their replies, else an
        AsyncResult."""
        ids = self._build_targets(targets)[1]
        tasks = self._connection.send_control(ids, kind, requests.dump(content))
        result = AsyncResult(
            self, tasks, _read_content, fname=kind.partition("_")[0], targets=ids
        )
        if not block:
            return result
        result.get()
        return None

    def _block(self, block):
        return self.block if block is None else block

    def send_signal(
        self, sig: int | str, targets: Targets = None, block: bool | None = None
    ) -> AsyncResult[Any] | None:
        """Sends a signal to what the engines run.

        sig      its number or name, like "SIGUSR1"
        targets  None: all engines
        block    wait until they have it
        """
        if isinstance(sig, bool) or not isinstance(sig, (int, str)):
            raise TypeError(f"a signal must be a number or a name like 'SIGINT', not {sig!r}")
        # An interrupt is for what was asked for until now.
        content = {"sig": sig if isinstance(sig, str) else int(sig), "spares_newer": True}
        return self._send_control(targets, "signal_request", content, self._block(block))

    def interrupt(self, targets: Targets = None, block: bool | None = None) -> AsyncResult[Any] | None:
        """Interrupts what the engines run now, as Ctrl-C does; their variables stay.

        targets, block  as in send_signal()
        """
        return self.send_signal("SIGINT", targets, block)

    def clear(self, targets: Targets = None, block: bool | None = None) -> AsyncResult[Any] | None:
        """Forgets all that was defined on the engines.

        targets, block  as in send_signal()
        """
        return self._send_control(targets, "clear_request", {}, self._block(block))

    def abort(
        self, jobs: SomeRequests = None, targets: Targets = None, block: bool | None = None
    ) -> AsyncResult[Any] | None:
        """What of these requests has not begun is not to run; None: all that are not answered.

        jobs  msg_ids or AsyncResults.
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
        """Ends engines; with `hub` all of them and the controller, and closes this client.

        targets  "all", an int, a slice or a list of ids
        restart  NotImplementedError where it is set: see restart_engines()
        block    wait until they have ended
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
            pass  # the news that the cluster was shut down may come before the answer
