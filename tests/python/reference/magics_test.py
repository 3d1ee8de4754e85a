from ipyparallel.tests.test_magics import *  # noqa: F401,F403
