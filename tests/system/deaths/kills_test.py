"""Engines are killed at random while they work: each task is done, and no result comes twice.

PX_KILLS=1000 kills so many of them, PX_SEED=n at other moments.
"""

import collections
import os
import pathlib
import random
import signal
import time

import deadlines
import ipyparallel as ipp
import pytest
from programs import PATIENCE, wait_until
from running_cluster import connect

pytestmark = pytest.mark.better_than_reference("it repeats a task after seconds")

SEED = int(os.environ.get("PX_SEED", 20261123))
KILLS = int(os.environ.get("PX_KILLS", 4))
ENGINES = 4
IN_FLIGHT = 100
TIME_LIMIT = 90 + 3 * KILLS  # seconds for one test


@ipp.interactive
def note_and_work(folder, number):
    import os
    import pathlib
    import time

    with open(pathlib.Path(folder, f"{os.getpid()}"), "a") as notes:
        notes.write(f"{number} {time.time_ns()}\n")
        notes.flush()
        time.sleep(0.02)
        notes.write(f"{number} end\n")
    return number


class Kills:
    """A cluster whose engines are killed, and the tasks of a client meanwhile."""

    def __init__(self, cluster, client, folder):
        self.cluster, self.client, self.folder = cluster, client, folder
        self.chance = random.Random(SEED)
        self.view = client.load_balanced_view(retries=1000)
        self.submitted = 0
        self.open = {}
        self.results = collections.Counter()
        self.killed = {}  # pid: when

    def keep_busy(self):
        while len(self.open) < IN_FLIGHT:
            self.open[self.submitted] = self.view.apply_async(
                note_and_work, str(self.folder), self.submitted
            )
            self.submitted += 1

    def take_results(self):
        for number in [number for number, answer in self.open.items() if answer.ready()]:
            assert self.open.pop(number).get(PATIENCE) == number
            self.results[number] += 1

    def kill_one(self):
        victim = self.chance.choice(self.cluster.engines)
        self.cluster.engines.remove(victim)
        self.killed[victim.pid] = time.time_ns()
        victim.signal(signal.SIGKILL)
        self.cluster.start_engines(1)

    def run(self, kills):
        for _ in range(kills):
            moment = time.monotonic() + self.chance.uniform(0.05, 0.5)
            while time.monotonic() < moment or len(self.client.ids) < ENGINES // 2:
                self.keep_busy()
                self.take_results()
                self.client.wait(list(self.open.values()), timeout=0.02)
            self.kill_one()
        while self.open:
            self.take_results()
            self.client.wait(list(self.open.values()), timeout=1)

    def notes(self):
        """(pid, number, when; None at its end) of each note, those of one process in order."""
        for file in self.folder.iterdir():
            for line in file.read_text().splitlines():
                number, when = line.split()
                yield int(file.name), int(number), None if when == "end" else int(when)


@pytest.fixture(autouse=True)
def time_limit():
    with deadlines.time_limit(TIME_LIMIT):
        yield


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "notes"
    made.mkdir()
    return pathlib.Path(made)


@pytest.mark.parametrize("hwm", [1, 0])
def test_what_killed_engines_had_is_done_by_others(own_cluster, folder, hwm):
    cluster = own_cluster()
    cluster.start_controller(f"--hwm={hwm}")
    cluster.start_engines(ENGINES)
    with connect(cluster.connection_file("client"), ENGINES, timeout=PATIENCE) as client:
        kills = Kills(cluster, client, folder)
        kills.run(KILLS)
        wait_until(lambda: len(client.ids) == ENGINES, "the last new engine comes")
    starts, ends = collections.defaultdict(list), collections.Counter()
    for pid, number, when in kills.notes():
        if when:
            starts[number].append((when, pid))
        elif pid not in kills.killed:
            ends[number] += 1
    assert sorted(kills.results) == list(range(kills.submitted))
    assert set(kills.results.values()) == {1}
    assert max(ends.values()) == 1, "a task ran twice though its engine lived"
    delays = []
    for runs in starts.values():
        for (_, pid), (again, _) in zip(sorted(runs), sorted(runs)[1:], strict=False):
            assert pid in kills.killed, "a task ran again though its engine lived"
            delays.append((again - kills.killed[pid]) / 1e9)
    print(
        f"hwm {hwm}: {KILLS} kills, {kills.submitted} tasks, {len(delays)} ran again, "
        f"after {max(delays, default=0):.2f} s at most, "
        f"{sorted(delays)[len(delays) // 2] if delays else 0:.2f} s in the middle"
    )
