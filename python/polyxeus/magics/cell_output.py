"""The output of the running cell: the object to which the C++ magics write."""

import re
import shutil
import signal
import sys
import threading
import time
import uuid

from polyxeus.results.comms import deliver

__all__ = ["CellOutput", "KernelEnds", "PlainCellOutput"]

# Seconds for which an interrupt of a recorded cell is delayed. Jupyter also interrupts a kernel just before it asks the
# kernel to end. In this case the engines continue to run the cell.
_END_PATIENCE = 0.4
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_VALUE_LABEL = re.compile(r"(?:\x1b\[[0-9;]*m)*Out\[[\d,:-]+\]:(?:\x1b\[[0-9;]*m)*")


class KernelEnds(KeyboardInterrupt):
    """Raised if the kernel ends or is restarted while a cell runs on engines. The engines continue
    to run the cell."""


class CellOutput:
    """The output of the running cell. It is a context manager: while the `with` block runs, an
    interrupt is recorded and raises no KeyboardInterrupt.

    shell    IPython's shell
    prompts  a function that returns an object that asks the user for debugger commands
             (DebugPrompts), or None
    strip    the RankStrip of the cell, or None
    goes_on  whether the engines continue to run the cell if the kernel ends; the next kernel can then show the cell's
             output
    """

    def __init__(self, shell, prompts=lambda: None, strip=None, goes_on=False):
        self._shell = shell
        self._prompts = prompts
        self._strip = strip
        self._goes_on = goes_on
        self._last = sys.stdout
        self._is_interrupted = False
        self._interrupted_at = None
        self._waits_for_end = False  # after the first interrupt, until it is known whether the kernel ends
        self._handler = None
        self._progress = None
        self._label = ""  # in a terminal: the text that precedes the next display
        self._is_rich = getattr(shell, "kernel", None) is not None

    def __enter__(self):
        self._take_signal()
        return self

    def __exit__(self, *_problem):
        self._give_signal()
        if self._strip is not None:
            self._strip.close()
            self._strip = None
        deliver()  # sends the remaining messages about widgets to the front end
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
        if self._interrupted_at is None and self._goes_on:
            self._interrupted_at, self._waits_for_end = time.monotonic(), True
        else:  # a second interrupt is always sent to the engines
            self._is_interrupted = True

    def is_interrupted(self):
        """Returns whether an interrupt has arrived since the last call.

        The C++ magics call this method about 20 times a second.

        errors  KernelEnds: the kernel ends, and the engines are not interrupted.
        """
        if self._goes_on and _is_ending(self._shell):
            raise KernelEnds("the kernel ends; the engines go on with the cell")
        self._serve_prompts()
        if self._strip is not None:
            self._strip.tick()
        if self._waits_for_end and time.monotonic() - self._interrupted_at > _END_PATIENCE:
            self._waits_for_end, self._is_interrupted = False, True
        was, self._is_interrupted = self._is_interrupted, False
        return was

    @property
    def was_interrupted(self):
        """Returns whether an interrupt has arrived, even if it has not been passed to the engines yet."""
        return self._is_interrupted or self._waits_for_end

    def _serve_prompts(self):
        """Asks the user for debugger commands if an engine waits in a debugger."""
        prompts = self._prompts()
        if prompts is None:
            return
        prompts.take_warnings()  # drops them, because this cell shows the engines' stderr, which has the same sentences
        if not prompts.has_news:
            return
        self._give_signal()
        try:
            prompts.serve(write=lambda text: self.write("stdout", text))
        except KeyboardInterrupt:
            self._is_interrupted = True
        finally:
            self._take_signal()

    # ------------------------------------------------------------ output

    @property
    def can_update(self):
        """Whether the front end can replace a display that it has already shown, which a terminal
        cannot do."""
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
        deliver()  # the comm of a widget must arrive before the widget
        transient = {"display_id": display_id} if display_id else {}
        self._shell.display_pub.publish(
            data=data, metadata=metadata, transient=transient, update=is_update
        )

    def _for_terminal(self, data):
        """Returns the data of a display for a terminal. Returns None if the display is only a label
        such as Out[0]:, because the label is written together with the next text."""
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
        """Shows, in one display, the progress bar and the lines that engines rewrite with carriage returns.

        Later calls update this display. Empty data clears the display.
        """
        is_update = self._progress is not None
        self._progress = self._progress or f"progress-{uuid.uuid4().hex}"
        self.show(data, {}, self._progress, is_update)

    @staticmethod
    def terminal_size():
        """Returns the size of the terminal on which progress is drawn; None if there is no terminal."""
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


def _is_ending(shell):
    """Returns whether the kernel of this shell was asked to end or to restart."""
    kernel = getattr(shell, "kernel", None)
    return bool(getattr(kernel, "is_ending", False)) or getattr(kernel, "_shutdown_message", None) is not None


class PlainCellOutput(CellOutput):
    """Writes all output to stdout. This includes the progress reports that pxcluster writes to stderr, which are not
    errors."""

    def write(self, name, text):
        super().write("stdout", text)
