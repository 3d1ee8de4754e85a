"""AsyncResults as Futures, their times and parts."""

import asyncio
import concurrent.futures
import subprocess
import sys
import textwrap
import threading
import time

import pytest

import polyxeus as ipp


def test_concurrent_futures_wait_for_results(rc):
    results = [rc[0].apply_async(abs, -n) for n in range(5)]
    done, pending = concurrent.futures.wait(results, 60)
    assert done == set(results) and not pending
    assert {each.result() for each in concurrent.futures.as_completed(results)} == set(range(5))


def test_callbacks_run_once_the_answer_is_there(rc):
    called = threading.Event()
    result = rc[0].apply_async(time.sleep, 0.1)
    result.add_done_callback(lambda future: called.set())
    assert called.wait(60) and result.done()
    again = []
    result.add_done_callback(again.append)
    assert again == [result]


def test_a_callback_may_wait_for_other_results(rc):
    waited, called = [], []
    results = [rc[n].apply_async(time.sleep, n / 20) for n in range(4)]

    def wait_for_all(future):
        waited.append(concurrent.futures.wait(results, 60).not_done)
        called.append(future)

    for result in results:
        result.add_done_callback(wait_for_all)
    done = threading.Event()
    last = rc[0].apply_async(abs, -1)
    last.add_done_callback(lambda future: done.set())
    assert done.wait(60)
    assert waited == [set()] * 4
    assert set(called) == set(results) and len(called) == 4


def test_results_are_awaited(rc):
    async def compute():
        one, two = rc[0].apply_async(abs, -1), rc[1].apply_async(lambda: 1 / 0)
        assert await one == 1
        assert await asyncio.wrap_future(rc[:].apply_async(abs, -3)) == [3] * 4
        with pytest.raises(ipp.RemoteError):
            await two

    asyncio.run(asyncio.wait_for(compute(), 30))


def test_the_first_failure_ends_the_wait(rc):
    rc[:].scatter("rank", rc.ids, flatten=True, block=True)
    result = rc[:].apply_async(
        ipp.interactive(lambda: 1 / 0 if rank == 0 else __import__("time").sleep(1))  # noqa: F821
    )
    done, pending = result.wait(20, return_when=ipp.FIRST_EXCEPTION)
    assert len(done) == 1 and len(pending) == 3
    with pytest.raises(ipp.RemoteError):
        result.get(20, return_when=ipp.FIRST_EXCEPTION)


def test_results_are_split_and_joined(rc):
    result = rc[:].apply_async(lambda: 5)
    parts = result.split()
    assert [part.get(60) for part in parts] == [5] * 4
    assert ipp.AsyncResult.join(*parts).get(60) == [5] * 4


def test_times_and_progress(rc, capsys):
    began = time.monotonic()
    result = rc[:].apply_async(time.sleep, 0.2)
    with pytest.raises(TimeoutError, match="not ready"):
        result.get(0)
    assert result.elapsed <= time.monotonic() - began
    result.wait_interactive()
    took = time.monotonic() - began
    assert "4/4" in capsys.readouterr().out
    assert 0.2 <= result.wall_time <= took and 4 * 0.2 <= result.serial_time <= 4 * took
    assert result.progress == 4


def test_ctrl_c_ends_the_wait_not_the_request(rc):
    result = rc[0].apply_async(time.sleep, 0.5)
    timer = threading.Timer(0.1, lambda: __import__("signal").raise_signal(2))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        result.get()
    assert result.get(60) is None


def test_a_client_in_a_forked_child_says_so(rc):
    import os

    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            rc[0].apply_async(abs, 1)
            text = "sent"
        except Exception as problem:
            text = f"{type(problem).__name__}: {problem}"
        os.write(writer, text.encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert b"make a new Client" in os.read(reader, 1000)
    assert rc[0].apply_sync(abs, -1) == 1


@pytest.mark.parametrize(
    "end",
    [
        "",
        "sys.exit(3)",
        "r.add_done_callback(print)",
        "threading.Thread(target=r.wait, daemon=True).start()",
    ],
)
def test_python_ends_with_requests_under_way(running, end):
    code = f"""
        import sys, threading, time
        import polyxeus as ipp
        rc = ipp.Client({running.connection_file!r})
        r = rc[0].apply_async(time.sleep, 1)
        {end}
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=30
    )
    assert done.returncode == (3 if "exit" in end else 0), done.stderr
    assert "Traceback" not in done.stderr and "Fatal" not in done.stderr


def test_a_timeout_says_what_was_raised_already_by_those_that_others_may_wait_for(rc):
    rc[:].scatter("rank", range(4), flatten=True, block=True)
    result = rc[:].execute("if rank == 2: raise ValueError('no field')\nimport time; time.sleep(60)")
    result.split()[2].wait(60)
    with pytest.raises(TimeoutError, match=r"1 of 4 requests is answered; \[2:execute\] ValueError: no field"):
        result.get(0)
    rc[:].interrupt(block=True)
    result.wait(60)
