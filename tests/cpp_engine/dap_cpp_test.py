"""One debugging session for C++ ranks, by lldb-dap."""

import contextlib
import shutil
import subprocess
from pathlib import Path

import pytest
from dap_client import DapClient
from deadlines import wait_until
from polyxeus.client.debug_server import LLDB_DAP

pytestmark = [
    pytest.mark.skipif(not any(map(shutil.which, LLDB_DAP)), reason="lldb-dap is not installed: apt install lldb-19"),
    pytest.mark.skipif(shutil.which("c++") is None, reason="no C++ compiler"),
]

PART = """\
extern "C" double part_of(int rank) {
  double part = rank + 1;
  double whole = part * 10;
  return whole + part;
}
"""
LOAD = """\
#include <mpi.h>
#include <dlfcn.h>
auto part_of = reinterpret_cast<double (*)(int)>(dlsym(dlopen("{library}", RTLD_NOW), "part_of"));
int own_rank = 0;
MPI_Comm_rank(MPI_COMM_WORLD, &own_rank);
"""
SUM = """\
double sum = part_of(own_rank);
MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
"""


def test_a_cpp_rank_steps_in_a_library_while_its_peer_waits_in_allreduce(fresh, tmp_path):
    source, library = tmp_path / "part.cpp", tmp_path / "libpart.so"
    source.write_text(PART)
    subprocess.run(["c++", "-g", "-O0", "-shared", "-fPIC", "-o", library, source], check=True)
    fresh[:].execute(LOAD.format(library=library), block=True)
    with fresh.debug_server() as server, contextlib.closing(DapClient(server.port, patience=80)) as editor:
        editor.attach(lambda client: client.ask(
            "setBreakpoints", source={"path": str(source)}, breakpoints=[{"line": 3, "condition": "@1 part > 1"}]))  # fmt: skip
        pending = fresh[:].execute(SUM)
        stop = editor.event("stopped")
        assert stop["description"].startswith("rank 1: breakpoint")
        wait_until(lambda: str(fresh.where(0, timeout=10)).startswith("0 in MPI_Allreduce for "), "rank 0 waits", 30)
        editor.ask("next", threadId=stop["threadId"])
        editor.event("stopped", lambda body: body["reason"] == "step")
        frame = editor.frames(stop["threadId"])[0]
        assert frame["line"] == 4
        assert editor.variables(frame["id"], "Locals") == {"rank": "1", "part": "2", "whole": "20"}
        editor.ask("continue", threadId=stop["threadId"])
        pending.get(timeout=60)
        assert fresh[:].pull("sum", block=True) == [33.0, 33.0]
        editor.ask("disconnect")
    assert fresh[:].pull("own_rank", block=True) == [0, 1]


BEGIN = """\
%flags -g -O0
int own_rank = 0;
MPI_Comm_rank(MPI_COMM_WORLD, &own_rank);
"""
CELL = """\
double scaled(int rank) {
  double part = rank + 1;
  std::vector<double> parts(2, part);
  double whole = parts[0] * 10;
  return whole + parts[1];
}
double cell_sum = scaled(own_rank);
MPI_Allreduce(MPI_IN_PLACE, &cell_sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
"""


def test_a_cpp_rank_steps_in_a_cell_while_its_peer_waits_in_allreduce(fresh):
    fresh[:].execute(BEGIN, block=True)
    with fresh.debug_server() as server, contextlib.closing(DapClient(server.port, patience=80)) as editor:
        editor.attach(lambda client: client.ask(
            "setFunctionBreakpoints", breakpoints=[{"name": "scaled", "condition": "@1"}]))  # fmt: skip
        pending = fresh[:].execute(CELL)
        thread = editor.event("stopped")["threadId"]
        source = editor.frames(thread)[0]["source"]["path"]  # the file that an editor opens
        assert Path(source).read_text() == CELL
        editor.ask("setFunctionBreakpoints", breakpoints=[])
        wishes = [{"line": 4, "condition": "@1 part > 1"}]
        (made,) = editor.ask("setBreakpoints", source={"path": source}, breakpoints=wishes)["breakpoints"]
        assert made["verified"], made
        editor.ask("continue", threadId=thread)
        _step_over_line_4(editor, fresh, source, pending)
        _step_over_line_4(editor, fresh, source, fresh[:].execute(CELL))  # the breakpoint is still there
        editor.ask("disconnect")


def _step_over_line_4(editor, client, source, pending):
    stop = editor.event("stopped")
    assert stop["description"].startswith("rank 1: breakpoint")
    wait_until(lambda: str(client.where(0, timeout=10)).startswith("0 in MPI_Allreduce for "), "rank 0 waits", 30)
    editor.ask("next", threadId=stop["threadId"])
    editor.event("stopped", lambda body: body["reason"] == "step")
    frame = editor.frames(stop["threadId"])[0]
    assert (frame["source"]["path"], frame["line"]) == (source, 5)
    shown = editor.variables(frame["id"], "Locals")
    assert shown.pop("parts").startswith("size=2")
    assert shown == {"rank": "1", "part": "2", "whole": "20"}
    editor.ask("continue", threadId=stop["threadId"])
    pending.get(timeout=60)
    assert client[:].pull("cell_sum", block=True) == [33.0, 33.0]


def test_a_call_of_breakpoint_stops_in_the_line_of_a_cell_if_an_editor_is_attached(fresh):
    cell = "int count = 3 + own_rank;\nif (own_rank == 1) px::breakpoint();\ncount *= 2;\n"
    fresh[:].execute(BEGIN, block=True)
    fresh[:].execute(cell, block=True)
    with fresh.debug_server() as server, contextlib.closing(DapClient(server.port, patience=80)) as editor:
        editor.attach()
        pending = fresh[:].execute(cell)
        stop = editor.event("stopped")
        assert stop["description"].startswith("rank 1: ")
        frame = editor.frames(stop["threadId"])[0]
        assert Path(frame["source"]["path"]).read_text() == cell and frame["line"] in (2, 3)
        assert editor.ask("evaluate", expression="count", frameId=frame["id"], context="watch")["result"] == "4"
        editor.ask("continue", threadId=stop["threadId"])
        pending.get(timeout=60)
        editor.ask("disconnect")
    assert fresh[:].pull("count", block=True) == [6, 8]


def test_a_breakpoint_in_a_header_stops_the_cell_that_includes_it(fresh, tmp_path):
    header = tmp_path / "part.hpp"
    header.write_text(PART.replace('extern "C" double part_of', "inline double part_in_header"))
    fresh[:].execute(BEGIN, block=True)
    with fresh.debug_server() as server, contextlib.closing(DapClient(server.port, patience=80)) as editor:
        editor.attach(lambda client: client.ask(
            "setBreakpoints", source={"path": str(header)}, breakpoints=[{"line": 3, "condition": "@0"}]))  # fmt: skip
        pending = fresh[:].execute(f'#include "{header}"\ndouble from_header = part_in_header(own_rank);')
        assert editor.event("breakpoint")["breakpoint"]["verified"]
        stop = editor.event("stopped")
        frame = editor.frames(stop["threadId"])[0]
        assert (frame["source"]["path"], frame["line"]) == (str(header), 3)
        assert editor.variables(frame["id"], "Locals")["part"] == "1"
        editor.ask("continue", threadId=stop["threadId"])
        pending.get(timeout=60)
        editor.ask("disconnect")
    assert fresh[:].pull("from_header", block=True) == [11.0, 22.0]
