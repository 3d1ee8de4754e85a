"""Tests of an installed polyxeus: which ones, for which Python, and away from the sources."""

import os
import re
import shutil
import sys

import pytest
from conftest import ROOT

from test_runner import installed
from test_runner.main import arguments
from test_runner.programs import Workshop

FILES = (
    "docs/compatibility.md", "docs/guide/errors.md", "pyproject.toml", "python/polyxeus/__init__.py", "tests/conftest.py", "tests/dap_client.py", "tests/deadlines.py", "tests/jupyter_kernels.py",
    "tests/partition_vectors.txt",
    "tests/random_stops.py", "tests/engine/conftest.py", "tests/engine/apply_test.py", "tests/engine/parts_test.cpp", "tests/kernel/cells_kernel_test.py",
    "tests/kernel/cpp_kernel_test.py", "tests/python/client_test.py", "tests/python/types_test.py",
    "tests/python/reference/left_out.py", "tests/system/start_test.py",
)  # fmt: skip


@pytest.fixture
def tree(tmp_path):
    for file in FILES:
        path = tmp_path / "tree" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return tmp_path / "tree"


@pytest.fixture
def python(tmp_path):
    """The Python of an environment that is named 3.9."""
    path = tmp_path / "3.9" / "bin" / "python"
    path.parent.mkdir(parents=True)
    path.touch()
    return path


def files_of(folder):
    return {str(each.relative_to(folder)) for each in folder.rglob("*") if each.is_file()}


def test_the_tests_are_copied_without_the_sources_and_what_is_about_them(tree, python):
    copy = installed.copy_tests(tree, python)
    assert copy == tree / "build" / "installed" / "3.9"
    assert files_of(copy) == {
        "docs/compatibility.md", "docs/guide/errors.md", "pyproject.toml", "tests/conftest.py", "tests/dap_client.py", "tests/deadlines.py", "tests/jupyter_kernels.py",
        "tests/partition_vectors.txt", "tests/random_stops.py",
        "tests/engine/conftest.py", "tests/engine/apply_test.py", "tests/kernel/cells_kernel_test.py",
        "tests/python/client_test.py", "tests/python/reference/left_out.py",
    }  # fmt: skip


def test_a_test_that_was_removed_is_not_in_the_next_copy(tree, python):
    installed.copy_tests(tree, python)
    (tree / "tests/engine/apply_test.py").unlink()
    assert "tests/engine/apply_test.py" not in files_of(installed.copy_tests(tree, python))


def test_the_cpp_kernel_is_tested_where_it_is_installed(tree, python):
    (python.parent / "pxkernel-cpp").touch()
    assert "tests/kernel/cpp_kernel_test.py" in files_of(installed.copy_tests(tree, python))


def test_all_that_is_copied_is_there():
    for file in (*installed._SHARED, *(f"tests/{group}" for group in installed.GROUPS)):
        assert (ROOT / file).exists(), file
    for name in (*installed._ABOUT_SOURCES, *installed._ABOUT_CPP):
        assert list((ROOT / "tests").glob(f"**/{name}")), name


def test_the_copy_has_what_its_tests_import_and_read(python):
    """A copy of this tree has the modules in the folder of all tests that they import, and the files that they name."""
    copy = installed.copy_tests(ROOT, python)
    try:
        shared = {file.stem for file in (ROOT / "tests").glob("*.py")}
        imported = {name for file in copy.rglob("*.py")
                    for name in re.findall(r"^\s*(?:from|import) (\w+)", file.read_text(), re.M)}  # fmt: skip
        assert shared & imported
        assert shared & imported <= {file.stem for file in (copy / "tests").glob("*.py")}
        named = {name for file in copy.rglob("*.py")
                 for name in re.findall(r'"((?:docs|scripts|notebooks|profiles)/[\w./-]+)"', file.read_text())}  # fmt: skip
        assert named
        assert [name for name in named if (ROOT / name).is_file() and not (copy / name).is_file()] == []
    finally:
        shutil.rmtree(copy)


def test_the_programs_of_the_tests_see_the_environment_of_that_python(tmp_path, python):
    shop = Workshop(tmp_path, python)
    try:
        environment = shop.environment("engine")
        assert shop.python == str(python)
        assert environment["VIRTUAL_ENV"] == str(python.parent.parent)
        assert environment["PATH"].split(os.pathsep)[0] == str(python.parent)
    finally:
        shop.close(keep=())


def names(by_lane):
    return {group.name for groups in by_lane.values() for group in groups}


def test_only_groups_that_need_no_sources_run_on_an_installed_polyxeus(capsys):
    _, by_lane = arguments(["--installed", sys.executable])
    assert names(by_lane) == {"engine", "kernel", "python"}
    _, by_lane = arguments(["--installed", sys.executable, "--only", "kernel"])
    assert names(by_lane) == {"kernel"}
    with pytest.raises(SystemExit):
        arguments(["--installed", sys.executable, "--only", "magics"])
    assert "no group magics; there are engine, kernel, python" in re.sub(r"\s+", " ", capsys.readouterr().err)
    with pytest.raises(SystemExit):
        arguments(["--installed", "/no/such/python"])
    assert "/no/such/python is no program" in capsys.readouterr().err


def test_versions_that_the_tests_of_wheels_name_are_those_of_all_tests():
    wheels, all_tests = ((ROOT / f"scripts/{name}requirements.txt").read_text().splitlines() for name in ("wheel_test_", ""))
    pinned = [line.partition(";")[0] for line in wheels if "==" in line]
    assert pinned and [each for each in pinned if each not in all_tests] == []
