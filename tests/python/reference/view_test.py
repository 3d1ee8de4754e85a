from ipyparallel.tests.test_view import *  # noqa: F401,F403
