"""When a client warns of the end of a batch job and saves before it: without clock, thread or batch system."""

import pytest

from polyxeus.client.walltime.plan import Ask, GiveUp, JobPlan, Save, Warn

START = 1_000_000.0
HOUR = 3600.0


class Owner:
    """Asks a batch system that knows when jobs end, at a simulated time."""

    def __init__(self, **ends):
        self.plan = JobPlan()
        self.now = START
        self.ends = ends
        self.questions = 0
        self.plan.set_jobs(ends)

    def turn(self):
        """What is due now, without the questions."""
        found = []
        while True:
            orders = self.plan.due(self.now)
            if not orders:
                return found
            for order in orders:
                if isinstance(order, Ask):
                    self.questions += 1
                    self.plan.told(order.job, self.ends[order.job], self.now)
                else:
                    found.append(order)

    def run_until(self, end):
        """{time since the start: what was due then}"""
        found = {}
        while True:
            orders = self.turn()
            if orders:
                found[self.now - START] = orders
            deadline = self.plan.next_deadline()
            if deadline is None or deadline > end:
                return found
            assert deadline > self.now, "it would be called again at once, for ever"
            self.now = deadline


def test_a_job_is_warned_of_ten_and_two_minutes_before_its_end():
    owner = Owner(a=START + HOUR)
    assert owner.run_until(START + 2 * HOUR) == {
        HOUR - 600: [Warn("a", 600)],
        HOUR - 120: [Warn("a", 120)],
    }


def test_a_client_that_comes_late_warns_at_once_and_only_once():
    owner = Owner(a=START + 90)
    assert owner.run_until(START + HOUR) == {0: [Warn("a", 90)]}


def test_each_job_has_its_own_warnings():
    owner = Owner(a=START + HOUR, b=START + HOUR + 60)
    assert owner.run_until(START + HOUR - 500) == {HOUR - 600: [Warn("a", 600)], HOUR - 540: [Warn("b", 600)]}


@pytest.mark.parametrize("ends", [None, START - 5])
def test_nothing_is_said_of_a_job_without_an_end_or_after_it(ends):
    owner = Owner(a=ends)
    owner.plan.save_before(60)
    assert owner.run_until(START + 10 * HOUR) == {}


def test_the_batch_system_is_asked_at_the_start_before_each_warning_and_every_half_hour():
    owner = Owner(a=START + HOUR)
    owner.run_until(START)
    assert owner.questions == 1
    owner.run_until(START + HOUR - 601)
    assert owner.questions == 2  # after half an hour
    owner.run_until(START + HOUR)
    assert owner.questions == 4


def test_the_warnings_follow_an_end_that_was_moved():
    owner = Owner(a=START + HOUR)
    owner.run_until(START + HOUR - 601)
    owner.ends["a"] = START + 2 * HOUR
    assert owner.run_until(START + 3 * HOUR) == {2 * HOUR - 600: [Warn("a", 600)], 2 * HOUR - 120: [Warn("a", 120)]}


def test_a_job_that_was_warned_of_and_gets_more_time_is_warned_of_again():
    owner = Owner(a=START + HOUR)
    owner.run_until(START + HOUR - 600)
    owner.ends["a"] = START + 2 * HOUR
    warnings = owner.run_until(START + 2 * HOUR)
    assert warnings == {2 * HOUR - 600: [Warn("a", 600)], 2 * HOUR - 120: [Warn("a", 120)]}


def test_a_batch_system_that_does_not_answer_is_asked_again_after_half_an_hour():
    owner = Owner(a=None)
    owner.run_until(START)
    owner.ends["a"] = START + 2 * HOUR
    assert list(owner.run_until(START + 2 * HOUR)) == [2 * HOUR - 600, 2 * HOUR - 120]


def test_it_can_be_asked_to_look_again():
    owner = Owner(a=START + HOUR)
    owner.run_until(START)
    owner.plan.ask_again()
    owner.turn()
    assert owner.questions == 2


def test_variables_are_saved_once_before_the_first_job_ends():
    owner = Owner(a=START + HOUR, b=START + HOUR + 1)
    owner.plan.save_before(300)
    orders = owner.run_until(START + HOUR)
    assert orders[HOUR - 300] == [Save("a", START + HOUR)]
    assert sum(isinstance(each, Save) for due in orders.values() for each in due) == 1


def test_a_job_that_ends_soon_is_saved_at_once():
    owner = Owner(a=START + 50)
    owner.plan.save_before(60)
    assert owner.turn() == [Warn("a", 50), Save("a", START + 50)]


def test_nothing_is_saved_after_a_stop():
    owner = Owner(a=START + HOUR)
    owner.plan.save_before(300)
    owner.plan.save_before(None)
    assert HOUR - 300 not in owner.run_until(START + HOUR)


def test_the_next_job_is_saved_in_its_turn():
    owner = Owner(a=START + HOUR)
    owner.plan.save_before(300)
    owner.run_until(START + HOUR - 300)
    owner.plan.crossed()
    owner.ends = {"b": owner.now + HOUR}
    owner.plan.set_jobs(owner.ends)
    end = owner.ends["b"]
    assert owner.run_until(end)[end - 300 - START] == [Save("b", end)]


def test_jobs_that_are_shorter_than_the_save_are_not_started_for_ever():
    owner = Owner(a=START + HOUR)
    owner.plan.save_before(300)
    owner.run_until(START + HOUR - 300)
    owner.plan.crossed()
    owner.ends = {"b": owner.now + 240}
    owner.plan.set_jobs(owner.ends)
    assert owner.turn() == [Warn("b", 240), GiveUp("b", 240)]


def test_jobs_that_are_gone_are_forgotten():
    owner = Owner(a=START + HOUR)
    owner.run_until(START)
    owner.plan.set_jobs([])
    assert owner.plan.next_deadline() is None and owner.plan.ends() == {}
    owner.plan.told("a", START + 5, START)  # an answer that comes late
    assert owner.turn() == []
