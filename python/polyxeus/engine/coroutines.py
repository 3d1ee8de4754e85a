"""Runs coroutines of cells. An interrupt ends a coroutine with a KeyboardInterrupt."""

import asyncio
import types

from polyxeus.engine import forked


@types.coroutine
def interruptible(coroutine, is_interrupted):
    """Wraps a coroutine. If an interrupt cancels the task of the coroutine, the coroutine gets a
    KeyboardInterrupt instead of asyncio's CancelledError."""
    step, value = coroutine.send, None
    while True:
        try:
            waited_for = step(value)
        except StopIteration as end:
            return end.value
        try:
            step, value = coroutine.send, (yield waited_for)
        except asyncio.CancelledError as cancelled:
            step, value = coroutine.throw, KeyboardInterrupt() if is_interrupted() else cancelled
        except BaseException as error:
            step, value = coroutine.throw, error


async def as_coroutine(awaitable):
    return await awaitable


def run_interruptibly(loop, coroutine, **options):
    """Runs a coroutine of a cell and returns its result.

    options: the options of asyncio's create_task()
    """
    is_interrupted = False
    wrapped = interruptible(coroutine, lambda: is_interrupted)
    task = loop.create_task(as_coroutine(wrapped), **options)
    while True:
        try:
            return loop.run_until_complete(task)
        except KeyboardInterrupt:
            # The interrupt arrived while the cell waited for something, not while its code ran.
            if task.done():
                raise
            is_interrupted = True
            task.cancel()


def run_until_readable(loop, descriptor, shell):
    """Runs unfinished tasks of earlier cells until `descriptor` is readable."""
    loop.add_reader(descriptor, loop.stop)
    try:
        with forked.tasks_run_in(loop):
            loop.run_forever()
    except (KeyboardInterrupt, SystemExit) as error:  # raised by a task; it must not end the engine or kernel
        shell.showtraceback((type(error), error, error.__traceback__))
    finally:
        if not loop.is_closed():
            loop.remove_reader(descriptor)
