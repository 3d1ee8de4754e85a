"""The programs under test, and how a process of a test is started, watched and ended.

Which programs: the environment variables PX_CONTROLLER, PX_ENGINE and PX_CLUSTER (commands, may
hold arguments), else pxcontroller, pxengine and pxcluster beside this Python, else on PATH. To
check the tests themselves, let them name ipyparallel's originals:

    PX_CONTROLLER="python -m ipyparallel.controller" PX_ENGINE="python -m ipyparallel.engine" \\
    PX_CLUSTER="python -m ipyparallel.cluster" pytest tests/system
"""

import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import deadlines
import psutil

TAG = "PX_SYSTEM_TEST"
PATIENCE = 60.0  # seconds; how long anything may take before a test gives up


def command_of(variable, program):
    """The argv that starts `program`, or None where there is none."""
    if os.environ.get(variable):
        argv = shlex.split(os.environ[variable])
        found = shutil.which(argv[0])
        return [found or argv[0], *argv[1:]]
    beside = Path(sys.executable).parent / program
    if beside.exists():
        return [str(beside)]
    found = shutil.which(program)
    return [found] if found else None


CONTROLLER = command_of("PX_CONTROLLER", "pxcontroller")
ENGINE = command_of("PX_ENGINE", "pxengine")
CLUSTER = command_of("PX_CLUSTER", "pxcluster")


def is_reference(command):
    """Whether `command` starts one of ipyparallel's own programs."""
    return bool(command) and any(part.startswith("ipyparallel.") for part in command)


def wait_until(is_true, what, timeout=PATIENCE, interval=0.02):
    """deadlines.wait_until() with the patience of these tests."""
    return deadlines.wait_until(is_true, what, timeout, interval)


def test_environment(tag, ipython_dir, **more):
    """The environment of each process of a test: tagged, isolated, fit for Open MPI anywhere."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("IPP_", "PYTEST_", "JPY_"))
    }
    environment.update(
        {
            TAG: tag,
            "IPYTHONDIR": str(ipython_dir),
            "PYDEVD_DISABLE_FILE_VALIDATION": "1",
            "NO_COLOR": "1",
            "MPLBACKEND": environment.get("MPLBACKEND", "agg"),
        }
    )
    mpi = {
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "OMPI_MCA_mpi_yield_when_idle": "1",
        "OMPI_MCA_btl": "self,vader",
        "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
        "OMPI_MCA_oob_tcp_if_include": "lo",
    }
    for name, value in mpi.items():
        environment.setdefault(name, value)
    # `python` in the tests' shells and in engine scripts is this Python
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment.get('PATH', '')}"
    environment["VIRTUAL_ENV"] = sys.prefix
    environment.update({name: str(value) for name, value in more.items()})
    return environment


def processes_tagged(tag):
    """The live processes that carry `tag` in their environment."""
    wanted = f"{TAG}={tag}".encode()
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            environment = Path(f"/proc/{entry}/environ").read_bytes()
            if wanted not in environment.split(b"\0"):
                continue
            process = psutil.Process(int(entry))
            if process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (OSError, psutil.Error):
            pass
    return found


def describe(process):
    try:
        return f"{process.pid} {' '.join(process.cmdline())[:160]}"
    except psutil.Error:
        return f"{process.pid} (gone)"


class Program:
    """One started program: its output goes to a file; it is ended and reaped by stop()."""

    def __init__(self, argv, log, environment, cwd=None):
        self.argv = [str(word) for word in argv]
        self.log = Path(log)
        with open(self.log, "wb") as output:
            self.process = subprocess.Popen(
                self.argv,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=environment,
                cwd=cwd,
                start_new_session=True,
            )

    @property
    def pid(self):
        return self.process.pid

    def is_running(self):
        return self.process.poll() is None

    def output(self):
        return self.log.read_text(errors="replace")

    def wait(self, timeout=PATIENCE):
        """Its exit code, once it has ended by itself."""
        try:
            return self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{self.argv}: still running after {timeout:g} s\n{self.output()}")

    def signal(self, number):
        if self.is_running():
            self.process.send_signal(number)

    def stop(self, timeout=15.0):
        """SIGTERM, some patience, SIGKILL. Returns the exit code."""
        self.signal(signal.SIGTERM)
        try:
            return self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.signal(signal.SIGKILL)
            return self.process.wait(60)


class Stage:
    """Where the processes of a test module live: a folder, a tag, and all that was started."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.tag = uuid.uuid4().hex
        self.ipython_dir = self.folder / "ipython"
        self.ipython_dir.mkdir(parents=True, exist_ok=True)
        self.programs = []
        self.clusters = []

    def environment(self, **more):
        return test_environment(self.tag, self.ipython_dir, **more)

    def start(self, argv, name, cwd=None, **environment):
        """Starts `argv`; `name` only names its log."""
        log = self.folder / f"{len(self.programs):02d}-{name}.log"
        program = Program(argv, log, self.environment(**environment), cwd or self.folder)
        self.programs.append(program)
        return program

    def run(self, argv, timeout=PATIENCE, cwd=None, **environment):
        """Runs `argv` to its end; a CompletedProcess with text output."""
        return subprocess.run(
            [str(word) for word in argv],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout,
            env=self.environment(**environment),
            cwd=cwd or self.folder,
        )

    def close(self):
        """Ends everything. Returns the processes that outlived their parents' orderly end."""
        for cluster in reversed(self.clusters):
            cluster.stop()
        for program in reversed(self.programs):
            if program.is_running():
                program.stop()
        leftover = self.left_behind()
        described = [describe(process) for process in leftover]
        for process in leftover:
            try:
                process.kill()
            except psutil.Error:
                pass
        return described

    def left_behind(self, patience=10.0):
        """The tagged processes that are still there after `patience` seconds."""
        deadline = time.monotonic() + patience
        while True:
            processes = processes_tagged(self.tag)
            if not processes or time.monotonic() > deadline:
                return processes
            time.sleep(0.05)

    def logs(self, last=60):
        """The ends of all logs, for the report of a failed test."""
        parts = []
        files = [program.log for program in self.programs]
        files += sorted(self.ipython_dir.glob("profile_*/log/*.log"))
        for log in files:
            if log.exists():
                lines = log.read_text(errors="replace").splitlines()
                if lines:
                    parts.append(f"--- {log.name}\n" + "\n".join(lines[-last:]))
        return "\n".join(parts)
