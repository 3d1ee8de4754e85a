"""What portable wheels are checked for, and the list of what is inside them."""

import json
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def make_module(tmp_path):
    """Compiles a shared library of C++ that calls the function."""

    def make(function):
        source, module = tmp_path / "module.cpp", tmp_path / "module.so"
        source.write_text(f'extern "C" void {function}(); void call() {{ {function}(); }}\n')
        subprocess.run(["g++", "-shared", "-fPIC", source, "-o", module], check=True)
        return module

    return make


def test_a_function_that_no_glibc_has_by_then_is_found(make_module):
    from bundle_libraries import unknown_functions

    assert unknown_functions(make_module("newer_than_all")) == ["newer_than_all"]


@pytest.mark.parametrize("function", ["PyErr_Clear", "_Py_Dealloc", "PMPI_Barrier", "abort"])
def test_functions_of_python_mpi_and_glibc_are_known(make_module, function):
    from bundle_libraries import unknown_functions

    assert unknown_functions(make_module(function)) == []


def test_the_list_of_parts_names_all_of_them_and_is_the_same_each_time():
    import wheel_sbom

    found = wheel_sbom.sbom("1.2.3")
    sources = json.loads((ROOT / "scripts/wheel_sources.json").read_text())
    names = {part["name"] for kind in ("compiled", "archives", "headers") for part in sources[kind]} | {"pybind11"}
    assert {part["name"] for part in found["components"]} == names
    assert all(re.match(r"pkg:(deb|pypi)/\S+@\S+", part["purl"]) for part in found["components"])
    assert json.dumps(wheel_sbom.sbom("1.2.3")) == json.dumps(found)


def test_the_linked_archives_are_those_that_the_list_names():
    sources = json.loads((ROOT / "scripts/wheel_sources.json").read_text())
    text = (ROOT / "cmake/portable_wheel.cmake").read_text() + (ROOT / "scripts/wheel_libraries.py").read_text()
    linked = set(re.findall(r"(?:px_multiarch\}/|DEBIAN / \")(lib\w+\.a)", text))
    assert linked | {"libstdc++.a"} == {part["archive"] for part in sources["archives"]}
