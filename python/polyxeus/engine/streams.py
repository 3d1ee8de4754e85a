"""sys.stdout and sys.stderr of an engine. They send printed text to the clients."""

import io
import os
import sys


class Stream(io.TextIOBase):
    """Passes text to the C++ core, which collects text and sends it every 200 ms. Any thread may
    write."""

    encoding = "utf-8"
    errors = "replace"

    def __init__(self, engine, name, original):
        self._engine = engine
        self.name = name
        self._original = original
        self._process = os.getpid()

    def write(self, text):
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        if os.getpid() != self._process:  # a forked child has no thread that could send the text
            return self._original.write(text)
        self._engine.write(self.name, text.encode("utf-8", "replace"))
        return len(text)

    def writelines(self, lines):
        self.write("".join(lines))

    def writable(self):
        return True

    def isatty(self):
        return False

    def flush(self):
        """Does nothing, because the core sends collected text every 200 ms, and the remaining text
        before the reply to the request."""

    def fileno(self):
        """Returns the descriptor of the process's original stdout or stderr, to which subprocesses
        can write. The core captures the data that is written to this descriptor."""
        return self._original.fileno()


def install(engine):
    """Replaces sys.stdout and sys.stderr."""
    # Other output goes to the descriptors 1 and 2, which the core captures. It is written at once so that it stays in
    # order. Fortran's library reads the variable when it is loaded.
    sys.__stdout__.reconfigure(line_buffering=True)
    os.environ.setdefault("GFORTRAN_UNBUFFERED_PRECONNECTED", "y")
    sys.stdout = Stream(engine, "stdout", sys.__stdout__)
    sys.stderr = Stream(engine, "stderr", sys.__stderr__)
    # A forked child prints to the descriptors, whose output its parent captures.
    os.register_at_fork(after_in_child=restore)


def restore():
    sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
