from ipyparallel.tests.test_lbview import *  # noqa: F401,F403
