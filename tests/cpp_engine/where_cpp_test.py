"""Who waits where: the MPI calls of C++ ranks."""

import subprocess
from contextlib import contextmanager
from queue import Empty

import pytest
from deadlines import wait_until

from cells import begin, run


@pytest.fixture
def waiting(rc, view):
    """Begins a cell in which these engines wait; gives what where() says then."""

    def wait(code, engines):
        result, _pids = begin(view, code)
        begun.append(result)

        def ask():
            places = rc.where()
            return places if all(places[engine]["mpi"] for engine in engines) else None

        return wait_until(ask, "they wait", 30)

    begun = []
    yield wait
    rc.interrupt(block=True)
    begun[0].wait(60)
    assert run(view, "MPI_Barrier(MPI_COMM_WORLD);")  # they are in step again


def test_ranks_that_wait_for_one_that_failed_are_told_with_their_call(waiting):
    places = waiting('if (mpi_rank == 2) throw std::runtime_error("no luck");\n'
                     "MPI_Barrier(MPI_COMM_WORLD);", [0, 1, 3])  # fmt: skip
    assert {places[rank]["mpi"]["call"] for rank in (0, 1, 3)} == {"MPI_Barrier"}
    assert {places[rank]["mpi"]["size"] for rank in (0, 1, 3)} == {4}
    assert len({places[rank]["mpi"]["communicator"] for rank in (0, 1, 3)}) == 1
    first, second, interrupts = str(places).splitlines()
    assert first.startswith("0, 1 and 3 in MPI_Barrier for ")
    assert second == "2 idle (its last cell raised std::runtime_error)"
    assert interrupts.startswith("0-3: interrupts of MPI calls: on (Open MPI v4")
    told = subprocess.run(["pxcluster", "where", "--profile=cpp"], capture_output=True, text=True,
                          timeout=60)  # fmt: skip
    assert told.stdout.startswith("0, 1 and 3 in MPI_Barrier for "), told.stderr


def test_a_receive_is_told_with_whom_it_waits_for(waiting):
    places = waiting("int got; if (mpi_rank == 0) MPI_Recv(&got, 1, MPI_INT, 1, 9, MPI_COMM_WORLD,\n"
                     "MPI_STATUS_IGNORE); if (mpi_rank == 3) MPI_Recv(&got, 1, MPI_INT,\n"
                     "MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);", [0, 3])  # fmt: skip
    lines = str(places).splitlines()
    assert lines[0].startswith("0 in MPI_Recv from rank 1 with tag 9 for ")
    assert lines[1] == "1 and 2 idle"
    assert lines[2].startswith("3 in MPI_Recv from any rank for ")


def test_ranks_that_wait_in_no_call_are_in_none(rc, view):
    run(view, "MPI_Barrier(MPI_COMM_WORLD);")

    def ask():
        places = rc.where()
        return None if "busy" in str(places) else places

    places = wait_until(ask, "they wait for the next cell", 30)
    assert [place["mpi"] for place in places] == [None] * 4
    idle, interrupts = str(places).splitlines()
    assert idle == "0-3 idle" and interrupts.startswith("0-3: interrupts of MPI calls: on (")


@contextmanager
def notebook():
    """The client of a Python notebook that drives the C++ ranks, and its kernel."""
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(kernel_name="python3", startup_timeout=60)
    try:
        client.execute_interactive("%load_ext polyxeus\n%pxconfig --profile=cpp", timeout=60)
        yield manager, client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
        manager.cleanup_resources()


def displays(client, cell, is_met):
    """The texts that the cell shows in its display of progress, until one is met."""
    texts = []

    def next_text():
        try:
            message = client.get_iopub_msg(timeout=0.1)
        except Empty:
            return None
        if message["parent_header"].get("msg_id") == cell and "data" in message["content"]:
            texts.append(message["content"]["data"].get("text/plain", ""))
        return texts and is_met(texts[-1])

    wait_until(next_text, "the cell shows it", 60, 0)
    return texts


def stop(manager, client, cell):
    """Interrupts the kernel; the cell has ended on all ranks on return."""
    manager.interrupt_kernel()

    def has_ended():
        try:
            return client.get_shell_msg(timeout=0.1)["parent_header"].get("msg_id") == cell
        except Empty:
            return False

    wait_until(has_ended, "the cell ends", 60, 0)
    displays(client, cell, lambda text: "waiting: " not in text)


def test_a_cell_whose_ranks_wait_says_so_by_itself(running):
    with notebook() as (manager, client):
        cell = client.execute("%%px\nif (mpi_rank != 2) MPI_Barrier(MPI_COMM_WORLD);")
        shown = displays(client, cell, lambda text: "waiting: " in text)[-1].splitlines()
        assert shown[0].startswith("waiting: 0, 1 and 3 in MPI_Barrier for ")
        assert shown[0].endswith("; 2 idle")
        stop(manager, client, cell)


def test_a_cell_names_the_function_in_which_a_rank_computes_for_long(running):
    with notebook() as (manager, client):
        cell = client.execute("%%px\n[[gnu::noinline]] void grow() {\n  for (volatile double y = 0;;) y = y + 1;\n}\n"
                              "if (mpi_rank != 2) MPI_Barrier(MPI_COMM_WORLD); else grow();")  # fmt: skip
        line = displays(client, cell, lambda text: "waiting: " in text)[-1].splitlines()[0]
        assert line.startswith("waiting: 2 busy for "), line
        assert ", seen in grow" in line and "; 0, 1 and 3 in MPI_Barrier for " in line
        stop(manager, client, cell)
