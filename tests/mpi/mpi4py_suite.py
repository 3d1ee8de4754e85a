"""mpi4py's own test suite on four ranks: plain, with the library in front of MPI's functions, and in
cells of engines that have it. Prints the tests that end otherwise than plain, on any rank.

    pip download --no-binary mpi4py --no-deps mpi4py==4.1.2 && tar xf mpi4py-4.1.2.tar.gz
    python tests/mpi/mpi4py_suite.py mpi4py-4.1.2/test [--mpiexec mpiexec.mpich] [--engines] [test_p2p_buf ...]

A module of the suite has a world of its own, so that one that hangs costs no other. Exit code 1: some
test ends otherwise.
"""

import argparse
import ctypes
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

RANKS = 4
# These start further MPI programs, for which the tests' hosts have no slots.
LEFT_OUT = {"test_spawn", "test_dynproc", "test_util_pool"}


# ---------------------------------------------------------------- on a rank


class Hooks(ctypes.Structure):
    """px_mpi_hooks, of a program that nobody interrupts."""

    _fields_ = [
        ("self", ctypes.c_void_p),
        ("is_interrupted", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)),
        ("leave", ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)),
        ("fail", ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)),
        ("why_broken", ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)),
    ]

    def __init__(self):
        kinds = dict(self._fields_)
        super().__init__(
            None,
            kinds["is_interrupted"](lambda _self: 0),
            kinds["leave"](lambda _self, where: print("left:", where, file=sys.stderr)),
            kinds["fail"](lambda _self, why: print("failed:", why, file=sys.stderr)),
            kinds["why_broken"](lambda _self: None),
        )


def load_library():
    """As an engine loads it; returns what must live as long as MPI."""
    from polyxeus.engine import mpi

    path = mpi._load_steps()
    if path is None:
        sys.exit("there is no library for this MPI")
    from mpi4py import MPI  # noqa: F401  initializes MPI

    library, hooks = ctypes.CDLL(path), Hooks()
    if library.px_mpi_join(ctypes.byref(hooks)) == 0:
        sys.exit("the library takes no part")
    library.px_mpi_begin_cell(ctypes.c_uint64(1))
    return hooks


class Recorder(unittest.TestResult):
    """Writes a line for each test when it begins, and when it ends."""

    def __init__(self, file):
        super().__init__()
        self._file = file

    def _note(self, test, how, why=""):
        print(json.dumps([test.id(), how, why.strip()[-500:]]), file=self._file, flush=True)

    def startTest(self, test):
        super().startTest(test)
        self._note(test, "hangs")

    def addSuccess(self, test):
        self._note(test, "passes")

    def addFailure(self, test, err):
        self._note(test, "fails", self._exc_info_to_string(err, test))

    def addError(self, test, err):
        self._note(test, "raises", self._exc_info_to_string(err, test))

    def addSkip(self, test, reason):
        self._note(test, "is skipped", reason)

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self._note(test, "fails", self._exc_info_to_string(err, test))


def run_module(tests, module, folder):
    """Runs a module of the suite on this rank; its results go to a file of the folder."""
    from mpi4py import MPI

    for name in ("cupy", "numba"):  # as the suite's own main.py: they need a GPU
        sys.modules[name] = None
    sys.path.insert(0, str(tests))
    with open(Path(folder) / f"{MPI.COMM_WORLD.Get_rank()}.jsonl", "w") as file:
        unittest.defaultTestLoader.loadTestsFromName(module).run(Recorder(file))


# ---------------------------------------------------------------- all of them


def results_in(folder):
    """{(test, rank): (how it ended, why)}: the last line counts, but no success after a failure."""
    found = {}
    for path in Path(folder).glob("*.jsonl"):
        for line in path.read_text().splitlines():
            test, how, why = json.loads(line)
            if not (how == "passes" and found.get((test, path.stem), ("hangs",))[0] != "hangs"):
                found[test, path.stem] = how, why
    return found


def environment(mpiexec, folder):
    """More ranks than cores; where MPICH starts them, mpi4py's wheel is told so as engines tell it."""
    more = {"OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1"}
    if "mpich" in mpiexec:
        library = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True).stdout
        found = [line.split()[-1] for line in library.splitlines() if "libmpich.so.12 " in line]
        if found:  # Debian's name of it
            (Path(folder) / "libmpi.so.12").symlink_to(found[0])
            more["LD_LIBRARY_PATH"] = f"{folder}:{os.environ.get('LD_LIBRARY_PATH', '')}"
        more["MPI4PY_MPIABI"] = "mpich"
    return {**os.environ, **more}


def communicate(process, folder, patience):
    """What the process prints; it is ended where no test begins or ends for `patience` seconds."""
    seen, since = 0, time.monotonic()
    while True:
        try:
            return process.communicate(timeout=1)[0]
        except subprocess.TimeoutExpired:
            size = sum(path.stat().st_size for path in Path(folder).iterdir())
            if size > seen:
                seen, since = size, time.monotonic()
            elif time.monotonic() - since > patience:
                process.terminate()
                return process.communicate()[0]


def run_ranks(options, module, *more):
    with tempfile.TemporaryDirectory() as folder:
        mpiexec = [options.mpiexec, "-n", str(RANKS)]
        rank = [sys.executable, __file__, str(options.tests), module, "--rank", folder, *more]
        process = subprocess.Popen([*mpiexec, *rank], env=environment(options.mpiexec, folder), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        output = communicate(process, folder, options.timeout)
        return results_in(folder), process.returncode, output


def run_engines(options, module):
    """The module as a cell of four engines."""
    import polyxeus

    name = Path(options.mpiexec).name
    arguments = ["--mpi-cmd", options.mpiexec] if name != "mpiexec" else []
    with tempfile.TemporaryDirectory() as folder:
        choice = [f"--profile-dir={folder}/profile"]
        start = ["pxcluster", "start", "-n", str(RANKS), "--engines=mpi", "--daemonize", *arguments, *choice]
        subprocess.run(start, check=True, capture_output=True, env=environment("", folder))
        try:
            with polyxeus.Client(profile_dir=f"{folder}/profile") as rc:
                rc.wait_for_engines(RANKS, timeout=60)
                cell = (f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\nimport mpi4py_suite\n"
                        f"mpi4py_suite.run_module({str(options.tests)!r}, {module!r}, {folder!r})")
                answer = rc[:].execute(cell)
                answer.wait(10 * options.timeout)
                failures = "" if answer.ready() and answer.successful() else repr(answer)
            return results_in(folder), int(bool(failures)), failures
        finally:
            subprocess.run(["pxcluster", "stop", *choice], capture_output=True)


def compare(plain, other, how):
    """Prints what ends otherwise; returns how many tests do."""
    differences = {}
    for (test, rank), (ended, why) in sorted(other.items()):
        expected = plain.get((test, rank), ("is absent", ""))[0]
        if ended != expected:
            differences.setdefault((test, expected, ended), []).append((rank, why))
    absent = sorted({test for test, _ in set(plain) - set(other)})
    if absent:
        print(f"DIFFERS {how}: {len(absent)} tests did not run: {absent[0]} ... {absent[-1]}")
    for (test, expected, ended), ranks in differences.items():
        print(f"DIFFERS {how}: {test} {ended}, plain {expected}; ranks {', '.join(r for r, _ in ranks)}")
        print("        " + ranks[0][1].replace("\n", "\n        "))
    return len({test for test, _, _ in differences}) + len(absent)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tests", type=lambda text: Path(text).resolve(), help="the folder test/ of mpi4py's sources")
    parser.add_argument("modules", nargs="*", help="default: all")
    parser.add_argument("--mpiexec", default="mpiexec")
    parser.add_argument("--engines", action="store_true", help="in cells of engines, too")
    parser.add_argument("--timeout", type=float, default=180, help="seconds for a test")
    parser.add_argument("--rank", help=argparse.SUPPRESS)
    parser.add_argument("--library", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_intermixed_args()


def main():
    options = parse()
    if options.rank:
        kept = load_library() if options.library else None
        run_module(options.tests, options.modules[0], options.rank)
        return kept is None and options.library
    modules = options.modules or sorted(path.stem for path in options.tests.glob("test_*.py"))
    differing = count = 0
    for module in modules:
        if module in LEFT_OUT:
            continue
        plain, code, output = run_ranks(options, module)
        ways = {"with the library": run_ranks(options, module, "--library")}
        if options.engines:
            ways["in cells"] = run_engines(options, module)
        count += len({test for test, _ in plain})
        failed = {test for (test, _), (ended, _) in plain.items() if ended not in ("passes", "is skipped")}
        print(f"{module}: {len({test for test, _ in plain})} tests, plain {len(failed)} fail, exit code {code}")
        for how, (results, its_code, its_output) in ways.items():
            found = compare(plain, results, how)
            differing += found
            if not found and (its_code != 0) != (code != 0):
                differing += 1
                print(f"DIFFERS {how}: exit code {its_code}\n{its_output[-2000:]}")
        sys.stdout.flush()
    print(f"{count} tests, {differing} end otherwise")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
