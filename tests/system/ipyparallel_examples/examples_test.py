"""The examples of ipyparallel's documentation end on polyxeus as with ipyparallel, where their source is at hand.

$PX_IPYPARALLEL_SOURCE names the folder of ipyparallel's source, unpacked; else build/ipyparallel-9.2.0:

    pip download --no-deps --no-binary ipyparallel ipyparallel==9.2.0 -d build && tar xzf build/ipyparallel-9.2.0.tar.gz -C build

endings.json says how each cell ends with ipyparallel, of those examples that take seconds: run_examples.py EXAMPLES NAME ... --way original
--record adds one. All of them run by run_examples.py.
"""

import json
import os
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import run_examples  # noqa: E402

ROOT = HERE.parents[2]
SOURCE = Path(os.environ.get("PX_IPYPARALLEL_SOURCE", ROOT / "build/ipyparallel-9.2.0"))
EXAMPLES = SOURCE / "docs/source/examples"
ENDINGS = json.loads((HERE / "endings.json").read_text())


@pytest.mark.skipif(not EXAMPLES.is_dir(), reason=f"ipyparallel's source is not in {SOURCE}: see the text of this file")
@pytest.mark.parametrize("way", ["client", "package"])
@pytest.mark.parametrize("example", [each for _, each in run_examples.chosen(ENDINGS)], ids=lambda each: each.path)
def test_an_example_ends_as_with_the_original(example, way):
    if run_examples.missing(example):
        pytest.skip(f"needs {', '.join(run_examples.missing(example))}")
    found, said = run_examples.run(example, way, EXAMPLES)
    assert run_examples.differences(ENDINGS[example.path], found) == [], said
