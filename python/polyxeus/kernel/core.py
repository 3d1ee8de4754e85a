"""The interface between the Python code of a kernel and the C++ core. This interface records to
which cell each output belongs."""

import contextvars
import threading

# The cell to which this thread or asyncio task belongs.
_parent = contextvars.ContextVar("polyxeus_parent", default=None)


class Core:
    """The C++ kernel. Output of threads and tasks is sent to the cell that started them."""

    def __init__(self, kernel):
        self._kernel = kernel

    def __getattr__(self, name):
        return getattr(self._kernel, name)

    def write(self, stream, text):
        """Sends text (UTF-8 bytes) to the clients as output of the stream "stdout" or "stderr"."""
        self._kernel.write(stream, text, parent())

    def publish(self, message_type, content, metadata=b"", buffers=(), cell=None):
        """Sends a message to all clients. Content and metadata are JSON objects as bytes.

        cell  the cell to which the message belongs. None means the cell of the current thread or
              task
        """
        self._kernel.publish(message_type, content, metadata, list(buffers), cell or parent())

    def begin_cell(self):
        """Records that output of the current thread or task belongs to the running request."""
        _parent.set(self._kernel.parent)


def parent():
    """Returns the cell that started the current thread or task; None means the running cell."""
    found = _parent.get()
    return found or getattr(threading.current_thread(), "_polyxeus_parent", None)


def follow_threads():
    """Makes each new thread store the cell that started the thread."""
    start = threading.Thread.start

    def start_of_cell(self):
        self._polyxeus_parent = parent()
        return start(self)

    threading.Thread.start = start_of_cell
