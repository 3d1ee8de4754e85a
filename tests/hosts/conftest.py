"""Fixtures of the tests on several hosts; bed.py says what a bed is. Without one they are skipped."""

import sys
from pathlib import Path

import deadlines
import pytest

sys.path.insert(0, str(Path(__file__).parent))

import bed as beds  # noqa: E402

TIME_LIMIT = 240  # seconds for one test: one cuts a connection for a minute


def pytest_collection_modifyitems(items):
    reason = beds.why_not()
    for item in items:
        if reason and Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(autouse=True)
def time_limit():
    """No test waits for ever."""
    with deadlines.time_limit(TIME_LIMIT):
        yield


@pytest.fixture(scope="module")
def make_bed(tmp_path_factory, request):
    """Makes beds of any size for one module, each down at its end: `make_bed(2)`."""
    made = []

    def make(count=3, **options):
        folder = tmp_path_factory.mktemp(request.module.__name__.rpartition(".")[2])
        folder.chmod(0o755)
        bed = beds.Bed(folder)
        made.append(bed)
        return bed.up(count, **options)

    yield make
    for bed in reversed(made):
        bed.down()


@pytest.fixture(scope="module")
def bed(make_bed):
    """Three hosts, shared by the tests of a module: one that plants a fault must heal it."""
    return make_bed(3)


@pytest.fixture
def own_bed(make_bed):
    """Three hosts for one test, for faults that cannot be healed."""
    bed = make_bed(3)
    yield bed
    bed.down()
