"""The examples of ipyparallel's documentation end on polyxeus as with ipyparallel.

They are in ipyparallel's source on PyPI, and in no wheel: scripts/ipyparallel_source unpacks it in build/. $PX_IPYPARALLEL_SOURCE
names a folder with the source in its place.

endings.json says how each cell ends with ipyparallel; run_examples.py FOLDER NAME ... --way original --record adds an example.
Where polyxeus ends in another way, ipyparallel runs the example once more, with the libraries that are installed here: newer
ones may end it in another way than they did when it was recorded.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import run_examples  # noqa: E402
from example_list import GROUPS, LEFT_OUT  # noqa: E402

ROOT = HERE.parents[1]
ENDINGS = json.loads((HERE / "endings.json").read_text())
EXAMPLES = [example for examples in GROUPS.values() for example in examples]


@pytest.fixture(scope="session")
def folder():
    """Of the examples."""
    source = os.environ.get("PX_IPYPARALLEL_SOURCE")
    if not source:
        done = subprocess.run([ROOT / "scripts/ipyparallel_source"], capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stdout + done.stderr
        source = done.stdout.strip()
    return Path(source, "docs/source/examples")


@pytest.mark.parametrize("way", ["client", "package"])
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: each.path)
def test_an_example_ends_as_with_the_original(folder, example, way):
    assert run_examples.missing(example) == []
    found, said = run_examples.run(example, way, folder)
    if run_examples.differences(example, ENDINGS[example.path], found):
        original, _ = run_examples.run(example, "original", folder)
        assert run_examples.differences(example, original, found) == [], said


def test_each_example_runs_or_has_a_reason_why_not(folder):
    files = {str(file.relative_to(folder)) for file in folder.rglob("*") if file.suffix in (".py", ".ipy", ".ipynb")}
    assert sorted(files) == sorted([example.path for example in EXAMPLES] + list(LEFT_OUT))
