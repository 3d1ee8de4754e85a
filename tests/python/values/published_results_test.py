"""Kept results with a name: other programs find them, and they stay when the program that made them has ended."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

import polyxeus as px

PATIENCE = 30  # seconds


@pytest.fixture(autouse=True)
def nothing_is_published(rc):
    yield
    for name in rc.published():
        rc.unpublish(name)


def wait_until(is_true, what):
    end = time.monotonic() + PATIENCE
    while not is_true():
        assert time.monotonic() < end, what
        time.sleep(0.01)


def test_another_client_finds_a_result_and_uses_it(view, other):
    view.apply_ref(list, range(100_000)).publish("numbers")
    found = other.published()
    assert list(found) == ["numbers"]
    numbers = found["numbers"]
    assert numbers.get() == list(range(100_000))
    assert other.load_balanced_view().apply_sync(sum, numbers) == other[0].apply_sync(sum, numbers) == 4_999_950_000
    assert repr(numbers).startswith("<Ref(numbers): list, ")


def test_a_published_result_stays_when_all_refs_are_deleted(view, other):
    view.apply_ref(pow, 2, 3).publish("eight")
    for _ in range(2):
        assert other.published()["eight"].get() == 8


def test_a_published_result_stays_when_its_program_has_ended(rc, other):
    program = (
        "import sys, polyxeus as px\n"
        "client = px.Client(sys.argv[1])\n"
        "client.load_balanced_view().apply_ref(pow, 2, 10).publish('kilo')\n"
    )
    subprocess.run([sys.executable, "-c", program, rc.cluster.connection_file], check=True, timeout=PATIENCE)
    assert other.published()["kilo"].get() == 1024


def test_unpublish_frees_the_result_or_leaves_it_to_its_ref(rc, view, other):
    mine = view.apply_ref(pow, 2, 3)
    mine.publish("mine")
    view.apply_ref(pow, 2, 4).publish("left")
    other.unpublish("mine")
    other.unpublish("left")
    assert other.published() == {}
    assert mine.get() == 8
    del mine
    wait_until(lambda: not [each for each in os.listdir(rc._kept_results.folder) if ".ref" in each], "a file is left")


def test_a_large_result_keeps_its_value_when_its_ref_is_deleted(rc, view):
    """The file of a freed result is used again, but not this one."""
    one = view.apply_ref(bytes, 4 << 20)
    one.publish("zeros")
    one.get()
    del one
    others = [view.apply_ref(lambda: b"x" * (4 << 20)) for _ in range(4)]
    assert [each.nbytes > 4 << 20 for each in others] == [True] * 4
    assert rc.published()["zeros"].get() == bytes(4 << 20)


def test_a_name_in_use_is_refused(rc, view):
    view.apply_ref(pow, 2, 3).publish("eight")
    with pytest.raises(ValueError, match="a result is published as 'eight' already"):
        view.apply_ref(pow, 2, 4).publish("eight")
    assert rc.published()["eight"].get() == 8


@pytest.mark.parametrize("name", ["", "a b", "a.b", "../a", "é", "x" * 41, 3, None])
def test_a_wrong_name_is_refused(view, name):
    with pytest.raises(ValueError, match="the name of a result is letters, digits"):
        view.apply_ref(pow, 2, 3).publish(name)


def test_an_unknown_name_is_refused(rc):
    with pytest.raises(KeyError, match="no result is published as 'nothing'"):
        rc.unpublish("nothing")


def test_a_failed_call_publishes_nothing(rc, view):
    with pytest.raises(ZeroDivisionError):
        view.apply_ref(lambda: 1 / 0).publish("none")
    assert rc.published() == {}


def test_a_published_result_can_have_a_second_name(rc, view):
    view.apply_ref(pow, 2, 3).publish("first")
    rc.published()["first"].publish("second")
    rc.unpublish("first")
    assert rc.published()["second"].get() == 8


def test_each_engines_result_of_a_direct_call_can_be_published(rc):
    for ref in rc[:].apply_ref(os.getpid):
        ref.publish(f"pid-{ref.engine_id}")
    found = {name: ref.get() for name, ref in rc.published().items()}
    assert found == {f"pid-{number}": pid for number, pid in enumerate(rc[:].apply_sync(os.getpid))}


def test_a_published_result_is_lost_with_its_engine():
    with px.Cluster(n=2, log_level=30) as rc:
        kept = rc[0].apply_ref(list, range(1000))
        kept.publish("numbers")
        os.kill(rc[0].apply_sync(os.getpid), signal.SIGKILL)
        wait_until(lambda: len(rc) == 1, "the engine is not reported as dead")
        assert rc.published() == {}
        assert kept.get() == list(range(1000))  # this program has it, too
        with pytest.raises(px.RemoteError, match="a published result stays with the engine that made it"):
            kept.publish("again")


def controller_of(rc):
    with open(rc.cluster.connection_file) as file:
        return json.load(file)["process"]["pid"]


def test_a_published_result_stays_when_the_controller_is_restarted():
    with px.Cluster(n=2, log_level=30) as rc:
        rc.load_balanced_view().apply_ref(pow, 2, 3).publish("eight")
        before = controller_of(rc)
        os.kill(before, signal.SIGKILL)
        wait_until(lambda: controller_of(rc) != before, "the controller is not restarted")
        assert rc.published()["eight"].get(PATIENCE) == 8
