"""Load-balanced work: every item once, in order; dependencies, retries, time limits, abort."""

import collections
import time

import ipyparallel as ipp
import pytest
from programs import wait_until
from running_cluster import work_while


@ipp.interactive
def pid():
    import os

    return os.getpid()


@ipp.interactive
def sleep_and_tell_pid(seconds):
    import os
    import time

    time.sleep(seconds)
    return os.getpid()


@ipp.interactive
def fail_until(path, count):
    """Fails the first `count` times; then tells how often it was tried."""
    with open(path, "a+") as file:
        file.write("x")
        file.seek(0)
        tried = len(file.read())
    if tried <= count:
        raise OSError(f"try {tried}")
    return tried


@ipp.interactive
def is_wanted_here():
    import os

    return os.getpid() == wanted  # noqa: F821, pushed to the engines


@ipp.depend(is_wanted_here)
@ipp.interactive
def only_where_wanted():
    import os

    return os.getpid()


@pytest.fixture
def view(local_rc):
    return local_rc.load_balanced_view()


@pytest.fixture
def gate(tmp_path):
    """A file; tasks of work_while() run as long as it is there."""
    path = tmp_path / "gate"
    path.touch()
    yield path
    path.unlink(missing_ok=True)


def test_a_map_over_a_thousand_items_answers_each_once_and_in_order(view):
    cube = ipp.interactive(lambda x: x**3)
    assert list(view.map_sync(cube, range(1000))) == [x**3 for x in range(1000)]


def test_a_thousand_single_tasks_are_shared_by_all_engines(local_rc, view):
    # Each takes so long that tasks always wait, whichever engine the system lets run.
    tasks = [view.apply_async(sleep_and_tell_pid, 0.005) for _ in range(1000)]
    ran_by = collections.Counter(task.get(60) for task in tasks)
    assert set(ran_by) == set(local_rc[:].apply_sync(pid))
    assert sum(ran_by.values()) == 1000
    assert min(ran_by.values()) > 50


def test_an_unordered_map_yields_what_is_ready_and_loses_nothing(view):
    square = ipp.interactive(lambda x: x * x)
    assert sorted(view.map_async(square, range(200), ordered=False)) == [x * x for x in range(200)]


def test_imap_keeps_few_tasks_outstanding_and_the_order(view):
    square = ipp.interactive(lambda x: x * x)
    assert list(view.imap(square, range(100), max_outstanding=4)) == [x * x for x in range(100)]


def test_chunks_are_sent_as_one_task_each(view):
    answer = view.map_async(ipp.interactive(lambda x: x + 1), range(100), chunksize=30)
    assert len(answer.msg_ids) == 4
    assert list(answer.get(60)) == list(range(1, 101))


def test_the_executor_interface_answers_futures(local_rc):
    with local_rc.executor() as executor:
        futures = [executor.submit(pow, 2, n) for n in range(20)]
        assert [future.result(60) for future in futures] == [2**n for n in range(20)]


def test_tasks_go_only_to_the_targets_asked_for(local_rc):
    view = local_rc.load_balanced_view(targets=[1, 3])
    tasks = [view.apply_async(pid) for _ in range(20)]
    allowed = set(local_rc[[1, 3]].apply_sync(pid))
    assert {task.get(60) for task in tasks} <= allowed


def test_a_busy_engine_gets_no_further_task_while_others_are_idle(local_rc, view, gate):
    busy = local_rc.load_balanced_view(targets=[0]).apply_async(work_while, str(gate))
    wait_until(lambda: gate.with_name("gate.began").exists(), "the task runs")
    victim = local_rc.load_balanced_view(targets=[1]).apply_sync(pid)
    ran_by = {view.apply_async(pid).get(60) for _ in range(20)}
    assert victim in ran_by and not busy.ready()
    gate.unlink()
    busy.get(60)
    assert local_rc[0].apply_sync(pid) not in ran_by


def test_a_task_runs_after_the_tasks_it_depends_on(local_rc, gate):
    view = local_rc.load_balanced_view()
    first = view.apply_async(work_while, str(gate))
    with view.temp_flags(after=[first]):
        second = view.apply_async(time.time)
    wait_until(lambda: gate.with_name("gate.began").exists(), "the first task runs")
    opened = time.time()
    gate.unlink()
    assert second.get(60) >= opened
    assert first.successful()


def test_a_task_follows_another_to_its_engine(view):
    first = view.apply_async(pid)
    with view.temp_flags(follow=[first]):
        followers = [view.apply_async(pid) for _ in range(8)]
    assert {follower.get(60) for follower in followers} == {first.get(60)}


def test_a_task_after_a_failed_one_is_impossible_unless_it_asked_for_failures(view):
    failed = view.apply_async(ipp.interactive(lambda: 1 / 0))
    with view.temp_flags(after=[failed]):
        impossible = view.apply_async(pid)
    with view.temp_flags(after=ipp.Dependency([failed], success=False, failure=True)):
        possible = view.apply_async(len, "ran")
    with view.temp_flags(after=ipp.Dependency([failed], success=True, failure=True)):
        indifferent = view.apply_async(len, "ran")
    with pytest.raises(ipp.RemoteError, match="ImpossibleDependency"):
        impossible.get(30)
    assert possible.get(60) == 3
    assert indifferent.get(60) == 3


def test_a_task_that_wants_a_failure_is_impossible_after_a_success(view):
    fine = view.apply_async(pid)
    fine.get(60)
    with view.temp_flags(after=ipp.Dependency([fine], success=False, failure=True)):
        with pytest.raises(ipp.RemoteError, match="ImpossibleDependency"):
            view.apply_async(pid).get(30)


def test_any_of_several_tasks_suffices_where_that_was_asked_for(view):
    failed = view.apply_async(ipp.interactive(lambda: 1 / 0))
    fine = view.apply_async(pid)
    with view.temp_flags(after=ipp.Dependency([failed, fine], all=False)):
        assert view.apply_async(len, "any").get(60) == 3


def test_a_dependency_on_an_unknown_task_is_invalid(view):
    with view.temp_flags(after=["no-such-task"]):
        with pytest.raises(ipp.RemoteError, match="InvalidDependency"):
            view.apply_async(pid).get(30)


def test_a_task_that_waits_too_long_for_an_engine_times_out(local_rc, gate):
    view = local_rc.load_balanced_view(targets=[0])
    busy = view.apply_async(work_while, str(gate))
    wait_until(lambda: gate.with_name("gate.began").exists(), "the engine is busy")
    with view.temp_flags(timeout=0.2):
        late = view.apply_async(pid)
    with pytest.raises(ipp.RemoteError, match="TaskTimeout"):
        late.get(30)
    gate.unlink()
    busy.get(60)


def test_a_failing_task_is_retried_elsewhere_until_it_works(view, tmp_path):
    with view.temp_flags(retries=3):
        assert view.apply_async(fail_until, str(tmp_path / "tries"), 2).get(60) == 3


def test_a_task_out_of_retries_is_the_error_of_its_last_try(view, tmp_path):
    with view.temp_flags(retries=1):
        answer = view.apply_async(fail_until, str(tmp_path / "tries"), 5)
    with pytest.raises(ipp.RemoteError, match="try 2"):
        answer.get(30)
    assert (tmp_path / "tries").read_text() == "xx"


@pytest.mark.better_than_reference("more retries than engines: its task waits for ever")
def test_a_task_with_more_retries_than_engines_ends(own_cluster, tmp_path):
    cluster = own_cluster()
    cluster.start_controller()
    cluster.start_engines(1)
    view = cluster.client(engines=1).load_balanced_view()
    with view.temp_flags(retries=3):
        answer = view.apply_async(fail_until, str(tmp_path / "tries"), 99)
    with pytest.raises(ipp.RemoteError, match="try"):
        answer.get(10)


def test_a_task_that_refuses_an_engine_is_offered_to_the_others(local_rc, view):
    wanted = local_rc[2].apply_sync(pid)
    local_rc[:].push({"wanted": wanted}, block=True)

    assert {view.apply_async(only_where_wanted).get(60) for _ in range(5)} == {wanted}


def test_a_task_that_requires_a_missing_module_is_refused_by_every_engine_asked(local_rc):
    @ipp.require("no_such_module_anywhere")
    @ipp.interactive
    def never():
        return 1

    view = local_rc.load_balanced_view(targets=[0, 1])
    with pytest.raises(ipp.RemoteError, match="ImpossibleDependency"):
        view.apply_async(never).get(30)


def test_queued_tasks_are_aborted_before_they_run(local_rc, gate):
    view = local_rc.load_balanced_view(targets=[0])
    busy = view.apply_async(work_while, str(gate))
    wait_until(lambda: gate.with_name("gate.began").exists(), "the engine is busy")
    queued = [view.apply_async(pid) for _ in range(3)]
    view.abort(queued, block=True)
    gate.unlink()
    busy.get(60)
    for task in queued:
        with pytest.raises(ipp.TaskAborted):
            task.get(30)
    assert view.apply_sync(len, "goes on") == 7


@pytest.mark.parametrize(
    "scheme", ["lru", "plainrandom", "weighted", "twobin", "leastload", "pure"]
)
def test_every_scheme_answers_all_tasks(own_cluster, scheme):
    cluster = own_cluster()
    cluster.start_controller(f"--scheme={scheme}")
    cluster.start_engines(2)
    cluster.client(engines=2)
    rc = cluster.client(engines=2)  # one that never saw engine 1 without engine 0: "pure" minds
    assert cluster.connection()["task_scheme"] == scheme
    tasks = [rc.load_balanced_view().apply_async(pid) for _ in range(60)]
    assert {task.get(60) for task in tasks} == set(rc[:].apply_sync(pid))


def test_tasks_that_were_sent_while_there_is_no_engine_wait_for_one(own_cluster):
    """The client offers no view without engines, so the view is older than their end."""
    cluster = own_cluster()
    cluster.start_controller()
    cluster.start_engines(1)
    rc = cluster.client(engines=1)
    view = rc.load_balanced_view()
    rc.shutdown(targets="all", block=True)
    wait_until(lambda: not rc.ids, "there is no engine any more")
    cluster.engines.clear()
    tasks = [rc.send_apply_request(view._socket, pow, (2, n)) for n in range(3)]
    cluster.start_engines(1)
    cluster.wait_for_engines(rc, 1)
    wait_until(lambda: all(task.done() for task in tasks), "the waiting tasks run")
