"""Waits until engines are registered."""

import os
import sys
import threading
import time
from concurrent.futures import Future
from contextlib import nullcontext

from polyxeus import error
from polyxeus.counted import counted
from polyxeus.results.callers_traceback import ends_at_caller

__all__ = ["wait_for_engines"]

_SLICE = 0.05  # seconds between checks for engines that have left


def wait_for_engines(client, n, timeout, block, interactive, widget):
    """See Client.wait_for_engines()."""
    n = _wanted(client) if n is None else n
    if isinstance(n, bool) or not isinstance(n, int) or n < 0:
        raise TypeError(f"the number of engines to wait for must be an int, not {n!r}")
    if not block:
        return _in_background(client, n, timeout)
    client._catch_up()
    if len(client) >= n:
        return None
    bar = nullcontext()
    if _is_interactive(interactive):
        from polyxeus.results.progress import progress

        bar = progress(widget=widget, initial=len(client), total=n, unit="engine")
    with bar as shown, ends_at_caller:
        _wait(client, n, timeout, shown)
    client._warn()
    return None


def _wanted(client):
    if client.cluster is None:
        raise TypeError("wait_for_engines() needs the number of engines to wait for")
    return client.cluster.expected_engines()


def _is_interactive(interactive):
    if interactive is not None:
        return interactive
    if os.environ.get("IPP_NONINTERACTIVE", "") not in ("", "0") or "IPython" not in sys.modules:
        return False
    from IPython import get_ipython

    return get_ipython() is not None


def _wait(client, n, timeout, bar):
    end = None if timeout is None or timeout < 0 else time.monotonic() + timeout
    known = set(client.ids)
    while True:
        left = _SLICE if end is None else min(_SLICE, max(0.0, end - time.monotonic()))
        client._connection.wait_for_engines(n, left)
        present = set(client.ids)
        if bar is not None:
            bar.update(len(present) - bar.n)
        if len(present) >= n:
            return
        _check_alive(client, known - present)
        known = present
        if end is not None and time.monotonic() >= end:
            raise TimeoutError(
                f"{counted(n, 'engine')} not ready in {timeout} seconds. Currently ready: {len(present)}"
            )


def _check_alive(client, gone):
    why = client._connection.why_closed()
    if why:
        raise ConnectionError(why)
    if gone:
        raise error.EngineError(f"engine {min(gone)} was unregistered during wait_for_engines()")
    stopped = client.cluster.stopped_engine_set() if client.cluster is not None else None
    if stopped:
        raise error.EngineError(f"the engines exited: {stopped}")


def _in_background(client, n, timeout):
    future = Future()

    def wait():
        try:
            client._catch_up()
            _wait(client, n, timeout, None)
        except Exception as problem:
            future.set_exception(problem)
        else:
            future.set_result(None)

    if len(client) >= n:
        future.set_result(None)
    else:
        threading.Thread(target=wait, name="polyxeus-engines", daemon=True).start()
    return future
