"""The boxes of the ranks below a cell that runs: what the kernel tells JupyterLab."""

from conftest import RANKS


def wait_for(flag):
    return f"import os, time\nwhile not os.path.exists({str(flag)!r}): time.sleep(0.01)"


def ids(message):
    return [each["id"] for each in message["content"].get("data", {}).get(RANKS, {}).get("boxes", ())]


def all_wait(message):
    """Whether the message says of all four ranks that they wait for the flag, and how much memory they have."""
    boxes = message["content"].get("data", {}).get(RANKS, {}).get("boxes", ())
    return len(boxes) == 4 and all(
        "while not os.path.exists" in each.get("line", "") and each.get("memory", 0) > 1e6 for each in boxes)


def test_a_cell_that_runs_long_tells_its_ranks_and_leaves_no_output(notebook, tmp_path):
    flag = tmp_path / "go"
    notebook.ok("%pxconfig --ranks-after 0.2 --progress-after -1")
    message_id, seen = notebook.begin(f"%%px\n{wait_for(flag)}"), []
    notebook.await_message(message_id, seen, all_wait)
    running = seen[-1]["content"]["data"][RANKS]
    flag.touch()
    cell = notebook.end(message_id, seen)
    last = cell.ranks[-1]
    assert [each["id"] for each in running["boxes"]] == [0, 1, 2, 3]
    assert {each["state"] for each in running["boxes"]} == {"busy"}
    assert [each["ranks"] for each in running["groups"]] == ["0-3"]
    assert last["ended"] and len(last["cluster"]) == 16
    assert cell.contents("display_data") == [] and cell.contents("update_display_data") == []


def test_only_the_targets_have_boxes_and_minus_one_is_never(notebook, tmp_path):
    flag = tmp_path / "go"
    notebook.ok("%pxconfig --ranks-after 0")
    message_id, seen = notebook.begin(f"%%px -t 1\n{wait_for(flag)}"), []
    notebook.await_message(message_id, seen, lambda message: ids(message) == [1])
    flag.touch()
    assert notebook.end(message_id, seen).ranks[-1]["ended"]
    notebook.ok("%pxconfig --ranks-after -1")
    assert notebook.ok("%%px\nimport time\ntime.sleep(1.5)").ranks == []
