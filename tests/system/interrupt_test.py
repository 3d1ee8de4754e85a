"""A busy engine is interrupted from the client, whatever it is busy with."""

import signal
import time

import ipyparallel as ipp
import pytest
from programs import wait_until


@ipp.interactive
def start_marker(path):
    open(path, "w").close()


@ipp.interactive
def sleep_long(path):
    import time

    open(path, "w").close()
    time.sleep(60)


@ipp.interactive
def loop_long(path):
    import time

    open(path, "w").close()
    end = time.time() + 60
    while time.time() < end:
        pass


@pytest.mark.parametrize("number", [signal.SIGINT, "SIGINT"])
@pytest.mark.parametrize("busy", [sleep_long, loop_long], ids=lambda busy: busy.__name__)
def test_an_interrupt_ends_busy_user_code_as_a_keyboard_interrupt(local_rc, busy, number, tmp_path):
    marker = tmp_path / "busy"
    answer = local_rc[0].apply_async(busy, str(marker))
    wait_until(marker.exists, "the engine is busy")
    local_rc.send_signal(number, targets=0, block=True)
    with pytest.raises(ipp.RemoteError, match="KeyboardInterrupt"):
        answer.get(20)
    assert local_rc[0].apply_sync(len, "still here") == 10


def test_every_engine_is_interrupted_at_once(local_rc, tmp_path):
    markers = [tmp_path / str(engine) for engine in local_rc.ids]
    answers = [
        local_rc[engine].apply_async(sleep_long, str(marker))
        for engine, marker in zip(local_rc.ids, markers)
    ]
    wait_until(lambda: all(marker.exists() for marker in markers), "all engines are busy")
    local_rc.send_signal(signal.SIGINT, block=True)
    for answer in answers:
        with pytest.raises(ipp.RemoteError, match="KeyboardInterrupt"):
            answer.get(20)


def test_an_executed_cell_is_interrupted_and_the_cells_behind_it_are_aborted(local_rc, tmp_path):
    marker = tmp_path / "busy"
    view = local_rc[0]
    code = f"import time; open({str(marker)!r}, 'w').close(); time.sleep(60)"
    busy = view.execute(code, silent=False, block=False)
    wait_until(marker.exists, "the engine is busy")
    behind = view.execute("ran = True", silent=False, block=False)
    wait_until(lambda: local_rc.queue_status()[0]["queue"] >= 2, "the second cell is queued")
    local_rc.send_signal(signal.SIGINT, targets=0, block=True)
    with pytest.raises(ipp.RemoteError, match="KeyboardInterrupt"):
        busy.get(20)
    with pytest.raises(ipp.TaskAborted):
        behind.get(20)


def test_a_signal_to_an_idle_engine_does_no_harm(local_rc):
    local_rc.send_signal(signal.SIGINT, targets=1, block=True)
    assert local_rc[1].apply_sync(len, "ab") == 2


def test_a_rank_blocked_in_recv_is_woken_by_the_message_after_an_interrupt(rc, tmp_path):
    """MPI cannot be interrupted in mid-call, so the interrupt arrives with the awaited message."""
    marker = tmp_path / "busy"
    rc[:].execute("from mpi4py import MPI; comm = MPI.COMM_WORLD", block=True)
    answer = rc[1].execute(
        f"open({str(marker)!r}, 'w').close(); comm.recv(source=0, tag=5); after = 1", block=False
    )
    wait_until(marker.exists, "the rank is about to receive")
    rc.send_signal(signal.SIGINT, targets=1, block=True)
    assert rc[0].apply_sync(len, "free") == 4
    rc[0].execute("comm.send('wake up', dest=1, tag=5)", block=True)
    with pytest.raises(ipp.RemoteError, match="KeyboardInterrupt"):
        answer.get(20)
    assert rc[1].apply_sync(len, "still here") == 10


def test_a_rank_that_polls_for_a_message_is_interrupted_without_one(rc, tmp_path):
    marker = tmp_path / "busy"
    rc[:].execute("from mpi4py import MPI; comm = MPI.COMM_WORLD", block=True)
    answer = rc[2].execute(
        f"open({str(marker)!r}, 'w').close()\nwhile not comm.iprobe(source=0, tag=6): pass",
        block=False,
    )
    wait_until(marker.exists, "the rank polls")
    rc.send_signal(signal.SIGINT, targets=2, block=True)
    with pytest.raises(ipp.RemoteError, match="KeyboardInterrupt"):
        answer.get(20)


def test_what_waits_behind_busy_work_is_aborted_on_request(local_rc, tmp_path):
    marker = tmp_path / "busy"
    view = local_rc[0]
    busy = view.apply_async(sleep_long, str(marker))
    wait_until(marker.exists, "the engine is busy")
    waiting = [view.apply_async(len, "x" * n) for n in range(3)]
    view.abort(waiting, block=True)
    local_rc.send_signal(signal.SIGINT, targets=0, block=True)
    for answer in waiting:
        with pytest.raises(ipp.TaskAborted):
            answer.get(20)
    with pytest.raises(ipp.RemoteError, match="KeyboardInterrupt"):
        busy.get(20)


def test_a_busy_engine_is_still_registered_after_many_missed_beats_would_have_ended_it(own_cluster):
    """User code that never lets go of the GIL must not look like death."""
    cluster = own_cluster()
    cluster.start_controller("--ping=100", "--HeartMonitor.max_heartmonitor_misses=10")
    cluster.start_engines(1)
    rc = cluster.client(engines=1)

    @ipp.interactive
    def hold_the_lock():
        import ctypes

        return ctypes.PyDLL(None).usleep(2_000_000)  # one call of C code under the lock, for twenty beats

    assert rc[0].apply_async(hold_the_lock).get(60) == 0
    assert rc.ids == [0]
