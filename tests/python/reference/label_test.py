from ipyparallel.tests.test_label import *  # noqa: F401,F403
