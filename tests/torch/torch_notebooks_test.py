"""The notebooks of notebooks/torch: frameworks in cells, unmodified, with the loss of one process."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "notebooks"))

from running_notebooks import NOTEBOOKS, execute, stage  # noqa: E402, F401

TOLD = {
    "accelerate": "four ranks and one process agree",
    "ddp": "four ranks and one process agree",
    "dtensor": "four ranks and one process agree",
    "fabric": "four ranks and one process agree",
    "fsdp2": "four ranks and one process agree",
    "jax": "four processes and one agree",
    "trainer": "four ranks and one process agree",
}


@pytest.mark.parametrize("name", TOLD)
def test_a_framework_runs_unmodified_and_trains_as_one_process_does(stage, name):  # noqa: F811
    assert TOLD[name] in execute(f"torch/{name}", "pxpython", timeout=280)


def test_every_notebook_of_torch_has_a_test():
    assert {path.stem for path in (NOTEBOOKS / "torch").glob("*.ipynb")} == set(TOLD)
