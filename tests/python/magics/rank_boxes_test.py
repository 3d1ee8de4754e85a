"""What the boxes of the ranks say below a running cell, and when they are sent."""

import json

from polyxeus.magics.rank_boxes import RankBoxes
from polyxeus.magics.rank_strip import MIME, RankStrip, Source

NOW = 1_795_776_000.5
ME = "session-of-this-client"


def busy(engine, **more):
    return {"id": engine, "state": "busy", "direct": 1, "msg_id": f"m{engine}", "runs": "solve()", "runs_for": 4.0,
            "measured_ago": 1.0, "state_seconds": 5.2, "process": {"memory": 81_000_000}, **more}  # fmt: skip


def barrier(engine, seconds=3.0):
    return busy(engine, mpi={"call": "MPI_Barrier", "seconds": seconds}, line="comm.Barrier()")


def idle(engine):
    return {"id": engine, "state": "idle", "state_seconds": 2.0}


def measures(*engines, parts=None, count=None, session=ME, cell="c1"):
    """Those of a cell on these engines, on which it waits for all answers."""
    parts = parts or [{"engine": each["id"], "state": "waits"} for each in engines]
    count = count or len(parts)
    return {"engines": list(engines), "time": NOW,
            "cells": [{"id": cell, "session": session, "submitted": NOW - 5.0, "engines": count, "unfinished": count,
                       "parts": parts}]}  # fmt: skip


def look(*engines, **more):
    return RankBoxes(ME).look(measures(*engines, **more))


def test_a_box_says_which_line_runs_in_which_call_and_for_how_long():
    said = look(busy(0, line="x = solve(A)", cpu_share=0.98), barrier(1))
    running, waiting = said["boxes"]
    assert running == {"id": 0, "state": "busy", "line": "x = solve(A)", "seconds": 5.0, "memory": 81_000_000, "cpu": 0.98}
    assert (waiting["state"], waiting["line"], waiting["call"], waiting["seconds"]) == (
        "waits", "comm.Barrier()", "MPI_Barrier", 4.0)  # fmt: skip


def test_a_call_of_torch_and_the_peer_of_a_message_are_named():
    receive = {"call": "MPI_Recv", "seconds": 1.0, "peer": 1}
    first, second = look(busy(0, mpi=receive), busy(1, torch={"call": "all_reduce", "seconds": 1.0}))["boxes"]
    assert (first["call"], second["call"]) == ("MPI_Recv, peer 1", "all_reduce")


def test_equal_boxes_are_one_group_and_the_odd_rank_comes_first():
    said = look(barrier(0), barrier(1, 2.0), busy(2, line="slow()"), barrier(3))
    assert [(each["ranks"], each["text"]) for each in said["groups"]] == [
        ("2", "runs for 5 s: slow()"), ("0,1,3", "in MPI_Barrier for 4 s: comm.Barrier()")]  # fmt: skip


def test_many_different_boxes_are_eight_groups_and_a_number():
    said = look(*(busy(each, line=f"step({each})") for each in range(20)))
    assert (len(said["boxes"]), len(said["groups"]), said["more"]) == (20, 8, 12)


def test_ranks_that_have_ended_say_how():
    parts = [{"engine": 0, "state": "ok"}, {"engine": 1, "state": "error", "error": "ValueError: no"},
             {"engine": 2, "state": "waits"}, {"engine": 3, "state": "waits"}]  # fmt: skip
    said = look(idle(0), idle(1), {"id": 2, "state": "silent"}, parts=parts)
    assert [each["state"] for each in said["boxes"]] == ["done", "failed", "silent", "lost"]
    assert said["boxes"][1]["error"] == "ValueError: no"
    assert [each["text"] for each in said["groups"]] == [
        "not registered any more", "does not answer", "failed: ValueError: no", "done"]  # fmt: skip


def test_measures_from_before_the_cell_say_nothing_of_it():
    (box,) = look(barrier(0) | {"measured_ago": 3.0, "state_seconds": 1.2})["boxes"]
    assert box["state"] == "busy" and box["seconds"] == 1.2
    assert "line" not in box and "call" not in box


def test_a_gpu_is_shown_if_it_is_measured():
    (box,) = look(busy(0, gpu_use=[{"number": 2, "busy": 0.35, "used_memory": 2_100_000_000}]))["boxes"]
    assert box["gpu"] == "GPU 2: 35 %, 2.1 GB"


def test_only_the_engines_of_the_cell_have_boxes():
    said = look(busy(0), busy(1), busy(2), parts=[{"engine": 1, "state": "waits"}])
    assert [each["id"] for each in said["boxes"]] == [1]


def test_a_cell_on_more_engines_than_the_measures_name_has_a_box_for_each():
    first = [{"engine": each, "state": "waits"} for each in range(64)]
    boxes = RankBoxes(ME)
    everywhere = boxes.look(measures(*map(busy, range(256)), parts=first, count=256))["boxes"]
    assert len(everywhere) == 256
    some = [busy(each) if each < 100 else idle(each) for each in range(256)]
    assert len(look(*some, parts=first, count=100)["boxes"]) == 100


def test_a_cell_is_that_of_this_client_and_stays_the_same():
    boxes = RankBoxes(ME)
    assert boxes.look(measures(busy(0), session="another")) is None
    assert boxes.look({"engines": [busy(0)], "cells": []}) is None
    assert boxes.look(measures(busy(0)))["boxes"][0]["id"] == 0
    later = measures(busy(0), cell="c1")
    later["cells"] += measures(busy(1), cell="c2")["cells"]
    assert [each["id"] for each in boxes.look(later)["boxes"]] == [0]


def test_a_cell_that_is_older_than_this_one_is_another():
    boxes = RankBoxes(ME)
    assert boxes.look(measures(busy(0)), age=1.0) is None
    assert boxes.look(measures(busy(0)), age=5.0)["boxes"][0]["id"] == 0


def test_the_cell_before_is_replaced_once_the_measures_have_this_one():
    boxes = RankBoxes(ME)
    before, both = measures(busy(0), cell="c1"), measures(busy(1), cell="c2")
    before["cells"][0]["submitted"] = both["cells"][0]["submitted"] = NOW - 0.5
    assert [each["id"] for each in boxes.look(before, age=0.6)["boxes"]] == [0]
    both["cells"] = before["cells"] + both["cells"]
    assert [each["id"] for each in boxes.look(both, age=1.6)["boxes"]] == [1]


# ------------------------------------------------------------ when they are sent


class Answer:
    def __init__(self, content, is_there=True):
        self.content, self.is_there = content, is_there

    def is_ready(self):
        return self.is_there

    def outcome(self, _index):
        return ("ok", json.dumps(self.content).encode(), [])


class Stage:
    """A front end, a controller and a clock."""

    def __init__(self, after=1.0, cost=0.0):
        self.time, self.used, self.cost = 0.0, 0.0, cost
        self.sent, self.questions = [], []
        self.answer = Answer({"measures": measures(busy(0))})
        self.is_connected = True
        self.strip = RankStrip(self, self.find, after, is_new=False, now=lambda: self.time, spent=self.spent)

    def spent(self):
        self.used += self.cost
        return self.used

    def find(self):
        return Source(self.ask, RankBoxes(ME), {"cell": "id", "cluster": "key"}) if self.is_connected else None

    def ask(self):
        self.questions.append(self.time)
        return self.answer

    def request(self):
        return "the request"

    def publish(self, request, kind, content, metadata, buffers):
        assert (request, kind, metadata, buffers) == ("the request", "update_display_data", {}, [])
        self.sent.append(content["data"][MIME])

    def run(self, seconds, step=0.25):
        for _ in range(int(seconds / step)):
            self.time += step
            self.strip.tick()


def test_a_short_cell_has_no_boxes_and_asks_nothing():
    stage = Stage()
    stage.run(0.75)
    stage.strip.close()
    assert stage.questions == [] and stage.sent == []


def test_a_long_cell_has_them_once_a_second_until_it_ends():
    stage = Stage()
    stage.run(4.75)
    stage.strip.close()
    stage.run(5)
    assert stage.questions == [1.0, 2.0, 3.0, 4.0]
    assert [each.get("ended", False) for each in stage.sent] == [False] * 4 + [True]
    assert stage.sent[0]["cell"] == "id" and stage.sent[0]["cluster"] == "key" and stage.sent[0]["boxes"][0]["id"] == 0


def test_looks_that_cost_much_are_rarer():
    stage = Stage(cost=0.1)  # 5 s at 2 % of a core
    stage.run(20)
    assert len(stage.questions) == 4


def test_an_answer_that_is_late_is_not_asked_for_again():
    stage = Stage()
    stage.answer.is_there = False
    stage.run(5)
    assert stage.questions == [1.0] and stage.sent == []


def test_nothing_is_asked_before_there_is_a_connection():
    stage = Stage()
    stage.is_connected = False
    stage.run(2)
    assert stage.questions == []
    stage.is_connected = True
    stage.run(2)
    assert stage.questions == [3.0, 4.0]


def test_a_controller_without_measures_is_asked_once():
    stage = Stage()
    stage.answer.outcome = lambda _index: ("error", b"", [])
    stage.run(5)
    stage.strip.close()
    assert stage.questions == [1.0] and stage.sent == []
