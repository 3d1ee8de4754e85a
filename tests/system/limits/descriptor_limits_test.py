"""Programs with few file descriptors: each works, or ends with a sentence that says so; none aborts or
hangs, and those who are connected are served.

PX_EVERY_LIMIT=1 tries every limit from 40 to 400, PX_EVERY_LIMIT=7 every seventh.
"""

import contextlib
import os
import shlex
import signal
import socket
import sys
import textwrap

import deadlines
import polyxeus as px
import programs
import pytest
from kernels import Kernel
from programs import PATIENCE, wait_until
from running_cluster import connect

STEP = int(os.environ.get("PX_EVERY_LIMIT", 0))
LIMITS = range(40, 401, STEP) if STEP else [40, 80, 120, 180, 280, 400]
SENTENCE = "file descriptors"
# What Python itself says, before anything of ours is loaded.
OF_PYTHON = "Too many open files"


def with_limit(limit, command):
    words = " ".join(shlex.quote(str(word)) for word in command)
    return ["bash", "-c", f"ulimit -n {limit}; exec {words}"]


def says_so(text):
    return SENTENCE in text or OF_PYTHON in text


@pytest.fixture(autouse=True)
def time_limit():
    with deadlines.time_limit(90 + 4 * len(LIMITS)):
        yield


@pytest.fixture(scope="module")
def cluster(start_cluster):
    return start_cluster("few", 1)


# Makes clients until its descriptors run out, and works with those that it has.
CLIENT = """
import resource, sys
limit, file = int(sys.argv[1]), sys.argv[2]
import numpy as np
import polyxeus as px

resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
clients = []
try:
    for _ in range(8):
        clients.append(px.Client(file, timeout=30))
except OSError as problem:
    print(problem)
held = []
try:
    while True: held.append(open("/dev/null"))
except OSError: pass
for rc in clients:
    view = rc[:]
    assert view.apply_sync(int, 5) == [5]
    array = np.arange(300_000)
    try:
        view.push({"array": array}, block=True)
        assert (view.pull("array", block=True)[0] == array).all()
    except px.error.RemoteError as problem:  # no descriptor is left to map the array by
        assert "Too many open files" in str(problem), problem
held.clear()
count = len(clients)
if count > 1: clients.pop().close()  # they may have taken all that there are
for rc in clients:
    assert (rc[:].apply_sync(abs, -array)[0] == array).all()
print(count, "clients")
"""


def test_a_client(cluster, stage):
    file = cluster.connection_file("client")
    for limit in LIMITS:
        done = stage.run([sys.executable, "-c", CLIENT, limit, file])
        assert done.returncode == 0, (limit, done.returncode, done.stderr[-2000:])
        assert "8 clients" in done.stdout or says_so(done.stdout), (limit, done.stdout)


def controller_with(own_cluster, limit):
    """A cluster whose controller has this limit; whether it runs."""
    cluster = own_cluster()
    cluster.controller = cluster.stage.start(
        with_limit(limit, [*programs.CONTROLLER, *cluster.options()]), "controller"
    )
    wait_until(
        lambda: cluster.connection_file("engine").exists() or not cluster.controller.is_running(),
        "the controller listens or ends",
    )
    return cluster, cluster.controller.is_running()


def test_a_controller(own_cluster):
    for limit in LIMITS:
        cluster, is_running = controller_with(own_cluster, limit)
        if not is_running:
            assert cluster.controller.wait() == 1
            assert SENTENCE in cluster.controller.output(), (limit, cluster.controller.output())
            continue
        cluster.start_engines(1)
        with contextlib.ExitStack() as clients:
            first = clients.enter_context(connect(cluster.connection_file("client"), 1))
            with pytest.raises(OSError, match="a client takes 7 file descriptors"):
                for _ in range(limit):
                    clients.enter_context(px.Client(str(cluster.connection_file("client")), timeout=30))
            refused = cluster.start_engines(1, "--timeout=1")[0]
            assert refused.wait() == 1
            assert "an engine takes 10 file descriptors" in refused.output()
            cluster.engines.remove(refused)
            assert first[0].apply_sync(int, 5) == 5
        controller = cluster.controller
        cluster.stop()
        assert controller.process.returncode == 0, (limit, controller.output())


def test_a_stranger_who_holds_connections_keeps_nobody_away(own_cluster):
    limit = 400
    cluster, is_running = controller_with(own_cluster, limit)
    assert is_running
    lifeline = cluster.connection("engine")["lifeline"]
    with contextlib.ExitStack() as held:
        for _ in range(limit + 100):
            stranger = held.enter_context(socket.socket())
            stranger.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                stranger.connect(("127.0.0.1", lifeline))
        cluster.start_engines(1)
        with connect(cluster.connection_file("client"), 1) as rc:
            assert rc[0].apply_sync(int, 5) == 5
            # The death of the engine is told by its lifeline.
            cluster.engines.pop().process.kill()
            with pytest.raises(px.error.RemoteError):
                rc[0].apply_sync(int, 6)


EXHAUST = textwrap.dedent("""
    import os
    held = []
    try:
        while True: held.append(os.open("/dev/null", os.O_RDONLY))
    except OSError: pass
""")


def test_an_engine(cluster):
    file = cluster.connection_file("client")
    for limit in LIMITS:
        engine = cluster.stage.start(
            with_limit(limit, [*programs.ENGINE, *cluster.options(), "--timeout=30"]), "engine"
        )
        with px.Client(str(file), timeout=30) as rc:
            wait_until(lambda: len(rc.ids) == 2 or not engine.is_running(), "it joins or ends")
            if not engine.is_running():
                assert engine.wait() == 1, (limit, engine.output())
                assert says_so(engine.output()), (limit, engine.output())
                continue
            its = rc[rc.ids[-1]]
            its.execute(EXHAUST, block=True)
            assert its.apply_sync(int, 5) == 5
            with contextlib.suppress(px.error.RemoteError):  # it has none to map the array by
                its.push({"array": bytes(2_000_000)}, block=True)
            assert its.apply_sync(bytes, 2_000_000) == bytes(2_000_000)
            its.execute("for each in held: os.close(each)", block=True)
            its.push({"array": bytes(2_000_000)}, block=True)
            assert its.apply_sync(len, px.Reference("array")) == 2_000_000
        assert engine.is_running()
        engine.stop()
        with px.Client(str(file), timeout=30) as rc:
            wait_until(lambda: len(rc.ids) == 1, "it has left")


def test_a_kernel(stage):
    for limit in LIMITS:
        kernel = Kernel(stage, before=["bash", "-c", f'ulimit -n {limit}; exec "$0" "$@"'])
        try:
            if not kernel.is_ready(PATIENCE):
                assert kernel.program.wait(1) == 1, (limit, kernel.program.output())
                assert says_so(kernel.program.output()), (limit, kernel.program.output())
                continue
            kernel.execute(EXHAUST)
            assert "42\n" in kernel.execute("print(6 * 7)")  # IPython speaks of its history, too
            assert "7\n" in kernel.execute("for each in held: os.close(each)\nprint(7)")
        finally:
            code = kernel.stop()
        assert code >= 0 or code == -signal.SIGTERM, (limit, code, kernel.program.output())
