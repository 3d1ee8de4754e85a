"""A trace of C++ ranks: their MPI calls, and the rank that kept the others waiting."""

import json

from cells import run

LATE = """if (mpi_rank == 1) std::this_thread::sleep_for(std::chrono::seconds(1));
double mine = 1, total = 0;
MPI_Allreduce(&mine, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);"""


def test_the_trace_of_cpp_ranks_names_the_late_one(rc, view, tmp_path):
    assert run(view, "#include <chrono>\n#include <thread>\nMPI_Barrier(MPI_COMM_WORLD);")
    with rc.trace(tmp_path / "run.json") as trace:
        assert run(view, LATE)
    assert trace.late.rank == 1 and trace.late.waited > 0.5e9
    events = json.loads((tmp_path / "run.json").read_text())["traceEvents"]
    calls = [each["args"] for each in events if each["ph"] == "X" and each["name"] == "MPI_Allreduce"]
    assert [(each["size"], each["bytes"], each["last_to_come"]) for each in calls] == [(4, 8, "rank 1")] * 4
