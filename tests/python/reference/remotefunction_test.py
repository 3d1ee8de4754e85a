from ipyparallel.tests.test_remotefunction import *  # noqa: F401,F403
