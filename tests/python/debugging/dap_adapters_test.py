"""How the debug adapters of engines are reached."""

import json
import shutil
import socket

import pytest
from dap_client import DapClient
from polyxeus.client.debug_server import DebugServer, cpp_adapter, python_adapter
from polyxeus.debug_adapter.server import Port, Program

HERE = {"engine": 2, "rank": 2, "host": socket.gethostname(), "pid": 771}
THERE = {**HERE, "rank": None, "host": "node7"}


def test_engines_of_this_host_are_reached_directly(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}" if name == "lldb-dap-19" else None)
    python, cpp = python_adapter(HERE, 4711, ["ssh"]), cpp_adapter(HERE, ["ssh"])
    assert python.rank.name == "rank 2" and python.endpoint == Port("127.0.0.1", 4711)
    assert cpp.rank.attach["pid"] == 771 and cpp.endpoint == Program(("/usr/bin/lldb-dap-19",))


def test_engines_of_other_hosts_are_reached_by_ssh():
    ssh = ["ssh", "-p", "2222"]
    assert python_adapter(THERE, 4711, ssh).rank.name == "engine 2"
    assert python_adapter(THERE, 4711, ssh).endpoint.words == ("ssh", "-p", "2222", "-W", "127.0.0.1:4711", "node7")
    assert cpp_adapter(THERE, ssh).endpoint.words == ("ssh", "-p", "2222", "node7", "lldb-dap")


def test_without_lldb_dap_the_error_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(RuntimeError, match=r"rank 2 runs C\+\+, and lldb-dap is not on \$PATH: install lldb"):
        cpp_adapter(HERE, ["ssh"])


def test_the_editor_is_told_which_rank_cannot_be_reached():
    with DebugServer([python_adapter(THERE, 4711, ["missing-ssh"])], "127.0.0.1", 0) as server:
        assert json.loads(server.launch_json())["configurations"][0]["connect"]["port"] == server.port
        editor = DapClient(server.port)
        answer = editor.response(editor.send("initialize", adapterID="test"))
        editor.close()
    assert answer["message"].startswith("engine 2: cannot run missing-ssh: No such file or directory")


def test_an_adapter_that_ends_says_why():
    with DebugServer([python_adapter(THERE, 4711, ["sh", "-c", "echo no route >&2; exit 255"])], "127.0.0.1", 0) as server:
        editor = DapClient(server.port)
        answer = editor.response(editor.send("initialize", adapterID="test"))
        output = editor.event("output")["output"]
        editor.close()
    assert not answer["success"] and output == "engine 2 is no longer debugged: no route\n"


def test_a_port_in_use_is_an_error():
    with DebugServer([], "127.0.0.1", 0) as server, pytest.raises(OSError, match=f"port {server.port}: .*; choose another port"):
        DebugServer([], "127.0.0.1", server.port)
