"""Decorates calls so that an interrupt in the client also stops them on the engines."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from polyxeus.trace import recording

if TYPE_CHECKING:
    from polyxeus.hints import F

__all__ = ["stops_on_interrupt"]


def stops_on_interrupt(method: F) -> F:
    """Decorates a method that sends requests. After a KeyboardInterrupt during the call, the running requests of the
    call are interrupted, and its waiting requests are aborted. The call then raises the KeyboardInterrupt unchanged.

    method  the method; its first argument has an attribute `client`.
    """

    name = {"_really_apply": "apply", "_run": "map"}.get(method.__name__, method.__name__)

    @functools.wraps(method)
    def stoppable(self, *args: Any, **kwargs: Any) -> Any:
        connection = self.client._connection
        mark = connection.sent_calls
        began = recording.begin() if recording.recorders else None
        try:
            return method(self, *args, **kwargs)
        except KeyboardInterrupt:
            connection.stop_since(mark)
            raise
        finally:
            if began is not None:
                recording.end("call", name, began)

    return stoppable  # type: ignore[return-value]
