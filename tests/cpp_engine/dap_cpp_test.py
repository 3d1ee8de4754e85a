"""One debugging session for C++ ranks, by lldb-dap."""

import contextlib
import shutil
import subprocess

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
