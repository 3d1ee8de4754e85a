"""A task that keeps its engine busy for as long as a test wants."""

import ipyparallel as ipp


@ipp.interactive
def work_while(path):
    """Keeps its engine busy until the file `path` is gone; `path`.began is there when it has begun."""
    import os
    import time

    open(path + ".began", "w").close()
    while os.path.exists(path):
        time.sleep(0.01)
