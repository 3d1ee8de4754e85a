from ipyparallel.tests.test_client import *  # noqa: F401,F403
