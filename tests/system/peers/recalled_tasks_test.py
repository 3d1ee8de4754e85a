"""Engines hold a next task while they run short ones: nobody waits behind a long one, and nothing runs twice."""

import collections
import pathlib
import signal

import ipyparallel as ipp
import pytest
from programs import PATIENCE, wait_until
from running_cluster import connect, work_while

pytestmark = pytest.mark.better_than_reference("its engines give nothing back")

ROUNDS = 5
SHORT_ONES = 20


@ipp.interactive
def note(folder, number):
    import os

    with open(os.path.join(folder, "notes"), "a") as notes:
        notes.write(f"{number}\n")
    return number


@pytest.fixture
def folder(tmp_path):
    return pathlib.Path(tmp_path)


def hold(folder, name):
    file = folder / name
    file.touch()
    return file


def counted(folder):
    return collections.Counter((folder / "notes").read_text().split())


@pytest.mark.parametrize("options", [(), ("--ahead=8",)])
def test_short_tasks_do_not_wait_behind_a_long_one(own_cluster, folder, options):
    cluster = own_cluster()
    cluster.start_controller(*options)
    cluster.start_engines(2)
    with connect(cluster.connection_file("client"), 2, timeout=PATIENCE) as client:
        view = client.load_balanced_view()
        number = 0
        for turn in range(ROUNDS):
            short = [view.apply_async(note, str(folder), i) for i in range(number, number + 10)]
            long_file = hold(folder, f"long{turn}")
            long_one = view.apply_async(work_while, str(long_file))
            number += 10
            short += [
                view.apply_async(note, str(folder), i) for i in range(number, number + SHORT_ONES)
            ]
            number += SHORT_ONES
            assert [each.get(PATIENCE) for each in short] == list(range(number - len(short), number))
            assert not long_one.ready()
            long_file.unlink()
            long_one.get(PATIENCE)
    assert counted(folder) == {str(each): 1 for each in range(number)}


def test_an_engine_that_is_asked_to_end_gives_back_what_it_has_not_begun(own_cluster, folder):
    cluster = own_cluster()
    cluster.start_controller("--hwm=4")
    (first,) = cluster.start_engines(1)
    with connect(cluster.connection_file("client"), 1, timeout=PATIENCE) as client:
        view = client.load_balanced_view()
        long_file = hold(folder, "long")
        long_one = view.apply_async(work_while, str(long_file))
        waiting = [view.apply_async(note, str(folder), i) for i in range(6)]
        wait_until((folder / "long.began").exists, "the long task begins")
        cluster.start_engines(1)
        client.wait_for_engines(2, timeout=PATIENCE)
        first.signal(signal.SIGTERM)
        assert [each.get(PATIENCE) for each in waiting] == list(range(6))
        long_file.unlink()
        with pytest.raises(Exception, match="KeyboardInterrupt|EngineError"):
            long_one.get(PATIENCE)
    assert counted(folder) == {str(each): 1 for each in range(6)}
