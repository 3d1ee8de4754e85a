"""asyncio tasks of an engine go on between requests; without any, the engine waits outside Python."""

import asyncio
import os
import signal
import threading

import pytest

ticking = """
import asyncio, os
async def tick(ticks, descriptor):
    for _ in range(ticks):
        await asyncio.sleep(0.001)
    os.write(descriptor, b"!")
"""


@pytest.fixture
def pipe():
    """What becomes readable when the engine is asked for something."""
    ends = os.pipe()
    yield ends
    for end in ends:
        os.close(end)


def test_a_task_of_a_cell_ticks_while_nothing_is_asked_of_the_engine(
        execute, backend, recorder, pipe):
    execute(ticking)
    assert execute(f"task = asyncio.create_task(tick(20, {pipe[1]}))")["status"] == "ok"
    assert recorder.has_tasks
    backend.idle(pipe[0])  # returns when the task has done all its ticks
    assert os.read(pipe[0], 10) == b"!"
    assert execute("assert task.done()")["status"] == "ok"


def test_a_task_that_a_cell_with_await_leaves_behind_goes_on(execute, backend, pipe):
    execute(ticking)
    cell = f"task = asyncio.create_task(tick(20, {pipe[1]})); await asyncio.sleep(0)"
    assert execute(cell)["status"] == "ok"
    backend.idle(pipe[0])
    assert execute("assert task.done()")["status"] == "ok"


def test_an_engine_without_tasks_waits_outside_python(execute, backend, recorder, pipe):
    execute("1 + 1")
    assert not recorder.has_tasks
    execute("import asyncio; await asyncio.sleep(0)")
    os.write(pipe[1], b"!")
    backend.idle(pipe[0])
    assert not recorder.has_tasks


def test_while_a_task_waits_for_a_moment_the_engine_has_tasks(execute, backend, recorder, pipe):
    execute("import asyncio; task = asyncio.create_task(asyncio.sleep(3600))")
    os.write(pipe[1], b"!")
    backend.idle(pipe[0])
    assert recorder.has_tasks
    execute("task.cancel()")


def test_a_thread_wakes_the_loop(execute, backend, recorder, pipe):
    execute("import asyncio; loop = asyncio.get_event_loop()")
    recorder.has_tasks = False
    loop = backend.shell.user_ns["loop"]
    thread = threading.Thread(
        target=loop.call_soon_threadsafe, args=(os.write, pipe[1], b"from the loop"))
    thread.start()
    thread.join()
    assert recorder.has_tasks
    backend.idle(pipe[0])
    assert os.read(pipe[0], 99) == b"from the loop"


def test_a_function_can_start_a_task_and_use_asyncio_run(backend, pipe):
    backend.tasks.make_current()

    async def answer():
        return 42

    assert asyncio.run(answer()) == 42  # takes the event loop away
    backend.tasks.make_current()
    future = asyncio.ensure_future(answer())
    future.add_done_callback(lambda _: os.write(pipe[1], b"!"))
    backend.idle(pipe[0])
    assert future.result() == 42


def test_a_cell_that_closed_the_loop_gets_another(execute, backend, pipe):
    execute(ticking)
    execute("asyncio.get_event_loop().stop(); loop = asyncio.get_event_loop()")
    os.write(pipe[1], b"!")
    backend.idle(pipe[0])
    backend.shell.user_ns["loop"].close()
    assert execute(f"task = asyncio.create_task(tick(1, {pipe[1]}))")["status"] == "ok"


def test_an_interrupt_ends_the_cell_that_awaits_and_not_the_tasks(execute, backend, pipe):
    execute(ticking)
    execute("forever = asyncio.create_task(asyncio.sleep(3600))")
    content = execute("import os, signal\n"
                      "asyncio.get_running_loop().call_soon(signal.raise_signal, signal.SIGINT)\n"
                      "await asyncio.sleep(3600)")
    assert content["ename"] == "KeyboardInterrupt"
    assert execute("assert not forever.done(); forever.cancel()")["status"] == "ok"


def test_an_error_of_a_task_does_not_end_the_engine(execute, backend, recorder, pipe):
    execute("import asyncio, sys, os")
    execute("async def leave(): sys.exit(3)")
    execute("task = asyncio.create_task(leave())")
    backend.idle(pipe[0])
    assert recorder.contents("error")[-1]["ename"] == "SystemExit"
    assert not recorder.is_stopped
    assert signal.getsignal(signal.SIGINT) is not signal.SIG_IGN
