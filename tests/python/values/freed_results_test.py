"""Which freed results are told to which engine, and when."""

import queue

import pytest

from polyxeus.results import completion, kept_results
from polyxeus.results.kept_results import FreedByEngine, KeptResults
from polyxeus.serialize.ref_files import Key


def test_the_first_is_told_at_once_and_the_next_together():
    freed = FreedByEngine()
    assert freed.freed("ann", [1]) == [1]
    assert freed.freed("ann", [2]) == []
    assert freed.freed("ann", [3]) == []
    assert freed.answered("ann") == [2, 3]
    assert freed.freed("ann", [4]) == []
    assert freed.answered("ann") == [4]
    assert freed.answered("ann") == []
    assert freed.freed("ann", [5]) == [5]


def test_engines_do_not_wait_for_each_other():
    freed = FreedByEngine()
    assert freed.freed("ann", [1]) == [1]
    assert freed.freed("bob", [2]) == [2]
    assert freed.freed("bob", [3]) == []
    assert freed.answered("ann") == []
    assert freed.answered("bob") == [3]


class Tasks:
    """Requests that are answered when the test says so."""

    def __init__(self, is_answered=False):
        self._is_answered = is_answered
        self._waiting = []

    def notify(self, notices, token):
        self._waiting.append((notices, token))
        if self._is_answered:
            self.answer()

    def answer(self):
        self._is_answered = True
        while self._waiting:
            notices, token = self._waiting.pop()
            notices.put(token)

    def wait(self, seconds):
        pass


class Call:
    """A call that has kept its result on an engine of another host."""

    def __init__(self):
        self._tasks = Tasks(is_answered=True)
        self._uses = None

    def ready(self):
        return True

    def _call_when_over(self, function):
        completion.call_when_ready(self._tasks, function)

    def _outcome(self):
        return {"engine": "uuid", "memory": "elsewhere", "owner": "uuid"}, None


class Client:
    """Sends what is freed, as lists of keys, to `sent`."""

    _closed = False

    def __init__(self):
        self._engines = {3: "uuid"}
        self._connection = self
        self.session_id = "client"
        self.sent = queue.Queue()

    def send_direct(self, ids, works, label):
        tasks = Tasks()
        self.sent.put((ids, works[0], tasks))
        return tasks


@pytest.fixture
def four_results(monkeypatch):
    """(the client, its kept results, {key: call} of four of them)."""
    monkeypatch.setattr(kept_results.requests, "call", lambda function, args: args[0])
    client = Client()
    kept = KeptResults(client, {})
    calls = {Key("folder", "client", number): Call() for number in (1, 2, 3, 4)}
    for key, call in calls.items():
        kept.add(key, call)
    return client, kept, calls


def test_a_client_that_closes_frees_what_no_engine_has_confirmed(four_results):
    client, kept, calls = four_results
    freed, told, waiting, held = calls

    kept.drop(freed, calls[freed])
    ids, sent, tasks = client.sent.get(timeout=60)
    assert (ids, sent) == ([3], [freed])
    kept.drop(told, calls[told])
    tasks.answer()
    assert client.sent.get(timeout=60)[1] == [told]
    kept.drop(waiting, calls[waiting])
    assert client.sent.empty()
    kept.close()
    assert sorted(client.sent.get(timeout=60)[1]) == [told, waiting, held]


def test_no_engine_is_told_to_free_a_result_that_is_to_stay(four_results):
    client, kept, calls = four_results
    dropped, held, freed, other = calls
    assert kept.let_stay(dropped) and kept.let_stay(held)

    kept.drop(dropped, calls[dropped])
    kept.drop(freed, calls[freed])
    assert client.sent.get(timeout=60)[1] == [freed]
    kept.close()
    assert sorted(client.sent.get(timeout=60)[1]) == [freed, other]
