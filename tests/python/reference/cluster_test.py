from ipyparallel.tests.test_cluster import *  # noqa: F401,F403
