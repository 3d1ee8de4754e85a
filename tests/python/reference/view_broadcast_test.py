from ipyparallel.tests.test_view_broadcast import *  # noqa: F401,F403
