"""A child that user code forks ends where that code ends; its parent alone serves requests."""

import ipyparallel as ipp
import pytest
from programs import PATIENCE


@ipp.interactive
def fork():
    import os

    return os.fork()


@ipp.interactive
def fork_for(item):
    import os

    return os.fork()


@ipp.interactive
def status_of(pid):
    import os

    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_a_child_of_a_cell_ends_with_it_and_prints_for_its_parent(local_rc):
    view = local_rc[0]
    cell = view.execute("import os\npid = os.fork()\nif pid == 0: print('of the child')\nelse: os.waitid(os.P_PID, "
                        "pid, os.WEXITED | os.WNOWAIT)", silent=False)
    cell.get(PATIENCE)
    cell.wait_for_output(PATIENCE)
    assert cell.stdout == "of the child\n"
    assert view.apply_async(status_of, view["pid"]).get(PATIENCE) == 0


def test_a_child_tells_its_error_on_stderr_alone(local_rc):
    view = local_rc[0]
    cell = view.execute("import os\npid = os.fork()\nif pid == 0: 1/0\nelse: os.waitid(os.P_PID, "
                        "pid, os.WEXITED | os.WNOWAIT)", silent=False)
    cell.get(PATIENCE)
    cell.wait_for_output(PATIENCE)
    assert "ZeroDivisionError" in cell.stderr
    assert view.apply_async(status_of, view["pid"]).get(PATIENCE) == 1


@pytest.mark.parametrize("submit", ["apply_async", "map_async"])
def test_a_child_of_a_function_ends_with_it(local_rc, submit):
    view = local_rc[0]
    if submit == "apply_async":
        pid = view.apply_async(fork).get(PATIENCE)
    else:
        (pid,) = view.map_async(fork_for, [0]).get(PATIENCE)
    assert view.apply_async(status_of, pid).get(PATIENCE) == 0
