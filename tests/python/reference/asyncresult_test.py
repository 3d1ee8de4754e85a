from ipyparallel.tests.test_asyncresult import *  # noqa: F401,F403
