"""Refs that are pickled: other programs use them, and their results stay when the program that made them has ended."""

import copy
import os
import pickle
import signal
import subprocess
import sys
import time

import pytest

import polyxeus as px
from polyxeus.serialize import ref_files

PATIENCE = 30  # seconds


@pytest.fixture(autouse=True)
def nothing_is_left(rc):
    yield
    for name in os.listdir(rc._kept_results.folder):
        if ".ref" in name or ".stays" in name:
            os.unlink(os.path.join(rc._kept_results.folder, name))


@pytest.fixture
def gate(tmp_path):
    """A file for which calls wait; it exists at the end of the test."""
    yield tmp_path / "gate"
    (tmp_path / "gate").touch()


@px.interactive
def wait_at(gate, value=None):
    """The value, once there is a file `gate`."""
    import os
    import time

    while not os.path.exists(gate):
        time.sleep(0.005)
    return value


def wait_until(is_true, what):
    end = time.monotonic() + PATIENCE
    while not is_true():
        assert time.monotonic() < end, what
        time.sleep(0.01)


def files_of(rc):
    return {name for name in os.listdir(rc._kept_results.folder) if ".ref" in name or ".stays" in name}


def program(source, *args, given=b""):
    """Runs a program, which may use `px`, `pickle` and `sys`; returns its output."""
    source = f"import os, pickle, sys\nimport polyxeus as px\n{source}"
    return subprocess.run(
        [sys.executable, "-c", source, *args], input=given, stdout=subprocess.PIPE, check=True, timeout=PATIENCE
    ).stdout


def made_elsewhere(rc, source):
    """The Ref `ref` of a program that has ended."""
    source = f"rc = px.Client(sys.argv[1])\nview = rc.load_balanced_view()\n{source}\nsys.stdout.buffer.write(pickle.dumps(ref))"
    return pickle.loads(program(source, rc.cluster.connection_file))


def attached(other, ref):
    return other.ref(pickle.loads(pickle.dumps(ref)))


USE = (
    "ref = pickle.loads(sys.stdin.buffer.read())\n"
    "rc = px.Client(sys.argv[1])\n"
    "print(ref.get(), rc.load_balanced_view().apply_sync(sum, [ref, 1]), rc[0].apply_sync(abs, ref), ref.id)\n"
)


def test_another_program_gets_the_result_and_uses_it_in_calls(rc, view):
    ref = view.apply_ref(pow, 2, 3)
    assert ref.wait(PATIENCE)
    printed = program(USE, rc.cluster.connection_file, given=pickle.dumps(ref)).decode()
    assert printed == f"8 9 8 {ref.id}\n"


def test_a_ref_is_pickled_before_its_call_has_ended(view, other, gate):
    ref = view.apply_ref(wait_at, str(gate), 5)
    found = attached(other, ref)
    behind = other.load_balanced_view().submit(pow, found, 2)
    assert not found.ready()
    with pytest.raises(TimeoutError):
        found.get(0.1)
    gate.touch()
    assert (behind.get(PATIENCE), found.get(PATIENCE)) == (25, 5)
    assert (found.engine_id, found.nbytes, repr(found)) == (ref.engine_id, ref.nbytes, repr(ref))
    assert f"{view.client._engines[ref.engine_id]}.ref-{ref._key.client}.{ref._key.number}" in files_of(other)


def test_a_pickled_ref_needs_no_more_than_a_client_in_its_process(rc):
    ref = made_elsewhere(rc, "ref = view.apply_ref(list, range(4)); ref.wait()")
    assert ref.get(PATIENCE) == [0, 1, 2, 3]


def test_only_results_with_pickled_refs_stay_when_their_program_has_ended(rc):
    source = "other, ref = view.apply_ref(pow, 2, 3), view.apply_ref(bytes, 4 << 20)\nref.wait(), other.wait()\nref = other.id, ref"
    unpickled_id, large = made_elsewhere(rc, source)
    found = rc.ref(unpickled_id)
    session = large._key.client
    wait_until(lambda: not {name for name in files_of(rc) if name.startswith(f"{session}.ref")}, "the program's files are removed")
    assert large.get(PATIENCE) == bytes(4 << 20)
    with pytest.raises(px.error.ResultLost, match="does not have it any more, .* only if its Ref was pickled or published"):
        found.get(PATIENCE)


def test_a_result_that_comes_when_its_program_has_ended_stays(rc, gate):
    wait = f"import os, time\n    while not os.path.exists({str(gate)!r}): time.sleep(0.01)"
    late = made_elsewhere(rc, f"@px.interactive\ndef late():\n    {wait}\n    return 'late'\nref = view.apply_ref(late)")
    session = late._key.client
    wait_until(lambda: not os.path.exists(os.path.join(rc._kept_results.folder, f"{session}.process")), "the program leaves")
    gate.touch()
    assert late.wait(PATIENCE)
    wait_until(lambda: not {name for name in files_of(rc) if name.startswith(f"{session}.ref")}, "the program's file is removed")
    assert late.get(PATIENCE) == "late"


def test_a_ref_is_found_by_its_id(view, other):
    kept = view.apply_ref(pow, 2, 3)
    found = other.ref(kept.id)
    assert (found.get(PATIENCE), found.id, found.msg_id) == (8, kept.id, kept.msg_id)
    del found
    assert (kept.get(PATIENCE), view.client.ref(kept.id).get(PATIENCE), kept.get(PATIENCE)) == (8, 8, 8)
    each = view.client[:].apply_ref(os.getpid)
    assert [other.ref(ref.id).get(PATIENCE) for ref in each] == [ref.get(PATIENCE) for ref in each]
    kept.publish("eight")
    assert other.ref("eight").get(PATIENCE) == attached(other, other.published()["eight"]).get(PATIENCE) == 8
    other.unpublish("eight")


def test_a_ref_is_found_when_the_controller_has_forgotten_its_call(rc, view, other):
    kept = view.apply_ref(pow, 2, 3)
    assert kept.wait(PATIENCE)
    rc.purge_hub_results("all")
    found = other.ref(kept.id)
    assert (found.get(PATIENCE), found.nbytes) == (8, kept.nbytes)
    assert other.load_balanced_view().apply_sync(abs, found) == 8


def test_an_unknown_id_is_refused(rc, view):
    for wrong in ("", "a.b", 3, None, view.apply_async(abs, 1).msg_id):
        with pytest.raises(ValueError, match="is not the id of a result"):
            rc.ref(wrong)
    with pytest.raises(px.error.ResultLost, match="no result with the id 'a_1_2.3': the controller has no record"):
        rc.ref("a_1_2.3")


def test_deleting_refs_frees_no_pickled_result(rc, view, other):
    refs = [view.apply_ref(pow, 2, 3), other[0].apply_ref(pow, 2, 3)]
    pickled = pickle.dumps(refs)
    assert [ref.get(PATIENCE) for ref in refs] == [8, 8]
    del refs
    for _ in range(2):
        assert [ref.get(PATIENCE) for ref in pickle.loads(pickled)] == [8, 8]


def test_a_client_elsewhere_that_closes_frees_no_pickled_result(rc, other):
    kept = other._kept_results
    kept.identity = kept._shared = ""  # as on another host
    refs = [other[0].apply_ref(pow, 2, 3), other.load_balanced_view().apply_ref(pow, 2, 4)]
    assert [ref.wait(PATIENCE) for ref in refs] == [True, True]
    pickled = pickle.dumps(refs)
    del refs
    other.close()
    assert [rc.ref(ref).get(PATIENCE) for ref in pickle.loads(pickled)] == [8, 16]


@pytest.mark.parametrize("of", ["balanced", "direct"])
def test_unpublish_frees_a_pickled_result_or_leaves_it_to_its_ref(rc, view, other, of):
    ref = (view if of == "balanced" else rc[1]).apply_ref(pow, 2, 3)
    found = attached(other, ref)
    assert ref.get(PATIENCE) == found.get(PATIENCE) == 8
    other.unpublish(ref.id)
    assert ref.get(PATIENCE) == 8
    with pytest.raises(KeyError, match="no result with the id .* stays: its Ref was not pickled"):
        rc.unpublish(ref.id)
    del ref
    wait_until(lambda: not files_of(rc), "the result is freed")
    with pytest.raises(px.error.ResultLost, match="does not have it any more"):
        found.get(PATIENCE)


def test_unpublish_undoes_pickling_before_the_call_has_ended(rc, view, gate):
    ref = view.apply_ref(wait_at, str(gate), 5)
    pickle.dumps(ref)
    rc.unpublish(ref.id)
    gate.touch()
    assert ref.get(PATIENCE) == 5
    del ref
    wait_until(lambda: not files_of(rc), "the result is freed")


def test_a_failed_call_raises_its_error_in_another_program(view, other):
    found = attached(other, view.apply_ref(lambda: 1 / 0))
    with pytest.raises(ZeroDivisionError):
        found.get(PATIENCE)
    with pytest.raises(ZeroDivisionError):
        other.load_balanced_view().apply_async(abs, found).get(PATIENCE)


def test_a_process_without_a_client_says_what_it_needs(rc, view):
    source = (
        "ref = pickle.loads(sys.stdin.buffer.read())\n"
        "print(ref)\n"
        "try:\n    ref.get()\nexcept RuntimeError as problem:\n    print(problem)\n"
        "rc = px.Client(sys.argv[1])\n"
        "print(ref.get())\n"
    )
    ref = view.apply_ref(pow, 2, 3)
    shown, problem, value = program(source, rc.cluster.connection_file, given=pickle.dumps(ref)).decode().splitlines()
    assert (shown, value) == (f"<Ref(pow): {ref.id}>", "8")
    assert "this process has no client of the cluster that keeps the result of pow: make one, e.g. rc = px.Client()" in problem


def test_a_client_of_another_cluster_is_refused(rc, view):
    pickled = pickle.dumps(view.apply_ref(pow, 2, 3))
    with px.Cluster(n=1, log_level=30) as elsewhere:
        with pytest.raises(ValueError, match="the Ref belongs to another cluster: its results are in .*polyxeus-arrays-"):
            elsewhere.ref(pickle.loads(pickled))
        source = (
            "rc = px.Client(sys.argv[1])\n"
            "try:\n    pickle.loads(sys.stdin.buffer.read()).get()\nexcept RuntimeError as problem:\n    print(problem)"
        )
        problem = program(source, elsewhere.cluster.connection_file, given=pickled).decode()
    assert "this process has 1 client, but none of the cluster that keeps the result of pow" in problem


def test_a_copy_is_the_same_ref(rc, view):
    ref = view.apply_ref(pow, 2, 3)
    assert copy.copy(ref) is copy.deepcopy([ref])[0] is ref
    assert ref.wait(PATIENCE)
    del ref
    wait_until(lambda: not files_of(rc), "the result is freed")


def test_a_call_with_a_kept_result_is_pickled_as_its_ref(view, other):
    found = other.ref(pickle.loads(pickle.dumps(view.submit(pow, 2, 3, keep=True))))
    assert found.get(PATIENCE) == 8


def test_a_pickled_ref_in_arguments_is_its_value(rc):
    ref = made_elsewhere(rc, "ref = view.apply_ref(pow, 2, 3)")
    assert rc.load_balanced_view().apply_sync(lambda values: [type(each).__name__ for each in values], [ref]) == ["int"]


def test_an_engine_reads_a_ref_in_a_variable(rc, view, gate):
    ref = view.apply_ref(list, range(3))
    assert ref.wait(PATIENCE)
    rc[0].push({"kept": ref}, block=True)
    assert rc[0].pull("kept.get()", block=True) == [0, 1, 2]
    assert rc[0].pull("kept", block=True).get(PATIENCE) == [0, 1, 2]
    late = rc.load_balanced_view([1]).apply_ref(wait_at, str(gate))
    rc[0].push({"kept": late}, block=True)
    with pytest.raises(px.RemoteError, match="has no client, so it can only get.. the result of wait_at when this host has it: pass"):
        rc[0].pull("kept.get()", block=True)


def test_a_checkpoint_may_contain_a_ref(rc, view, tmp_path):
    rc[0].push({"kept": view.apply_ref(pow, 2, 3)}, block=True)
    rc[0].checkpoint(tmp_path / "c", names=["kept"])
    rc[0].execute("del kept", block=True)
    rc[0].restore(tmp_path / "c")
    assert rc[0].pull("kept", block=True).get(PATIENCE) == 8


def test_a_pickled_result_is_lost_with_its_engine():
    with px.Cluster(n=2, log_level=30) as rc:
        ref, late = (rc[0].apply_ref(pow, 2, number) for number in (3, 4))
        pickled = pickle.dumps(ref)
        task = rc.load_balanced_view(0).apply_ref(pow, 2, 5)
        assert [each.wait(PATIENCE) for each in (ref, late, task)] == [True] * 3
        os.kill(rc[0].apply_sync(os.getpid), signal.SIGKILL)
        wait_until(lambda: len(rc) == 1, "the engine is not reported as dead")
        with pytest.raises(px.error.ResultLost, match="pickle ref.get.. instead of the Ref"):
            pickle.dumps(late)
        source = "task, ref = pickle.loads(sys.stdin.buffer.read()); rc = px.Client(sys.argv[1]); print(task.get())\n"
        source += "try:\n    print(ref.get())\nexcept px.error.ResultLost as problem:\n    print(problem)"
        given = pickle.dumps([task, pickle.loads(pickled)])  # another engine of the host can keep the result of a task
        assert ref.get(PATIENCE) == 8
        os.unlink(ref_files.find(ref._key))  # the file of this program, as if the program had ended
        wait_until(lambda: ref_files.find(ref._key) is None, "the engine's file is removed")
        value, problem = program(source, rc.cluster.connection_file, given=given).decode().splitlines()
        assert value == "32"
        assert f"the result of pow is lost: engine {ref._key.engine[:8]}, which kept it on" in problem
        assert "has ended, and only the program that made the call can make it again" in problem
