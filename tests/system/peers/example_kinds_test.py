"""What the examples of ipyparallel's documentation do, each kind once: with the unmodified client and with polyxeus's.

The examples themselves run in tests/ipyparallel_examples.
"""

import fnmatch
import heapq
import time

import ipyparallel
import polyxeus
import pytest
from programs import PATIENCE, wait_until

pytestmark = pytest.mark.mpi


@pytest.fixture(params=[ipyparallel, polyxeus], ids=["ipyparallel", "polyxeus"])
def ipp(request):
    return request.param


@pytest.fixture
def rc(mpi_cluster, ipp):
    client = ipp.Client(str(mpi_cluster.connection_file("client")), timeout=PATIENCE)
    client.wait_for_engines(4, timeout=PATIENCE)
    client[:].scatter("engine", client.ids, flatten=True, block=True)
    yield client
    client.close()


def test_tasks_are_found_by_their_labels(rc, ipp):
    balanced, direct, mine = rc.load_balanced_view(), rc[:], ipp.__name__
    sent = [balanced.set_flags(label=f"{mine}_task_{i:02}").apply_async(abs, -i) for i in range(3)]
    sent += [direct.set_flags(label=f"{mine}_all_{i:02}").apply_async(abs, -i) for i in range(2)]
    rc.wait(sent, PATIENCE)
    labels = [each["label"] for each in rc.db_query({"label": {"$nin": ""}}, keys=["msg_id", "label"])]
    assert {f"{mine}_task_00", f"{mine}_task_02", f"{mine}_all_01"} <= set(labels)
    found = [each["label"] for each in rc.db_query({"label": {"$glob": f"{mine}_all_*"}}, keys=["label"])]
    assert len(found) == 8 and all(fnmatch.fnmatch(each, f"{mine}_all_0?") for each in found)


def test_results_are_taken_as_they_come(rc, ipp):
    @ipp.interactive
    def here(count):
        print(f"hi from {engine}")  # noqa: F821
        return count

    pending = set(rc.load_balanced_view().map(here, range(20), chunksize=2).msg_ids)
    counts = []
    while pending:
        try:
            rc.wait(pending, 1e-3)
        except TimeoutError:
            pass
        finished = pending.difference(rc.outstanding)
        pending -= finished
        for msg_id in finished:
            result = rc.get_result(msg_id)
            said = f"hi from {result.engine_id}"  # it may come behind the result
            wait_until(lambda said=said, result=result: said in result.stdout, "its output", 30)
            counts += result.get()
    assert sorted(counts) == list(range(20))


def test_a_graph_of_tasks_runs_in_its_order(rc):
    graph = {"a": [], "b": [], "c": ["a", "b"], "d": ["c"], "e": ["a", "d"]}
    view, results = rc.load_balanced_view(), {}
    for node, before in graph.items():
        with view.temp_flags(after=[results[each] for each in before]):
            results[node] = view.apply_async(time.time)
    rc.wait(list(results.values()), PATIENCE)
    for node, before in graph.items():
        for each in before:
            assert results[node].metadata.started > results[each].metadata.completed


def test_tasks_run_where_their_condition_holds_and_fail_where_it_cannot(rc, ipp):
    @ipp.interactive
    def is_engine(number):
        return engine == number  # noqa: F821

    @ipp.depend(is_engine, 2)
    @ipp.interactive
    def where():
        return engine  # noqa: F821

    view = rc.load_balanced_view()
    assert view.apply_sync(where) == 2
    well, badly = view.apply_async(abs, -1), view.apply_async(lambda: 1 / 0)
    either = ipp.Dependency([*well.msg_ids, *badly.msg_ids], all=False, failure=True)
    with view.temp_flags(after=either):
        assert view.apply_async(abs, -5).get(PATIENCE) == 5
    with view.temp_flags(after=ipp.Dependency(badly.msg_ids, all=False)):
        with pytest.raises(ipp.error.KernelError):
            view.apply_async(abs, -5).get(PATIENCE)


def test_iterators_of_engines_are_merged(rc, ipp):
    def remote_iterator(view, name):
        view.execute(f"it_{name} = iter({name})", block=True)
        while True:
            try:
                yield view.apply_sync(next, ipp.Reference(f"it_{name}"))
            except ipp.RemoteError as error:
                if error.ename == "StopIteration":
                    return
                raise

    parts = [range(5, 9), range(0, 10, 3), range(7, 8)]
    for number, part in enumerate(parts):
        rc[number]["part"] = list(part)
    merged = heapq.merge(*[remote_iterator(rc[number], "part") for number in range(3)])
    assert list(merged) == sorted(value for part in parts for value in part)


def test_a_program_is_sent_to_all_and_uses_mpi(rc, ipp, tmp_path):
    program = tmp_path / "psum.py"
    program.write_text("from mpi4py import MPI\n\ndef psum(a):\n    return MPI.COMM_WORLD.allreduce(float(a.sum()))\n")
    numpy = pytest.importorskip("numpy")
    view = rc[:]
    view.block = True
    view.run(str(program))
    view.scatter("a", numpy.arange(16.0))
    view.execute("total = psum(a)")
    assert view["total"] == [120.0] * 4
    broadcast = rc.broadcast_view()
    broadcast.push({"chunk": numpy.ones((16, 16))}, block=True)
    total = ipp.interactive(lambda: float(chunk.sum()))  # noqa: F821
    assert broadcast.apply_sync(total) == [256.0] * 4


def test_executors_run_on_engines_as_on_other_workers(rc):
    from concurrent.futures import ThreadPoolExecutor, as_completed

    with ThreadPoolExecutor(2) as threads:
        for executor in (threads, rc.executor(), rc.load_balanced_view(rc.ids[::2]).executor):
            assert list(executor.map(str, range(5))) == ["0", "1", "2", "3", "4"]
    sent = [rc.executor().submit(pow, 2, each) for each in range(4)]
    assert sorted(each.result() for each in as_completed(sent, PATIENCE)) == [1, 2, 4, 8]


def test_engines_become_workers_of_dask(rc):
    pytest.importorskip("distributed")
    workers = rc.become_dask()
    try:
        squares = workers.map(lambda x: x * x, range(10))
        assert workers.submit(sum, squares).result(PATIENCE) == 285
    finally:
        workers.close()
        rc.stop_dask()
