"""breakpoint() on engines, called from scripts: with a terminal, and without."""

import json
import os
import pty
import socket
import subprocess
import sys
import textwrap

import polyxeus
import pytest
from deadlines import wait_until

PATIENCE = 50

HEAD = """
import polyxeus
rc = polyxeus.Client({file!r})

def work(x):
    y = x + 1
    breakpoint()
    return y * 2
"""


def script(tmp_path, running, body):
    file = tmp_path / "script.py"
    file.write_text(HEAD.format(file=str(running.connection_file)) + textwrap.dedent(body))
    return [sys.executable, str(file)]


def run_with_terminal(argv, lines):
    """What a script prints whose user types these lines."""
    master, slave = pty.openpty()
    try:
        os.write(master, "".join(f"{line}\n" for line in lines).encode())
        return subprocess.run(argv, stdin=slave, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=PATIENCE).stdout  # fmt: skip
    finally:
        os.close(master)
        os.close(slave)


def test_a_terminal_is_asked_at_the_line_of_the_function(rc, running, tmp_path):
    said = run_with_terminal(
        script(tmp_path, running, "print('result', rc[1].apply_sync(work, 4))"), ["p x, y", "!y = 50", "n", "c"]
    )
    assert "Engine 1 stopped at a breakpoint in script.py:7; the others go on" in said
    assert "[1] -> breakpoint()\n" in said and "[1] (4, 5)\n" in said and "[1] -> return y * 2\n" in said
    assert said.splitlines()[-1].endswith("result 100")


def test_ranks_share_a_prompt_and_answers_are_folded(rc, running, tmp_path):
    body = """
    rc[:].execute("breakpoint()\\nz = me + 1", block=True)
    print("result", rc[:]["z"])
    """
    rc[:].scatter("me", range(4), flatten=True, block=True)
    said = run_with_terminal(script(tmp_path, running, body), ["p 7", "p me > 2", "@1 !me = 40", "c"])
    assert "Engines 0-3 stopped at a breakpoint in cell line 1;" in said
    assert "[0-3] 7\n" in said and "[0-2] False\n" in said and "[3] True\n" in said
    assert "result [1, 41, 3, 4]" in said


def test_q_ends_the_request(rc, running, tmp_path):
    body = """
    try:
        rc[2].apply_sync(work, 4)
    except polyxeus.RemoteError as error:
        print(error)
        print(error.traceback)
    """
    said = run_with_terminal(script(tmp_path, running, body), ["q"])
    assert "[2:apply] BdbQuit: you have ended this request at a prompt of the debugger" in said
    assert "pdb.py" not in said and "polyxeus/engine" not in said


def test_a_post_mortem_in_a_terminal(rc, running, tmp_path):
    body = """
    pending = rc[[1, 2]].execute("part = 8\\nwhole = 1 / (part - 8)")
    pending.wait(60)
    rc.post_mortem([1, 2])
    """
    said = run_with_terminal(script(tmp_path, running, body), ["p part", "q"])
    assert "[1,2] ZeroDivisionError: division by zero\n" in said and "[1,2] 8\n" in said


def test_without_a_terminal_the_code_runs_on_and_says_so(rc, running, tmp_path):
    body = """
    pending = rc[1].apply_async(work, 4)
    print("result", pending.get(timeout=60))
    pending.wait_for_output(30)
    print(pending.stderr)
    """
    done = subprocess.run(script(tmp_path, running, body), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=PATIENCE)  # fmt: skip
    assert "result 10\nbreakpoint() in script.py:7 did not stop: its client has no terminal:" in done.stdout
    assert "RuntimeWarning: breakpoint() in script.py:7 did not stop engine 1" in done.stderr


def test_a_rank_at_a_breakpoint_is_said_to_be_there(rc, monkeypatch):
    monkeypatch.setattr("polyxeus.results.debugging.prompts.why_no_answers", lambda is_in_cell=False: None)
    pending = rc[3].execute("x = 1\nbreakpoint()")
    prompts = rc._comms.prompts
    try:
        wait_until(lambda: prompts.stopped() == [3], "engine 3 asks", 20)
        place = rc.where(3)[0]
        assert place["is_breakpoint"] and place["line"] == 2
        assert str(rc.where(3)).startswith("3 at a breakpoint in cell line 2 for ")
    finally:
        rc.interrupt(3, block=True)
    assert pending.exception(timeout=20).ename == "KeyboardInterrupt"
    assert not prompts.stopped()


def test_input_fails_without_a_terminal_and_says_why(rc):
    with pytest.raises(polyxeus.RemoteError, match=r"input\(\) and getpass\(\) do not work here: its client has no terminal"):
        rc[0].execute("input()", block=True)


def test_the_last_error_of_an_engine_without_one(rc):
    rc.restart_engines(3)
    rc.wait_for_engines(4, timeout=60)
    with pytest.raises(RuntimeError, match="engine 3: no code has failed on this engine since it started"):
        rc.post_mortem(3)


def test_editors_are_told_where_to_attach(rc):
    pytest.importorskip("debugpy")
    ports = rc.debugpy([0, 1])
    assert [row["engine"] for row in ports] == [0, 1]
    assert str(ports).splitlines()[0] == f"0 listens for debuggers at 127.0.0.1, port {ports[0]['port']}"
    assert list(rc.debugpy([0, 1])) == list(ports)  # the same ports
    assert f'"port": {ports[1]["port"]}' in ports.launch_json()
    with socket.create_connection((ports[0]["host"], ports[0]["port"]), timeout=20) as editor:
        request = json.dumps({"seq": 1, "type": "request", "command": "initialize", "arguments": {"adapterID": "test"}})
        editor.sendall(f"Content-Length: {len(request)}\r\n\r\n{request}".encode())
        said = b""
        while b"supportsConditionalBreakpoints" not in said:
            part = editor.recv(65536)
            assert part, f"debugpy closed the connection: {said}"
            said += part
