"""The C++ kernel: Jupyter's own tests of kernels, then cells and magics."""

import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from queue import Empty

import jupyter_kernel_test
import pytest

from conftest import PATIENCE, start_driver
from deadlines import wait_until
from random_stops import SHORT, random_stops


@pytest.fixture(scope="session", autouse=True)
def cpp_kernelspec(jupyter_home):
    """This kernel is known to Jupyter, and clusters start in the folders of the tests."""
    install = [sys.executable, "-m", "polyxeus.kernel", "install", "--user", "--language=cpp"]
    subprocess.run(install, check=True, timeout=PATIENCE)


class CppKernelTests(jupyter_kernel_test.KernelTests):
    kernel_name = "pxcpp"
    language_name = "c++"
    file_extension = ".cpp"
    code_hello_world = 'std::cout << "hello, world" << std::endl;'
    code_stderr = 'std::cerr << "test" << std::endl;'
    completion_samples = [
        {"text": "int counted_here = 1; counted_h", "matches": {"counted_here"}},
        {"text": "std::string().appe", "matches": {"append"}},
    ]
    complete_code_samples = ["1", "int x = 3;", "int f(int x) {\n  return x * 2;\n}\n"]
    incomplete_code_samples = ["int f(int x) {", 'std::string s = R"(hello']
    invalid_code_samples = ["int x = );"]
    code_generate_error = 'throw std::runtime_error("on purpose");'
    code_execute_result = [
        {"code": "1+2+3", "result": "6"},
        {"code": "std::vector<int>{1, 4, 9}", "result": "{1, 4, 9}"},
    ]
    code_display_data = [
        {
            "code": "struct Bold {};\n"
            "std::map<std::string, std::string> mime_bundle_repr(Bold const&) {\n"
            '  return {{"text/plain", "bold"}, {"text/html", "<b>bold</b>"}};\n}\n'
            "px::display(Bold{});",
            "mime": "text/html",
        }
    ]
    code_history_pattern = "1?2*"
    supported_history_operations = ("tail", "range", "search")
    code_inspect_sample = "std::abs"

    def test_completion(self):
        self.execute_helper("int counted_here = 1;")
        super().test_completion()

    def test_history(self):
        for _ in range(3):  # the last search wants three cells that match
            self.execute_helper(self.code_execute_result[0]["code"])
        super().test_history()


class CppIopubWelcomeTests(jupyter_kernel_test.IopubWelcomeTests):
    kernel_name = "pxcpp"
    support_iopub_welcome = True


del jupyter_kernel_test


@pytest.fixture(scope="module")
def cpp(cpp_kernelspec):
    """A C++ kernel that the tests share."""
    driver = start_driver(kernel_name="pxcpp")
    yield driver
    driver.run("%pxcluster stop")
    driver.close()


@pytest.fixture(scope="module")
def cluster(cpp):
    """Two C++ ranks that a cell of the kernel has started."""
    cell = cpp.run("%pxcluster start -n 2 --engines=mpi --language=cpp")
    assert cell.status == "ok", cell.messages


def value(cell):
    (result,) = cell.contents("execute_result")
    return result["data"]["text/plain"]


def test_cells_build_on_each_other(cpp):
    assert cpp.run("int base = 40; auto add = [](int n) { return base + n; };").status == "ok"
    assert value(cpp.run("add(2)")) == "42"


def test_a_failing_cell_names_its_line_and_changes_nothing(cpp):
    cell = cpp.run("int fine = 1;\nint broken = nowhere;")
    assert cell.status == "error" and cell.reply["ename"] == "CompileError"
    assert "line 2" in cell.reply["evalue"]
    assert cpp.run("fine").reply["ename"] == "CompileError"


def test_without_a_cluster_the_cell_says_how_to_start_one(cpp):
    cell = cpp.run("%px int x;")
    assert cell.status == "error"
    assert "%pxcluster start" in cell.reply["evalue"]


def test_shift_tab_on_a_magic_shows_its_options(cpp):
    for code in ("%%px", "%%cpp -t 0", "%pxconfig"):
        reply = cpp.reply_to(cpp.client.inspect(code))["content"]
        assert reply["found"] and "--targets" in reply["data"]["text/plain"], code


def test_pxconfig_alone_shows_the_settings(cpp):
    assert "--targets=all\n--block\n" in cpp.run("%pxconfig").text()


def test_a_wrong_option_is_one_sentence(cpp):
    cell = cpp.run("%%px --tragets=1\nint x;")
    assert cell.status == "error" and "--tragets" in cell.reply["evalue"]


def test_px_cells_run_on_the_engines_and_are_labelled(cpp, cluster):
    cell = cpp.run('%%px\nstd::cout << "rank " << mpi_rank << std::endl;')
    assert cell.status == "ok"
    assert sorted(cell.text().splitlines()) == ["[stdout:0] rank 0", "[stdout:1] rank 1"]
    cell = cpp.run("%px mpi_rank + 10")
    shown = [each["data"]["text/plain"] for each in cell.contents("display_data")]
    values = [re.sub(r"\x1b\[[0-9;]*m|:\d+(?=\])", "", text) for text in shown]
    assert sorted(values) == ["Out[0]: 10", "Out[1]: 11"]


def traced_calls(path):
    """How many slices of each name there are of the engines' MPI calls."""
    events = json.loads(path.read_text())["traceEvents"]
    return Counter(each["name"] for each in events if each["ph"] == "X" and each["cat"] == "mpi")


def test_a_cell_with_trace_leaves_a_file_of_what_the_engines_did(cpp, cluster, tmp_path):
    path = tmp_path / "run.json"
    cell = cpp.run(f"%%px --trace={path}\nMPI_Barrier(MPI_COMM_WORLD);")
    assert cell.status == "ok"
    assert cell.text().startswith(f"{path}: ")
    assert traced_calls(path)["MPI_Barrier"] == 2


def test_a_cell_that_fails_leaves_its_trace_too(cpp, cluster, tmp_path):
    path = tmp_path / "run.json"
    cell = cpp.run(f'%%px --trace "{path}"\nMPI_Barrier(MPI_COMM_WORLD); throw std::runtime_error("on purpose");')
    assert cell.status == "error"
    assert traced_calls(path)["MPI_Barrier"] == 2


def test_a_trace_that_cannot_be_written_is_said_before_the_cell_runs(cpp, cluster, tmp_path):
    cell = cpp.run(f"%%px --trace={tmp_path}/nowhere/run.json\nint must_not_be_there = 1;")
    assert cell.status == "error" and "nowhere" in cell.reply["evalue"]
    assert cpp.run("%px must_not_be_there").status == "error"


def test_pxwhere_tells_where_the_engines_are(cpp, cluster):
    assert cpp.run("%px 1;").status == "ok"
    # An engine answers before it is idle.
    wait_until(lambda: cpp.run("%pxwhere").text().startswith("0 and 1 idle\n"),
               "engines that are idle", 10)
    cell = cpp.run("%pxwhere -t 1")
    place, interrupts = cell.text().splitlines()
    assert (cell.status, place) == ("ok", "1 idle")
    assert interrupts.startswith("1: interrupts of MPI calls: on (")


def test_pxtop_shows_the_engines_once(cpp, cluster):
    cell = cpp.run("%pxtop --once")
    shown, = cell.contents("display_data")
    lines = shown["data"]["text/plain"].splitlines()
    assert cell.status == "ok" and lines[0].startswith("2 engines: ")
    assert [line.split()[0] for line in lines[1:]] == ["ENGINE", "0", "1"] and "<table>" in shown["data"]["text/html"]


def test_variables_go_to_the_engines_and_back(cpp, cluster):
    assert cpp.run("std::vector<double> mine{1, 2, 3, 4};").status == "ok"
    assert cpp.run("%pxscatter mine --as part").status == "ok"
    assert cpp.run("%px for (auto& each : part) each *= 10;").status == "ok"
    assert cpp.run("%pxgather part --as all").status == "ok"
    assert value(cpp.run("all")) == "{10.0, 20.0, 30.0, 40.0}"
    assert cpp.run("int number = 5;\nstd::string word = \"w\";").status == "ok"
    assert cpp.run("%pxpush number word").status == "ok"
    assert cpp.run("%px number = number + mpi_rank;").status == "ok"
    assert cpp.run("%pxpull number --as numbers").status == "ok"
    assert value(cpp.run("numbers")) == "{5, 6}"


def test_the_view_runs_code_and_moves_values(cpp, cluster):
    assert value(cpp.run("view")) == "engines 0, 1"
    cell = cpp.run('view.execute("std::cout << mpi_rank * 5 << std::endl;");')
    assert "[stdout:1] 5" in cell.text()
    assert cpp.run('view.push("given", 2.5); view["word"] = "hello";').status == "ok"
    assert value(cpp.run('view.pull<double>("given + mpi_rank")')) == "{2.5, 3.5}"
    assert value(cpp.run('view["word"]')) == '{"hello", "hello"}'
    assert cpp.run('std::vector<double> all = view["given"];').status == "ok"
    assert value(cpp.run("all")) == "{2.5, 2.5}"


def test_one_engine_of_the_view_gives_one_value(cpp, cluster):
    assert cpp.run("view[1][\"only\"] = std::vector<int>{1, 2};").status == "ok"
    assert value(cpp.run('view[1].pull<std::vector<int>>("only")')) == "{1, 2}"
    assert cpp.run('int rank = view[1]["mpi_rank"];').status == "ok"
    assert value(cpp.run("rank")) == "1"
    assert value(cpp.run('view.targets({1}).pull<int>("mpi_rank")')) == "{1}"
    assert value(cpp.run("view[1]")) == "engine 1"


def test_the_view_scatters_and_gathers(cpp, cluster):
    code = 'px::array<double, 2> table(4, 3); table.fill(1); view.scatter("rows", table);'
    assert cpp.run(code).status == "ok"
    assert cpp.run("%px for (auto& each : rows) each += mpi_rank;").status == "ok"
    assert cpp.run('table = view.gather<px::array<double, 2>>("rows");').status == "ok"
    assert value(cpp.run("table(0, 0) + 10 * table(3, 2)")) == "21.0"


def test_the_view_calls_functions(cpp, cluster):
    assert cpp.run("%px double shifted(double x) { return x + mpi_rank; }").status == "ok"
    assert value(cpp.run('view.call<double>("shifted", 0.5)')) == "{0.5, 1.5}"
    assert value(cpp.run('view[1].call<double>("shifted", 0.5)')) == "1.5"
    assert value(cpp.run('view.call<int>("[](int x, int y) { return x * y; }", 6, 7)')) == "{42, 42}"
    squares = 'view.map<long>("[](long n) { return n * n; }", std::vector<long>{1, 2, 3, 4, 5})'
    assert value(cpp.run(squares)) == "{1, 4, 9, 16, 25}"


def test_a_failure_of_the_view_is_an_exception(cpp, cluster):
    cell = cpp.run('view.execute("if (mpi_rank == 1) throw std::out_of_range(\\"too far\\");");')
    assert cell.status == "error" and cell.reply["ename"] == "px::remote_error"
    assert "[1] std::out_of_range: too far" in cell.reply["evalue"]
    code = """
        std::vector<int> where;
        try {
          view.call("std::sqrt", "text");
        } catch (const px::remote_error& error) {
          where = error.engines();
        }"""
    assert cpp.run(code).status == "ok"
    assert value(cpp.run("where")) == "{0, 1}"


def test_the_view_checks_types(cpp, cluster):
    cell = cpp.run('view.pull<int>("2.5")')
    assert cell.status == "error"
    assert "2.5 of engine 0: the number 2.5 cannot be converted to int" in cell.reply["evalue"]
    cell = cpp.run('view.push("f", std::cout);')
    assert cell.status == "error" and "cannot be sent" in cell.reply["evalue"]


def test_the_view_obeys_the_stop_button(cpp, cluster):
    cell = cpp.client.execute('view.execute("std::cout << 1 << std::endl; for (;;) {}");')
    cpp.await_text(cell, "1")
    cpp.manager.interrupt_kernel()
    cell = cpp.finish(cell)
    assert cell.reply["ename"] == "Interrupted"
    assert value(cpp.run('view.pull<int>("mpi_rank")')) == "{0, 1}"


ROUNDS = int(os.environ.get("PX_TEST_INTERRUPTS", "25"))
CALLS = {
    "%px": "%px spin({});",
    "%%px": "%%px\nspin({});\nint after = 1;",
    "%%px in MPI": "%%px\nif (mpi_rank == 0) spin({});\nMPI_Barrier(MPI_COMM_WORLD);",
    "execute": 'view.execute("spin({});");',
    "push": 'view.push("pushed", {});',
    "pull": 'view.pull<double>("kept")',
    "%pxpush": "%pxpush kept",
    "here": "spin({});",
}


def test_stop_at_random_moments_of_random_cells_ends_them_and_hits_nothing_else(cpp, cluster):
    spin = ("void spin(double seconds) { const auto end = std::chrono::steady_clock::now() + "
            "std::chrono::duration<double>(seconds); while (std::chrono::steady_clock::now() < end) {} } "
            "double kept = 5;")
    assert cpp.run("%px " + spin).status == cpp.run(spin).status == "ok"
    interrupted = 0
    for stop in random_stops(CALLS, ROUNDS, longest_delay=0.06):
        message_id = cpp.client.execute(stop.code)
        cpp.output_of(message_id, until=lambda each: each["msg_type"] == "status")
        time.sleep(stop.delay)
        cpp.manager.interrupt_kernel()
        try:
            cell = cpp.finish(message_id)
        except Empty as problem:
            raise AssertionError(f"{stop.told}: it never ended") from problem
        if cell.status == "error":
            interrupted += 1
            assert re.search("[Ii]nterrupted|aborted before it ran", str(cell.reply)), f"{stop.told}: {cell.reply}"
        else:
            assert stop.seconds == SHORT or "pu" in stop.name, f"{stop.told}: it was not hit"
        check = cpp.run('%px spin(0);\nview.pull<int>("mpi_rank")')
        assert check.status == "ok", f"{stop.told}: a later call fails: {check.reply}"
        assert value(check) == "{0, 1}", stop.told
    assert interrupted


def test_the_view_may_be_another_variable_and_comes_back(cpp, cluster):
    assert cpp.run("int view = 3;").status == "ok"
    assert value(cpp.run("view + px::view.size()")) == "5"
    assert cpp.run("px::engines& view = px::view;").status == "ok"
    assert value(cpp.run("view.size()")) == "2"


def test_cells_are_timed_here_and_there(cpp, cluster):
    assert "wall time" in cpp.run("%time std::sqrt(2.0);").text()
    assert "per loop" in cpp.run("%timeit -n 10 -r 2 std::sqrt(2.0);").text()
    assert "per loop" in cpp.run("%%timeit -n 10 -r 2\nstd::sqrt(2.0);").text()
    text = cpp.run("%%px\n%timeit -n 10 -r 2\nstd::sqrt(2.0);").text()
    assert "per loop" in text
    assert "[stdout:0]" in text or "[0,1]" in text  # both engines may take the same time
    assert "wall time" in cpp.run("%px %time std::sqrt(2.0);").text()


def test_output_is_cleared_here_and_there(cpp, cluster):
    cell = cpp.run('std::cout << "a"; px::clear_output(true); std::cout << "b";')
    assert cell.contents("clear_output") == [{"wait": True}]
    cell = cpp.run("%%px --targets 1\npx::clear_output();")  # of one engine: the cell is its own
    assert cell.contents("clear_output") == [{"wait": False}]


def test_a_cell_that_takes_too_long_is_stopped(cpp, cluster):
    cell = cpp.run("%%px --interrupt-after 0.5\nif (mpi_rank == 1) for (;;) {}")
    assert cell.status == "error"
    assert "Timed out after 0.5 s; still running: engine 1" in cell.text("stderr")


def test_the_language_of_all_cells_can_be_set(cpp, cluster):
    assert cpp.run("%pxconfig --language=python").status == "ok"
    cell = cpp.run("%px int x;")
    assert cell.status == "error" and "none of these engines runs python" in cell.reply["evalue"]
    assert cpp.run("%pxconfig --language=all").status == "ok"
    assert cpp.run("%px int x;").status == "ok"


def test_failures_on_engines_fail_the_cell(cpp, cluster):
    cell = cpp.run('%px if (mpi_rank == 1) throw std::runtime_error("no luck");')
    assert cell.status == "error"
    assert "no luck" in cell.reply["evalue"]


def test_names_of_the_engines_are_completed(cpp, cluster):
    assert cpp.run("%px int only_on_engines = 3;").status == "ok"
    code = "%px only_on_en"

    def found():
        reply = cpp.reply_to(cpp.client.complete(code, len(code)))["content"]
        return reply["matches"] and reply

    # What an engine does not answer within a second is left out.
    reply = wait_until(found, "an engine answers in time", 60)
    assert "only_on_engines" in reply["matches"]
    assert code[reply["cursor_start"] :] == "only_on_en"


@pytest.mark.parametrize("code, matches", [
    ("%%px --no", ["--no-fold", "--no-stream", "--no-verbose", "--noblock"]),
    ("%%px -t 0 --loc", ["--local"]),
    ("%pxcluster st", ["stacks", "start", "status", "stop"]),
    ("%pxcluster stop --al", ["--all"]),
])
def test_options_and_commands_of_the_magics_are_completed(cpp, code, matches):
    reply = cpp.reply_to(cpp.client.complete(code, len(code)))["content"]
    assert reply["matches"] == matches
    assert code[reply["cursor_start"] :] == code.split()[-1]


def test_cin_asks_the_user(cpp):
    message_id = cpp.client.execute("int age = 0; std::cin >> age; age", allow_stdin=True)
    question = cpp.client.get_stdin_msg(timeout=60)
    assert question["content"] == {"prompt": "", "password": False}
    cpp.client.input("42")
    assert value(cpp.finish(message_id)) == "42"


def test_scanf_asks_the_user_and_is_interrupted(cpp):
    read = 'int year = 0; scanf("%d", &year); year'
    message_id = cpp.client.execute(read, allow_stdin=True)
    cpp.client.get_stdin_msg(timeout=60)
    cpp.client.input("1986")
    assert value(cpp.finish(message_id)) == "1986"
    message_id = cpp.client.execute(read, allow_stdin=True)
    cpp.client.get_stdin_msg(timeout=60)
    cpp.manager.interrupt_kernel()
    assert "in stdin" in cpp.finish(message_id).reply["evalue"]


def test_cin_that_waits_is_interrupted(cpp):
    message_id = cpp.client.execute("std::cin >> age;", allow_stdin=True)
    cpp.client.get_stdin_msg(timeout=60)
    cpp.manager.interrupt_kernel()
    assert "in std::cin" in cpp.finish(message_id).reply["evalue"]


def test_cin_of_a_client_without_a_user_fails_at_once(cpp):
    reply = cpp.run("std::cin >> age;", allow_stdin=False).reply
    assert reply["ename"] == "NoInput" and "allow_stdin" in reply["evalue"]


def test_autopx_sends_all_cells_to_the_engines(cpp, cluster):
    assert "enabled" in cpp.run("%autopx").text()
    assert cpp.run("int by_autopx = 7;").status == "ok"
    assert "disabled" in cpp.run("%autopx").text()
    assert cpp.run("by_autopx").status == "error"
    assert cpp.run("%px by_autopx").status == "ok"


def test_a_widget_of_a_python_engine_is_drawn_and_moved(cpp_kernelspec):
    driver = start_driver(kernel_name="pxcpp")
    try:
        started = driver.run("%pxcluster start -n 1 --cluster-id=widgets")
        assert started.status == "ok", started.messages
        advice = started.text() + started.text("stderr")
        assert "view.execute(" in advice and "%pxconfig --cluster-id=widgets" in advice
        assert driver.run("%pxconfig --cluster-id widgets").status == "ok"
        cell = driver.run("%%px\nfrom ipywidgets import IntSlider\nslider = IntSlider(value=3)\n"
                          "slider.observe(lambda change: print('to', change.new), 'value')\nslider")
        views = [each["data"] for each in cell.contents("display_data")]
        (model_id,) = [view["application/vnd.jupyter.widget-view+json"]["model_id"]
                       for view in views if len(view) > 1]
        opened = {each["comm_id"]: each for each in cell.contents("comm_open")}
        assert opened[model_id]["data"]["state"]["value"] == 3
        info = driver.reply_to(driver.client.comm_info("jupyter.widget"))["content"]
        assert model_id in info["comms"]
        data = {"method": "update", "state": {"value": 7}, "buffer_paths": []}
        message = driver.client.session.msg("comm_msg", {"comm_id": model_id, "data": data})
        driver.client.shell_channel.send(message)
        while True:  # its kernel is idle before the engine has answered
            printed = driver.await_message("stream")
            if printed["parent_header"]["msg_id"] == message["header"]["msg_id"]:
                break
        assert printed["content"]["text"] == "[stdout:0] to 7\n"
        assert driver.run("%px print(slider.value)").text() == "[stdout:0] 7\n"
    finally:
        driver.run("%pxcluster stop --cluster-id=widgets")
        driver.close()
