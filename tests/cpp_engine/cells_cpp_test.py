"""What people type into cells of C++ engines: each test is a cell or two."""

import os
import re

import ipyparallel
import polyxeus as ipp
import psutil
import pytest
from deadlines import wait_until

from cells import begin, error_of, run, shown


def test_the_engine_id_is_the_mpi_rank_and_mpi_needs_no_ceremony(view):
    run(view, "int rank; MPI_Comm_rank(MPI_COMM_WORLD, &rank);")
    assert shown(run(view, "rank")) == ["0", "1", "2", "3"]
    assert shown(run(view, "mpi_rank * 10 + mpi_size")) == ["4", "14", "24", "34"]


def test_the_rank_is_known_after_new_flags(fresh):
    view = fresh[:]
    assert shown(run(view, "%flags -O1\nmpi_rank")) == ["0", "1"]
    view.clear(block=True)
    assert shown(run(view, "mpi_size")) == ["2", "2"]


def test_all_ranks_have_the_headers_that_are_precompiled_for_a_session(view, tmp_path):
    header = tmp_path / "mine.hpp"
    header.write_text("template <class T> T twice(T t) { return t + t; } static int made = 1;")
    view.clear(block=True)
    assert shown(run(view, f"%pch {header}\ntwice(mpi_rank)")) == ["0", "2", "4", "6"]
    run(view, "made += mpi_rank;")
    assert shown(run(view, "made")) == ["1", "2", "3", "4"]
    view.clear(block=True)
    failures = error_of(view, "%pch <no/such.hpp>\nMPI_Barrier(MPI_COMM_WORLD);")
    assert {name for name, _ in failures.values()} == {"DirectiveError"}


def test_ranks_sum_by_a_collective_call(view):
    run(view, "int mine = mpi_rank + 1, total = 0;")
    run(view, "MPI_Allreduce(&mine, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);")
    assert shown(run(view, "total")) == ["10"] * 4


def test_output_comes_in_order_from_each_rank(view):
    result = run(view, 'for (int i = 0; i < 3; ++i) std::cout << mpi_rank << ":" << i << "\\n";')
    assert result.stdout == ["".join(f"{r}:{i}\n" for i in range(3)) for r in range(4)]
    result = run(view, 'std::printf("by printf\\n"); std::cerr << "and on stderr\\n";')
    assert result.stdout == ["by printf\n"] * 4
    assert result.stderr == ["and on stderr\n"] * 4


def test_a_forked_child_ends_with_the_cell_and_prints_for_its_parent(rc):
    result = run(rc[[0]], """
#include <sys/wait.h>
int status = -1;
if (const pid_t child = fork()) waitpid(child, &status, 0);
else std::cout << "of the child" << std::endl;
""")
    assert result.stdout == ["of the child\n"]
    assert shown(run(rc[[0]], "status")) == ["0"]


def test_state_stays_from_cell_to_cell_and_can_be_redefined(view):
    run(view, "int x = 40; int add(int a) { return a + x; }")
    assert shown(run(view, "add(2)")) == ["42"] * 4
    run(view, "double x = 0.5; double add(int a) { return a + x; }")
    assert shown(run(view, "add(1)")) == ["1.5"] * 4


def test_an_exception_has_its_type_and_its_words(view):
    code = 'if (mpi_rank == 1) throw std::runtime_error("no more paper");'
    failures = error_of(view, code)
    assert list(failures) == [1]
    name, value = failures[1]
    assert "runtime_error" in name and "no more paper" in value


def test_a_compile_error_names_the_line(rc):
    failures = error_of(rc[[0]], "int y = 1;\nint z = nonsense;")
    name, value = failures[0]
    assert name == "CompileError" and "line 2" in value and "nonsense" in value


def test_an_exception_names_the_lines_that_it_passed(rc):
    view = rc[[0]]
    run(view, "void refuse() {\n  throw std::runtime_error(\"no\");\n}")
    result = view.execute("int before = 1;\nrefuse();", silent=False)
    result.wait(60)
    with pytest.raises(ipp.RemoteError) as raised:
        result.get()
    text = re.sub(r"\x1b\[[\d;]*m", "", "\n".join(raised.value.render_traceback()))
    assert re.search(r"cell \d+, line 2\n    refuse\(\);\ncell \d+, line 2\n    throw std::runtime", text), text


def test_cin_says_at_once_that_there_is_no_input(rc):
    name, value = error_of(rc[[0]], "int answer; std::cin >> answer;")[0]
    assert name == "NoInput" and "push the value instead" in value
    name, value = error_of(rc[[0]], 'int typed; scanf("%d", &typed);')[0]
    assert name == "NoInput" and value.startswith("stdin has no input here"), value


def test_no_rank_runs_a_cell_that_does_not_compile_on_all(rc, view):
    run(rc[[2]], "int only_here = 7;")
    failures = error_of(view, "only_here += 1; MPI_Barrier(MPI_COMM_WORLD);")
    assert {engine: name for engine, (name, _) in failures.items()} == {
        0: "CompileError", 1: "CompileError", 2: "NotRun", 3: "CompileError",
    }  # fmt: skip
    assert "ranks 0, 1, 3" in failures[2][1] and "only_here" in failures[2][1]
    assert shown(run(rc[[2]], "only_here")) == ["7"]


def test_a_cell_for_one_engine_asks_nobody(rc):
    run(rc[[3]], "int alone = 3;")
    assert shown(run(rc[[3]], "alone")) == ["3"]


def test_the_stop_button_ends_loops_and_keeps_what_was_there(rc, view):
    run(view, "int kept = 5; volatile long steps = 0;")
    result, _ = begin(view, "for (;;) steps = steps + 1;")
    rc.interrupt(block=True)
    assert result.wait(60)
    names = {each.ename for each in result.get(return_exceptions=True)}
    assert names == {"Interrupted"}
    assert shown(run(view, "kept")) == ["5"] * 4


def test_a_crash_on_one_rank_is_told_and_survived(rc):
    run(rc[[1]], "int before_crash = 11;")
    failures = error_of(rc[[1]], "int* nowhere = nullptr; *nowhere = 1;")
    assert failures[1][0] == "Crashed" and "SIGSEGV" in failures[1][1]
    assert shown(run(rc[[1]], "before_crash")) == ["11"]


def test_a_python_function_is_refused_before_it_is_sent(rc):
    with pytest.raises(TypeError, match="cannot run on a C\\+\\+ engine: give the name"):
        rc[0].apply_sync(len, "abc")


def test_the_unmodified_client_of_ipyparallel_executes_cpp(running):
    with ipyparallel.Client(profile="cpp") as client:
        client.wait_for_engines(4, timeout=60)
        result = client[:].execute("6 * mpi_rank", silent=False)
        result.get(60)
        result.wait_for_output(10)
        outputs = [each["data"]["text/plain"] for each in
                   (metadata["execute_result"] for metadata in result.metadata)]
        assert outputs == ["0", "6", "12", "18"]
        with pytest.raises(ipyparallel.RemoteError, match="C\\+\\+"):
            client[0].apply_sync(len, "abc")


def test_the_client_knows_what_each_engine_speaks(rc, mixed):
    assert rc.languages == {0: "cpp", 1: "cpp", 2: "cpp", 3: "cpp"}
    assert mixed.languages == {0: "python", 1: "python", 2: "cpp", 3: "cpp"}


def test_python_and_cpp_ranks_share_one_world(mixed):
    python, cpp = mixed[0, 1], mixed[2, 3]
    python.block = cpp.block = True
    python.execute("from mpi4py import MPI; import numpy as np")
    sent = python.execute(
        "got = np.zeros(1)\n"
        "MPI.COMM_WORLD.Allreduce(np.array([float(MPI.COMM_WORLD.rank)]), got)",
        block=False,
    )
    run(cpp, "double here = mpi_rank, sum = 0;")
    run(cpp, "MPI_Allreduce(&here, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);")
    sent.get(60)
    assert python["got"][0][0] == 6.0
    assert shown(run(cpp, "sum")) == ["6.0", "6.0"]


def test_engines_end_with_their_cluster(fresh):
    engines = [psutil.Process(pid) for pid in fresh[:].pull("getpid()", block=True)]
    assert len(engines) == 2 and all(engine.is_running() for engine in engines)
    fresh.shutdown(hub=True, block=True)
    wait_until(lambda: not any(engine.is_running() for engine in engines), "the engines end", 20)
    file = fresh.cluster.connection_file
    wait_until(lambda: not os.path.exists(file), "the controller removes its files", 20)


def test_a_directive_that_fails_on_one_rank_stops_the_cell_on_all(rc, view, tmp_path):
    rank_2 = rc[[2]]
    run(rank_2, "#include <filesystem>")
    cell = "%inc {folder}\nMPI_Barrier(MPI_COMM_WORLD);"
    assert {name for name, _ in error_of(view, cell.format(folder=tmp_path / "no")).values()} == {
        "DirectiveError"
    }
    assert error_of(view, cell.format(folder=tmp_path)) == {}


@pytest.fixture
def folder_of_rank_2(rc, tmp_path):
    """The name of a folder that only rank 2 finds: it works elsewhere."""
    (tmp_path / "only_here").mkdir()
    rank_2 = rc[[2]]
    run(rank_2, f'auto worked_in = std::filesystem::current_path(); std::filesystem::current_path("{tmp_path}");')
    yield "only_here"
    run(rank_2, "std::filesystem::current_path(worked_in);")


def test_a_directive_that_fails_on_some_ranks_stops_the_code_on_all(rc, view, folder_of_rank_2):
    failures = error_of(view, f"%inc {folder_of_rank_2}\nMPI_Barrier(MPI_COMM_WORLD);")
    names = {engine: name for engine, (name, _) in failures.items()}
    assert names.pop(2) == "NotRun"
    assert names == dict.fromkeys((0, 1, 3), "DirectiveError")


def test_directives_without_code_need_no_vote(rc, view, folder_of_rank_2):
    failures = error_of(view, f"%inc {folder_of_rank_2}")
    assert {engine: name for engine, (name, _) in failures.items()} == dict.fromkeys(
        (0, 1, 3), "DirectiveError"
    )


def test_a_rank_that_throws_or_loops_leaves_the_others_alone(rc, view):
    for code, name in (('throw std::runtime_error("no luck");', "runtime_error"),
                       ("for (;;) ;", "Interrupted")):  # fmt: skip
        cell = f"if (mpi_rank == 2) {{ {code} }}"
        result, _ = begin(view, cell)
        wait_until(lambda: result.progress >= 3, "the others have ended", 20)
        rc.interrupt(block=True)
        result.wait(60)
        outcomes = result.get(return_exceptions=True)
        assert name in outcomes[2].ename
        assert not any(isinstance(outcomes[rank], ipp.RemoteError) for rank in (0, 1, 3))
        assert shown(run(view, "mpi_rank")) == ["0", "1", "2", "3"]


def test_a_script_and_a_command_run_before_the_first_cell(folder, tmp_path):
    script = tmp_path / "start.hpp"
    script.write_text("std::vector<int> seen{1};\n")
    options = ["-s", str(script), "-c", "seen.push_back(2);"]
    with ipp.Cluster(n=1, language="cpp", profile="scripted", cluster_id="", engine_args=options) as rc:
        rc.wait_for_engines(1, timeout=60)
        assert shown(run(rc[:], "seen")) == ["{1, 2}"]
