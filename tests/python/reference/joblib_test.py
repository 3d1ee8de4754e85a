from ipyparallel.tests.test_joblib import *  # noqa: F401,F403
