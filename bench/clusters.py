"""Clusters that the benches start: of polyxeus or of ipyparallel, by the same calls."""

import contextlib
import os
import shutil
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple

from figures import finish, parser, there_and_back, versions

PATIENCE = 120.0  # seconds until all engines are registered
MPIS = {"openmpi": "Open MPI", "mpich": "MPICH"}  # mpiexec.NAME is on PATH where it is installed


class Started(NamedTuple):
    cluster: object  # a Cluster of the package
    client: object  # a Client of it
    seconds: float  # from nothing until all engines were registered


class Alongside:
    """While it lasts, a thread runs run(), which ends soon after `is_done` is set."""

    def __init__(self):
        self.is_done = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.is_done.set()
        self.thread.join()


@contextlib.contextmanager
def variable(name, value):
    """The environment with this variable, without it where the value is None."""
    before = os.environ.pop(name, None)
    if value is not None:
        os.environ[name] = value
    try:
        yield
    finally:
        os.environ.pop(name, None)
        if before is not None:
            os.environ[name] = before


@contextlib.contextmanager
def home():
    """A folder for the files of clusters, which the environment names while it lasts."""
    with tempfile.TemporaryDirectory(prefix="px-bench-") as folder, variable("IPYTHONDIR", folder):
        yield Path(folder)


@contextlib.contextmanager
def started(package, count, **options):
    """A cluster of `package` (polyxeus or ipyparallel) of `count` engines in a home of its own, as
    Started.

    options  of its Cluster; everything else is as it is by default.
    """
    with home():
        began = time.perf_counter()
        cluster = package.Cluster(n=count, log_level=30, **options)
        cluster.start_cluster_sync()
        try:
            client = cluster.connect_client_sync()
            try:
                client.wait_for_engines(count, timeout=PATIENCE, interactive=False)
                yield Started(cluster, client, time.perf_counter() - began)
            finally:
                client.close()
        finally:
            cluster.stop_cluster_sync()


def wait_until(is_there, what):
    """The time at which it is there."""
    end = time.monotonic() + PATIENCE
    while not is_there():
        if time.monotonic() > end:
            raise TimeoutError(f"{what} not within {PATIENCE:g} s")
        time.sleep(0.001)
    return time.monotonic()


def restart(cluster, *options):
    """New engines of a cluster of polyxeus, by `pxcluster restart`."""
    command = ["pxcluster", "restart", "--quiet", f"--profile-dir={cluster.profile_dir}"]
    command += [f"--cluster-id={cluster.cluster_id}", *options]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def allow_mpiexec():
    """Lets Open MPI start more ranks than there are cores, and by root, in what this process
    starts; pxcluster says so by itself, ipyparallel and mpi4py.futures do not."""
    os.environ.setdefault("OMPI_MCA_rmaps_base_oversubscribe", "1")
    if os.geteuid() == 0:
        os.environ.setdefault("OMPI_ALLOW_RUN_AS_ROOT", "1")
        os.environ.setdefault("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")


def parser_of_mpis(text):
    """A command line of figures.parser() with --mpi, for bench_of_mpis()."""
    made = parser(text)
    made.add_argument("--mpi", nargs="+", choices=MPIS, default=list(MPIS), help="which MPIs (both)")
    return made


def in_turns(views, code, runs):
    """{peer: what `figure` is on rank 0 after each run of the code on all ranks}; the peers take turns.

    views: {peer: a view}.
    """
    values = {peer: [] for peer in views}
    for number in range(runs):
        for peer in sorted(views, reverse=number % 2 == 1):
            views[peer].execute(code, block=True)
            values[peer].append(views[peer].pull("figure", block=True)[0])
    return values


def bench_of_mpis(options, measure, *packages):
    """Measures with each MPI of --mpi, prints the rows, and gives the exit code of the bench. An MPI
    that is not there is named as missing. measure: makes rows of the options, an MPI's name and its mpiexec;
    packages: others whose versions are told."""
    allow_mpiexec()
    rows, missing, programs = [], {}, []
    for mpi in options.mpi:
        mpiexec = f"mpiexec.{mpi}"
        if shutil.which(mpiexec) is None:
            missing[MPIS[mpi]] = f"there is no {mpiexec} on PATH"
            continue
        programs.append(mpiexec)
        with variable("MPI4PY_MPIABI", mpi):  # where mpi4py was built for several
            rows += measure(options, MPIS[mpi], mpiexec)
    return finish(rows, options, versions("polyxeus", "mpi4py", "numpy", *packages, programs=programs), missing)


def controller_pid():
    """The pid of the controller that was started in the present home()."""
    home = f"IPYTHONDIR={os.environ['IPYTHONDIR']}".encode()
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended, or is another user's
            if (process / "comm").read_text() == "pxcontroller\n":
                if home in (process / "environ").read_bytes().split(b"\0"):
                    return int(process.name)
    raise LookupError("the controller does not run")


def pss_mb(pid):
    """The memory of a process in MB, each page divided by how many processes share it."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024 / 1e6
    return 0.0


def transfer_rates(view, mebibytes, runs):
    """MiB/s of each push to the one engine of `view`, and of each pull back: two lists."""
    array = large_array(mebibytes)
    rates = there_and_back(
        array,
        lambda: view.push({"array": array}, block=True),
        lambda: view.pull("array", block=True),
        runs,
    )
    view.execute("del array", block=True)
    return rates


def large_array(mebibytes):
    """Bytes that do not compress."""
    import numpy

    return numpy.random.default_rng(1).integers(0, 255, mebibytes << 20, dtype=numpy.uint8)
