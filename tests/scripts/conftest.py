"""The tests of what is in scripts/."""

import sys
from pathlib import Path

import deadlines
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

TIME_LIMIT = 300  # seconds for one test; some start pytest or CMake several times


@pytest.fixture(autouse=True)
def time_limit():
    """No test waits for ever."""
    with deadlines.time_limit(TIME_LIMIT):
        yield


@pytest.fixture
def shop(tmp_path):
    """An empty project in which groups of tests run."""
    from test_runner.programs import Workshop

    shop = Workshop(tmp_path)
    yield shop
    shop.stop()
    shop.close(keep=())
