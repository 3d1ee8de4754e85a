"""Nothing waits for ever: what the tests of all rooms use for that."""

import signal
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

LOADED = 3  # a machine that runs other tests meanwhile, or shares its cores, may be so many times slower


@contextmanager
def time_limit(seconds):
    """Fails what runs inside when it takes LOADED times longer.

    pytest's own failure is no Exception, so a test that expects a TimeoutError or any OSError does
    not take this one for the one that it expects.
    """

    seconds *= LOADED

    def stop(_signal, _frame):
        pytest.fail(f"the test took longer than {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def started(command, **options):
    """A subprocess.Popen, whose end is awaited at the end of the block; killed where the block fails."""
    with subprocess.Popen(command, **options) as process:
        try:
            yield process
        except BaseException:
            process.kill()
            raise


def wait_until(is_true, what, timeout, interval=0.02):
    """Polls until `is_true()` gives something true, and returns that; fails after LOADED times `timeout`."""
    timeout *= LOADED
    deadline = time.monotonic() + timeout
    while True:
        value = is_true()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"{what}: not within {timeout:g} s")
        time.sleep(interval)


def wait_for_text(path, text, timeout, interval=0.02):
    """Waits until a file has this text; fails with all that it has."""
    try:
        wait_until(lambda: text in path.read_text(), f"{text!r} in {path}", timeout, interval)
    except AssertionError as late:
        raise AssertionError(f"{late}; it has:\n{path.read_text()}") from None


def cpu_time(pid):
    """Seconds that the main thread of a process has computed."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


def wait_until_busy(pids, timeout, seconds=0.01):
    """Waits until the main threads of these processes have computed for so long from now on: one
    that was about to enter a call that polls, as those of MPI do, is in it then, however slow the
    machine is."""
    end = {pid: cpu_time(pid) + seconds for pid in pids}
    wait_until(lambda: all(cpu_time(pid) >= end[pid] for pid in pids), f"{pids} compute", timeout)
