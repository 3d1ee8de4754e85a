"""The stories that we show: the demo and the notebooks run as they stand."""

import sys
from pathlib import Path

import nbclient
import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_the_demo_runs_and_its_numbers_agree(
    stage, controller_cmd, engine_cmd, cluster_cmd, mpiexec
):
    done = stage.run([sys.executable, ROOT / "scripts" / "demo.py"], timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the numbers agree" in done.stdout


@pytest.mark.parametrize(
    "notebook", sorted(path.name for path in (ROOT / "notebooks").glob("*.ipynb"))
)
def test_a_notebook_runs_from_top_to_bottom(stage, mpi_cluster, notebook, monkeypatch):
    """Its kernel finds the cluster as a person's would: by the profile in IPYTHONDIR."""
    for name, value in stage.environment(PX_PROFILE=mpi_cluster.profile).items():
        monkeypatch.setenv(name, value)
    book = nbformat.read(ROOT / "notebooks" / notebook, as_version=4)
    assert not any(cell.get("outputs") for cell in book.cells), "clear its outputs before a commit"
    client = nbclient.NotebookClient(
        book,
        timeout=120,
        kernel_name="python3",
        resources={"metadata": {"path": str(ROOT / "notebooks")}},
    )
    client.execute()
    shown = "".join(
        output.get("text", "") for cell in book.cells for output in cell.get("outputs", [])
    )
    assert "the numbers agree" in shown
