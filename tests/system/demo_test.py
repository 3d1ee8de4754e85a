"""The story that we show first: the demo runs as it stands."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_demo_runs_and_its_numbers_agree(
    stage, controller_cmd, engine_cmd, cluster_cmd, mpiexec
):
    done = stage.run([sys.executable, ROOT / "scripts" / "demo.py"], timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the numbers agree" in done.stdout
    for client in ("ipyparallel", "polyxeus"):
        assert f"cubes by {client}'s client: 249,500,250,000 in" in done.stdout
