from ipyparallel.tests.test_executor import *  # noqa: F401,F403
