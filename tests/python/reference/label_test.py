import pytest

pytest.importorskip("ipyparallel.tests.test_label", reason="ipyparallel has these tests since 9.1")

from ipyparallel.tests.test_label import *  # noqa: E402,F401,F403
