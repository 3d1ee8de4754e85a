"""The C++ core for Python code of a kernel, told to which cell output belongs."""

import contextvars
import threading

# The cell on whose behalf this thread or asyncio task works.
_parent = contextvars.ContextVar("polyxeus_parent", default=None)


class Core:
    """The C++ kernel; output of threads and tasks goes to the cell that has started them."""

    def __init__(self, kernel):
        self._kernel = kernel

    def __getattr__(self, name):
        return getattr(self._kernel, name)

    def write(self, stream, text):
        """Text (UTF-8 bytes) for "stdout" or "stderr"."""
        self._kernel.write(stream, text, parent())

    def publish(self, message_type, content, metadata=b"", buffers=(), cell=None):
        """A message for all clients; content and metadata are JSON objects as bytes.

        cell  to which it belongs; None: that of the present thread or task.
        """
        self._kernel.publish(message_type, content, metadata, list(buffers), cell or parent())

    def begin_cell(self):
        """From here on this context belongs to the request that runs now."""
        _parent.set(self._kernel.parent)


def parent():
    """The cell that has started the present thread or task; None stands for the present cell."""
    found = _parent.get()
    return found or getattr(threading.current_thread(), "_polyxeus_parent", None)


def follow_threads():
    """From now on a thread remembers the cell that has started it."""
    start = threading.Thread.start

    def start_of_cell(self):
        self._polyxeus_parent = parent()
        return start(self)

    threading.Thread.start = start_of_cell
