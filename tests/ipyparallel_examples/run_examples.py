#!/usr/bin/env python3
"""Runs the examples of ipyparallel's documentation on ipyparallel itself and on polyxeus, and compares how they end.

    python tests/ipyparallel_examples/run_examples.py EXAMPLES [NAME ...] [--way original|client|package]

EXAMPLES  docs/source/examples in the folder that scripts/ipyparallel_source prints
NAME      of a group or an example; all where none is given

Each example runs in three ways, or in the one of --way:

    original  ipyparallel's client, controller and engines
    client    ipyparallel's unmodified client; controller and engines are those of polyxeus
    package   install_as_ipyparallel(): the client is polyxeus, too

A script ends well or with an exception; of a notebook each cell does. The exit code is 1 where one ends in another way than
with the original, or than in the first --way.
"""  # fmt: skip

import argparse
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from example_list import GROUPS  # noqa: E402

WAYS = ("original", "client", "package")
CELL_LIMIT = 120  # seconds for one cell, and for a whole script
PREPARE = "import polyxeus; polyxeus.install_as_ipyparallel()\n"
RUN_SCRIPT = "import runpy, sys; sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')"
RUN_IPY = "import sys; from IPython import start_ipython; sys.exit(start_ipython(sys.argv[1:]))"
OUR_PROGRAMS = (
    "c.ControllerLauncher.controller_cmd = ['pxcontroller']\n"
    "c.EngineLauncher.engine_cmd = ['pxengine']\n"
)
WAIT_FOR_FOUR = (
    "import sys, ipyparallel; ipyparallel.Client(profile=sys.argv[1]).wait_for_engines(4, timeout=60, interactive=False)"
)
ENDINGS = Path(__file__).with_name("endings.json")
LAST_WORDS = 2000  # characters of what a failed script printed
EXCEPTION = re.compile(r"^(?:\w+\.)*(\w+)(?=: |$)", re.M)  # the last line of a traceback, or one of a CompositeError
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def environment_of(folder):
    """Nothing of the user's takes part."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("IPP_", "PX_", "JUPYTER"))}
    bin_folder = Path(sys.executable).parent
    return kept | {
        "HOME": str(folder), "IPYTHONDIR": str(folder / "ipython"), "MPLBACKEND": "Agg", "PYTHONWARNINGS": "ignore",
        "JUPYTER_RUNTIME_DIR": str(folder / "runtime"), "JUPYTER_PATH": str(folder / "jupyter"),
        "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}", "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }  # fmt: skip


class Clusters:
    """Those that an example finds running."""

    def __init__(self, way, environment, log):
        self._command = "ipcluster" if way == "original" else "pxcluster"
        self._environment, self._log = environment, log
        self._running = []

    def start(self, profile):
        engines = "mpi" if profile == "mpi" else "local"
        self._running.append(profile)
        words = ["start", "-n", "4", f"--engines={engines}", f"--profile={profile}", "--daemonize"]
        with open(self._log, "ab") as log:
            subprocess.run([self._command, *words], env=self._environment, stdout=log, stderr=log, check=True, timeout=90)
            if self._command == "ipcluster":  # pxcluster returns when its engines are there
                subprocess.run([sys.executable, "-c", WAIT_FOR_FOUR, profile], env=self._environment, stdout=log,
                               stderr=log, check=True, timeout=90)  # fmt: skip

    def stop(self):
        for profile in self._running:
            subprocess.run([self._command, "stop", f"--profile={profile}"], env=self._environment,
                           capture_output=True, timeout=90)  # fmt: skip


def adapted(text, replaced):
    for old, new in replaced.items():
        text = text.replace(old, new)
    return text


def run_script(example, file, way, environment):
    file.write_text(adapted(file.read_text(), example.replaced))
    code = (PREPARE if way == "package" else "") + (RUN_IPY if file.suffix == ".ipy" else RUN_SCRIPT)
    words = [sys.executable, "-c", code, file.name, *example.words]
    process = subprocess.Popen(words, cwd=file.parent, env=environment, text=True, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)  # fmt: skip
    try:
        said, errors = process.communicate(timeout=CELL_LIMIT)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        said, errors = process.communicate()
        return ["hangs"], said[-LAST_WORDS:] + errors[-LAST_WORDS:]
    if process.returncode == 0:
        return ["ends"], said
    text = COLOUR.sub("", errors.strip() or said)
    return [(EXCEPTION.findall(text) or ["fails"])[-1]], said[-LAST_WORDS:] + errors[-LAST_WORDS:]


def outcome_of_cell(cell):
    for output in cell.get("outputs", ()):
        if output["output_type"] == "error":
            return output["ename"]
    return "ends"


def add_kernel(environment):
    """A kernel of this Python, which needs no installation."""
    folder = Path(environment["JUPYTER_PATH"]) / "kernels/python3"
    folder.mkdir(parents=True, exist_ok=True)
    argv = f'["{sys.executable}", "-m", "ipykernel_launcher", "-f", "{{connection_file}}"]'
    (folder / "kernel.json").write_text(f'{{"argv": {argv}, "display_name": "Python", "language": "python"}}')


def run_notebook(example, file, way, environment):
    import nbclient
    import nbformat

    add_kernel(environment)
    os.environ.update(environment)
    book = nbformat.read(file, as_version=4)
    book.cells = [cell for cell in book.cells if cell["cell_type"] == "code"
                  and not any(part in cell["source"] for part in example.left_out)]  # fmt: skip
    for cell in book.cells:
        cell["source"] = adapted(cell["source"], example.replaced)
    if way == "package":
        book.cells.insert(0, nbformat.v4.new_code_cell(PREPARE))
    client = nbclient.NotebookClient(book, timeout=CELL_LIMIT, kernel_name="python3", allow_errors=True,
                                     resources={"metadata": {"path": str(file.parent)}})  # fmt: skip
    try:
        client.execute()
    except nbclient.exceptions.CellTimeoutError:
        return ["hangs"], "a cell did not end"
    except nbclient.exceptions.DeadKernelError:
        return ["the kernel ended"], ""
    cells = book.cells[1:] if way == "package" else book.cells
    texts = [(cell["source"], output) for cell in cells for output in cell.get("outputs", ())
             if output["output_type"] == "error"]  # fmt: skip
    return [outcome_of_cell(cell) for cell in cells], "\n".join(
        f">>> {source}\n{output['ename']}: {output['evalue'][:LAST_WORDS]}" for source, output in texts
    )


def run(example, way, folder):
    """-> (how it ended: one word for each cell, what it said)"""
    with tempfile.TemporaryDirectory(prefix="px-examples-", ignore_cleanup_errors=True) as home:
        home = Path(home)
        environment = environment_of(home)
        for profile in {"default", *example.clusters}:
            there = Path(environment["IPYTHONDIR"]) / f"profile_{profile}"
            there.mkdir(parents=True)
            if way == "client":
                (there / "ipcluster_config.py").write_text(f"c = get_config()\n{OUR_PROGRAMS}")
        shutil.copytree(folder, home / "examples")
        for path, replaced in example.modules.items():
            module = home / "examples" / path
            module.write_text(adapted(module.read_text(), replaced))
        clusters = Clusters(way, environment, home / "clusters.log")
        try:
            for profile in example.clusters:
                clusters.start(profile)
            file = home / "examples" / example.path
            runner = run_notebook if file.suffix == ".ipynb" else run_script
            return runner(example, file, way, environment)
        finally:
            clusters.stop()
            kill_all_in(home)


def kill_all_in(home):
    """Clusters that an example started and did not stop, as its kernel was killed before it could."""
    mark = f"HOME={home}".encode()
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and mark in (entry / "environ").read_bytes().split(b"\0"):
                os.kill(int(entry.name), signal.SIGKILL)
        except OSError:  # it has ended, or is somebody else's
            continue


def differences(example, expected, found):
    """[(number of the cell, how it ends with the original, how it ends here)]"""
    if len(expected) != len(found):
        return [(0, " ".join(expected), " ".join(found))]
    return [(number, old, new) for number, (old, new) in enumerate(zip(expected, found), 1)
            if old != new and number not in example.not_compared]  # fmt: skip


def record(example, found):
    known = json.loads(ENDINGS.read_text()) if ENDINGS.exists() else {}
    known[example.path] = found
    ENDINGS.write_text("".join(["{\n", ",\n".join(
        f"{json.dumps(path)}: {json.dumps(known[path])}" for path in sorted(known)), "\n}\n"]))  # fmt: skip


def missing(example):
    return [name for name in example.needs if importlib.util.find_spec(name) is None]


def chosen(names):
    for group, examples in GROUPS.items():
        for example in examples:
            if not names or group in names or Path(example.path).stem in names or example.path in names:
                yield group, example


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("examples", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--way", action="append", choices=WAYS)
    parser.add_argument("--show", action="store_true", help="what failed cells and scripts said")
    parser.add_argument("--record", action="store_true", help="write how they end with the original into endings.json")
    options = parser.parse_args()
    ways, has_failed = options.way or WAYS, False
    for group, example in chosen(options.names):
        lacking = missing(example)
        if lacking:
            print(f"{group}: {example.path}: not run, as {', '.join(lacking)} is not installed here")
            continue
        expected = None
        for way in ways:
            found, said = run(example, way, options.examples)
            if options.record and way == "original":
                record(example, found)
            expected = found if expected is None else expected
            wrong = differences(example, expected, found)
            has_failed = has_failed or bool(wrong)
            bad = [f"{number}: {each}" for number, each in enumerate(found, 1) if each != "ends"]
            print(f"{group}: {example.path}: {way}: {len(found) - len(bad)} of {len(found)} end well"
                  f"{'; ' if bad else ''}{', '.join(bad)}", flush=True)  # fmt: skip
            for number, old, new in wrong:
                print(f"    DIFFERS: cell {number}: {ways[0]}: {old}, {way}: {new}", flush=True)
            if options.show and (bad or wrong):
                print("    " + said.replace("\n", "\n    "), flush=True)
    return 1 if has_failed else 0


if __name__ == "__main__":
    sys.exit(main())
