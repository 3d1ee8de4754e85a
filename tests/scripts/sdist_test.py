"""The source distribution holds what a build needs."""

import subprocess
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OF_DEVELOPERS = (".ci/",)  # not for those who build


def test_the_source_distribution_has_all_tracked_files(tmp_path):
    code = f"from scikit_build_core.build import build_sdist; print(build_sdist({str(tmp_path)!r}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    name = done.stdout.split()[-1]
    with tarfile.open(tmp_path / name) as archive:
        held = {each.partition("/")[2] for each in archive.getnames()}
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    wanted = {each for each in tracked.splitlines()
              if (ROOT / each).exists() and not each.startswith(OF_DEVELOPERS)}  # fmt: skip
    assert len(wanted) > 500
    assert wanted - held == set()
    assert [each for each in held if each.startswith(("build/", "dist/", ".venv/", "labextension/node_modules/", "dashboard/node_modules/"))] == []
