"""The file with the cells of a notebook that ran on engines."""

import json
import stat

import pytest

from polyxeus.magics.cell_output import KernelEnds
from polyxeus.magics.cell_records import CellRecords


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "notebooks"


def test_a_cell_is_kept_while_it_runs_and_after(folder):
    records = CellRecords("/home/ann/heat equation.ipynb", str(folder))
    with records.running(3, "id-3", "\n\nsolve()\nmore", "s1") as label:
        assert label == "heat_equation.ipynb:3"
        (seen,) = CellRecords("/home/ann/heat equation.ipynb", str(folder)).all()
        assert (seen["number"], seen["cell"], seen["text"], seen["session"], seen["ended"]) == (3, "id-3", "solve()", "s1", None)
    assert records.of(3)["ended"] > 0 and records.of(4) is None
    (file,) = folder.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_failed_cell_is_done_and_one_of_an_ended_kernel_is_not(folder):
    records = CellRecords("a.ipynb", str(folder))
    with pytest.raises(ZeroDivisionError), records.running(1, None, "1/0", "s1"):
        raise ZeroDivisionError
    dead = records.running(2, None, "f()", "s1")
    dead.__enter__()
    assert [each["ended"] is not None for each in records.all()] == [True, False]
    with pytest.raises(KernelEnds), records.shown(records.of(2)):
        raise KernelEnds
    assert [each["ended"] is not None for each in records.all()] == [True, False]
    with records.shown(records.of(2)):
        pass
    assert [each["ended"] is not None for each in records.all()] == [True, True]


def test_the_latest_run_of_a_number_counts_and_old_records_are_dropped(folder):
    records = CellRecords("a.ipynb", str(folder))
    for number in range(30):
        with records.running(number % 29, None, f"cell {number}", f"s{number // 29}"):
            pass
    assert len(records.all()) == 20 and records.of(0)["text"] == "cell 29" and records.of(1) is None


def test_notebooks_have_files_of_their_own_and_without_a_name_there_is_none(folder):
    for name in ("a/x.ipynb", "b/x.ipynb"):
        with CellRecords(name, str(folder)).running(1, None, name, "s"):
            pass
    assert CellRecords("a/x.ipynb", str(folder)).of(1)["text"] == "a/x.ipynb" and len(list(folder.iterdir())) == 2
    assert not CellRecords("", str(folder)).is_kept and CellRecords("", str(folder)).all() == []


@pytest.mark.parametrize("content", ["", "{", "{}", json.dumps(["x"])])
def test_a_damaged_file_counts_as_empty(folder, content):
    records = CellRecords("a.ipynb", str(folder))
    with records.running(1, None, "x", "s"):
        pass
    (file,) = folder.iterdir()
    file.write_text(content)
    assert records.all() == []


def test_a_folder_that_cannot_be_written_does_not_stop_a_cell(tmp_path):
    (tmp_path / "file").touch()
    with CellRecords("a.ipynb", str(tmp_path / "file")).running(1, None, "x", "s") as label:
        assert label == "a.ipynb:1"
