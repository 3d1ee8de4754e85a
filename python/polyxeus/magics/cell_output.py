"""The object to which the C++ magics write: the output of the running cell."""

import re
import shutil
import signal
import sys
import threading
import uuid

from polyxeus.results.comms import deliver

__all__ = ["CellOutput", "PlainCellOutput"]

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_VALUE_LABEL = re.compile(r"(?:\x1b\[[0-9;]*m)*Out\[[\d,:-]+\]:(?:\x1b\[[0-9;]*m)*")


class CellOutput:
    """The output of the running cell. A context manager: in its block, interrupts are only recorded."""

    def __init__(self, shell):
        self._shell = shell
        self._last = sys.stdout
        self._is_interrupted = False
        self._handler = None
        self._progress = None
        self._label = ""  # in a terminal: what stands before the next display
        self._is_rich = getattr(shell, "kernel", None) is not None

    def __enter__(self):
        self._take_signal()
        return self

    def __exit__(self, *_problem):
        self._give_signal()
        deliver()  # what the engines have said of their widgets is with the front end by now
        sys.stdout.flush()
        sys.stderr.flush()

    # ------------------------------------------------------------ interrupts

    def _take_signal(self):
        if threading.current_thread() is not threading.main_thread():
            return
        self._handler = signal.getsignal(signal.SIGINT)
        if self._handler is not None:
            signal.signal(signal.SIGINT, self._on_interrupt)

    def _give_signal(self):
        if self._handler is not None:
            signal.signal(signal.SIGINT, self._handler)
            self._handler = None

    def _on_interrupt(self, _number, _frame):
        self._is_interrupted = True

    def is_interrupted(self):
        """Whether an interrupt arrived since the last call."""
        was, self._is_interrupted = self._is_interrupted, False
        return was

    # ------------------------------------------------------------ output

    @property
    def can_update(self):
        """Whether a display can be replaced later."""
        return self._is_rich

    def write(self, name, text):
        stream = sys.stderr if name == "stderr" else sys.stdout
        if stream is not self._last:
            self._last.flush()
            self._last = stream
        stream.write(text)
        stream.flush()

    def show(self, data, metadata, display_id, is_update):
        if not self._is_rich and (data := self._for_terminal(data)) is None:
            return
        deliver()  # the comm of a widget comes before the widget
        transient = {"display_id": display_id} if display_id else {}
        self._shell.display_pub.publish(
            data=data, metadata=metadata, transient=transient, update=is_update
        )

    def _for_terminal(self, data):
        """The text of a display for a terminal; None for a label, which is shown with the next text."""
        text = data.get("text/plain", "")
        if str(getattr(self._shell, "colors", "")).lower() == "nocolor":
            text = _COLOURS.sub("", text)
        if len(data) == 1 and _VALUE_LABEL.fullmatch(text):
            self._label = text + " "
            return None
        text, self._label = self._label + text, ""
        return {**data, "text/plain": text}

    def clear(self, waits):
        self._shell.display_pub.clear_output(wait=waits)

    def show_progress(self, data):
        """Shows the progress bar and the lines that engines rewrite in one display, which later calls update.

        Empty data clears it.
        """
        is_update = self._progress is not None
        self._progress = self._progress or f"progress-{uuid.uuid4().hex}"
        self.show(data, {}, self._progress, is_update)

    @staticmethod
    def terminal_size():
        """The size of the terminal on which progress is drawn; None if there is none."""
        return shutil.get_terminal_size() if sys.stderr.isatty() else None

    @staticmethod
    def draw(text):
        """Writes to the terminal on which progress is drawn."""
        sys.stdout.flush()
        sys.stderr.write(text)
        sys.stderr.flush()

    def run_here(self, code):
        """Runs a cell in this process, the kernel."""
        self._give_signal()
        try:
            self._shell.run_cell(code)
        finally:
            self._take_signal()


class PlainCellOutput(CellOutput):
    """Writes everything to stdout: programs report their progress on stderr."""

    def write(self, name, text):
        super().write("stdout", text)
