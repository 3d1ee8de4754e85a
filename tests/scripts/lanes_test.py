"""Lanes: one after another within, side by side among each other."""

import threading

import deadlines
import pytest

from test_runner import lanes


class Record:
    """Notes what runs; a group may be told to fail, or to wait for an event first."""

    def __init__(self, failing=(), waiting=None):
        self.order, self.blocked = [], []
        self.failing, self.waiting = failing, waiting or {}
        self.running, self.overlap = set(), set()
        self.lock = threading.Lock()

    def run_group(self, name):
        with self.lock:
            self.running.add(name)
            self.overlap |= {frozenset((name, other)) for other in self.running - {name}}
        if name in self.waiting:
            assert self.waiting[name].wait(20)
        with self.lock:
            self.running.discard(name)
            self.order.append(name)
        return name not in self.failing

    def block_group(self, name, need):
        self.blocked.append((name, need))

    def run(self, by_lane, needs=None):
        lanes.run(by_lane, needs or {}, self.run_group, self.block_group)


def test_the_groups_of_a_lane_run_in_order():
    record = Record()
    record.run({"one": ["a", "b", "c"]})
    assert record.order == ["a", "b", "c"]
    assert not record.overlap


def test_lanes_run_side_by_side():
    both = threading.Barrier(2)

    def meet(_name):
        both.wait(20)  # breaks unless the two run at once
        return True

    lanes.run({"one": ["a"], "two": ["b"]}, {}, meet, None)


def test_a_group_waits_for_what_it_needs_in_another_lane():
    may_end = threading.Event()
    record = Record(waiting={"build": may_end})
    runner = threading.Thread(target=record.run, args=(
        {"cpp": ["build"], "timing": ["magics", "cells"]}, {"cells": ("build",)}))  # fmt: skip
    runner.start()
    deadlines.wait_until(lambda: "magics" in record.order, "the group before", timeout=20)
    may_end.set()
    runner.join()
    assert record.order == ["magics", "build", "cells"]
    assert frozenset(("build", "cells")) not in record.overlap


def test_a_group_whose_need_failed_is_not_run_and_neither_is_what_needs_it():
    record = Record(failing=["build"])
    record.run({"cpp": ["build", "tests", "more", "other"]}, {"tests": ("build",), "more": ("tests",)})
    assert record.order == ["build", "other"]
    assert record.blocked == [("tests", "build"), ("more", "tests")]


def test_a_group_that_raises_does_not_leave_the_others_waiting():
    def fall(name):
        if name == "build":
            raise OSError("no such program")
        return True

    blocked = []
    with pytest.raises(OSError):
        lanes.run({"cpp": ["build"], "two": ["tests"]}, {"tests": ("build",)}, fall,
                  lambda name, need: blocked.append(name))  # fmt: skip
    assert blocked == ["tests"]


@pytest.mark.parametrize("by_lane, needs, words", [
    ({"one": ["a"], "two": ["a"]}, {}, "two lanes"),
    ({"one": ["a"]}, {"a": ("b",)}, "in no lane"),
    ({"one": ["a", "b"]}, {"a": ("b",)}, "wait for each other: a"),
    ({"one": ["a", "b"], "two": ["c", "d"]}, {"a": ("d",), "c": ("b",)}, "wait for each other: a, c"),
])  # fmt: skip
def test_lanes_that_cannot_end_are_refused(by_lane, needs, words):
    with pytest.raises(ValueError, match=words):
        lanes.check(by_lane, needs)


@pytest.mark.parametrize("is_quick", [False, True])
def test_the_lanes_of_this_project_can_be_run(is_quick):
    from test_runner import catalogue

    by_lane = catalogue.all_groups(is_quick)
    groups = [group for lane in by_lane.values() for group in lane]
    lanes.check({lane: [group.name for group in of_lane] for lane, of_lane in by_lane.items()},
                {group.name: group.needs for group in groups})  # fmt: skip


def test_each_python_test_belongs_to_a_group():
    from test_runner import catalogue
    from test_runner.main import ROOT

    assert catalogue.without_a_group(catalogue.all_groups(False), ROOT) == []


def test_a_python_test_in_a_new_folder_is_missed(tmp_path):
    from test_runner import catalogue

    file = tmp_path / "tests" / "new" / "some_test.py"
    file.parent.mkdir(parents=True)
    file.touch()
    assert catalogue.without_a_group(catalogue.all_groups(False), tmp_path) == [file]
