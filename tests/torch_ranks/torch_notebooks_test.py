"""The notebooks of notebooks/torch: frameworks in cells, unmodified, with the loss of one process."""

import re
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
def test_ranks_train_as_one_process_does(stage, name):  # noqa: F811
    text = execute(f"torch/{name}", "pxpython", timeout=280)
    assert TOLD[name] in text, text


def test_a_broken_training_is_stopped_and_goes_on(stage):  # noqa: F811
    text = execute("torch/train", "pxpython", timeout=280)
    for told in ("0, 1 and 3 in all_reduce", "KeyboardInterrupt: in all_reduce, which rank 2 had not reached", "as if nothing had been"):
        assert told in re.sub(r"\x1b\[[0-9;]*m", "", text), text


def test_every_notebook_of_torch_has_a_test():
    assert {path.stem for path in (NOTEBOOKS / "torch").glob("*.ipynb")} == {*TOLD, "train"}
