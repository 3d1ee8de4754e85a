"""Short calls that follow each other: the threads that wait for them do the work of others, which
are there all the same when something else comes."""

import os
import signal
import threading
import time

import polyxeus
import pytest
from programs import wait_until
from running_cluster import connect


@pytest.fixture
def cluster(own_cluster):
    cluster = own_cluster()
    cluster.start_controller()
    cluster.start_engines(2)
    return cluster


@pytest.fixture
def rc(cluster):
    """A client whose two engines have just answered short calls."""
    with connect(cluster.connection_file("client"), 2) as client:
        for _ in range(50):
            assert client[:].apply_sync(len, "engine") == [6, 6]
        yield client


def test_an_engine_ends_by_sigterm(cluster, rc):
    os.kill(rc[0].apply_sync(os.getpid), signal.SIGTERM)
    wait_until(lambda: rc.ids == [1], "the engine has left")
    assert rc[1].apply_sync(len, "engine") == 6


def keep_busy(view, marker):
    """A cell that runs for a minute, once it does."""
    cell = view.execute(f"import time; open({str(marker)!r}, 'w').close(); time.sleep(60)")
    wait_until(marker.exists, "the engine is busy")
    return cell


def test_a_long_call_is_interrupted(rc, tmp_path):
    cell = keep_busy(rc[0], tmp_path / "busy")
    rc.send_signal(signal.SIGINT, targets=0, block=True)
    with pytest.raises(polyxeus.RemoteError, match="KeyboardInterrupt"):
        cell.get(20)
    assert rc[0].apply_sync(len, "engine") == 6


def test_what_a_thread_prints_later_arrives(rc):
    rc[0].execute("import threading; threading.Timer(0.3, print, ['later']).start()", block=True)
    answer = rc[0].apply_async(len, "engine")
    assert answer.get(60) == 6
    wait_until(lambda: answer.stdout == "later\n", "the thread's line arrives")


def test_an_engine_whose_python_a_thread_holds_up_answers_what_needs_no_python(rc):
    """Whoever reads a pipe through PyDLL keeps Python's lock until somebody writes."""
    rc[0].execute(
        "import ctypes, os, threading\n"
        "end, begin = os.pipe()\n"
        "read = lambda: ctypes.PyDLL(None).read(end, ctypes.create_string_buffer(1), 1)\n"
        "threading.Timer(0.2, read).start()",
        block=True,
    )
    pid, begin = rc[0].apply_sync(os.getpid), rc[0].pull("begin", block=True)
    assert rc[0].apply_sync(len, "engine") == 6
    time.sleep(0.5)  # the thread has the lock
    try:
        assert [row["state"] for row in rc.where()] == ["idle", "idle"]
    finally:
        with open(f"/proc/{pid}/fd/{begin}", "wb", buffering=0) as pipe:
            pipe.write(b"x")
    assert rc[0].apply_sync(len, "engine") == 6


def test_what_nobody_waits_for_is_sent(rc, tmp_path):
    for i in range(20):
        marker = tmp_path / str(i)
        assert rc[0].apply_sync(len, "engine") == 6
        rc[1].apply_async(lambda path: open(path, "w").close(), str(marker))
        wait_until(marker.exists, "the engine got it")


def test_threads_that_wait_at_the_same_time_all_get_their_answers(rc):
    failures = []

    def call(number):
        views = [rc[0], rc[1], rc[:], rc.load_balanced_view()]
        try:
            for i in range(200):
                view = views[(number + i) % 4]
                wanted = [number + i] * 2 if view.targets and len(rc) == len(view) else number + i
                assert view.apply_sync(lambda value: value, number + i) == wanted
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=call, args=[number * 1000]) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_a_client_that_another_thread_closes_lets_go_of_who_waits(rc, tmp_path):
    cell = keep_busy(rc[0], tmp_path / "busy")
    ends = []

    def wait():
        with pytest.raises(Exception) as caught:
            cell.get()
        ends.append(str(caught.value))

    thread = threading.Thread(target=wait)
    thread.start()
    rc.close()
    thread.join(20)
    assert ends and "closed" in ends[0]
