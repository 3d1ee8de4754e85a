"""The main job, step by step: four Python engines under MPI, a parallel sum over all of them.

Starts `pxcluster start -n 4 --engines=mpi`, drives it with the unmodified ipyparallel client, in the last step
beside polyxeus's own, and ends it again. Exit code 0 only when every number that the ranks found is the expected one.
"""

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

RANKS = 4
PATIENCE = 60.0  # seconds; longer than any step takes on a slow machine
SUM = Path(__file__).resolve().parent.parent / "notebooks" / "sum.py"


class Failed(Exception):
    """A step did not come out as expected; the text says which and how."""


def say(text=""):
    print(text, flush=True)


def step(number, text):
    say(f"\n[{number}] {text}")


def typed(code):
    """Shows what a person would type."""
    for line in code.splitlines():
        say(f"    >>> {line}")


def seen(label, value):
    say(f"    {label}: {value}")


def expect(what, found, wanted):
    if found != wanted:
        raise Failed(f"{what}: expected {wanted}, found {found}")


def start_command():
    """The start command: PX_CLUSTER, else pxcluster beside this Python, else on PATH."""
    if os.environ.get("PX_CLUSTER"):
        return shlex.split(os.environ["PX_CLUSTER"])
    beside = Path(sys.executable).parent / "pxcluster"
    found = str(beside) if beside.exists() else shutil.which("pxcluster")
    if not found:
        raise Failed(
            "no pxcluster in the folder of this Python or on PATH; run scripts/demo, or see docs/install.md"
        )
    return [found]


def environment(ipython_dir):
    """This environment, with our own profiles, fit for Open MPI as root and on few cores."""
    ours = dict(os.environ, IPYTHONDIR=ipython_dir)
    for name, value in {
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
    }.items():
        ours.setdefault(name, value)
    return ours


@contextlib.contextmanager
def cluster(folder):
    """A running cluster; gives the path of the client's connection file."""
    argv = [*start_command(), "start", "-n", str(RANKS), "--engines=mpi"]
    typed_command = " ".join(["pxcluster", *argv[len(start_command()) :]])
    say(f"    $ {typed_command}")
    log = Path(folder) / "pxcluster.log"
    with open(log, "wb") as output:
        process = subprocess.Popen(
            argv, env=environment(folder), stdin=subprocess.DEVNULL, stdout=output,
            stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
    file = Path(folder) / "profile_default" / "security" / "ipcontroller-client.json"
    try:
        deadline = time.monotonic() + PATIENCE
        while not file.exists():
            if process.poll() is not None or time.monotonic() > deadline:
                raise Failed(f"the cluster did not start:\n{log.read_text(errors='replace')}")
            time.sleep(0.02)
        yield file
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def story(file):
    import ipyparallel as ipp

    started = time.monotonic()
    rc = ipp.Client(str(file), timeout=PATIENCE)
    rc.wait_for_engines(RANKS, timeout=PATIENCE, interactive=False)
    seen("engines", f"{rc.ids}, {time.monotonic() - started:.1f} s after the controller")

    step(2, "Every engine is one MPI rank, and its id is that rank.")
    typed("import ipyparallel as ipp; rc = ipp.Client(); view = rc[:]; view.block = True")
    typed("view.execute('from mpi4py import MPI; rank = MPI.COMM_WORLD.rank')\nview['rank']")
    view = rc[:]
    view.block = True
    view.execute("from mpi4py import MPI; import os; rank = MPI.COMM_WORLD.rank; pid = os.getpid()")
    seen("ranks", view["rank"])
    seen("processes", view["pid"])
    expect("ranks", view["rank"], rc.ids)

    step(
        3,
        "Send a program to all ranks: sum.py defines psum(), a compiled loop and an MPI Allreduce.",
    )
    typed("view.run('sum.py')")
    started = time.monotonic()
    view.run(str(SUM))
    seen("loaded on all ranks in", f"{time.monotonic() - started:.1f} s")

    step(4, "Scatter an array: each rank holds its piece.")
    typed("view.scatter('a', np.arange(16_000_000, dtype=float))")
    numbers = np.arange(16_000_000, dtype=float)
    view.scatter("a", numbers)
    view.execute("first, length = float(a[0]), len(a)")
    for rank, first, length in zip(rc.ids, view["first"], view["length"]):
        seen(f"rank {rank}", f"{length:,} numbers from {first:,.0f}")
    expect("numbers on all ranks", sum(view["length"]), len(numbers))

    step(
        5, "Sum it in parallel: every rank sums its piece, MPI adds the parts, all know the total."
    )
    typed("%px totalsum = psum(a)\nview['totalsum']")
    view.execute("psum(a[:1])")  # compiles
    started = time.monotonic()
    view.execute("totalsum = psum(a)")
    elapsed = time.monotonic() - started
    totals = view["totalsum"]
    for rank, total in zip(rc.ids, totals):
        seen(f"rank {rank}", f"{total:,.0f}")
    seen("time", f"{elapsed * 1e3:.1f} ms")
    expected = len(numbers) * (len(numbers) - 1) / 2
    seen("n (n - 1) / 2", f"{expected:,.0f}")
    for rank, total in zip(rc.ids, totals):
        if abs(total - expected) > 1e-9 * expected:
            raise Failed(f"the sum on rank {rank}: expected {expected}, found {total}")
    expect("the same sum on all ranks", len(set(totals)), 1)

    step(6, "Print from every rank; an error on one rank is that rank's alone.")
    typed("%px print(f'rank {rank} of {MPI.COMM_WORLD.size}')")
    answer = view.execute("print(f'rank {rank} of {MPI.COMM_WORLD.size}')", block=False)
    answer.get(PATIENCE)
    answer.wait_for_output(10)
    for rank, text in zip(rc.ids, answer.stdout):
        say(f"    [stdout:{rank}] {text.strip()}")
        expect(f"output of rank {rank}", text.strip(), f"rank {rank} of {RANKS}")
    typed("rc[2].execute('1 / 0')")
    try:
        rc[2].execute("1 / 0", block=True)
        raise Failed("1 / 0 did not raise")
    except ipp.RemoteError as error:
        where = f"{error.engine_info['engine_id']}:{error.engine_info['method']}"
        say(f"    [{where}] {error.ename}: {error.evalue}")
    expect("answers of all ranks afterwards", view.apply(len, "fine"), [4] * RANKS)

    step(7, "The same engines take load-balanced tasks, of ipyparallel's client and of polyxeus's.")
    typed("rc.load_balanced_view().map_sync(pow, range(1000), [3] * 1000)")
    cubes_by("ipyparallel's client", rc)
    rc.close()
    own_client(file)


def own_client(file):
    """The same tasks by polyxeus's own client. Where scripts/demo builds from the source it has no client."""
    typed("import polyxeus as px; ours = px.Client()")
    try:
        from polyxeus import Client
    except ImportError:
        say("    this demo does not build polyxeus's client; scripts/setup does, and a wheel has it (docs/install.md)")
        return
    with Client(str(file), timeout=PATIENCE) as ours:
        typed("ours.load_balanced_view().map_sync(pow, range(1000), [3] * 1000)")
        cubes_by("polyxeus's client", ours)


def cubes_by(client_name, client):
    started = time.monotonic()
    cubes = list(client.load_balanced_view().map_sync(pow, range(1000), [3] * 1000))
    elapsed = time.monotonic() - started
    seen(f"sum of 1,000 cubes by {client_name}", f"{sum(cubes):,} in {elapsed:.3f} s")
    expect("sum of cubes", sum(cubes), (999 * 1000 // 2) ** 2)


def main():
    say("polyxeus: a parallel sum, interactively, on four MPI ranks")
    try:
        with tempfile.TemporaryDirectory(prefix="px-demo-") as folder:
            step(1, f"Start a controller and {RANKS} Python engines under mpiexec.")
            with cluster(folder) as file:
                story(file)
                step(8, "End the cluster (Ctrl-C).")
            if file.exists():
                raise Failed(f"the cluster left {file} behind")
    except Failed as failure:
        say(f"\nFAILED: {failure}")
        return 1
    say("\nDone: the numbers agree.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
