"""The C++ core for Python code of a kernel, with the cell to which each output belongs."""

import contextvars
import threading

# The cell on whose behalf this thread or asyncio task works.
_parent = contextvars.ContextVar("polyxeus_parent", default=None)


class Core:
    """The C++ kernel; output of threads and tasks goes to the cell that started them."""

    def __init__(self, kernel):
        self._kernel = kernel

    def __getattr__(self, name):
        return getattr(self._kernel, name)

    def write(self, stream, text):
        """Writes text (UTF-8 bytes) to "stdout" or "stderr"."""
        self._kernel.write(stream, text, parent())

    def publish(self, message_type, content, metadata=b"", buffers=(), cell=None):
        """Sends a message to all clients; content and metadata are JSON objects as bytes.

        cell  the cell to which it belongs; None: the cell of the current thread or task
        """
        self._kernel.publish(message_type, content, metadata, list(buffers), cell or parent())

    def begin_cell(self):
        """From now on this context belongs to the running request."""
        _parent.set(self._kernel.parent)


def parent():
    """The cell that started the current thread or task; None means the running cell."""
    found = _parent.get()
    return found or getattr(threading.current_thread(), "_polyxeus_parent", None)


def follow_threads():
    """From now on each new thread stores the cell that started it."""
    start = threading.Thread.start

    def start_of_cell(self):
        self._polyxeus_parent = parent()
        return start(self)

    threading.Thread.start = start_of_cell
