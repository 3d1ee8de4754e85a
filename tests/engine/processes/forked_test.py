"""A child that user code forks ends where that code ends: only its parent serves requests."""

import os
import pickle

import pytest
from ipyparallel.serialize import serialize

FORK = "import os, sys\npid = os.fork()\n"


def status_of(pid):
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@pytest.mark.parametrize("of_the_child, status", [
    ("pass", 0),
    ("sys.exit(3)", 3),
    ("sys.exit('no')", 1),
    ("exit()", 0),
    ("1/0", 1),
])
def test_a_forked_child_ends_with_its_cell_as_a_script_does(
        execute, backend, recorder, of_the_child, status):
    assert execute(f"{FORK}if pid == 0:\n    {of_the_child}")["status"] == "ok"
    assert status_of(backend.shell.user_ns["pid"]) == status
    assert not recorder.is_stopped


def test_it_ends_with_the_function_that_was_applied(backend):
    is_ok, _, _, result = backend.apply(serialize.pack_apply_message(os.fork, (), {}))
    assert is_ok
    assert status_of(pickle.loads(result[0])) == 0


def test_what_the_child_printed_is_written(execute, backend, capfd):
    execute(f"{FORK}if pid == 0: print('of the child', end='', file=sys.__stdout__)\n"
            "if pid == 0: sys.stdout = sys.__stdout__")
    assert status_of(backend.shell.user_ns["pid"]) == 0
    assert capfd.readouterr().out == "of the child"


def test_a_child_of_an_asyncio_task_ends_when_the_task_waits(execute, backend):
    ends = os.pipe()
    execute(f"""
import asyncio, os
async def fork():
    global pid
    await asyncio.sleep(0)
    pid = os.fork()
    await asyncio.sleep(0)
    if pid: os.write({ends[1]}, b"!")
task = asyncio.create_task(fork())
""")
    backend.idle(ends[0])
    assert os.read(ends[0], 10) == b"!"
    assert status_of(backend.shell.user_ns["pid"]) == 0
    for end in ends:
        os.close(end)
