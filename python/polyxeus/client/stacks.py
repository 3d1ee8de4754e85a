"""The call stack of each engine of a cluster, at one moment."""

from __future__ import annotations

import html

from polyxeus.client.engine_rows import EngineSentences

__all__ = ["EngineStacks"]


class EngineStacks(EngineSentences):
    """A dict for each engine; printed as the text that `pxcluster stacks` shows.

    Client.stacks() makes it. Its keys are those of `Client.where()`, and threads, hidden (the number of further
    threads, which block signals: those of polyxeus and ZeroMQ) and why (the reason if there are no threads).

    A thread is a dict: thread (the thread id of the kernel), name, is_main, state ("running", "waiting", "waiting in
    the kernel", "stopped"), why (the reason if it has no frames) and frames, innermost first. A frame has kind
    ("python", "native", or "cell" of C++), function, file, line (of Python and cells) and offset (the address in its
    file of a native function without a name). Values that are not known are None.

    Parameters
    ----------
    rows : str
        A list of objects as JSON text.
    sentences : list of str
        The text that is printed.
    """

    def _repr_html_(self):
        return f"<pre>{html.escape(str(self))}</pre>"
