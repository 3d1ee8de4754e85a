"""One debugging session of the Debug Adapter Protocol for the ranks of an MPI world."""

import contextlib
import re
import signal
import subprocess
import sys
import textwrap

import polyxeus
import pytest
from dap_client import DapClient
from deadlines import started, wait_until

pytest.importorskip("debugpy")

SOLVER = """\
from array import array
from mpi4py import MPI

def total(part):
    whole = part * 10
    doubled = whole + part
    values = array("d", [doubled])
    MPI.COMM_WORLD.Allreduce(MPI.IN_PLACE, values)
    return values[0]
"""


@pytest.fixture(scope="module")
def world(folder):
    """A client of two ranks."""
    cluster = polyxeus.Cluster(n=2, profile="dap", cluster_id="", engines="mpi")
    client = cluster.start_and_connect_sync()
    client.wait_for_engines(2, timeout=60)
    yield client
    client.close()
    cluster.stop_cluster_sync()


@pytest.fixture
def solver(world, tmp_path):
    """The path of a module that the ranks have imported, and whose breakpoints differ from those of other tests."""
    name = f"solver_{tmp_path.name}"
    file = tmp_path / f"{name}.py"
    file.write_text(SOLVER)
    world[:].execute(f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import {name} as solver", block=True)
    return file


@pytest.fixture(scope="module")
def server(world):
    with world.debug_server() as server:
        yield server


@pytest.fixture
def editor(server, world):
    client = DapClient(server.port)
    with contextlib.closing(client):
        yield client
        with contextlib.suppress(OSError, AssertionError):
            client.ask("disconnect")


def breakpoints(solver, *wished):
    """Sets breakpoints while an editor starts its session."""
    def configure(client):
        told = client.ask("setBreakpoints", source={"path": str(solver)}, breakpoints=list(wished))["breakpoints"]
        assert [each["verified"] for each in told] == [True] * len(wished)

    return configure


def run(world, part="MPI.COMM_WORLD.rank + 1"):
    return world[:].execute(f"from mpi4py import MPI\nwhole = solver.total({part})")


def test_a_rank_at_a_breakpoint_steps_while_its_peer_waits_in_allreduce(world, solver, editor):
    capabilities = editor.attach(breakpoints(solver, {"line": 6, "condition": "@1"}))
    assert capabilities["supportsConditionalBreakpoints"]
    names = {each["id"]: each["name"] for each in editor.ask("threads")["threads"]}
    assert {"rank 0: MainThread", "rank 1: MainThread"} <= set(names.values())
    pending = run(world)
    stop = editor.event("stopped")
    assert names[stop["threadId"]] == "rank 1: MainThread" and stop["description"].startswith("rank 1: ")
    wait_until(lambda: str(world.where(0, timeout=10)).startswith("0 in MPI_Allreduce for "), "rank 0 waits", 30)
    assert str(world.where(1, timeout=10)).startswith(f"1 at a breakpoint in {solver.name}:6 for ")
    assert [row["state"] for row in world.status(timeout=10)] == ["busy", "busy"]
    frame = editor.frames(stop["threadId"])[0]
    assert (frame["name"], frame["line"]) == ("total", 6)
    assert editor.variables(frame["id"], "Locals") == {"part": "2", "whole": "20"}
    editor.ask("next", threadId=stop["threadId"])
    assert editor.event("stopped")["reason"] == "step"
    frame = editor.frames(stop["threadId"])[0]
    assert frame["line"] == 7
    assert editor.ask("evaluate", expression="doubled * 2", frameId=frame["id"], context="watch")["result"] == "44"
    assert editor.ask("evaluate", expression="@1 doubled", context="repl")["result"] == "22"
    assert editor.ask("continue", threadId=stop["threadId"])["allThreadsContinued"] is False
    pending.get(timeout=60)
    assert world[:]["whole"] == [33.0, 33.0]
    assert not any(event["event"] == "stopped" for event in editor.events)


def test_variables_that_differ_between_ranks(world, solver, editor):
    editor.attach(breakpoints(solver, {"line": 6}), together=True)
    pending = run(world)
    threads = {editor.event("stopped")["threadId"] for _ in range(2)}
    assert len(threads) == 2
    frame = editor.frames(min(threads))[0]
    shown = editor.variables(frame["id"], "Differs between ranks")
    assert shown == {"part": "0: 1 | 1: 2", "whole": "0: 10 | 1: 20"}
    assert editor.ask("evaluate", expression="@0-1 part + 1", context="repl")["result"] == "[0] 2\n[1] 3"
    editor.ask("continue", threadId=min(threads))  # both: together
    pending.get(timeout=60)
    assert world[:]["whole"] == [33.0, 33.0]


def test_breakpoint_stops_in_the_editor_and_disconnecting_lets_it_go_on(world, editor):
    editor.attach()
    pending = world[1].execute(textwrap.dedent("""\
        part = 7
        breakpoint()
        whole = part"""))
    stop = editor.event("stopped")
    frame = editor.frames(stop["threadId"])[0]
    assert frame["line"] in (2, 3)
    assert "whole = part" in editor.ask("source", source=frame["source"], sourceReference=frame["source"].get(
        "sourceReference", 0))["content"]  # fmt: skip
    editor.ask("disconnect")
    pending.get(timeout=60)
    assert world[1]["whole"] == 7


def test_a_second_editor_is_told_that_there_is_one(server, editor):
    editor.attach()
    with contextlib.closing(DapClient(server.port)) as second:
        answer = second.response(second.send("initialize", adapterID="test"))
    assert answer["message"] == "another debugger is connected: disconnect it first"


def test_the_command_ends_by_ctrl_c_and_no_rank_stays_stopped(world, folder, solver):
    file = folder / "profile_dap" / "security" / "ipcontroller-client.json"
    command = [sys.executable, "-m", "polyxeus.client.debug_command", f"--connection-file={file}", "--targets=1"]
    with started(command, stdout=subprocess.PIPE, text=True) as program:
        said = program.stdout.readline()
        port = re.fullmatch(r"editors can attach to rank 1 at 127\.0\.0\.1, port (\d+)\n", said)
        assert port, said
        with contextlib.closing(DapClient(int(port[1]))) as client:
            client.attach(breakpoints(solver, {"line": 6}))
            pending = run(world)
            client.event("stopped")
            program.send_signal(signal.SIGINT)
            pending.get(timeout=60)
        assert program.wait(timeout=60) == 0
