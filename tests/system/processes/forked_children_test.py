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


def exit_code_of(view, pid):
    return view.apply_async(status_of, pid).get(PATIENCE)


def run_in_child(view, code):
    """The result of a cell that runs this line in a forked child, and the exit code of the child."""
    cell = view.execute(
        f"import os\npid = os.fork()\nif pid == 0: {code}\n"
        "else: os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)",
        silent=False,
    )
    cell.get(PATIENCE)
    cell.wait_for_output(PATIENCE)
    return cell, exit_code_of(view, view["pid"])


def test_a_child_of_a_cell_ends_with_it_and_prints_for_its_parent(local_rc):
    cell, exit_code = run_in_child(local_rc[0], "print('of the child')")
    assert cell.stdout == "of the child\n"
    assert exit_code == 0


def test_a_child_tells_its_error_on_stderr_alone(local_rc):
    cell, exit_code = run_in_child(local_rc[0], "1/0")
    assert "ZeroDivisionError" in cell.stderr
    assert exit_code == 1


@pytest.mark.parametrize("submit", ["apply_async", "map_async"])
def test_a_child_of_a_function_ends_with_it(local_rc, submit):
    view = local_rc[0]
    if submit == "apply_async":
        pid = view.apply_async(fork).get(PATIENCE)
    else:
        (pid,) = view.map_async(fork_for, [0]).get(PATIENCE)
    assert exit_code_of(view, pid) == 0
