"""Our notebooks run from top to bottom as they stand, each with a cluster that it starts and stops."""

import os
import sys
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).resolve().parents[2] / "scripts")]

import run_notebooks  # noqa: E402
from running_notebooks import NOTEBOOKS, execute, stage  # noqa: E402, F401


@pytest.fixture
def debian_torch(tmp_path, monkeypatch):
    """Debian's PyTorch, and nothing else of Debian's Python packages, for the kernel and engines."""
    links = run_notebooks.link_debian_torch(tmp_path / "torch")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(
        filter(None, [os.environ.get("PYTHONPATH"), str(links)])))


@pytest.mark.parametrize("name, told", [
    ("first_steps", "engine 2 says ZeroDivisionError"),
    ("psum", "the numbers agree"),
    ("heat_equation", "the same plate"),
    ("monte_carlo", "came home"),
    ("debugging", "division by zero"),
    ("when_one_rank_fails", "the field is whole again"),
    ("stop_look_go_on", "all ranks went on, the sum is 159"),
    ("save_and_go_on", "two ranks have what four ranks had"),
])
def test_a_story_runs_in_our_kernel(stage, name, told):
    assert told in execute(name, "pxpython")


@pytest.mark.parametrize("name, kernel, told", [
    ("heat_equation_cpp", "pxpython", ["the same plate", "all ranks agree", "four C++ ranks"]),
    ("own_cmake_library", "pxpython", ["the product is right", "tuned, and still right"]),
    ("pi_by_ranks", "pxcpp", ["the order is two", "four ranks agree on pi"]),
    ("teaching_mpi", "pxcpp", ["the token came back as 6", "in MPI_Ssend", "{30, 0, 10, 20}",
                               "which rank 2 had not reached", "MPI_ERR_RANK",
                               "all ranks know the sum, 210", "four ranks, one file"]),
])
def test_a_story_in_cpp_runs(stage, name, kernel, told):
    text = execute(name, kernel)
    assert [each for each in told if each not in text] == [], text


def test_the_first_steps_run_in_ipykernel_as_well(stage):
    assert "engine 2 says ZeroDivisionError" in execute("first_steps", "python3")


def test_the_training_story_runs_on_debians_torch(stage, debian_torch):
    told = execute("data_parallel_training", "pxpython")
    assert "equal on all ranks" in told
    assert "token 42.0 total 6.0" in told


def test_every_notebook_has_a_test():
    tested = {"first_steps", "psum", "heat_equation", "monte_carlo", "debugging",
              "data_parallel_training", "heat_equation_cpp", "own_cmake_library", "pi_by_ranks",
              "teaching_mpi", "when_one_rank_fails", "stop_look_go_on", "save_and_go_on"}
    assert {path.stem for path in NOTEBOOKS.glob("*.ipynb")} == tested
