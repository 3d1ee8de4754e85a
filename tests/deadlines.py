"""Nothing waits for ever: what the tests of all rooms use for that."""

import signal
import time
from contextlib import contextmanager


@contextmanager
def time_limit(seconds):
    """Fails what runs inside when it takes longer."""

    def stop(_signal, _frame):
        raise TimeoutError(f"the test took longer than {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def wait_until(is_true, what, timeout, interval=0.02):
    """Polls until `is_true()` gives something true, and returns that; fails when late."""
    deadline = time.monotonic() + timeout
    while True:
        value = is_true()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"{what}: not within {timeout:g} s")
        time.sleep(interval)
