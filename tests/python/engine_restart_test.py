"""Engines that end and start again while the controller and the clients stay."""

import os
import signal

import pytest
from deadlines import wait_until

import polyxeus as ipp


def test_engines_that_hang_come_back_with_their_ids_and_the_client_goes_on(own):
    rc = own(2)
    pids = dict(zip(rc.ids, rc[:].apply_sync(os.getpid)))
    rc[:].push({"kept": 1}, block=True)
    os.kill(pids[1], signal.SIGSTOP)
    waiting = rc[1].apply_async(os.getpid)
    rc.restart_engines()
    assert rc.ids == [0, 1]
    assert not set(rc[:].apply_sync(os.getpid)) & set(pids.values())
    with pytest.raises(ipp.RemoteError, match="Engine 1"):
        waiting.get(20)
    with pytest.raises(ipp.RemoteError, match="NameError"):
        rc[0].execute("kept", block=True)


def test_tasks_with_retries_run_again_after_a_restart(own):
    rc = own(2)
    view = rc.load_balanced_view()
    view.retries = 2

    def first_time_slow(started):
        import os
        import time

        if os.path.exists(started):
            return "again"
        open(started, "w").close()
        time.sleep(600)

    started = os.path.join(rc.cluster.profile_dir, "started")
    result = view.apply_async(first_time_slow, started)
    wait_until(lambda: os.path.exists(started), "the call runs", 30)
    rc.restart_engines()
    assert result.get(60) == "again"


def test_a_client_without_its_cluster_object_restarts_the_engines_too(own):
    rc = own(1)
    before = rc[0].apply_sync(os.getpid)
    with ipp.Client(profile="own", cluster_id=rc.cluster.cluster_id) as other:
        other.restart_engines()
        assert other.ids == [0]
        assert other[0].apply_sync(os.getpid) != before


def test_who_waits_for_engines_after_a_restart_gets_the_new_ones(own):
    rc = own(2)
    with ipp.Client(profile="own", cluster_id=rc.cluster.cluster_id) as other:
        for _ in range(2):
            before = other[:].apply_sync(os.getpid)
            rc.cluster.restart_engines_sync()
            other.wait_for_engines(2, timeout=60)
            assert not set(other[:].apply_sync(os.getpid)) & set(before)


def test_a_client_of_a_file_elsewhere_says_how_to_restart(own, tmp_path):
    rc = own(1)
    copy = tmp_path / "copied.json"
    copy.write_bytes(open(rc.cluster.connection_file, "rb").read())
    copy.chmod(0o600)
    with ipp.Client(str(copy)) as other:
        with pytest.raises(RuntimeError, match="use `pxcluster` with --profile"):
            other.restart_engines()

# ---- some engines, while the others go on


def kill(rc, engine):
    os.kill(rc.status()[engine]["pid"], signal.SIGKILL)
    wait_until(lambda: engine not in rc.ids, f"engine {engine} is unregistered", 30)


def test_a_killed_engine_comes_back_alone_and_the_others_keep_their_state(own):
    rc = own(3)
    rc[:].execute("import os; x = os.getpid()", block=True)
    before = rc[:]["x"]
    kill(rc, 1)
    assert rc.restart_engines(1) is None
    assert rc.ids == [0, 1, 2]
    assert rc[[0, 2]]["x"] == [before[0], before[2]]
    assert rc[1].apply_sync(os.getpid) not in before
    with pytest.raises(ipp.RemoteError, match="NameError"):
        rc[1].pull("x", block=True)


def test_what_ran_or_waited_on_a_restarted_engine_fails_and_the_others_finish(own):
    rc = own(3)
    pids = rc[:].apply_sync(os.getpid)
    os.kill(pids[1], signal.SIGSTOP)
    lost = [rc[1].apply_async(os.getpid) for _ in range(2)]
    others = rc[[0, 2]].apply_async(lambda: __import__("time").sleep(1) or "done")
    rc.restart_engines([1])
    for each in lost:
        with pytest.raises(ipp.RemoteError, match="EngineError: Engine 1.*pxcluster ended it for a restart"):
            each.get(20)
    assert others.get(60) == ["done", "done"]
    assert rc[:].apply_sync(os.getpid)[::2] == pids[::2]


def test_a_dead_engine_gets_variables_of_the_lowest_living_engine_that_has_them(own):
    rc = own(4)
    rc[:].execute("class Net: pass\nnet = Net(); steps = [net]; rank = {}", block=True)
    rc[[2, 3]].execute("rank['is'] = 'of 2 or 3'; only = 7", block=True)
    rc[1].execute("extra = 1; net.own = 1", block=True)
    kill(rc, 0)
    kept = rc.restart_engines([0, 1], keep=["net", "steps", "only", "nowhere"])
    assert kept[0]["from"] == {"net": 1, "steps": 1, "only": 2}
    assert kept[1]["from"] == {} and set(kept[1]["kept"]) == {"net", "steps"}
    assert rc[[0, 1]].pull(["steps[0] is net", "net.own"], block=True) == [[True, 1]] * 2
    assert rc[0]["only"] == 7
    assert "engine 0 has net, steps of engine 1, only of engine 2: its own values are lost" in str(kept)
    assert kept[0]["lost"] == {"nowhere": "no other engine that answers has this variable"}
    assert kept[1]["lost"]["only"] == "not defined there"


def test_all_that_can_be_carried_is_what_an_engine_itself_has(own):
    rc = own(2)
    rc[:].push({"x": 1}, block=True)
    kill(rc, 1)
    kept = rc.restart_engines(1, keep=True)
    assert "engine 1 has kept nothing" in str(kept) and "name the variables" in kept[0]["why"]
    rc[1].push({"x": 5}, block=True)
    assert rc.restart_engines(1, keep=True)[0]["kept"] == ["x"]
    assert rc[:]["x"] == [1, 5]


def test_an_engine_that_hangs_gets_variables_of_another(own):
    rc = own(2)
    rc[:].push({"x": 3}, block=True)
    os.kill(rc.status()[1]["pid"], signal.SIGSTOP)
    kept = rc.restart_engines(1, keep="x")
    assert rc[1]["x"] == 3 and kept[0]["from"] == {"x": 0}


def test_an_engine_of_a_cluster_is_restarted_by_the_name_that_ipyparallel_has(own):
    rc = own(2)
    before = rc[:].apply_sync(os.getpid)
    rc.cluster.restart_engine_sync(1)
    assert [a == b for a, b in zip(before, rc[:].apply_sync(os.getpid))] == [True, False]


def test_the_only_engine_that_has_died_is_restarted_with_its_set(own):
    rc = own(1)
    kill(rc, 0)
    with pytest.raises(RuntimeError, match="all engines of their set have ended.*rc.restart_engines"):
        rc.restart_engines(0)
    rc.restart_engines()
    rc.wait_for_engines(1, timeout=60)
    assert rc[:].apply_sync(pow, 2, 3) == [8]


def test_a_client_without_its_cluster_object_restarts_one_engine_and_names_unknown_ones(own):
    rc = own(2)
    before = rc[:].apply_sync(os.getpid)
    with ipp.Client(profile="own", cluster_id=rc.cluster.cluster_id) as other:
        other.restart_engines(slice(1, 2))
        after = other[:].apply_sync(os.getpid)
        assert after[0] == before[0] and after[1] != before[1]
        with pytest.raises(RuntimeError, match="7"):
            other.restart_engines(7)
    for wrong in (["x"], [], True, 1.5):
        with pytest.raises(TypeError, match="keep= names variables"):
            rc.restart_engines(wrong)
