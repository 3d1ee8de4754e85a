"""The asyncio event loop of an engine, whose tasks continue between requests."""

import asyncio
import contextlib
from asyncio import events

from polyxeus.engine.coroutines import run_interruptibly, run_until_readable


class EventLoop(asyncio.SelectorEventLoop):
    """An event loop that reports to the C++ core whether there is work. If there is none, the engine waits in C++
    code."""

    def __init__(self, engine):
        self._engine = engine
        super().__init__()

    def call_soon(self, *args, **options):
        self._engine.set_has_tasks(True)
        return super().call_soon(*args, **options)

    def call_at(self, *args, **options):
        self._engine.set_has_tasks(True)
        return super().call_at(*args, **options)

    def call_soon_threadsafe(self, *args, **options):
        handle = super().call_soon_threadsafe(*args, **options)
        self._engine.set_has_tasks(True)
        return handle

    def has_work(self):
        """Returns whether the loop has a callback to run, now or at a later time, or has a task
        that waits for a descriptor."""
        return bool(self._ready or self._scheduled or len(self._selector.get_map()) > 1)


class TaskRunner:
    """Owns the event loop of the main thread, and runs coroutines in it."""

    def __init__(self, shell, engine):
        self._shell = shell
        self._engine = engine
        self._loop = None
        shell.loop_runner = self.run

    def make_current(self):
        """Makes asyncio.get_event_loop() find the loop again after asyncio.run() has removed it."""
        if self._loop is None or self._loop.is_closed():
            self._loop = EventLoop(self._engine)
        asyncio.set_event_loop(self._loop)
        return self._loop

    @contextlib.contextmanager
    def running(self):
        """A context manager: during its block, cells can call asyncio.create_task(), as in any Jupyter kernel."""
        events._set_running_loop(self.make_current())
        try:
            yield
        finally:
            events._set_running_loop(None)

    def run(self, coroutine):
        """Runs a coroutine of a cell and returns its result."""
        running = events._get_running_loop()
        events._set_running_loop(None)
        try:
            return run_interruptibly(self.make_current(), coroutine)
        finally:
            events._set_running_loop(running)

    def idle(self, descriptor):
        """Runs unfinished tasks of earlier requests until `descriptor` is readable."""
        loop = self.make_current()
        run_until_readable(loop, descriptor, self._shell)
        self._engine.set_has_tasks(False)  # before the check, because another thread may add work in the meantime
        if not loop.is_closed() and loop.has_work():
            self._engine.set_has_tasks(True)

