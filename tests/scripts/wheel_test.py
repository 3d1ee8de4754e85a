"""A wheel with its libraries inside needs nothing of the system but Python and glibc."""

import json
import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# What each Linux with a Python has.
OF_THE_SYSTEM = (
    "linux-vdso.so.1", "/lib64/ld-linux-x86-64.so.2", "libc.so.6", "libm.so.6", "libdl.so.2",
    "libpthread.so.0", "librt.so.1", "libresolv.so.2", "libgcc_s.so.1", "libstdc++.so.6",
)  # fmt: skip
HIDDEN = ("VIRTUAL_ENV", "PYTHONPATH")  # of the environment that runs the tests
PROGRAMS = ("pxcluster", "pxcontroller", "pxengine", "pxkernel")
CPP_PROGRAMS = ("pxengine-cpp", "pxkernel-cpp")


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, **options)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """A virtual environment with the wheel alone, in which the packages of this one can be imported."""
    folder = tmp_path_factory.mktemp("wheel")
    raw = max((ROOT / "build/dist").glob("polyxeus-*.whl"), key=os.path.getmtime)
    tools = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    run(sys.executable, ROOT / "scripts/bundle_libraries.py", raw, folder / "dist", env=tools)
    cpp_wheel, wheel = sorted((folder / "dist").glob("*.whl"), key=lambda each: "_cpp" not in each.name)
    assert "manylinux" in wheel.name and wheel.stat().st_size < 40e6
    assert "-py3-none-manylinux" in cpp_wheel.name and cpp_wheel.stat().st_size < 200e6
    home = folder / "env"
    run(sys.executable, "-m", "venv", home)
    install = (home / "bin/python", "-m", "pip", "install", "-q", "--no-deps", "--no-index")
    run(*install, wheel)
    assert sorted(each.name for each in home.glob("bin/px*")) == sorted(PROGRAMS)
    run(*install, cpp_wheel)
    site = sysconfig.get_path("purelib", vars={"base": str(home)})
    others = sysconfig.get_path("purelib")
    (Path(site) / "others.pth").write_text(f"{others}\n")
    return home


@pytest.fixture(scope="module")
def many_wheels(environment, tmp_path_factory):
    """A folder with the wheels, and with a wheel for each other version of Python."""
    folder = tmp_path_factory.mktemp("many")
    for wheel in (environment.parent / "dist").glob("*.whl"):
        os.link(wheel, folder / wheel.name)
    own = "cp{}{}".format(*sys.version_info)
    (wheel,) = folder.glob("polyxeus-*.whl")
    for minor in range(9, 15):
        name = wheel.name.replace(own, f"cp3{minor}")
        if name != wheel.name:
            os.link(wheel, folder / name)
    return folder


def commands_of(text):
    """The command lines that stand in a document, without the remarks behind them."""
    lines = (line.strip().partition("   #")[0].strip() for line in text.splitlines())
    return [line for line in lines if line.startswith("pip install")]


# The pages that say how a wheel is installed.
GUIDES = ("docs/install.md", "docs/start/from-nothing.md", "docs/start/from-mpi.md", "docs/start/from-ipyparallel.md")


@pytest.mark.parametrize("guide", GUIDES)
def test_the_command_of_the_guides_finds_the_wheel_for_each_python(many_wheels, tmp_path, guide):
    needed, ours, *_ = commands_of((ROOT / guide).read_text())
    project = (ROOT / "pyproject.toml").read_text()
    dependencies = json.loads(re.search(r"^dependencies = (\[.*\])$", project, re.M)[1])
    assert needed.split()[2:][: len(dependencies)] == dependencies  # from PyPI, where polyxeus is not
    install = (sys.executable, "-m", *ours.split(), "--no-deps", "--target", tmp_path)
    run(*install, cwd=many_wheels)
    tag = "cp{}{}".format(*sys.version_info)
    (about,) = tmp_path.glob("polyxeus-*.dist-info/WHEEL")
    assert f"Tag: {tag}-{tag}-" in about.read_text()


def test_the_command_of_the_readme_names_the_wheel_of_a_folder(environment):
    (command,) = commands_of((ROOT / "README.md").read_text())
    path = command.split()[2]
    (wheel,) = (environment.parent / "dist").glob(path)
    assert path.startswith("./") and wheel.name.startswith("polyxeus-")


def test_the_command_of_the_guide_finds_the_cpp_wheel(many_wheels, tmp_path):
    (command,) = [each for each in commands_of((ROOT / "docs/install.md").read_text()) if "[cpp]" in each]
    both = command.replace("'polyxeus[cpp]'", "polyxeus polyxeus-cpp")  # the dependencies of the first are not here
    run(sys.executable, "-m", *both.split(), "--no-deps", "--target", tmp_path, cwd=many_wheels)
    assert both != command and (tmp_path / "bin/pxengine-cpp").exists() and (tmp_path / "polyxeus").is_dir()


def libraries(path):
    """{name: where it is found} of what a program or extension module loads."""
    found = {}
    for line in run("ldd", path).splitlines():
        name, _, place = line.strip().partition(" => ")
        found[name.split(" ")[0]] = place.split(" ")[0]
    return found


def test_all_libraries_are_inside(environment):
    (package,) = environment.glob("lib/python*/site-packages/polyxeus")
    loaded = [environment / "bin" / name for name in (*PROGRAMS, *CPP_PROGRAMS)]
    loaded.append(environment / "lib/polyxeus/llvm/bin/clang++")
    loaded += [each for each in package.glob("*.so") if "mpi" not in each.name]
    assert len(loaded) == len(PROGRAMS) + len(CPP_PROGRAMS) + 4
    for each in loaded:
        for name, place in libraries(each).items():
            inside = Path(place).resolve().is_relative_to(environment.resolve())
            assert inside or name in OF_THE_SYSTEM, f"{each.name} loads {name} from {place!r}"


def test_the_manual_pages_lie_where_man_looks_for_them(environment):
    pages = {each.name for each in (environment / "share/man/man1").iterdir()}
    assert {f"{name}.1" for name in PROGRAMS} | {"pxcluster-start.1"} <= pages


def test_the_tab_of_jupyterlab_lies_where_jupyterlab_looks_for_it(environment):
    folder = environment / "share/jupyter/labextensions/polyxeus"
    entry = json.loads((folder / "package.json").read_text())["jupyterlab"]["_build"]["load"]
    assert (folder / entry).is_file()
    assert (environment / "etc/jupyter/jupyter_server_config.d/polyxeus.json").is_file()


def test_the_page_of_the_dashboard_lies_where_the_controller_looks_for_it(environment):
    folder = environment / "share/polyxeus/dashboard"
    assert {"index.html", "page.js", "page.css"} <= {each.name for each in folder.iterdir()}


def test_a_cluster_of_the_wheel_runs(environment, tmp_path):
    usual = {name: value for name, value in os.environ.items() if name not in HIDDEN}
    usual |= {"IPYTHONDIR": str(tmp_path), "PATH": f"{environment}/bin:{os.environ['PATH']}"}
    run("pxcluster", "start", "-n", "2", "--daemonize", env=usual)
    try:
        assert run("pxcluster", "px", "print('hello')", env=usual) == "[0,1] hello\n"
        code = "import polyxeus as ipp, sys; print(ipp.__file__, ipp.Client()[:].apply_sync(len, 'abc'))"
        file, _, result = run("python", "-c", code, env=usual).strip().partition(" ")
        assert Path(file).is_relative_to(environment) and result == "[3, 3]"
        assert run("pxkernel", "--version", env=usual)
    finally:
        run("pxcluster", "stop", env=usual)


def test_cpp_engines_of_the_wheel_run_with_the_clang_inside(environment, tmp_path):
    usual = {name: value for name, value in os.environ.items() if name not in HIDDEN}
    usual |= {
        "IPYTHONDIR": str(tmp_path),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "PATH": f"{environment}/bin:{os.environ['PATH']}",
    }
    run("pxcluster", "start", "-n", "2", "--language=cpp", "--daemonize", env=usual)
    try:
        said = run("pxcluster", "px", "std::vector<int> v{1, 2}; std::cout << v.size();", env=usual)
        assert said == "[0,1] 2\n"
        (header,) = tmp_path.glob("cache/polyxeus/cpp/*/prelude.parts")
        assert str(environment / "lib/polyxeus/llvm/lib/clang/22/include") in header.read_text()
    finally:
        run("pxcluster", "stop", env=usual)
