"""What portable wheels are checked for, and the list of what is inside them."""

import json
import re
import shutil
import struct
import subprocess
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CROSS_COMPILER = "aarch64-linux-gnu-g++-12"
needs_cross_compiler = pytest.mark.skipif(not shutil.which(CROSS_COMPILER), reason=f"there is no {CROSS_COMPILER}")


@pytest.fixture
def make_module(tmp_path):
    """Compiles a shared library of C++ that calls the function."""

    def make(function, compiler="g++"):
        source, module = tmp_path / "module.cpp", tmp_path / "module.so"
        source.write_text(f'extern "C" void {function}(); void call() {{ {function}(); }}\n')
        subprocess.run([compiler, "-shared", "-fPIC", source, "-o", module], check=True)
        return module

    return make


def test_a_function_that_no_glibc_has_by_then_is_found(make_module):
    from bundle_libraries import unknown_functions

    assert unknown_functions(make_module("newer_than_all")) == ["newer_than_all"]


@needs_cross_compiler
def test_a_function_that_no_glibc_has_is_found_in_a_module_for_aarch64(make_module):
    from bundle_libraries import unknown_functions

    assert unknown_functions(make_module("newer_than_all", CROSS_COMPILER)) == ["newer_than_all"]
    assert unknown_functions(make_module("abort", CROSS_COMPILER)) == []


@pytest.mark.parametrize("function", ["PyErr_Clear", "_Py_Dealloc", "PMPI_Barrier", "abort"])
def test_functions_of_python_mpi_and_glibc_are_known(make_module, function):
    from bundle_libraries import unknown_functions

    assert unknown_functions(make_module(function)) == []


# Waits with the earliest deadline: that of code which only asks whether it need not wait.
EARLIEST_DEADLINE = r"""
#include <pthread.h>
#include <semaphore.h>
#include <cerrno>
#include <cstdint>
#include <ctime>
static timespec asked{};
extern "C" int pthread_cond_timedwait(pthread_cond_t*, pthread_mutex_t*, const timespec* until) {
  asked = *until;
  return ETIMEDOUT;
}
extern "C" int sem_timedwait(sem_t*, const timespec* until) noexcept(noexcept(sem_timedwait(nullptr, nullptr))) {
  asked = *until;
  errno = ETIMEDOUT;
  return -1;
}
static bool may_sleep() { return asked.tv_sec >= 0; }  // glibc asks the kernel unless the time is negative
int main() {
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  const timespec earliest{INT64_MIN / 1'000'000'000, 0};
  if (pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &earliest) != ETIMEDOUT) return 1;
  if (may_sleep()) return 2;
  if (sem_clockwait(&semaphore, CLOCK_MONOTONIC, &earliest) != -1 || errno != ETIMEDOUT) return 3;
  return may_sleep() ? 4 : 0;
}
"""


def test_functions_of_newer_glibc_do_not_wait_for_a_deadline_that_has_long_passed(tmp_path):
    (tmp_path / "main.cpp").write_text(EARLIEST_DEADLINE)
    command = ["g++", "-std=c++20", tmp_path / "main.cpp", ROOT / "cmake/old_glibc/newer_functions.cpp", "-o", tmp_path / "main"]
    subprocess.run(command, check=True)
    assert subprocess.run([tmp_path / "main"]).returncode == 0


def test_a_file_that_names_the_folder_of_the_checkout_is_found(tmp_path):
    from bundle_libraries import names_checkout

    for name, content in {"elsewhere.so": b"/usr/include/string\0", "here.so": f"\0{ROOT}/wire/codec.cpp\0".encode()}.items():
        (tmp_path / name).write_bytes(content)
    assert [names_checkout(tmp_path / name) for name in ("elsewhere.so", "here.so")] == [False, True]


def test_the_list_of_parts_names_all_of_them_and_is_the_same_each_time():
    import wheel_sbom

    found = wheel_sbom.sbom("1.2.3")
    sources = json.loads((ROOT / "scripts/wheel_sources.json").read_text())
    names = {part["name"] for kind in ("compiled", "archives", "headers") for part in sources[kind]} | {"pybind11"}
    assert {part["name"] for part in found["components"]} == names | {"preact", "uplot"}
    assert all(re.match(r"pkg:(deb|pypi|npm)/\S+@\S+", part["purl"]) for part in found["components"])
    assert json.dumps(wheel_sbom.sbom("1.2.3")) == json.dumps(found)


@pytest.fixture
def sysroot(tmp_path):
    """A folder as scripts/wheel_sysroot.py makes it, in which all packages have version 9.9 and all archives are empty."""
    import wheel_sysroot

    sources = json.loads((ROOT / "scripts/wheel_sources.json").read_text())
    (tmp_path / wheel_sysroot.VERSIONS).write_text(json.dumps(dict.fromkeys(wheel_sysroot.wanted_packages(sources), "9.9")))
    for part in sources["archives"]:
        folder = "gcc/aarch64-linux-gnu/12" if part["archive"] == "libstdc++.a" else "aarch64-linux-gnu"
        (tmp_path / "usr/lib" / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / "usr/lib" / folder / part["archive"]).write_bytes(b"")
    return tmp_path


def test_the_list_of_parts_of_an_aarch64_wheel_names_the_packages_of_arm64(sysroot):
    import wheel_sbom

    parts = {part["name"]: part for part in wheel_sbom.sbom("1.2.3", sysroot=sysroot)["components"]}
    assert parts["OpenSSL"]["purl"] == "pkg:deb/debian/libssl-dev@9.9?arch=arm64"
    assert parts["libstdc++"]["hashes"][0]["content"].startswith("e3b0c442")  # of no bytes
    assert parts["Boost"]["version"] == "9.9" and parts["libzmq"]["purl"].endswith("?arch=source")
    assert set(parts) == {part["name"] for part in wheel_sbom.sbom("1.2.3")["components"]}


@pytest.mark.parametrize("version", ["3.10", "3.12", "3.15"])
def test_a_python_without_headers_for_aarch64_is_refused_before_anything_is_downloaded(version, tmp_path):
    import wheel_sysroot

    with pytest.raises(SystemExit, match=f"no headers of Python {version} for aarch64"):
        wheel_sysroot.python_headers(tmp_path, version)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("options", [("--check",), ("--test",), ("--cpp",), ("--native",)], ids=lambda words: words[0])
def test_options_that_do_not_go_with_another_architecture_are_refused(options):
    done = subprocess.run([ROOT / "scripts/wheels", "--arch=aarch64", *options], capture_output=True, text=True)
    assert done.returncode == 1 and "arch" in done.stderr


@pytest.mark.parametrize(
    "text",
    [
        "Types: deb\nURIs: http://mirror.test/debian\nSuites: bookworm\n",
        "deb http://mirror.test/debian/ bookworm main\n",
        "deb [signed-by=/usr/share/keyrings/a.gpg] http://mirror.test/debian bookworm main\n",
    ],
    ids=["a stanza", "a line", "a line with options"],
)
def test_packages_of_other_releases_come_from_the_mirror_of_the_host(text, monkeypatch):
    import debian_packages

    others = "Types: deb\nURIs: http://security.test/debian-security\n"
    monkeypatch.setattr(debian_packages, "host_sources", lambda: [("a.list", others), ("b.list", text)])
    assert debian_packages.mirror() == "http://mirror.test/debian"


def test_an_update_of_an_archive_makes_the_libraries_again():
    import wheel_libraries

    old, new = (wheel_libraries.digest(wheel_libraries.native(), f"libssl-dev {version}") for version in ("3.0.1", "3.0.2"))
    assert old != new


def test_the_page_for_reviewers_names_the_same_parts():
    import wheel_sbom

    text = (ROOT / "docs/security.md").read_text()
    table = re.search(r"^\| library in the wheel `polyxeus` .*?\n\n", text, re.M | re.S)[0].lower()
    parts = [part["name"] for part in wheel_sbom.sbom("1.2.3")["components"]]
    assert [name for name in parts if name.lower() not in table] == []


@pytest.fixture
def unpacked_wheel(tmp_path):
    """A wheel with one library and one program that contains libzmq and fmt, with the list of parts for it."""
    import wheel_sbom

    files = {"polyxeus.libs/libpolyxeus_zmq-51c5e5f2.so": "libzmq", "polyxeus-1.2.3.data/scripts/pxengine": "fmt"}
    for name, part in files.items():
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_bytes(b"\x7fELF" + wheel_sbom.MARKS[part].encode())
    about = tmp_path / "polyxeus-1.2.3.dist-info/METADATA"
    about.parent.mkdir()
    about.write_text("Name: polyxeus\nVersion: 1.2.3\n\n" + wheel_sbom.MARKS["SQLite"])  # text, not code
    wheel_sbom.write(tmp_path)
    place = about.parent / wheel_sbom.NAME
    document = json.loads(place.read_text())
    document["components"] = [each for each in document["components"] if each["name"] in ("libzmq", "fmt", *files)]
    place.write_text(json.dumps(document))
    return tmp_path


def test_a_list_that_names_what_is_inside_is_right(unpacked_wheel):
    import wheel_sbom

    assert wheel_sbom.check(unpacked_wheel) == []


def test_a_part_and_a_library_that_the_list_lacks_are_found(unpacked_wheel):
    import wheel_sbom

    (unpacked_wheel / "polyxeus.libs/libother-1.so").write_bytes(b"\x7fELF" + wheel_sbom.MARKS["SQLite"].encode())
    wrong = wheel_sbom.check(unpacked_wheel)
    assert [each.split(" ")[0] for each in wrong] == ["SQLite", "polyxeus.libs/libother-1.so"]


def test_a_part_that_is_not_inside_is_found(unpacked_wheel):
    import wheel_sbom

    next(unpacked_wheel.glob("*.data/scripts/pxengine")).unlink()
    assert wheel_sbom.check(unpacked_wheel) == ["the list of parts names fmt, but no file contains it"]


def test_the_linked_archives_are_those_that_the_list_names():
    sources = json.loads((ROOT / "scripts/wheel_sources.json").read_text())
    text = (ROOT / "cmake/portable_wheel.cmake").read_text() + (ROOT / "scripts/wheel_libraries.py").read_text()
    linked = set(re.findall(r"(?:px_multiarch\}/|target\.archive\(\")(lib\w+\.a)", text))
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


@pytest.fixture
def two_libraries(tmp_path):
    """Two libraries with a function of the same name; calls(preload) says which one a reference with a version finds,
    and which one a reference without a version."""

    def build(name, source, *options):
        (tmp_path / f"{name}.c").write_text(source)
        subprocess.run(["gcc", f"{name}.c", "-o", name, *options], check=True, cwd=tmp_path)
        return tmp_path / name

    def library(name, number):
        (tmp_path / f"{name}.map").write_text(f"{name.upper()}_EMPTY {{ }};\n{name.upper()} {{ global: *; }};")
        return build(f"lib{name}.so", f"int number(void) {{ return {number}; }}", "-shared", "-fPIC",
                     f"-Wl,--version-script={name}.map,-soname,lib{name}.so")  # fmt: skip

    ours, theirs = library("ours", 1), library("theirs", 2)
    # not linked with either library, so its reference has no version
    build("libwithout.so", "int number(void); int without(void) { return number(); }", "-shared", "-fPIC")
    program = build("program", "#include <stdio.h>\nint number(void), without(void);"
                    'int main(void) { printf("%d %d\\n", number(), without()); }',
                    "-L.", "-Wl,--no-as-needed", "-lours", "-lwithout", "-ltheirs", "-Wl,-rpath,$ORIGIN")  # fmt: skip

    def calls(*preloaded):
        names = {"LD_PRELOAD": " ".join(map(str, preloaded))}
        return subprocess.run([program], check=True, capture_output=True, text=True, env=names).stdout.split()

    return ours, theirs, calls


def test_references_without_a_version_do_not_find_a_hidden_library(two_libraries):
    from hidden_versions import are_hidden, hide

    ours, theirs, calls = two_libraries
    assert calls(ours) == ["1", "1"] and not are_hidden(ours)
    hide(ours)
    assert calls(ours) == ["1", "2"] and are_hidden(ours) and not are_hidden(theirs)


def test_a_library_is_hidden_once(two_libraries):
    from hidden_versions import hide

    ours, _, _ = two_libraries
    hide(ours)
    once = ours.read_bytes()
    hide(ours)
    assert ours.read_bytes() == once


def test_local_symbols_of_a_library_stay_as_they_are(two_libraries):
    """The linker for aarch64 adds local symbols of sections, which have no version."""
    from hidden_versions import are_hidden, hide

    ours, _, _ = two_libraries
    listed = subprocess.run(["readelf", "-SW", ours], check=True, capture_output=True, text=True).stdout
    symbols, versions = (int(re.search(rf" \.{name} +[A-Z]+ +\w+ (\w+)", listed)[1], 16) for name in ("dynsym", "gnu.version"))
    data = bytearray(ours.read_bytes())
    data[symbols + 24 + 4] = 3  # the first symbol: local, of a section,
    struct.pack_into("<H", data, symbols + 24 + 6, 1)  # which is the first one
    struct.pack_into("<H", data, versions + 2, 0)
    ours.write_bytes(data)
    hide(ours)
    assert are_hidden(ours) and ours.read_bytes()[versions + 2 : versions + 4] == b"\0\0"


def test_other_files_are_not_hidden(tmp_path):
    from hidden_versions import hide

    (tmp_path / "text").write_text("not a library")
    with pytest.raises(ValueError, match="not an ELF file"):
        hide(tmp_path / "text")
