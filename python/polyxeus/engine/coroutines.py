"""Coroutines of cells, which an interrupt ends with a KeyboardInterrupt."""

import asyncio
import types


@types.coroutine
def interruptible(coroutine, is_interrupted):
    """The coroutine, in which a cancellation becomes a KeyboardInterrupt if it stems from one."""
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
