"""What scripts/setup installs and builds for the demo, with stand-ins for apt, Python and CMake."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PYTHON = """#!/bin/bash
# Stands for Python: makes environments, notes what pip is asked for, and refuses wheels for a later glibc.
case "$*" in
  "-m venv "*) mkdir -p "$3/bin"; cp "$0" "$3/bin/python" ;;
  *getsitepackages*) mkdir -p "$(dirname "$0")/../lib"; echo "$(dirname "$0")/../lib" ;;
  "-c "*) echo cp311 ;;
  "-m pip "*)
    echo "${*:3}" >> calls
    case "$*" in
      *manylinux_2_99*) exit 1 ;;
      *"-r scripts/demo_requirements.txt"*) [ ! -e offline ] || { echo "no network"; exit 1; } ;;
      *" wheel "*) touch build/dist/polyxeus-0.1.0-built.whl ;;
      *"--force-reinstall"*) touch "$(dirname "$0")/pxcluster"; chmod +x "$(dirname "$0")/pxcluster" ;;
    esac ;;
esac
"""
CMAKE = """#!/bin/bash
# Stands for CMake: notes what it is asked for; a file named broken makes it fail.
echo "cmake $*" >> calls
[ ! -e broken ] || { echo "a source is broken"; exit 1; }
"""
DPKG_QUERY = """#!/bin/sh
# Stands for dpkg-query: knows each package, but what the file absent names.
! grep -qx "$3" absent 2>/dev/null || exit 1
echo install ok installed
"""
APT_GET = """#!/bin/sh
# Stands for apt-get: notes what it is asked for.
echo "apt-get $*" >> calls
"""
SUDO = """#!/bin/sh
exec "$@"
"""


class Checkout:
    """A copy of scripts/ in a repository of its own."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "scripts").mkdir()
        for name in ("setup", "compiler_cache", "requirements.txt", "demo_requirements.txt"):
            shutil.copy(ROOT / "scripts" / name, folder / "scripts")
        (folder / "stand_ins").mkdir()
        for name, text in {"python3": PYTHON, "cmake": CMAKE, "dpkg-query": DPKG_QUERY,
                           "apt-get": APT_GET, "sudo": SUDO}.items():  # fmt: skip
            (folder / "stand_ins" / name).write_text(text)
            (folder / "stand_ins" / name).chmod(0o755)
        (folder / ".gitignore").write_text("/build/\n/.venv/\n/dist/\n/calls\n/absent\n/broken\n/offline\n")
        subprocess.run(["git", "init", "-q"], cwd=folder, check=True)

    def add_wheel(self, platform):
        (self.folder / "dist").mkdir(exist_ok=True)
        (self.folder / f"dist/polyxeus-0.1.0-cp311-cp311-{platform}.whl").touch()

    def run(self, *options):
        path = f"{self.folder}/stand_ins:{os.environ['PATH']}"
        return subprocess.run(["scripts/setup", *options], cwd=self.folder, env={**os.environ, "PATH": path},
                              capture_output=True, text=True, timeout=60)  # fmt: skip

    def set_up(self):
        """-> (the environment for the demo, the words that pip and CMake got)"""
        done = self.run("--demo")
        assert done.returncode == 0, done.stdout + done.stderr
        calls = self.folder / "calls"
        text = calls.read_text() if calls.exists() else ""
        calls.unlink(missing_ok=True)
        return (self.folder / "build/demo/home").read_text().strip(), text


@pytest.fixture
def checkout(tmp_path):
    return Checkout(tmp_path)


def test_the_demo_takes_a_wheel_that_fits_and_compiles_nothing(checkout):
    checkout.add_wheel("manylinux_2_35_x86_64")
    home, calls = checkout.set_up()
    assert home == "build/demo/venv"
    assert "dist/polyxeus-0.1.0-cp311-cp311-manylinux_2_35_x86_64.whl" in calls
    assert "-r scripts/demo_requirements.txt" in calls and "wheel -q" not in calls


@pytest.mark.parametrize("wheels", [[], ["manylinux_2_99_x86_64"]], ids=["no wheel", "a wheel that does not fit"])
def test_the_demo_builds_only_what_it_runs_where_no_wheel_fits(checkout, wheels):
    for platform in wheels:
        checkout.add_wheel(platform)
    home, calls = checkout.set_up()
    assert home == "build/demo/built"
    assert "cmake --preset demo" in calls and "cmake --build --preset demo" in calls
    assert "-r scripts/demo_requirements.txt" in calls
    assert "wheel -q" not in calls and "-r scripts/requirements.txt" not in calls
    assert (checkout.folder / home / "lib/polyxeus.pth").read_text() == f"{checkout.folder}/build/demo/python\n"


def test_a_second_run_of_the_demo_installs_nothing(checkout):
    checkout.set_up()
    home, calls = checkout.set_up()
    assert home == "build/demo/built" and "pip" not in calls and "cmake --build --preset demo" in calls


def test_a_build_of_the_demo_that_fails_shows_why(checkout):
    (checkout.folder / "broken").touch()
    done = checkout.run("--demo")
    assert done.returncode == 1 and "a source is broken" in done.stderr


def test_the_demo_needs_neither_the_compiler_cache_nor_the_headers_of_mpi(checkout):
    (checkout.folder / "absent").write_text("ccache\nlibopenmpi-dev\nlibgtest-dev\nlibbenchmark-dev\n")
    assert checkout.run("--demo", "--no-apt").returncode == 0
    done = checkout.run("--no-apt")
    assert done.returncode == 1 and "missing Debian packages: ccache" in done.stderr


def test_the_demo_takes_a_build_that_is_up_to_date(checkout):
    assert checkout.run().returncode == 0
    (checkout.folder / "calls").unlink()
    checkout.add_wheel("manylinux_2_35_x86_64")
    assert checkout.set_up() == (".venv", "")


def test_the_older_wheel_is_taken_where_the_newer_one_does_not_fit(checkout):
    checkout.add_wheel("manylinux_2_35_x86_64")
    checkout.add_wheel("manylinux_2_99_x86_64")
    os.utime(checkout.folder / "dist/polyxeus-0.1.0-cp311-cp311-manylinux_2_35_x86_64.whl", (0, 0))
    home, calls = checkout.set_up()
    assert home == "build/demo/venv" and "wheel -q" not in calls


@pytest.mark.parametrize("wheels", [[], ["manylinux_2_35_x86_64"]], ids=["no wheel", "a wheel"])
def test_python_is_installed_first_so_that_pip_works_while_apt_does(checkout, wheels):
    (checkout.folder / "absent").write_text("python3-venv\nopenmpi-bin\n")
    for platform in wheels:
        checkout.add_wheel(platform)
    _, calls = checkout.set_up()
    asked = [line for line in calls.splitlines() if line.startswith("apt-get")]
    assert [line.partition("--no-install-recommends ")[2] for line in asked if " install " in line] == [
        "python3-venv", "openmpi-bin python3-venv"]  # the stand-in installs nothing
    assert len([line for line in asked if " update " in line]) == 1


@pytest.mark.parametrize("wheels", [[], ["manylinux_2_35_x86_64"]], ids=["no wheel", "a wheel"])
def test_the_demo_is_not_run_where_pip_fails(checkout, wheels):
    (checkout.folder / "offline").touch()
    for platform in wheels:
        checkout.add_wheel(platform)
    done = checkout.run("--demo")
    assert done.returncode == 1 and "no network" in done.stdout


def test_what_the_demo_misses_is_named_at_once(checkout):
    (checkout.folder / "absent").write_text("python3-venv\nopenmpi-bin\n")
    checkout.add_wheel("manylinux_2_35_x86_64")
    done = checkout.run("--demo", "--no-apt")
    assert done.returncode == 1 and "missing Debian packages: openmpi-bin python3-venv" in done.stderr
