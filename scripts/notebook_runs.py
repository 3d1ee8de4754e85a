"""The notebooks, and whether what they show was made by the cells that they have now."""

import hashlib
import json
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "notebooks"


def sources():
    """Those of notebooks/torch, which need PyTorch of PyPI, behind the others."""
    return [*sorted(SOURCES.glob("*.ipynb")), *sorted(SOURCES.glob("torch/*.ipynb"))]


def name_of(source):
    """Its path below notebooks/, without the suffix."""
    return source.relative_to(SOURCES).with_suffix("").as_posix()


def digest(book):
    """Of the code of a notebook: kept with its outputs, to tell whether it has changed since it was run."""
    code = ["".join(cell["source"]) for cell in book["cells"] if cell["cell_type"] == "code"]
    return hashlib.sha256(json.dumps(code).encode()).hexdigest()[:16]


def was_run(book):
    """Whether its outputs are those of its code."""
    return book["metadata"].get("ran") == digest(book)
