"""Callables with which executors wrap the user's functions on engines."""

from concurrent.futures import BrokenExecutor

__all__ = ["ForEach", "Initialized"]

_failures = {}  # key of an executor whose initializer has run here -> the reason of its failure, or None


class Initialized:
    """A function that first runs the initializer of its executor, unless the initializer has already run in this
    engine."""

    def __init__(self, key, initializer, initargs, function):
        self.__name__ = getattr(function, "__name__", "unknown")  # engines show this name while it runs
        self._key, self._initializer, self._initargs = key, initializer, initargs
        self._function = function

    def __call__(self, /, *args, **kwargs):
        self._initialize()
        return self._function(*args, **kwargs)

    def _initialize(self):
        problem = None
        if self._key not in _failures:
            try:
                self._initializer(*self._initargs)
                _failures[self._key] = None
            except Exception as failure:
                problem = failure
                _failures[self._key] = f"{type(failure).__name__}: {failure}"
        if _failures[self._key] is not None:
            raise BrokenExecutor(f"the initializer failed on this engine: {_failures[self._key]}") from problem


class ForEach:
    """Calls a function once for each tuple of arguments in a list, and returns the results."""

    def __init__(self, function):
        self.__name__ = getattr(function, "__name__", "unknown")
        self._function = function

    def __call__(self, rows):
        return [self._function(*row) for row in rows]
