"""Every group of this project's tests, and the lane in which it runs."""

import os
import shutil

from .groups import Build, Ctest, PeerSuite, Pytest, Script

# How far groups stand back behind the timing lane.
WAITING, COMPUTING = 5, 10

_CPP_CELLS = r"^px_interpreters_cpp_tests\."
_SIMULATION = r"^px_simulation_tests\."
# The rooms that start threads, and the swarm on a real controller.
_THREADED = tuple(f"px_{room}_tests" for room in ("os", "net", "interpreters", "jupyter", "controller", "engine", "client"))


def _build(preset, *targets, name=""):
    command = ("cmake", "--build", "build/" + preset)
    if targets:
        command += ("--target", *targets)
    return Build(name=f"build-{name or preset}", what=f"compiles {' '.join(targets) or 'all'} of preset {preset}",
                 commands=(("cmake", "--preset", preset, *_compiler_cache()), command))  # fmt: skip


def _compiler_cache():
    ccache = shutil.which("ccache")
    return (f"-DCMAKE_CXX_COMPILER_LAUNCHER={ccache}",) if ccache else ()


def _cpp(preset, what, **options):
    return Ctest(name=preset, preset=preset, nice=COMPUTING, needs=(f"build-{preset}",), what=f"C++ tests {what}",
                 **options)  # fmt: skip


def _pytest(name, what, *folders, **options):
    return Pytest(name=name, what=what, folders=folders, **options)


def _waiting(name, what, *folders, **options):
    return _pytest(name, what, *folders, nice=WAITING, **options)


def _peer(name, *roles, **options):
    return PeerSuite(name=f"peer-{name}", roles=roles, needs=("peer-venv",), nice=WAITING,
                     runner=os.environ.get("PX_PEER_SUITE", ""), why_not=_why_no_peer_suite,
                     what=f"ipyparallel's own tests with our {', '.join(roles)}", **options)  # fmt: skip


# Tests of ipyparallel's own commands that start nothing of ours where its `ipcluster` takes part.
_OF_IPCLUSTER = ("test_ipcluster_clean", "test_ipcluster_help_all", "help_all[cluster]", "version[cluster]")


def _without(*names):
    """Options of ipyparallel's suite."""
    return "-k", f"not ({' or '.join(names)})"


def _why_no_bare_system():
    missing = [name for name in ("mmdebstrap", "dpkg-shlibdeps") if not shutil.which(name)]
    return f"{' and '.join(missing)} cannot be run" if missing else ""


def _why_no_peer_suite():
    runner = os.environ.get("PX_PEER_SUITE", "")
    if not runner:
        return "$PX_PEER_SUITE does not name the program that runs ipyparallel's own test suite"
    return "" if shutil.which(runner) else f"{runner} (of $PX_PEER_SUITE) cannot be run"


def all_groups(is_quick):
    """-> {lane: [Group]}. `is_quick`: the C++ tests once, without sanitizers."""
    if is_quick:
        cpp = [_build("dev"), _cpp("dev", "of every room, without sanitizers")]
        build_simulation = simulation = []
    else:
        cpp = [_build("asan"), _cpp("asan", "of every room, and each fuzz target for a short time, under ASan+UBSan"),
               _build("tsan", *_THREADED, "swarm", "pxcontroller"),
               _cpp("tsan", "of the rooms with threads, and the swarm, under TSan",
                    select=rf"^(({'|'.join(_THREADED)})\.|swarm$)")]  # fmt: skip
        build_simulation = [_build("cells", "px_simulation_tests", name="simulation")]
        # Behind the other group of its folder, as ctest runs once at a time there.
        simulation = [Ctest(name="simulation", preset="cells", select=_SIMULATION, needs=("build-simulation",),
                            what="breaking clusters from a seed, ten times the seeds that asan has")]  # fmt: skip
    return {
        # Compiles what the other lanes leave idle; what needs a build follows it.
        "cpp": [
            *cpp,
            _build("cells", "px_interpreters_cpp_tests"),
            *build_simulation,
            _build("package"),
            Script(name="install", what="an outside project builds against the installed library",
                   command=("tests/install/run", "build/package"), needs=("build-package",)),
        ],
        # Tests that hold moments against each other or measure time: one group at a time.
        "timing": [
            _pytest("magics", "the parallel magics, in ipykernel and in pxkernel", "tests/kernel_magics"),
            _pytest("kernel", "the Jupyter kernel", "tests/kernel"),
            _pytest("cpp_engine", "C++ engines", "tests/cpp_engine"),
            _pytest("mpi", "MPI after a stop: random programs and scenarios", "tests/mpi"),
            _pytest("bench", "bench/report", "tests/bench", are_unit_tests=True),
            # What needs a build comes last: the builds get only what the tests leave.
            Ctest(name="cells", preset="cells", select=_CPP_CELLS, needs=("build-cells",),
                  what="the C++ interpreter (it forks and jumps, which sanitizers do not follow)"),
            *simulation,
        ],
        # Tests that mostly wait for processes.
        "python": [
            Build(name="torch-packages", what="PyTorch of PyPI, and what stands on it", is_urgent=True,
                  commands=(("python", "scripts/torch_packages.py"),)),
            _waiting("scripts", "the tools in scripts/, and the layout of the tree", "tests/scripts", "tests/layout"),
            _waiting("engine", "the engine's Python half", "tests/engine", are_unit_tests=True),
            _waiting("python", "the Python package, and ipyparallel's own tests on it", "tests/python"),
            _waiting("browser", "JupyterLab and Notebook in a browser", "tests/browser"),
            _waiting("notebooks", "the notebooks", "tests/notebooks"),
            _waiting("docs", "the guides: each snippet, and the site", "tests/docs"),
            _waiting("torch", "PyTorch of PyPI and JAX on ranks: a stop, frameworks, their notebooks; tensors",
                     "tests/torch_ranks", "tests/python/tensors_view_test.py", "tests/python/values/tensors_test.py",
                     "tests/python/values/transfers_test.py", "tests/docs/guide_test.py::test_a_page_does_what_it_says[torch]",
                     needs=("torch-packages",), python_path="build/torch"),
        ],
        "system": [
            _waiting("system", "real processes and mpiexec", "tests/cluster", "tests/system", timeout=3600),
        ],
        # The tests of several hosts wait for broken connections most of the time; the others compile.
        "machines": [
            _waiting("hosts", "several hosts", "tests/hosts", needs=("torch-packages",)),
            Script(name="demo", what="scripts/demo in a fresh copy of the tree", command=("tests/install/demo",)),
            Script(name="debian", what="the Debian package in a bare system", command=("tests/install/debian",),
                   why_not=_why_no_bare_system),
        ],
        # One after another: they have time limits of their own, made for a machine that does nothing else.
        "peers": [
            Build(name="peer-venv", what="an environment for ipyparallel's own tests", is_urgent=True,
                  why_not=_why_no_peer_suite, commands=(("scripts/peer_venv",),)),
            _peer("all-three", "controller", "engine", "cluster"),
            _peer("controller", "controller", options=_without(*_OF_IPCLUSTER, "help_all[engine]", "version[engine]")),
            # Clients that are told to encrypt use TCP on the controller's host, too.
            _peer("encrypted", "controller", "engine", "cluster", select=("client",), options=("--curve",)),
            _peer("engine", "engine",
                  options=_without(*_OF_IPCLUSTER, "help_all[controller]", "version[controller]", "start_stop_controller")),
            _waiting("examples", "the examples of ipyparallel's documentation, with its client and with ours",
                     "tests/ipyparallel_examples", timeout=3600),
        ],
    }  # fmt: skip


def without_a_group(lanes, root):
    """The files with Python tests that no group runs."""
    folders = [root / folder for lane in lanes.values() for group in lane
               if isinstance(group, Pytest) for folder in group.folders]  # fmt: skip
    files = sorted((root / "tests").rglob("*_test.py"))
    return [file for file in files if not any(folder in file.parents for folder in folders)]
