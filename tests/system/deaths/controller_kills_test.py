"""The controller is killed at random moments while its cluster works, and the same command starts another
one: each result comes, nothing runs twice, engines keep their ids and variables.

PX_CONTROLLER_KILLS=100 kills so many in each test, PX_SEED=n at other moments.
"""

import collections
import os
import random
import signal

import deadlines
import ipyparallel as ipp
import pytest
from programs import PATIENCE, wait_until
from running_cluster import connect

pytestmark = pytest.mark.better_than_reference("it loses what was asked for")

SEED = int(os.environ.get("PX_SEED", 20261124))
KILLS = int(os.environ.get("PX_CONTROLLER_KILLS", 1))
ENGINES = 4
TASKS = 40
ITEMS = 100_000 if KILLS > 1 else 5_000
SECONDS_OF_ONE = 0.5 if KILLS > 1 else 0.1
OPTIONS = ["--reuse", "--journal=process", "--ping=500"]


@ipp.interactive
def note_run(folder, number, seconds):
    """Leaves a line for each time that it runs."""
    import os
    import pathlib
    import time

    with open(pathlib.Path(folder, str(os.getpid())), "a") as notes:
        notes.write(f"{number}\n")
    time.sleep(seconds)
    return number


class Work:
    """What a client asks for, all at once."""

    def __init__(self, client, folder):
        self.client, self.folder = client, folder

    def tasks(self):
        view = self.client.load_balanced_view()
        return [self._ask(view, n) for n in range(TASKS)]

    def direct_calls(self):
        return [self._ask(self.client[:], n) for n in range(TASKS // ENGINES)]

    def broadcasts(self):
        view = self.client.broadcast_view()
        return [self._ask(view, n) for n in range(TASKS // ENGINES)]

    def _ask(self, view, number):
        return view.apply_async(note_run, str(self.folder), number, SECONDS_OF_ONE)

    def map(self):
        view = self.client.load_balanced_view()
        return [view.map_async(lambda n: 3 * n, range(ITEMS), chunksize=20)]


EXPECTED = {
    "tasks": list(range(TASKS)),
    "direct_calls": [[n] * ENGINES for n in range(TASKS // ENGINES)],
    "broadcasts": [[n] * ENGINES for n in range(TASKS // ENGINES)],
    "map": [[3 * n for n in range(ITEMS)]],
}
RUNS = {"tasks": 1, "direct_calls": ENGINES, "broadcasts": ENGINES}
LASTS = TASKS / ENGINES * SECONDS_OF_ONE  # seconds, if nobody is killed


@pytest.fixture(autouse=True)
def time_limit():
    with deadlines.time_limit(90 + 20 * KILLS):
        yield


@pytest.fixture
def cluster(own_cluster):
    cluster = own_cluster()
    cluster.start_controller(*OPTIONS)
    cluster.start_engines(ENGINES)
    return cluster


@pytest.fixture
def client(cluster):
    with connect(cluster.connection_file("client"), ENGINES, timeout=PATIENCE) as client:
        for engine in client.ids:
            client[engine].push({"mine": engine}, block=True)
        yield client


def replace_controller(cluster):
    cluster.controller.signal(signal.SIGKILL)
    cluster.controller.wait(20)
    cluster.start_controller(*OPTIONS)


def count_runs(folder):
    return collections.Counter(
        line for file in folder.iterdir() for line in file.read_text().splitlines()
    )


def check(answers, kind, folder, told):
    results = [list(each) if isinstance(each, list) else each
               for each in (answer.get(PATIENCE) for answer in answers)]
    assert results == EXPECTED[kind], told
    if kind in RUNS:
        runs = count_runs(folder)
        assert set(runs.values()) == {RUNS[kind]}, (told, runs)


def check_engines(client, told):
    assert client.ids[:ENGINES] == list(range(ENGINES)), told
    for engine in range(ENGINES):
        assert client[engine].pull("mine", block=True) == engine, told


@pytest.mark.filterwarnings("ignore:the controller was started again")
@pytest.mark.filterwarnings("ignore:a connection to the controller broke")
@pytest.mark.parametrize("kind", sorted(EXPECTED))
def test_no_result_is_lost(cluster, client, tmp_path, kind):
    chance = random.Random(SEED)
    for number in range(KILLS):
        folder = tmp_path / str(number)
        folder.mkdir()
        answers = getattr(Work(client, folder), kind)()
        moment = chance.uniform(0, LASTS)
        client.wait(answers, timeout=moment)
        replace_controller(cluster)
        told = f"seed {SEED}, kill {number}, after {moment:.3f} s"
        check(answers, kind, folder, told)
        check_engines(client, told)


@pytest.mark.filterwarnings("ignore:the controller was started again")
@pytest.mark.filterwarnings("ignore:a connection to the controller broke")
def test_engines_join_meanwhile(cluster, client, tmp_path):
    chance = random.Random(SEED)
    for number in range(KILLS):
        folder = tmp_path / str(number)
        folder.mkdir()
        answers = Work(client, folder).tasks()
        [newcomer] = cluster.start_engines(1)
        moment = chance.uniform(0, 1.5)
        client.wait(answers, timeout=moment)
        replace_controller(cluster)
        told = f"seed {SEED}, kill {number}, after {moment:.3f} s"
        check(answers, "tasks", folder, told)
        wait_until(lambda: len(client.ids) == ENGINES + 1, f"the new engine joins ({told})")
        check_engines(client, told)
        cluster.engines.remove(newcomer)
        newcomer.stop()
        wait_until(lambda: len(client.ids) == ENGINES, f"it leaves ({told})")
