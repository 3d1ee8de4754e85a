"""A dask worker in an engine, which Client.become_dask() starts."""

import asyncio
import threading

from polyxeus.serialize import functions

__all__ = ["start", "stop"]

_NAMES = ("dask_worker", "distributed_worker")  # the names of the worker in the user's namespace
_PATIENCE = 30.0  # seconds within which a worker must start or end
_running = None


class _Life:
    """A worker and the separate thread of its event loop."""

    def __init__(self, address, nanny, options):
        self.worker = None
        self._problem = None
        self._loop = None
        self._end = None
        self._is_up = threading.Event()
        self._thread = threading.Thread(
            target=self._run, args=(address, nanny, options), name="dask-worker", daemon=True
        )

    def begin(self):
        """Starts the worker, and waits until the worker is registered with the scheduler."""
        self._thread.start()
        if not self._is_up.wait(_PATIENCE):
            raise TimeoutError(f"timed out: the dask worker did not start within {_PATIENCE:g} s")
        if self._problem is not None:
            raise self._problem

    def end(self):
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join(_PATIENCE)

    def _run(self, address, nanny, options):
        try:
            asyncio.run(self._live(address, nanny, options))
        except Exception as problem:
            self._problem = problem
            self._is_up.set()

    async def _live(self, address, nanny, options):
        from distributed import Nanny, Worker

        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        self.worker = (Nanny if nanny else Worker)(address, **options)
        async with self.worker:
            self._is_up.set()
            ended = asyncio.ensure_future(self.worker.finished())
            await asyncio.wait(
                [ended, asyncio.ensure_future(self._end.wait())],
                return_when=asyncio.FIRST_COMPLETED,
            )


def start(address, nanny=False, **options):
    """Starts a worker for the Dask scheduler at this address, unless this engine already runs a
    worker."""
    global _running
    if _running is not None and _running._thread.is_alive():
        return
    life = _Life(address, nanny, options)
    life.begin()
    _running = life
    functions.namespace().update(dict.fromkeys(_NAMES, life.worker))


def stop():
    """Ends the Dask worker of this engine, if the engine runs one."""
    global _running
    life, _running = _running, None
    if life is None:
        return
    names = functions.namespace()
    for name in _NAMES:
        if names.get(name) is life.worker:
            del names[name]
    if life._thread.is_alive():
        life.end()
