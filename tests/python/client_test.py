"""The client: engines, orders, the controller's records; clusters."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from deadlines import wait_until

import polyxeus as ipp


def test_the_package_imports_nothing_heavy():
    code = (
        "import sys; before = set(sys.modules); import polyxeus; new = set(sys.modules) - before;"
        "assert new <= {'polyxeus', 'polyxeus.activation'}, new"
    )
    home = str(Path(ipp.__file__).resolve().parents[1])  # without site-packages' own start-up files
    environment = {**os.environ, "PYTHONPATH": home}
    subprocess.run([sys.executable, "-S", "-c", code], check=True, env=environment)


def test_ipython_loads_and_unloads_the_magics():
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell()
    magics = shell.magics_manager.magics
    transforms = list(shell.input_transformer_manager.cleanup_transforms)
    for _ in range(2):
        shell.run_line_magic("load_ext", "polyxeus")
        assert "px" in magics["line"] and "px" in magics["cell"]
        shell.run_line_magic("unload_ext", "polyxeus")
        assert not [name for kind in magics.values() for name in kind if "px" in name]
        assert shell.input_transformer_manager.cleanup_transforms == transforms


def test_everything_public_is_there_and_described():
    for name in ipp.__all__:
        thing = getattr(ipp, name)
        assert thing.__doc__, name
    assert ipp.version_info[:2] == tuple(map(int, ipp.__version__.split(".")[:2]))


def test_ids_and_iteration(rc):
    assert rc.ids == [0, 1, 2, 3] and len(rc) == 4
    assert [view.targets for view in rc] == rc.ids
    assert rc[::2].targets == [0, 2]


def test_waiting_for_requests(rc):
    results = [rc[0].apply_async(time.sleep, 0.1) for _ in range(3)]
    assert rc.outstanding
    assert not rc.wait(results, 0)
    assert rc.wait(timeout=60)
    assert rc.outstanding == set() and all(each.ready() for each in results)
    rc.wait_interactive()


def test_requests_that_wait_are_aborted(rc):
    view = rc[0]
    blocker = view.apply_async(time.sleep, 0.5)
    waiting = view.apply_async(abs, 1)
    waiting.abort()
    with pytest.raises(ipp.TaskAborted):
        waiting.get(20)
    assert blocker.get(60) is None
    with pytest.raises(RuntimeError, match="already there"):
        waiting.abort()


def sleep_on_all(rc):
    """The result of a cell that sleeps on every engine by now."""
    result = rc[:].execute("print('begun', flush=True); import time; time.sleep(30)", block=False)
    wait_until(lambda: all("begun" in text for text in result.stdout), "all have begun", 20)
    return result


def test_engines_are_interrupted(rc):
    result = sleep_on_all(rc)
    rc[:].interrupt(block=True)
    with pytest.raises(ipp.RemoteError, match="KeyboardInterrupt"):
        result.get(20)


def test_results_of_other_clients_and_the_past(rc, running):
    result = rc[0].apply_async(lambda: [1, "two"])
    result.get(60)
    with running.connect_client_sync() as other:
        found = other.get_result(result.msg_ids[0])
        assert isinstance(found, ipp.AsyncHubResult)
        assert found.get(60) == [1, "two"]
        assert found.engine_id == 0
    assert rc.get_result(result.msg_ids[0]).get(60) == [1, "two"]
    assert rc.get_result(-1).msg_ids == result.msg_ids
    assert result.msg_ids[0] in rc.hub_history()
    record = rc.db_query({"msg_id": result.msg_ids[0]})[0]
    assert record["completed"] >= record["submitted"]
    assert rc.result_status(result.msg_ids)["completed"] == result.msg_ids
    again = rc.resubmit(result.msg_ids)
    assert again.get(60) == [1, "two"]
    rc.purge_results(result.msg_ids)
    assert result.msg_ids[0] not in rc.hub_history()


def test_queue_status(rc):
    status = rc.queue_status()
    assert set(status) == {0, 1, 2, 3, "unassigned"}
    assert set(rc.queue_status(1)) == {"queue", "completed", "tasks"}


def test_clusters_are_started_signalled_restarted_and_found(folder):
    with ipp.Cluster(n=2, profile="managed", cluster_id="me") as rc:
        cluster = rc.cluster
        pids = rc[:].apply_sync(os.getpid)
        found = ipp.Cluster.from_file(profile="managed", cluster_id="me")
        assert found.controller.is_running()
        with found.connect_client_sync() as other:
            assert len(other) == 2
        result = sleep_on_all(rc)
        cluster.signal_engines_sync("SIGINT")
        with pytest.raises(ipp.RemoteError, match="KeyboardInterrupt"):
            result.get(20)
        cluster.restart_engines_sync()
        rc.wait_for_engines(2, timeout=60)
        assert not set(rc[:].apply_sync(os.getpid)) & set(pids)
        assert any("me" in key for key in ipp.ClusterManager().load_clusters())
    assert not os.path.exists(cluster.connection_file)


def test_engines_join_while_somebody_waits(own):
    rc = own(1)
    with pytest.raises(TimeoutError, match="2 engines not ready in 0.1 seconds"):
        rc.wait_for_engines(2, timeout=0.1)
    future = rc.wait_for_engines(2, timeout=30, block=False)
    rc.cluster.start_engines_sync(1)
    assert future.result(60) is None and len(rc) == 2


def test_coroutines_start_and_stop(folder):
    import asyncio

    async def use():
        async with ipp.Cluster(n=1, profile="async") as rc:
            return await rc[0].apply_async(abs, -3)

    assert asyncio.run(use()) == 3


def test_a_collection_of_garbage_examines_what_the_user_has_made_and_not_the_engine_itself(own):
    rc = own(1)
    rc[0].execute("import builtins, gc, weakref\nclass Node: pass\nnode = Node()\nnode.me = node\n"
                  "builtins.seen = weakref.ref(node)\ncounts = len(gc.get_objects()), gc.get_freeze_count()", block=True)
    examined, kept = rc[0].pull("counts", block=True)
    assert kept > 2 * examined
    rc.clear(block=True)
    rc[0].execute("import builtins, gc\ngc.collect()\nis_gone = builtins.seen() is None", block=True)
    assert rc[0].pull("is_gone", block=True)


def test_views_that_were_used_see_engines_come_and_leave(own):
    client = own(2)
    one, free, anywhere = client[1], client.load_balanced_view([1]), client.load_balanced_view()
    assert [view.apply_sync(int) for view in (one, free, anywhere)] == [0, 0, 0]
    client.shutdown([1], block=True)
    wait_until(lambda: client.ids == [0], "engine 1 has left", 20)
    for view in (one, free):
        with pytest.raises(IndexError, match="there is no engine 1; there is only 0"):
            view.apply_async(int)
    client.cluster.start_engines_sync(1)
    client.wait_for_engines(2, timeout=30, interactive=False)
    (new,) = set(client.ids) - {0}
    assert client[new].apply_sync(int) == 0
    client.shutdown(block=True)
    wait_until(lambda: client.ids == [], "no engine is left", 20)
    with pytest.raises(ipp.NoEnginesRegistered):
        anywhere.apply_async(int)


def test_arguments_of_engines_may_have_spaces(folder):
    with ipp.Cluster(n=1, profile="spaces", engine_args=["-c", "started = [1, 'two words']"]) as rc:
        assert rc[0]["started"] == [1, "two words"]
