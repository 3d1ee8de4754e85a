"""Decides which calls run again to recompute lost results, and stores the requests of these calls."""

from __future__ import annotations

import collections
import weakref

from polyxeus.serialize.compact_json import dump

__all__ = ["Memory", "NotRepeatable", "Recipe", "SentTask", "plan"]

_MOST_BYTES = 256 << 20  # the largest size of all requests that a client stores to make lost results again
_MOST_COPIED = 1 << 20  # the largest size of the arrays that are copied for a call without retries


class NotRepeatable(Exception):
    """A result cannot be recomputed. The text of the exception gives the reason."""


class SentTask:
    """A task that was sent, with the data that is needed to send it again.

    send     a function send(work, refs, engines), which sends the task and returns the tasks of the C++ library.
    work     the request.
    retries  how many further attempts the task has.
    """

    __slots__ = ("buffers", "content", "kind", "retries", "send")

    def __init__(self, send, work, retries):
        self.send = send
        self.kind, self.content, self.buffers = work
        self.retries = retries

    def freeze(self):
        """Copies the arrays that the caller may change, and returns whether the task can be sent again. If the call has
        no retries, only small arrays are copied."""
        changing = [each for each in self.buffers if not isinstance(each, bytes)]
        if not self.retries and sum(memoryview(each).nbytes for each in changing) > _MOST_COPIED:
            return False
        if changing:
            self.buffers = [each if isinstance(each, bytes) else bytes(each) for each in self.buffers]
        return True

    def size(self):
        """Returns the approximate number of bytes of memory that the task takes."""
        return len(self.content) + sum(map(len, self.buffers)) + 500

    def again(self, refs, wanted=(), engines=()):
        """Sends the task.

        refs     the Refs in the arguments of the task.
        wanted   results that the engine first fetches from other engines: see ref_streams.brought().
        engines  the uuids of the engines that should run the task. If there are none, any engine of
                 the task's view may run it.
        """
        content = f'{self.content[:-1]},"fetch":{dump(wanted)}}}' if wanted else self.content
        return self.send((self.kind, content, self.buffers), refs, engines)


class Recipe:
    """Describes how a kept result is recomputed.

    name    the name of the function.
    key     the key of the result.
    task    a SentTask; None if the call has no retries, or if the call was not made on a balanced
            view.
    inputs  the recipes of the kept results that are arguments of the call.
    """

    __slots__ = ("__weakref__", "_ref", "inputs", "key", "left", "name", "task", "why_not")

    def __init__(self, name, key=None, task=None, inputs=()):
        self.name = name
        self.key = key
        self.task = task
        self.inputs = tuple(inputs)
        self.left = task.retries if task is not None else 0
        self.why_not = f"{name} was called without retries, so the result is not computed again"
        self._ref = None

    def set_ref(self, ref):
        self._ref = weakref.ref(ref)

    def ref(self):
        """Returns the Ref of the result; None if the program has deleted the Ref."""
        return self._ref and self._ref()

    def use(self):
        """Counts one retry as used, because the call is sent again."""
        self.left -= 1
        self.why_not = f"the retries of {self.name} are used up"

    def forget(self):
        """Frees the memory of the request. Called when the recipes take too much memory."""
        self.task, self.inputs, self.left = None, (), 0
        most = _MOST_BYTES >> 20
        self.why_not = f"the client no longer has the request of {self.name}: it keeps at most {most} MiB of requests"


def plan(wanted, is_there):
    """Returns a list of the recipes to run, so that a lost result is computed again. Each recipe
    comes after the recipes of its inputs.

    is_there  a function: is_there(recipe) returns whether the result exists or is being computed
    errors    NotRepeatable: one of the recipes cannot run again
    """
    order, seen, stack = [], set(), [(wanted, False)]
    while stack:
        recipe, has_inputs = stack.pop()
        if has_inputs:
            order.append(recipe)
            continue
        if recipe in seen or (recipe is not wanted and is_there(recipe)):
            continue
        seen.add(recipe)
        if recipe.task is None or recipe.left <= 0:
            raise NotRepeatable(recipe.why_not)
        stack.append((recipe, True))
        stack += [(each, False) for each in recipe.inputs]
    return order


class Memory:
    """Limits the memory that the recipes of a client take. If the recipes take too much memory, the oldest recipes free
    their requests.

    most  the limit in bytes.
    """

    def __init__(self, most=_MOST_BYTES):
        self._most = most
        self._bytes = 0
        self._recipes = collections.deque()  # (weak reference, bytes)

    def add(self, recipe):
        size = recipe.task.size()
        self._recipes.append((weakref.ref(recipe), size))
        self._bytes += size
        if self._bytes > self._most:
            self._shrink()

    def _shrink(self):
        self._recipes = collections.deque(entry for entry in self._recipes if entry[0]() is not None)
        self._bytes = sum(size for _, size in self._recipes)
        while self._bytes > self._most // 2 and len(self._recipes) > 1:
            recipe, size = self._recipes.popleft()
            self._bytes -= size
            if (found := recipe()) is not None:
                found.forget()
