from ipyparallel.tests.test_dependency import *  # noqa: F401,F403
