"""Runs cells in an asyncio event loop that goes on while the kernel is idle."""

import asyncio
import contextvars
import signal
import sys

from polyxeus.engine.coroutines import as_coroutine, interruptible


class CellRunner:
    """Owns the event loop of the main thread and what an interrupt does to it."""

    def __init__(self, shell, core):
        self.shell = shell
        self.core = core
        self._open_loop()
        self._context = contextvars.copy_context()  # that of all cells: they share its variables
        self._is_interrupted = False
        self.is_running = False
        signal.signal(signal.SIGINT, self._on_interrupt)

    def _open_loop(self):
        self.loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self.loop)

    def run(self, code, **options):
        """IPython's result of the cell."""
        if self.loop.is_closed():
            self._open_loop()
        self._is_interrupted = False
        self.is_running = True
        try:
            task = self._start(self._cell(code, options))
            while True:
                try:
                    return self.loop.run_until_complete(task)
                except KeyboardInterrupt:
                    # It came while the cell waited for something, not while its code ran.
                    if task.done():
                        raise
                    self._is_interrupted = True
                    task.cancel()
        finally:
            self.is_running = False

    def idle(self, descriptor):
        """Runs the tasks that cells have left behind until `descriptor` is readable."""
        if self.loop.is_closed():  # a cell did it
            self._open_loop()
        loop = self.loop
        loop.add_reader(descriptor, loop.stop)
        try:
            loop.run_forever()
        except (KeyboardInterrupt, SystemExit) as error:  # of a task: not for the kernel
            self.shell.showtraceback((type(error), error, error.__traceback__))
        finally:
            if not loop.is_closed():
                loop.remove_reader(descriptor)

    def _on_interrupt(self, number, frame):
        if self.is_running:  # an idle kernel ignores it: it would hit the next cell
            raise KeyboardInterrupt

    def _start(self, coroutine):
        wrapped = interruptible(coroutine, lambda: self._is_interrupted)
        if sys.version_info >= (3, 11):
            return self.loop.create_task(as_coroutine(wrapped), context=self._context)
        return self.loop.create_task(as_coroutine(wrapped))

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
        """Whether the cell awaits something, in asyncio: %autoawait may name another library."""
        from IPython.core.async_helpers import _asyncio_runner

        shell = self.shell
        return shell.loop_runner is _asyncio_runner and shell.should_run_async(
            code, transformed_cell=transformed, preprocessing_exc_tuple=code_error)
