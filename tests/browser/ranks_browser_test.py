"""The boxes of the ranks below a running cell, in a real JupyterLab."""

from notebook_page import opened_in_lab

CELL = """%%px
import time
from mpi4py import MPI
comm = MPI.COMM_WORLD
rank = comm.rank
if rank == 2:
    while True: time.sleep(0.01)
else:
    comm.Barrier()"""
# What a kernel tells while a cell runs on 256 ranks, without them.
MANY = """from polyxeus.magics.rank_boxes import RankBoxes
from polyxeus.magics.rank_strip import RankStrip, Source
from polyxeus.results.comms import front_end

def row(engine):
    mpi = {} if engine == 77 else {"mpi": {"call": "MPI_Allreduce", "seconds": 4.0}}
    line = "local = solve(mesh)" if engine == 77 else "comm.Allreduce(mine, total)"
    return {"id": engine, "state": "busy", "direct": 1, "msg_id": "m", "state_seconds": 9.0, "measured_ago": 1.0, "line": line,
            "runs_for": 8.0, "host": f"node{engine // 64}", "process": {"memory": 81e6}, **mpi}

parts = [{"engine": each, "state": "waits"} for each in range(64)]
cell = {"id": "c", "session": "s", "submitted": 0, "engines": 256, "unfinished": 256, "parts": parts}
shown = RankBoxes("s").look({"time": 9, "cells": [cell], "engines": [row(each) for each in range(256)]})
cell_id = get_ipython().kernel.get_parent()["metadata"]["cellId"]
strip = RankStrip(front_end(), None, 0)
strip._source = Source(None, None, {"cell": cell_id, "cluster": None})
strip._publish(shown)"""


def test_a_running_cell_has_a_box_for_each_rank_until_it_ends(server, page, screenshots):
    book = opened_in_lab(server, page, "ranks", ["%pxcluster start -n 4 --engines=mpi", CELL, "%pxcluster stop"])
    book.run(0)
    cell = book.cells.nth(1)
    boxes, text = cell.locator(".px-Rank"), cell.locator(".px-Ranks-text")

    def state(rank):
        return boxes.nth(rank).get_attribute("data-state")

    book.start(1)
    book.wait_until(lambda: boxes.count() == 4 and [state(each) for each in range(4)] == ["waits", "waits", "busy", "waits"],
                    "each rank has a box that says what it does")  # fmt: skip
    assert "MPI_Barrier" in boxes.nth(0).inner_text() and "comm.Barrier()" in boxes.nth(0).inner_text()
    assert "while True" in boxes.nth(2).inner_text() and "MB" in boxes.nth(2).inner_text()
    page.screenshot(path=screenshots / "lab-ranks.png")
    first, said = boxes.nth(0).element_handle(), boxes.nth(0).inner_text()
    book.wait_until(lambda: boxes.nth(0).inner_text() != said, "the box is renewed")
    assert first.evaluate("box => box.isConnected"), "the box is the same element, so nothing flickers"

    boxes.nth(2).click()
    cell.get_by_role("button", name="Stack").click()
    book.wait_until(lambda: "while True" in text.inner_text(), "the stack of rank 2 is shown")
    page.screenshot(path=screenshots / "lab-ranks-stack.png")
    cell.get_by_role("button", name="Log").click()
    book.wait_until(lambda: "Completed registration" in text.inner_text(), "the log of rank 2 is shown")
    cell.get_by_role("button", name="Close").click()
    boxes.nth(2).click()
    cell.get_by_role("button", name="Interrupt").click()
    book.wait_done(1)
    assert "KeyboardInterrupt" in book.output(1)
    cell.get_by_role("button", name="Close").click()
    book.wait_until(lambda: cell.locator(".px-Ranks").count() == 0, "the boxes are gone")
    page.keyboard.press("Control+s")
    file = server[1] / "ranks.ipynb"
    book.wait_until(lambda: "KeyboardInterrupt" in file.read_text(), "the notebook is saved")
    assert "polyxeus.ranks" not in file.read_text()
    book.run(2)


def test_256_ranks_are_squares_and_the_odd_one_is_named_first(server, page, screenshots):
    book = opened_in_lab(server, page, "many-ranks", [MANY, "strip.close()"])
    book.run(0)
    cell = book.cells.nth(0)
    book.wait_until(lambda: cell.locator(".px-Rank").count() == 256, "each rank has a square")
    lines = cell.locator(".px-Ranks-group").all_inner_texts()
    assert len(lines) == 2 and lines[0].startswith("77") and "local = solve(mesh)" in lines[0], lines
    cell.locator(".px-Rank").nth(77).click()
    assert "Rank 77 on node1: runs for 9 s" in cell.locator(".px-Ranks-about").inner_text()
    page.screenshot(path=screenshots / "lab-ranks-256.png")
    assert cell.locator(".px-Ranks").bounding_box()["height"] < 200
    book.run(1)
    book.wait_until(lambda: cell.locator(".px-Ranks").count() == 0, "the boxes are gone")
