"""The calls in which each engine of a cluster is, at one moment."""

from __future__ import annotations

import html

from polyxeus.client.engine_rows import EngineSentences

__all__ = ["EngineStacks"]


class EngineStacks(EngineSentences):
    """A dict for each engine; printed as the text that `pxcluster stacks` shows.

    Client.stacks() makes it. Its keys are those of `Client.where()`, and threads, hidden (how many further threads block
    signals: those of polyxeus and ZeroMQ) and why (why there are no threads).

    A thread is a dict: thread (the kernel's number of it), name, is_main, state ("running", "waiting", "waiting in the
    kernel", "stopped"), why (why it has no frames) and frames, innermost first. A frame has kind ("python", "native", or
    "cell" of C++), function, file, line (of Python and cells) and offset (of native functions without a name: where they
    are in their file). Values that are not known are None.

    Parameters
    ----------
    rows : str
        A list of objects as JSON text.
    sentences : list of str
        The text that is printed.
    """

    def _repr_html_(self):
        return f"<pre>{html.escape(str(self))}</pre>"
