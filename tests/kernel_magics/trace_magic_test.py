"""%%px --trace: a file of what the engines did in a cell."""

import json


def engines_with(path, name):
    """The names of the processes that have a slice of this name."""
    events = json.loads(path.read_text())["traceEvents"]
    processes = {each["pid"]: each["args"]["name"] for each in events if each["name"] == "process_name"}
    return sorted(processes[each["pid"]].split(" on ")[0] for each in events
                  if each["ph"] == "X" and each["name"] == name and each["cat"] != "queue")  # fmt: skip


def test_a_cell_with_trace_leaves_a_file_with_a_track_for_each_engine(notebook, tmp_path):
    path = tmp_path / "run.json"
    cell = notebook.ok(f"%%px --trace={path}\nimport time\ntime.sleep(0.2)")
    assert cell.text().splitlines()[-1].startswith(f"{path}: ")
    engines = [f"engine {number}" for number in range(4)]
    assert engines_with(path, "import time") == ["client"] * 4 + ["controller"] * 4 + engines
    assert engines_with(path, "%%px") == ["client"]


def test_a_cell_that_fails_leaves_its_trace_too(notebook, tmp_path):
    path = tmp_path / "run.json"
    cell = notebook.run(f'%%px --trace "{path}"\n1 / 0')
    assert cell.status == "error"
    assert f"{path}: " in cell.text()
    assert len(engines_with(path, "1 / 0")) == 12


def test_a_file_that_cannot_be_written_is_said_before_the_cell_runs(notebook, tmp_path):
    cell = notebook.run(f"%%px --trace={tmp_path}/nowhere/run.json\nwas_traced = True")
    assert "there is no folder" in cell.error
    assert "True" not in notebook.text("%px print('was_traced' in globals())")
