"""CPython's own tests of executors, on those of views; all but the ones about the start and end of its pools.

They are in the package libpython3.11-testsuite of Debian 12, and in some builds of Python.
"""

import importlib.util
import sys
import time
import unittest
from pathlib import Path

import pytest

import polyxeus as px

NAME = "test.test_concurrent_futures"
DEBIAN = Path(f"/usr/lib/python3.{sys.version_info[1]}/test/test_concurrent_futures.py")


def _make_load():
    def load(name, path):  # a function in a function travels as it is: the engines lack this module
        """The module of the tests; on the engines, too, as its functions are called there. Its sleeps last twice as long:
        which of two tasks ends first is to hold on a machine that runs other tests, too."""
        import importlib.util
        import sys
        import time
        import types

        if path is None:
            module = importlib.import_module(name)
        else:
            spec = importlib.util.spec_from_file_location(name, path)
            module = sys.modules[name] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)

        def slow_sleep(seconds):
            time.sleep(2 * seconds)

        slow_sleep.__module__, slow_sleep.__qualname__ = name, "slow_sleep"
        module.slow_sleep = slow_sleep
        module.time = types.SimpleNamespace(**{**vars(time), "sleep": slow_sleep})
        return module

    return load


load = _make_load()
HOME = None if importlib.util.find_spec("test") and importlib.util.find_spec(NAME) else DEBIAN
cpython = load(NAME, HOME)


@pytest.fixture(autouse=True)
def executor_type(request, rc):
    """What the tests make executors of."""
    rc[:].apply_sync(lambda load, name, path: load(name, path) and None, load, NAME, HOME)
    rc[:].execute("1/0", block=False).wait()  # a first error imports what tracebacks need: longer than these tests wait

    def balanced(max_workers=None, **options):
        return rc.executor(**options)

    def direct(max_workers=None, **options):
        return px.ViewExecutor(rc[0], **options)

    request.cls.executor_type = staticmethod(balanced if "Balanced" in request.cls.__name__ else direct)


class WithoutPool:
    """Left out: they make pools with a number of workers, or are about how a pool or the interpreter ends."""

    test_max_workers_negative = None
    test_interpreter_shutdown = None
    test_submit_after_interpreter_shutdown = None
    test_hang_gh83386 = None
    test_hang_gh94440 = None


class Mixin(WithoutPool, cpython.ExecutorMixin):
    def setUp(self):
        self.t1 = time.monotonic()
        self.executor = self.executor_type(max_workers=self.worker_count, **self.executor_kwargs)


class TestBalancedExecutor(Mixin, cpython.ExecutorTest, unittest.TestCase):
    test_map_chunksize = cpython.ProcessPoolExecutorTest.test_map_chunksize


class TestDirectExecutor(Mixin, cpython.ExecutorTest, unittest.TestCase):
    test_map_chunksize = cpython.ProcessPoolExecutorTest.test_map_chunksize


class TestBalancedWait(Mixin, cpython.WaitTests, unittest.TestCase):
    pass


class TestDirectWait(Mixin, cpython.WaitTests, unittest.TestCase):
    pass


class TestBalancedAsCompleted(Mixin, cpython.AsCompletedTests, unittest.TestCase):
    pass


class TestDirectAsCompleted(Mixin, cpython.AsCompletedTests, unittest.TestCase):
    pass


class TestBalancedShutdown(Mixin, cpython.ExecutorShutdownTest, unittest.TestCase):
    pass


class TestDirectShutdown(Mixin, cpython.ExecutorShutdownTest, unittest.TestCase):
    pass


class TestBalancedInitializer(cpython.InitializerMixin, Mixin, unittest.TestCase):
    pass


class TestDirectInitializer(cpython.InitializerMixin, Mixin, unittest.TestCase):
    pass


class TestBalancedFailingInitializer(cpython.FailingInitializerMixin, Mixin, unittest.TestCase):
    pass


class TestDirectFailingInitializer(cpython.FailingInitializerMixin, Mixin, unittest.TestCase):
    pass
