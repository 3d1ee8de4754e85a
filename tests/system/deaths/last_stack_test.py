"""A C++ engine that a signal ends tells where it was; one whose cell crashes lives on and tells it, too."""

import re

import polyxeus
import pytest
from programs import PATIENCE
from running_cluster import connect

# In a thread of the C library: nobody guards it, as those that cells start.
IN_A_THREAD = """
#include <csignal>
#include <ctime>
#include <unistd.h>
[[gnu::noinline]] void write_to(int* place) {{ *const_cast<volatile int*>(place) = 1; }}
sigevent event{{}};
event.sigev_notify = SIGEV_THREAD;
event.sigev_notify_function = [](sigval) {{
  sigset_t all;  // the C library blocks them there
  sigfillset(&all);
  pthread_sigmask(SIG_UNBLOCK, &all, nullptr);
  {}
}};
timer_t timer;
timer_create(CLOCK_MONOTONIC, &event, &timer);
itimerspec soon{{{{0, 0}}, {{0, 1000}}}};
timer_settime(timer, 0, &soon, nullptr);
for (;;) pause();
"""
FREES_TWICE = """
#include <cstdlib>
void* volatile piece = std::malloc(5000);
void* volatile behind = std::malloc(16);
std::free(piece);
std::free(piece);
"""
CRASH = IN_A_THREAD.format("write_to(nullptr);")


def error_of(answer):
    with pytest.raises(polyxeus.RemoteError) as raised:
        answer.get(PATIENCE)
    return raised.value


@pytest.fixture
def world(own_cluster, mpiexec):
    cluster = own_cluster()
    cluster.start_controller()
    launcher = cluster.start_mpi_engines(2, "--language=cpp", mpiexec=mpiexec)
    return launcher, connect(cluster.connection_file("client"), 2)


def test_the_reason_of_death_has_the_last_calls(world):
    launcher, rc = world
    error = str(error_of(rc[1].execute(CRASH)))
    assert "its process, MPI rank 1, was killed by SIGSEGV" in error
    assert "last calls before SIGSEGV at address 0x0" in error
    lines = re.findall(r"^    \|   (.*)$", error, re.M)
    assert lines[0] == "write_to(int*) (cell)" and "code of cell" in lines, error
    assert any(re.search(r"libc\.so\.6\+0x[0-9a-f]+$", line) for line in lines), error
    assert "last calls before SIGSEGV at address 0x0" in launcher.output()
    assert rc[0].pull("mpi_rank").get(PATIENCE) == 0


def test_an_abort_outside_of_cells_has_its_calls_too(world):
    _, rc = world
    error = str(error_of(rc[1].execute(IN_A_THREAD.format("throw 1;"))))
    assert "was killed by SIGABRT" in error and "last calls before SIGABRT" in error
    assert re.search(r"libstdc\+\+\.so\.6[.0-9]*\+0x", error)


def test_a_damaged_heap_ends_the_engine_and_is_told(world):
    _, rc = world
    error = str(error_of(rc[1].execute(FREES_TWICE)))
    assert "its process, MPI rank 1, was killed by SIGABRT" in error
    assert "last calls before SIGABRT" in error and "code of cell" in error
    assert "memory was written outside of its bounds or freed twice" in error
    assert rc[0].pull("mpi_rank").get(PATIENCE) == 0


def test_a_crash_of_a_cell_names_the_lines_that_led_to_it(world):
    _, rc = world
    rc[0].execute("void write_to(int* place) { *const_cast<volatile int*>(place) = 1; }").get(PATIENCE)
    error = error_of(rc[0].execute("int* nowhere = nullptr;\nwrite_to(nowhere);", silent=False))
    assert error.ename == "Crashed"
    text = "\n".join(error.traceback) if isinstance(error.traceback, list) else str(error.traceback)
    assert "line 2" in text and "write_to(nowhere);" in text
    assert rc[0].pull("mpi_rank").get(PATIENCE) == 0


def test_an_engine_without_mpi_tells_its_last_calls_too(stage, cluster_cmd):
    def run(verb, *options):
        done = stage.run([*cluster_cmd, verb, "--profile=alone", *options])
        assert done.returncode == 0, done.stdout + done.stderr

    run("start", "-n", "1", "--language=cpp", "--daemonize")
    rc = connect(stage.ipython_dir / "profile_alone" / "security" / "ipcontroller-client.json", 1)
    error = str(error_of(rc[0].execute(CRASH)))
    assert "was killed by SIGSEGV" in error
    assert "| last calls before SIGSEGV at address 0x0" in error and "write_to(int*) (cell)" in error
    run("stop")
