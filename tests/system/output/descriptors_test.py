"""What C code and child processes of an engine print: it is output of the cell that runs."""

import os
import signal

import ipyparallel as ipp
import pytest
from programs import wait_until
from running_cluster import connect


@pytest.fixture(scope="module", params=["local", "mpi"])
def cluster(request, new_cluster):
    """Two engines, without MPI or under mpiexec, which redirects what its ranks print."""
    cluster = new_cluster(request.param)
    cluster.start_controller()
    if request.param == "mpi":
        cluster.start_mpi_engines(2)
    else:
        cluster.start_engines(2)
    cluster.client(engines=2)
    return cluster


def listening(client):
    """ipyparallel's client does not wait until its subscription to output is active."""
    def hears():
        answer = client[:].execute("pass")
        answer.get(60)
        return answer.wait_for_output(1)

    wait_until(hears, "the client hears what engines publish")
    return client


@pytest.fixture
def rc(cluster):
    client = listening(cluster.client(engines=2))
    yield client
    client.close()


@pytest.fixture
def pair(own_cluster):
    """Two engines, without MPI, of this test alone."""
    cluster = own_cluster()
    cluster.start_controller()
    cluster.start_engines(2)
    return cluster, listening(cluster.client(engines=2))


def finish(answer):
    answer.get(60)
    assert answer.wait_for_output(60)
    return answer


def run(view, code):
    return finish(view.execute(code))


def late_stdout(rc, answer):
    """What was printed for a request after its end: the client begins a new record for it."""
    return rc.metadata[answer.msg_ids[0]]["stdout"]


def log_of(cluster):
    return "".join(engine.output() for engine in cluster.engines)


# ---------------------------------------------------------------- what belongs to the cell


def test_the_output_of_os_system_is_in_its_cell(rc):
    answer = run(rc[:], "import os\nprint('before')\nos.system('echo a')\nprint('after')")
    assert answer.stdout == ["before\na\nafter\n"] * 2


def test_what_c_prints_is_in_its_cell_in_the_order_of_the_program(rc):
    answer = run(rc[:], """
import ctypes, os
libc = ctypes.CDLL(None)
print(1)
libc.puts(b'2')
print(3)
libc.printf(b'4 ')
print(5)
os.write(1, b'6\\n')
print(7)
libc.printf(b'not even a newline')
""")
    assert answer.stdout == ["1\n2\n3\n4 5\n6\n7\nnot even a newline"] * 2


def test_the_two_streams_of_a_subprocess_are_in_its_cell(cluster, rc):
    answer = run(rc[:], """
import subprocess, sys
subprocess.run([sys.executable, '-c', 'import sys; print("out"); print("wr\\u00f6ng", file=sys.stderr)'])
""")
    assert answer.stdout == ["out\n"] * 2
    assert answer.stderr == ["wr\u00f6ng\n"] * 2
    wait_until(lambda: log_of(cluster).count("wr\u00f6ng") == 2, "the log has errors, too")


def test_the_output_of_c_code_in_a_function_of_apply_is_in_its_result(rc):
    @ipp.interactive
    def speak():
        import ctypes
        import os

        os.system("echo child")
        ctypes.CDLL(None).puts(b"C")
        return os.getpid()

    answer = rc[:].apply_async(speak)
    assert len(set(answer.get(60))) == 2
    finish(answer)
    assert answer.stdout == ["child\nC\n"] * 2


def test_a_child_that_outlives_its_cell_prints_in_it_and_in_the_log(cluster, rc, tmp_path):
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    answer = run(rc[0], "import subprocess\nchild = subprocess.Popen("
                        f"['sh', '-c', 'read line < {gate}; echo $line'])\nprint('started')")
    assert answer.stdout == "started\n"
    gate.write_text("a child after its cell\n")
    wait_until(lambda: late_stdout(rc, answer) == "a child after its cell\n", "the child is heard")
    wait_until(lambda: "a child after its cell" in log_of(cluster), "the log has it, too")
    run(rc[0], "child.wait()")


def test_a_thread_that_outlives_its_cell_prints_in_it(rc, tmp_path):
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    answer = run(rc[0], f"""
import os, threading
def late():
    open({str(gate)!r}).read()
    print('printed')
    os.write(1, b'written\\n')
thread = threading.Thread(target=late)
thread.start()
""")
    assert answer.stdout == ""
    gate.write_text("go")
    wait_until(lambda: late_stdout(rc, answer) == "printed\nwritten\n", "the thread is heard")
    run(rc[0], "thread.join()")


def test_forked_children_print_in_the_cell_and_their_end_changes_nothing(rc):
    answer = run(rc[:], """
import multiprocessing, os, sys
print('parent')
child = os.fork()
if child == 0:
    print('child')
    os._exit(0)
os.waitpid(child, 0)
worker = multiprocessing.get_context('fork').Process(target=print, args=('worker',))
worker.start()
worker.join()
os.system('echo grandchild')
print('parent again')
""")
    assert answer.stdout == ["parent\nchild\nworker\ngrandchild\nparent again\n"] * 2


def test_redirections_of_python_catch_what_python_prints(rc):
    answer = run(rc[0], """
import contextlib, io, os
with contextlib.redirect_stdout(io.StringIO()) as text:
    print('caught')
    os.system('echo seen')
print(repr(text.getvalue()))
""")
    assert answer.stdout == "seen\n'caught\\n'\n"
    run(rc[0], "%%capture kept\nprint('kept')")
    assert run(rc[0], "print(kept.stdout, end='')").stdout == "kept\n"


# ---------------------------------------------------------------- much of it


def test_lines_of_python_and_c_stay_in_order_and_in_their_cells(rc):
    count = 33_400
    code = """
import ctypes, os
puts = ctypes.CDLL(None).puts
for i in range({first}, {first} + {count}):
    print('p', i)
    os.write(1, b'o %d\\n' % i)
    puts(b'c %d' % i)
"""
    answers = [rc[:].execute(code.format(first=first, count=count)) for first in (0, count)]
    for first, answer in zip((0, count), answers):
        finish(answer)
        expected = "".join(f"p {i}\no {i}\nc {i}\n" for i in range(first, first + count))
        for text in answer.stdout:
            assert text == expected


def test_nothing_of_a_million_lines_is_lost(rc):
    answer = run(rc[:], "import os\nos.system('seq 1000000')\nprint('end')")
    expected = "".join(f"{i}\n" for i in range(1, 1_000_001)) + "end\n"
    for text in answer.stdout:
        assert text == expected


def test_lines_of_concurrent_writers_keep_the_order_of_each(rc):
    answer = run(rc[:], """
import os, subprocess, threading
loop = 'i=0; while [ $i -lt 20000 ]; do echo child $i; i=$((i+1)); done'
child = subprocess.Popen(['sh', '-c', loop])
def write():
    for i in range(20000):
        os.write(1, b'thread %d\\n' % i)
thread = threading.Thread(target=write)
thread.start()
for i in range(20000):
    print(f'main {i}\\n', end='')
thread.join()
child.wait()
""")
    for text in answer.stdout:
        lines = text.splitlines()
        for name in ("child", "thread", "main"):
            found = [int(line.split()[1]) for line in lines if line.startswith(name)]
            assert found == list(range(20000)), name
        assert len(lines) == 60000


def test_who_prints_more_than_the_controller_takes_waits(own_cluster, tmp_path):
    """100 MiB are more than an engine keeps. The client is ours: for each message that comes, ipyparallel's copies
    all that it has."""
    cluster = own_cluster()
    cluster.start_controller()
    cluster.start_engines(1)
    rc = connect(cluster.connection_file("client"), 1)
    progress, count = tmp_path / "progress", 1600
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    answer = rc[0].execute(
        f"import os\nopen({str(gate)!r}).read()\n"
        f"progress = os.open({str(progress)!r}, os.O_CREAT | os.O_WRONLY)\n"
        f"for i in range({count}):\n"
        "    print(str(i).ljust((1 << 16) - 1, 'x'))\n"
        "    written = os.write(progress, b'.')"
    )
    with open(gate, "w"):  # the cell runs
        cluster.controller.signal(signal.SIGSTOP)
    try:
        wait_until(progress.exists, "the cell prints")
        sizes = [-1, 0]

        def stands_still():
            sizes.append(progress.stat().st_size)
            return sizes[-1] == sizes[-2] > 0

        wait_until(stands_still, "the cell waits", interval=1)
        assert sizes[-1] < count, "nothing waited"
    finally:
        cluster.controller.signal(signal.SIGCONT)
    finish(answer)
    assert [int(line.rstrip("x")) for line in answer.stdout.splitlines()] == list(range(count))
    rc.close()


# ---------------------------------------------------------------- what is for the log


def test_what_an_engine_prints_at_its_start_and_its_log_are_no_output_of_cells(own_cluster):
    cluster = own_cluster()
    cluster.start_controller()
    cluster.start_engines(1, "-c", "import os; os.system('echo at the start')")
    rc = cluster.client(engines=1)
    answer = run(rc[0], "import logging\nlogging.getLogger('polyxeus').warning('for the log')")
    assert (answer.stdout, answer.stderr) == ("", "")
    cluster.engines[0].signal(signal.SIGTERM)
    cluster.engines[0].wait()
    log = log_of(cluster)
    assert "at the start\n" in log
    assert "for the log\n" in log
    assert "ending, as SIGTERM asks for" in log
    cluster.engines.clear()


def test_without_the_capture_c_code_prints_to_the_log(own_cluster):
    cluster = own_cluster()
    cluster.start_controller()
    cluster.start_engines(1, POLYXEUS_CAPTURE_DESCRIPTORS="0")
    rc = cluster.client(engines=1)
    answer = run(rc[0], "import os\nprint('for the cell')\nos.system('echo for the log')")
    assert answer.stdout == "for the cell\n"
    assert "for the log\n" in log_of(cluster)


CRASHES = {
    "segmentation fault": "ctypes.string_at(0)",
    "abort": "ctypes.CDLL(None).abort()",
    "exit": "ctypes.CDLL(None).exit(3)",
}


@pytest.mark.parametrize("way", CRASHES)
@pytest.mark.parametrize("launcher", ["local", "mpi"])
def test_the_last_words_of_an_engine_are_in_its_log(own_cluster, launcher, way):
    cluster = own_cluster()
    cluster.start_controller()
    cluster.start_engines(1) if launcher == "local" else cluster.start_mpi_engines(1)
    rc = cluster.client(engines=1)
    answer = rc[0].execute("import ctypes, os\nos.write(2, b'last words\\n')\n" + CRASHES[way])
    with pytest.raises(ipp.RemoteError, match="EngineError"):
        answer.get(60)
    (engine,) = cluster.engines
    engine.wait()
    assert "last words\n" in engine.output()
    if way != "exit":
        assert "Fatal Python error" in engine.output()
    cluster.engines.clear()


def test_the_log_says_which_rank_calls_abort_and_the_others_live_on(own_cluster):
    cluster = own_cluster()
    cluster.start_controller()
    world = cluster.start_mpi_engines(2)
    rc = cluster.client(engines=2)
    answer = rc[1].execute("from mpi4py import MPI\nMPI.COMM_WORLD.Abort(3)")
    with pytest.raises(ipp.RemoteError, match="Engine 1 died"):
        answer.get(60)
    said = "MPI_Abort was called on rank 1 of MPI_COMM_WORLD with code 3: this engine ends"
    assert said in world.output()
    assert rc[0].apply_sync(abs, -7) == 7
