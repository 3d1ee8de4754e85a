"""The C++ kernel: Jupyter's own tests of kernels, then cells and magics."""

import subprocess
import sys

import jupyter_kernel_test
import pytest

from conftest import PATIENCE, start_driver


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
        {"text": "int counted_here = 1; count", "matches": {"counted_here"}},
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


def test_a_wrong_option_is_one_sentence(cpp):
    cell = cpp.run("%%px --tragets=1\nint x;")
    assert cell.status == "error" and "--tragets" in cell.reply["evalue"]


def test_px_cells_run_on_the_engines_and_are_labelled(cpp, cluster):
    cell = cpp.run('%%px\nstd::cout << "rank " << mpi_rank << std::endl;')
    assert cell.status == "ok"
    assert "[0] rank 0" in cell.text() or "[stdout:0] rank 0" in cell.text()
    cell = cpp.run("%px mpi_rank + 10")
    shown = [each["data"]["text/plain"] for each in cell.contents("display_data")]
    assert any("10" in text for text in shown) and any("11" in text for text in shown)


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


def test_failures_on_engines_fail_the_cell(cpp, cluster):
    cell = cpp.run('%px if (mpi_rank == 1) throw std::runtime_error("no luck");')
    assert cell.status == "error"
    assert "no luck" in cell.reply["evalue"]


def test_names_of_the_engines_are_completed(cpp, cluster):
    assert cpp.run("%px int only_on_engines = 3;").status == "ok"
    code = "%px only_on_en"
    reply = cpp.reply_to(cpp.client.complete(code, len(code)))["content"]
    assert "only_on_engines" in reply["matches"]
    assert code[reply["cursor_start"] :] == "only_on_en"


def test_autopx_sends_all_cells_to_the_engines(cpp, cluster):
    assert "enabled" in cpp.run("%autopx").text()
    assert cpp.run("int by_autopx = 7;").status == "ok"
    assert "disabled" in cpp.run("%autopx").text()
    assert cpp.run("by_autopx").status == "error"
    assert cpp.run("%px by_autopx").status == "ok"
