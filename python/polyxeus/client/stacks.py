"""The call stack of each engine of a cluster, at one moment."""

from __future__ import annotations

import html

from polyxeus.client.engine_rows import EngineSentences

__all__ = ["EngineStacks"]


class EngineStacks(EngineSentences):
    """A sequence of dicts, one for each engine, printed as the text that `pxcluster stacks` shows.

    Client.stacks() returns it. Each dict has the same keys as the dicts of `Client.where()`, and three more: threads,
    hidden and why. The value of `hidden` is the number of threads of polyxeus and ZeroMQ, which are not listed because
    they block signals. The value of `why` is the reason if no thread is listed.

    A thread is a dict with the keys thread (the thread id of the operating system), name, is_main, state ("running",
    "waiting", "waiting in the kernel", "stopped"), why (the reason if the thread has no frames) and frames (innermost
    first). A frame has the keys kind ("python", "native", or "cell" for C++ cells), function, file, line (for Python
    and cells) and offset (for a native function without a name: its address in the file). Values that are not known are
    None.

    Parameters
    ----------
    rows : str
        A list of objects as JSON text.
    sentences : list of str
        The text that is printed.
    """

    def _repr_html_(self):
        return f"<pre>{html.escape(str(self))}</pre>"
