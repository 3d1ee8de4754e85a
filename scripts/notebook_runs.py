"""The notebooks, and where each lies as it was run for the documentation site."""

import hashlib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "notebooks"
RUN = ROOT / "build/docs/notebooks"


def sources():
    """Those of notebooks/torch, which need PyTorch of PyPI, behind the others."""
    return [*sorted(SOURCES.glob("*.ipynb")), *sorted(SOURCES.glob("torch/*.ipynb"))]


def name_of(source):
    """Its path below notebooks/, without the suffix."""
    return source.relative_to(SOURCES).with_suffix("").as_posix()


def digest(source):
    """Of a notebook's file: kept with what was run, to tell whether it has changed since."""
    return hashlib.sha256(source.read_bytes()).hexdigest()
