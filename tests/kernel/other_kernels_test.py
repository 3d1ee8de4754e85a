"""A notebook of xeus-cpp or xeus-cling in the C++ kernel: its habits, in cells of our own."""

import subprocess
import sys

import pytest

from conftest import PATIENCE, start_driver


@pytest.fixture(scope="module")
def cpp(jupyter_home):
    """A C++ kernel that the tests share."""
    install = [sys.executable, "-m", "polyxeus.kernel", "install", "--user", "--language=cpp"]
    subprocess.run(install, check=True, timeout=PATIENCE)
    driver = start_driver(kernel_name="pxcpp")
    yield driver
    driver.close()


def value(cell):
    (result,) = cell.contents("execute_result")
    return result["data"]["text/plain"]


def test_a_value_is_displayed_under_a_name_and_updated(cpp):
    assert cpp.run("#include <xcpp/xdisplay.hpp>\nstruct Box { int side; };").status == "ok"
    cell = cpp.run('Box box{3};\nxcpp::display(box, "some_display_id");')
    (shown,) = cell.contents("display_data")
    assert shown["transient"] == {"display_id": "some_display_id"}
    assert shown["data"]["text/plain"] == "Box{.side = 3}"
    cell = cpp.run('box.side = 4;\nxcpp::display(box, "some_display_id", true);')
    (shown,) = cell.contents("update_display_data")
    assert shown["data"]["text/plain"] == "Box{.side = 4}"
    (cleared,) = cpp.run("xcpp::clear_output(true);").contents("clear_output")
    assert cleared == {"wait": True}


def test_an_image_is_shown_by_its_bundle(cpp):
    cell = cpp.run(
        '#include "xeus/xbase64.hpp"\n'
        "namespace im {\n"
        "struct image { std::string bytes; };\n"
        "std::map<std::string, std::string> mime_bundle_repr(const image& i) {\n"
        '  return {{"image/png", xeus::base64encode(i.bytes)}};\n'
        "}\n"
        "}\n"
    )
    assert cell.status == "ok"
    (shown,) = cpp.run('im::image{"PNG"}').contents("execute_result")
    assert shown["data"]["image/png"] == "UE5H"


def test_names_are_explained_and_commands_run(cpp):
    assert "cppreference.com/w/cpp/container/vector" in value(cpp.run("?std::vector"))
    assert cpp.run("!echo hello").text() == "hello\n"
    assert "exited with code 3" in cpp.run("!exit 3").text("stderr")
    for code in ("?std::vector", "!ls (", "%%file x\nint f() {"):
        assert cpp.reply_to(cpp.client.is_complete(code))["content"]["status"] == "complete", code


def test_a_cell_becomes_a_file_or_a_program(cpp, tmp_path):
    cell = cpp.run(f"%%file {tmp_path}/square.hpp\ninline int square(int x) {{ return x * x; }}\n")
    assert cell.text() == f"Writing {tmp_path}/square.hpp\n"
    assert value(cpp.run(f'#include "{tmp_path}/square.hpp"\nsquare(5)')) == "25"
    cell = cpp.run(f"%%executable {tmp_path}/program -- -O0\nstd::cout << square(6) << std::endl;")
    assert cell.status == "ok", cell.messages
    done = subprocess.run([tmp_path / "program"], capture_output=True, text=True, timeout=PATIENCE)
    assert done.stdout == "36\n"


def test_commands_of_cling_are_obeyed_or_answered(cpp):
    assert cpp.run('#pragma cling load("libz.so.1")\nint z = 1;').status == "ok"
    assert "%flags -O2" in cpp.run(".O2").reply["evalue"]
    assert "%%executable" in cpp.run(".help").text()
