"""History: what a client remembers of the requests that it has sent."""

import pytest

from polyxeus.results import history
from polyxeus.results.history import History


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr(history, "_LEAST_KEPT", 3)


def test_the_latest_requests_are_kept():
    made = History(set)
    for number in range(20):
        made.extend([str(number)])
        assert len(made) <= 6
    assert made[-3:] == ["17", "18", "19"]


def test_what_is_not_answered_is_kept():
    made = History(lambda: {"1", "4"})
    made.extend(list(map(str, range(20))))
    assert made == ["1", "4", "17", "18", "19"]


def test_many_that_are_not_answered_are_not_looked_through_each_time():
    looks = []
    made = History(lambda: looks.append(1) or set(made))
    for number in range(40):
        made.extend([str(number)])
    assert len(made) == 40 and len(looks) <= 12


def test_a_client_and_its_views_forget(rc):
    view = rc[0]
    for _ in range(20):
        view.apply_sync(abs, -1)
    assert 3 <= len(view.history) <= 6 and len(rc.history) <= 6
    assert view.get_result(-1).get(60) == 1
