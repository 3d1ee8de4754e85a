import pytest
from ipyparallel.tests.test_cluster import *  # noqa: F401,F403

pytestmark = [pytest.mark.asyncio, pytest.mark.filterwarnings("ignore:.*not an async function")]
