"""A client in a child that os.fork() made: it never touches what is its parent's, says so where it
is used, and the child ends as it likes."""

import subprocess
import sys
import textwrap

import pytest
from programs import PATIENCE


@pytest.fixture(scope="module")
def cluster(start_cluster):
    return start_cluster("forked", 2)


def run(cluster, code):
    """What a program prints that has a client `rc` of two engines, and ends within a minute."""
    before = f"""
import os, signal, sys, tempfile, threading, time
import polyxeus as px
rc = px.Client({str(cluster.connection_file("client"))!r}, timeout={PATIENCE})
rc.wait_for_engines(2, timeout={PATIENCE})

def child_says(function):
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(30)  # ends a child that waits for ever
        try:
            said = repr(function())
        except Exception as problem:
            said = f"{{type(problem).__name__}}: {{problem}}"
        os.write(writer, said.encode())
        os.close(writer)
        return None
    os.close(writer)
    said = os.fdopen(reader, "rb").read().decode()
    return said, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
"""
    done = subprocess.run(
        [sys.executable, "-u", "-c", before + textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


SENTENCE = "this client was made before os.fork()"


def test_a_result_that_is_pending_is_an_error_in_the_child_however_the_parent_waits(cluster):
    said = run(
        cluster,
        """
        def wait_for(gate):
            import os, time
            while not os.path.exists(gate): time.sleep(0.005)

        folder = tempfile.mkdtemp()
        for number in range(30):
            gate = os.path.join(folder, str(number))
            pending = rc[0].apply_async(wait_for, gate)
            rc[1].apply_sync(int, 1)  # the loop is left to nobody, or to the I/O thread
            said = child_says(pending.get)
            if said is None: sys.exit(0)
            print(*said)
            open(gate, "w").close()
            pending.get(timeout=60)
        print(rc[:].apply_sync(int, 7))
        """,
    ).splitlines()
    assert said[-1] == "[7, 7]"
    assert len(said) == 31
    assert all(SENTENCE in line and line.endswith(" 0") for line in said[:-1]), said


@pytest.mark.parametrize(
    "use",
    [
        "rc[0].apply_sync(int, 1)",
        "rc.ids",
        "rc.wait_for_engines(3)",
        "rc.outstanding",
        "pending.wait()",
        "pending.wait_for_output()",
        "pending.abort()",
        "pending.add_done_callback(print)",
        "rc[:].push({'a': 1}, block=True)",
        "rc.queue_status()",
    ],
)
def test_what_needs_the_parents_connection_says_so(cluster, use):
    said = run(
        cluster,
        f"""
        pending = rc[0].apply_async(time.sleep, 0.5)
        said = child_says(lambda: {use})
        if said is None: sys.exit(0)
        print(*said)
        pending.get(timeout=60)
        """,
    )
    assert SENTENCE in said and said.endswith(" 0\n"), said


def test_a_result_that_is_there_can_be_looked_at(cluster):
    said = run(
        cluster,
        """
        done = rc[:].apply_async(int, 5)
        done.wait(60)
        said = child_says(done.get)
        if said is None: sys.exit(0)
        print(*said)
        """,
    )
    assert said == "[5, 5] 0\n"


def test_a_child_ends_while_threads_of_its_parent_wait(cluster):
    said = run(
        cluster,
        """
        pending = rc[0].apply_async(time.sleep, 1)
        pending.add_done_callback(lambda _: None)
        for _ in range(3): threading.Thread(target=pending.get).start()
        threading.Thread(target=rc.wait_for_engines, args=(3,), kwargs={"timeout": 1, "interactive": False}).start()
        def forget():
            global rc, pending
            rc.close()
            del rc, pending
        for _ in range(5):
            said = child_says(forget)
            if said is None: sys.exit(0)
            print(*said)
        print(pending.get(timeout=60))
        """,
    )
    assert said == "None 0\n" * 5 + "None\n"


def test_a_child_makes_a_client_of_its_own(cluster):
    said = run(
        cluster,
        f"""
        def own():
            with px.Client({str(cluster.connection_file("client"))!r}, timeout={PATIENCE}) as mine:
                return mine[:].apply_sync(int, 3)
        said = child_says(own)
        if said is None: sys.exit(0)
        print(*said)
        print(rc[:].apply_sync(int, 4))
        """,
    )
    assert said == "[3, 3] 0\n[4, 4]\n"
