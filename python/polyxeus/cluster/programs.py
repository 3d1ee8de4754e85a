"""Runs the pxcluster process that supervises a cluster or a part of a cluster."""

import os
import signal
import subprocess
import time

from polyxeus.client.pxcluster import find

__all__ = ["Program", "signal_number"]

_PATIENCE = 60.0  # seconds within which a program must start its processes
_GRACE = 15.0  # seconds within which a program must end after SIGTERM
_ERROR = "pxcluster: error: "
_RELEASE = signal.SIGRTMIN + 2  # tells pxcluster that its owner has released it


def signal_number(signum):
    """Returns the number of a signal that is given by its name or number."""
    if isinstance(signum, str):
        try:
            return int(getattr(signal, signum))
        except AttributeError:
            raise ValueError(f"unknown signal {signum!r}") from None
    return int(signum)


def _open_private(path, flags):
    return os.open(path, flags, 0o600)


class Program:
    """A running pxcluster, which supervises the processes that it has started.

    text  the text for the program's standard input. This text is not in the command line, because other users can read
          the command lines of all processes
    """

    def __init__(self, arguments, log, text=""):
        self._log = log
        with open(log, "wb", opener=_open_private) as output:
            self.process = subprocess.Popen(
                [find(), *arguments],
                stdin=subprocess.PIPE if text else subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        if text:
            try:
                with self.process.stdin as stream:
                    stream.write(text.encode())
            except BrokenPipeError:
                pass  # the program has ended and written the reason
        self.n = 0
        self.set_id = None

    @property
    def pid(self):
        return self.process.pid

    def is_running(self):
        return self.process.poll() is None

    def release(self):
        """Lets the program keep running when this Python process ends."""
        if self.is_running():
            self.process.send_signal(_RELEASE)

    def get_output(self, remove=False):
        """Returns the output of the program.

        remove  whether to remove the file that contains the output
        """
        with open(self._log, errors="replace") as file:
            text = file.read()
        if remove:
            os.remove(self._log)
        return text

    def last_words(self):
        lines = self.get_output().strip().splitlines()
        errors = [line for line in lines if line.startswith(_ERROR)]
        if len(errors) > 1:  # the first error is the cause
            return "; ".join([errors[0], *(line[len(_ERROR) :] for line in errors[1:])])
        return lines[-1] if lines else f"it has ended with {self.process.poll()}"

    def wait_until(self, is_met, what):
        """Waits until `is_met()` returns true. If the program ends earlier, raises a RuntimeError with the reason.
        Before this method raises any exception, it stops the program.

        what  the condition as text, for the message of the TimeoutError
        """
        end = time.monotonic() + _PATIENCE
        try:
            while not is_met():
                if not self.is_running():
                    raise RuntimeError(self.last_words())
                if time.monotonic() > end:
                    raise TimeoutError(f"timed out after {_PATIENCE:g} s: {what}; see {self._log}")
                time.sleep(0.01)
        except BaseException:
            self.stop()
            raise

    def stop(self):
        """Ends the program with SIGTERM, or with SIGKILL if it does not end in time."""
        if not self.is_running():
            return
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
