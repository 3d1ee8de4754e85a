"""What portable wheels are checked for, and the list of what is inside them."""

import json
import re
import subprocess
import zipfile
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


def test_a_compressed_wheel_is_smaller_and_has_the_same_files(tmp_path):
    import wheel_compression

    text = " ".join(str(number * number) for number in range(50_000)).encode()
    program = zipfile.ZipInfo("polyxeus.data/scripts/pxengine", (2026, 11, 27, 12, 0, 2))
    program.external_attr, program.compress_type = 0o100755 << 16, zipfile.ZIP_DEFLATED
    plain = tmp_path / "plain.whl"
    with zipfile.ZipFile(plain, "w", zipfile.ZIP_DEFLATED) as wheel:
        wheel.writestr(program, text)
        wheel.writestr("polyxeus/py.typed", b"")
    small, again = (wheel_compression.compress(plain, tmp_path / name) for name in ("small.whl", "again.whl"))
    assert small.stat().st_size < 0.98 * plain.stat().st_size and small.read_bytes() == again.read_bytes()
    with zipfile.ZipFile(plain) as before, zipfile.ZipFile(small) as after:
        assert after.testzip() is None and [each.filename for each in after.infolist()] == before.namelist()
        for old, new in zip(before.infolist(), after.infolist()):
            assert (new.date_time, new.external_attr, new.CRC) == (old.date_time, old.external_attr, old.CRC)
