"""Runs cells in an asyncio event loop that continues while the kernel is idle."""

import asyncio
import contextvars
import signal
import sys

from polyxeus.engine.coroutines import run_interruptibly, run_until_readable


class CellRunner:
    """Owns the event loop of the main thread, and handles its interrupts."""

    def __init__(self, shell, core):
        self.shell = shell
        self.core = core
        self._open_loop()
        self._context = contextvars.copy_context()  # the context of all cells, which share its variables
        self.is_running = False
        signal.signal(signal.SIGINT, self._on_interrupt)

    def _open_loop(self):
        self.loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self.loop)

    def run(self, code, **options):
        """Runs a cell, and returns the object that IPython makes for the result."""
        if self.loop.is_closed():
            self._open_loop()
        self.is_running = True
        try:
            # From Python 3.11 on, cells share their context.
            task_options = {"context": self._context} if sys.version_info >= (3, 11) else {}
            return run_interruptibly(self.loop, self._cell(code, options), **task_options)
        finally:
            self.is_running = False

    def idle(self, descriptor):
        """Runs unfinished tasks of earlier cells until `descriptor` is readable."""
        if self.loop.is_closed():  # a cell has closed the loop
            self._open_loop()
        run_until_readable(self.loop, descriptor, self.shell)

    def _on_interrupt(self, number, frame):
        if self.is_running:  # an idle kernel ignores the interrupt, which would otherwise stop the next cell
            raise KeyboardInterrupt

    async def _cell(self, code, options):
        self.core.begin_cell()
        shell = self.shell
        code_error = None
        try:
            transformed = shell.transform_cell(code)
        except Exception:
            transformed, code_error = code, sys.exc_info()
        if not self._awaits(code, transformed, code_error):
            return shell.run_cell(code, **options)
        result = None
        try:
            result = await shell.run_cell_async(code, transformed_cell=transformed,
                                                preprocessing_exc_tuple=code_error, **options)
        finally:
            shell.events.trigger("post_execute")
            if not options["silent"]:
                shell.events.trigger("post_run_cell", result)
        return result

    def _awaits(self, code, transformed, code_error):
        """Returns whether the cell uses await and asyncio runs it; the user may select another
        library with %autoawait."""
        from IPython.core.async_helpers import _asyncio_runner

        shell = self.shell
        return shell.loop_runner is _asyncio_runner and shell.should_run_async(
            code, transformed_cell=transformed, preprocessing_exc_tuple=code_error)
