"""The line that shows the progress of sending and receiving large arrays while the user waits."""

from __future__ import annotations

import sys
import threading

from polyxeus.results.progress import is_notebook

__all__ = ["TransferLine"]

_UNITS = ("B", "kB", "MB", "GB", "TB")


class TransferLine:
    """A line that shows the bytes, the rate and the remaining time of a transfer. The line is
    updated while the user waits, and removed when the wait ends."""

    def __init__(self, write) -> None:
        """write  a function that is called with each new text of the line, and with "" at the end."""
        self._write = write
        self._first = None
        self._is_shown = False

    @classmethod
    def of_this_process(cls) -> TransferLine:
        """Makes a line for the terminal, or for the output of a notebook's cell. In other programs, and in threads
        other than the main thread, the line shows nothing."""
        return cls(_Shown())

    def show(self, done: int, total: int, now: float) -> None:
        """Shows the progress at the time `now` (seconds). `done` and `total` are numbers of bytes;
        both are 0 if no data is being transferred."""
        if not total:
            return self._clear()
        if self._first is None or done < self._first[0]:
            self._first = (done, now)
        self._write(text_of(done, total, self._rate(done, now)))
        self._is_shown = True

    def _rate(self, done, now):
        first, since = self._first
        return (done - first) / (now - since) if now > since else 0.0

    def _clear(self):
        if self._is_shown:
            self._write("")
        self._first, self._is_shown = None, False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._clear()


def text_of(done: int, total: int, rate: float) -> str:
    """Returns the text of the line. `rate` is in bytes per second, or 0 if it is not known yet."""
    text = f"arrays between hosts: {_bytes(done)} of {_bytes(total)}"
    if rate <= 0:
        return text
    left = round((total - done) / rate)
    duration = f"{left} s" if left < 120 else f"{round(left / 60)} min"
    return f"{text}, {_bytes(rate)}/s, {duration} left"


def _bytes(count):
    unit = 0
    while count >= 999.5 and unit + 1 < len(_UNITS):
        count /= 1000
        unit += 1
    digits = 0 if unit == 0 or count >= 100 else 1
    return f"{count:.{digits}f} {_UNITS[unit]}"


class _Shown:
    """Writes the text to the terminal or the notebook, whichever the user sees. The output is chosen only when the
    first text is shown, because most waits show no text."""

    def __init__(self):
        self._write = None

    def __call__(self, text):
        if self._write is None:
            self._write = self._found()
        self._write(text)

    @staticmethod
    def _found():
        if threading.current_thread() is not threading.main_thread():
            return _write_nowhere
        if sys.stderr is not None and sys.stderr.isatty():
            return _write_to_terminal
        return _NotebookLine() if is_notebook() else _write_nowhere


def _write_nowhere(text):
    pass


def _write_to_terminal(text):
    sys.stderr.write("\r\x1b[K" + text)
    sys.stderr.flush()


class _NotebookLine:
    """Shows the text in the output of the running notebook cell."""

    def __init__(self):
        self._shown = None

    def __call__(self, text):
        from IPython.display import display

        data = {"text/plain": text}
        if self._shown is None:
            self._shown = display(data, raw=True, display_id=True)
        else:
            self._shown.update(data, raw=True)
