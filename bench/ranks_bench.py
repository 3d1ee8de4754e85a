"""Measures how much processor time of the notebook's kernel the boxes of the ranks take while a cell runs.

    python bench/ranks_bench.py [--json build/ranks.json] [--seconds 10] [--swarm build/release/swarm]

The cell runs on 4 engines and, with --swarm, on 256 that one process plays (bench/swarm). A value is the processor time
of the whole process of ipykernel, in percent of one core, in the middle of a cell. Exit code 0 when the aims are met.
"""

import contextlib
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from clusters import PATIENCE, started
from figures import Aim, finish, parser, row, versions

BENCH = "ranks_bench"
WITH, WITHOUT = "with boxes", "without boxes"
MOST = 3.0  # % of a core, of what the boxes add
AFTER = {WITH: 0, WITHOUT: -1}
MIME = "application/vnd.polyxeus.ranks+json"
SWARM = 256


@contextlib.contextmanager
def kernel():
    """(its client, its process id) of a new ipykernel with the magics."""
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(kernel_name="python3")
    try:
        run(client, "%load_ext polyxeus")
        yield client, manager.provisioner.pid
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def run(client, code):
    reply = client.execute(code, reply=True, timeout=PATIENCE)["content"]
    if reply["status"] != "ok":
        raise RuntimeError(f"{code}: {reply.get('evalue')}")


def processor_seconds(pid):
    """That of all threads of a process, to the microsecond."""
    total = 0
    for thread in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):  # it has ended
            total += int((thread / "schedstat").read_text().split()[0])
    return total / 1e9


def await_begin(client, count):
    """Until the boxes of so many ranks have come."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        content = client.get_iopub_msg(timeout=PATIENCE)["content"]
        if len(content.get("data", {}).get(MIME, {}).get("boxes", ())) == count:
            return
    raise TimeoutError(f"the boxes of {count} ranks do not come")


def share(place, code, count, variant, seconds):
    """The processor time of a kernel in a cell, in percent of a core."""
    with kernel() as (client, pid), place() as file:
        run(client, f"import polyxeus\nrc = polyxeus.Client({str(file)!r})")
        run(client, f"%pxconfig --ranks-after={AFTER[variant]}")
        client.execute(code)
        if variant == WITH:
            await_begin(client, count)
        time.sleep(4.0)
        before = processor_seconds(pid)
        time.sleep(seconds)
        used = processor_seconds(pid) - before
        if client.shell_channel.msg_ready():
            raise RuntimeError("the cell ended before it was measured: use a smaller --seconds")
        return 100 * used / seconds


def rows_of(what, found):
    added = [one - other for one, other in zip(found[WITH], found[WITHOUT])]
    rows = [row(BENCH, f"{what}: the kernel", "% of a core", variant, values) for variant, values in found.items()]
    return [*rows, row(BENCH, f"{what}: what the boxes add", "% of a core", WITH, added, aims=[Aim("<=", MOST, of="value")])]


def measure(options, place, code, count):
    """{variant: the shares of its runs}. place: a context manager that gives a connection file for each run."""
    found = {variant: [] for variant in AFTER}
    for _ in range(options.runs):
        for variant, values in found.items():
            values.append(share(place, code, count, variant, options.seconds))
    return found


def measure_real(options):
    import polyxeus

    @contextlib.contextmanager
    def place():
        yield client._where
        client.interrupt(block=True)

    code = "%%px\nimport time\nfor step in range(100_000): time.sleep(0.01)"
    with started(polyxeus, 4) as (_, client, _):
        return rows_of("4 engines", measure(options, place, code, 4))


@contextlib.contextmanager
def swarm(program):
    """The connection file of a controller with 256 engines, each of which takes 16 s for a request: the swarm ends after
    20 s without an answer."""
    with tempfile.TemporaryDirectory(prefix="px-bench-") as folder:
        command = [program, f"--engines={SWARM}", "--guests=0", "--rounds=1", f"--tasks={4 * SWARM}", "--task-ms=16000",
                   f"--controller={Path(sys.executable).parent / 'pxcontroller'}", f"--folder={folder}/swarm", "--no-raw"]  # fmt: skip
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            line = ""
            for line in process.stderr:
                if line.startswith("memory after it"):  # from now on requests take long
                    break
            else:
                raise RuntimeError(f"{program} has ended: {line.strip()}")
            yield next(Path(folder).rglob("ipcontroller-client.json"))
        finally:
            process.kill()
            process.wait()


def measure_swarm(options):
    found = measure(options, lambda: swarm(options.swarm), "%%px\nwork()", SWARM)
    return rows_of(f"{SWARM} engines", found)


def arguments():
    made = parser(__doc__)
    made.add_argument("--runs", type=int, default=3, help="of each variant (3)")
    made.add_argument("--seconds", type=float, default=10, help="that a run measures (10)")
    made.add_argument("--swarm", type=Path, help="the program swarm; without it only 4 engines are measured")
    return made.parse_args()


def main():
    options = arguments()
    rows = measure_real(options)
    if options.swarm:
        rows += measure_swarm(options)
    return finish(rows, options, versions("polyxeus", "ipykernel"))


if __name__ == "__main__":
    sys.exit(main())
