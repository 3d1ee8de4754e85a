"""Runs notebooks of notebooks/ from top to bottom as they stand, each with a cluster that it starts and stops."""

import os
import sys
from pathlib import Path

import nbclient
import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = ROOT / "notebooks"
sys.path.insert(0, str(ROOT / "tests" / "system"))

import programs  # noqa: E402


@pytest.fixture
def stage(tmp_path, monkeypatch):
    """An empty home for all that Jupyter, IPython and the cluster write; nothing outlives it."""
    stage = programs.Stage(tmp_path)
    environment = stage.environment(HOME=tmp_path / "home", JUPYTER_RUNTIME_DIR=tmp_path / "run")
    del environment["MPLBACKEND"]  # as in a real Jupyter: the kernel chooses it
    for name in set(os.environ) - set(environment):
        monkeypatch.delenv(name)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    yield stage
    left_behind = stage.close()
    assert not left_behind, "processes outlived their notebook:\n" + "\n".join(left_behind)


def execute(name, kernel, timeout=120):
    """The text that the cells of notebooks/NAME.ipynb have shown. timeout: seconds for a cell"""
    path = NOTEBOOKS / f"{name}.ipynb"
    book = nbformat.read(path, as_version=4)
    for cell in book.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    client = nbclient.NotebookClient(
        book, timeout=timeout, kernel_name=kernel, resources={"metadata": {"path": str(path.parent)}})
    client.execute()
    text = ""
    for cell in book.cells:
        for output in cell.get("outputs", []):
            # A line of a stream may come in several messages.
            is_stream = output["output_type"] == "stream"
            text += output["text"] if is_stream else "\n"
            text += output.get("data", {}).get("text/plain", "")
            text += "\n".join(output.get("traceback", []))
        text += "\n"
    return text
