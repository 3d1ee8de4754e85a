"""A cell that waits for an engine that nobody hears says so while it waits."""

import os
import signal

import pytest
from conftest import Notebook
from running_cluster import RunningCluster


@pytest.fixture
def notebook(kernel_name, stage):
    profile = f"silence_{kernel_name}"
    cluster = RunningCluster(stage, profile)
    cluster.start_controller("--ping=200", "--HeartMonitor.max_heartmonitor_misses=1000")
    cluster.start_engines(2)
    cluster.client(engines=2)
    cluster.close_clients()
    notebook = Notebook(kernel_name)
    notebook.ok(f"%pxconfig --profile {profile}")
    yield notebook
    notebook.close()
    cluster.stop()


def test_a_cell_names_the_engine_that_is_not_heard_and_goes_on_when_it_is_back(notebook):
    pid = int(notebook.text("import os; print(view.apply_sync(os.getpid)[0])"))
    os.kill(pid, signal.SIGSTOP)
    try:
        message_id, seen = notebook.begin("%px 6 * 7"), []
        notebook.await_text(message_id, seen, "Warning: engine 0 on ")
    finally:
        os.kill(pid, signal.SIGCONT)
    result = notebook.end(message_id, seen)
    assert result.status == "ok"
    assert result.text("stderr").count("has not answered for") == 1
    assert "".join(result.displays).count("42") == 2
