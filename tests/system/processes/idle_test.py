"""An engine that has nothing to run takes no processor time, whatever its cells have done."""

import time

import psutil
import pytest
from programs import PATIENCE
from running_cluster import connect

ODD_CELLS = {
    "tasks that wait, or were cancelled": [
        "import asyncio; task = asyncio.create_task(asyncio.sleep(3600))",
        "other = asyncio.create_task(asyncio.sleep(3600)); other.cancel()",
        "asyncio.get_running_loop().call_later(3600, print).cancel()",
    ],
    "a closed event loop, and signals": [
        "import asyncio; asyncio.get_running_loop().close()",
        "import signal; signal.signal(signal.SIGUSR1, lambda *_: None)",
        "signal.raise_signal(signal.SIGUSR1); signal.set_wakeup_fd(-1)",
    ],
    "a forked child, a thread, no standard streams": [
        "import os, threading; os.fork()",
        "threading.Thread(target=threading.Event().wait, daemon=True).start()",
        "os.close(1); os.close(2)",
    ],
}
ENDS_OF_MPI = {"python": "from mpi4py import MPI; MPI.Finalize()", "cpp": "MPI_Finalize();"}


def spend(seconds):
    """Takes so much processor time, which processes that are busy take meanwhile, too."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def processor_time(pid):
    times = psutil.Process(pid).cpu_times()
    return times.user + times.system


def assert_idle(pids):
    """pids  by what their cells have done."""
    spend(0.2)
    before = {what: processor_time(pid) for what, pid in pids.items()}
    spend(0.6)
    used = {what: processor_time(pid) - before[what] for what, pid in pids.items()}
    assert all(seconds < 0.3 for seconds in used.values()), used


def test_engines_are_idle_after_odd_cells(own_cluster):
    cluster = own_cluster()
    cluster.start_controller()
    cluster.start_engines(len(ODD_CELLS))
    with connect(cluster.connection_file("client"), len(ODD_CELLS)) as rc:
        for engine, cells in zip(rc.ids, ODD_CELLS.values()):
            for cell in cells:
                rc[engine].execute(cell).get(PATIENCE)
        assert_idle(dict(zip(ODD_CELLS, (row["pid"] for row in rc.status()))))
        assert rc[:].apply_async(len, "abc").get(PATIENCE) == [3] * len(ODD_CELLS)


@pytest.mark.parametrize("language", ENDS_OF_MPI)
def test_ranks_are_idle_and_live_on_when_a_cell_has_ended_mpi(own_cluster, language):
    cluster = own_cluster()
    cluster.start_controller()
    launcher = cluster.start_mpi_engines(2, f"--language={language}")
    with connect(cluster.connection_file("client"), 2) as rc:
        rc[:].execute(ENDS_OF_MPI[language]).get(PATIENCE)
        assert_idle({f"rank {row['engine']}": row["pid"] for row in rc.status()})
        assert rc[:].pull("mpi_rank").get(PATIENCE) == [0, 1]
        rc.shutdown(block=True)
        assert launcher.wait(PATIENCE) == 0
