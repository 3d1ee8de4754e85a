"""A short story for one wheel: check_wheel.py, run by the Python of an environment that has the wheel.

Engines, the package and the kernel do what they are for, and C++ engines and the C++ kernel where the wheel polyxeus-cpp
is installed, too; exit code 0 only where all of it is right. scripts/wheels --check runs it for each wheel.
"""

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path

ENGINES = 4
# glibc and libgcc, of every Linux; the MPI of the user, which an engine loads.
OF_THE_SYSTEM = ("ld-linux", "linux-vdso", "libc.", "libm.", "libdl.", "libpthread.", "librt.", "libresolv.", "libutil.", "libgcc_s.")
OF_THE_USER = ("libmpi.", "libmpich.")


def expect(what, found, wanted):
    if found != wanted:
        sys.exit(f"{what}: expected {wanted!r}, found {found!r}")


def loaded_by(path):
    """{name: where it is found} of what the loader takes for a program or module."""
    done = subprocess.run(["ldd", path], capture_output=True, text=True, check=True)
    lines = [line.strip().partition(" => ") for line in done.stdout.splitlines()]
    return {Path(name.split(" ")[0]).name: place.split(" ")[0] for name, _, place in lines}


def check_libraries():
    """ldd finds no library but those of the system, those that the list of parts names, and those of the user's MPI."""
    package = metadata.distribution("polyxeus")
    files = [Path(package.locate_file(each)).resolve() for each in package.files]
    lists = [each for each in files if each.name.endswith(".cdx.json")]
    if not lists or not shutil.which("ldd"):
        return  # a wheel for this system alone
    parts = [each for each in json.loads(lists[0].read_text())["components"] if each["type"] == "file"]
    inside = {Path(each["name"]).name: each["hashes"][0]["content"] for each in parts}
    needed = set()
    for path in files:
        if path.is_file() and path.read_bytes()[:4] == b"\x7fELF":
            loaded = loaded_by(path)
            of_user = [place for name, place in loaded.items() if name.startswith(OF_THE_USER) and place.startswith("/")]
            of_mpi = {name for place in of_user for name in loaded_by(place)}
            for name, place in loaded.items():
                if name in inside:
                    needed.add(name)
                    expect(f"sum of {name}", hashlib.sha256(Path(place).read_bytes()).hexdigest(), inside[name])
                elif not name.startswith((*OF_THE_SYSTEM, *OF_THE_USER)) and name not in of_mpi:
                    sys.exit(f"{path.name} loads {name}, which the list of parts does not name")
    expect("libraries that are loaded", needed, set(inside))


def check_package_and_engines(cluster):
    import polyxeus as px

    with cluster.connect_client_sync() as rc:
        rc.wait_for_engines(ENGINES, timeout=60)
        view = rc[:]
        expect("Python of the engines", set(view.apply_sync(lambda: __import__("sys").version)), {sys.version})
        view.push({"x": 21}, block=True)
        expect("pulled", view["x"], [21] * ENGINES)
        view.scatter("part", list(range(10)), block=True)
        expect("gathered", view.gather("part", block=True), list(range(10)))
        factor = 3  # a closure
        balanced = rc.load_balanced_view()
        expect("mapped", list(balanced.map_sync(lambda n: n * factor, range(50))), [n * 3 for n in range(50)])
        said = view.execute("print('hello')")
        said.get(30)
        said.wait_for_output(10)
        expect("printed", said.stdout, ["hello\n"] * ENGINES)
        try:
            rc[1].execute("1 / 0", block=True)
            sys.exit("1 / 0 did not raise")
        except px.RemoteError as error:
            expect("error", error.ename, "ZeroDivisionError")
        view.execute("import asyncio\nawait asyncio.sleep(0)\nx += 1", block=True)
        expect("x after an await", view["x"], [22] * ENGINES)


def run_cell(client, code):
    """What a cell prints and gives, as text."""
    texts = []

    def take(message):
        content = message["content"]
        texts.append(content.get("text", "") + content.get("data", {}).get("text/plain", ""))

    reply = client.execute_interactive(code, timeout=60, output_hook=take, allow_stdin=False)
    expect(code, reply["content"]["status"], "ok")
    return "".join(texts)


@contextlib.contextmanager
def kernel(name):
    """A client of a running kernel."""
    from jupyter_client.manager import KernelManager

    manager = KernelManager(kernel_name=name)
    manager.start_kernel()
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=60)
        yield client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=False)


def check_kernel(cluster):
    with kernel("pxpython") as client:
        expect("a cell", run_cell(client, "6 * 7"), "42")
        run_cell(client, f"import polyxeus as px; rc = px.Client({cluster.connection_file!r})")
        run_cell(client, "view = rc[:]; view.block = True; view.activate()")
        shown = run_cell(client, "%px print('on', x)")
        expect("cells of %px", shown.strip(), f"[0-{ENGINES - 1}] on 22")


def check_cpp():
    import polyxeus as px

    with px.Cluster(n=2, profile="cpp", language="cpp") as rc:
        said = rc[:].execute("std::vector<int> v{1, 2}; std::cout << v.size();")
        said.get(60)
        said.wait_for_output(10)
        expect("printed by C++", said.stdout, ["2"] * 2)
    with kernel("pxcpp") as client:
        expect("a cell of C++", run_cell(client, "6 * 7"), "42")


def check_cpp_ranks():
    """C++ engines use the library for MPI that is in the wheel polyxeus, which has a libstdc++ of its own in a portable wheel."""
    import polyxeus as px

    os.environ.setdefault("OMPI_ALLOW_RUN_AS_ROOT", "1")
    os.environ.setdefault("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
    with px.Cluster(n=2, profile="cpp-ranks", engines="mpi", language="cpp") as rc:
        view = rc[:]
        view.execute("#include <mpi.h>\n#include <stdexcept>\nint rank, sum = 0;", block=True)
        view.execute("MPI_Comm_rank(MPI_COMM_WORLD, &rank);", block=True)
        try:
            view.execute('if (rank == 1) throw std::runtime_error("gone"); MPI_Barrier(MPI_COMM_WORLD);', block=True)
            sys.exit("the barrier ended, although rank 1 was not there")
        except px.CompositeError as error:
            expect("errors of the ranks", [each[0] for each in error.elist], ["std::runtime_error"] * 2)
            expect("the barrier tells of rank 1", "rank 1" in error.elist[0][1], True)
        said = view.execute("int one = 1; MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); std::cout << sum;")
        said.get(60)
        said.wait_for_output(10)
        expect("sum over the ranks", said.stdout, ["2"] * 2)


def main():
    with tempfile.TemporaryDirectory(prefix="px-wheel-") as folder:
        os.environ["IPYTHONDIR"] = folder
        import polyxeus

        home = Path(polyxeus.__file__).resolve()
        expect("a package of this environment", home.is_relative_to(Path(sys.prefix).resolve()), True)
        check_libraries()
        cluster = polyxeus.Cluster(n=ENGINES)
        cluster.start_cluster_sync()
        try:
            check_package_and_engines(cluster)
            check_kernel(cluster)
        finally:
            cluster.stop_cluster_sync()
        has_cpp = (Path(sys.prefix) / "bin/pxengine-cpp").exists()
        has_mpi = has_cpp and bool(shutil.which("mpiexec") and shutil.which("mpicc"))
        if has_cpp:
            check_cpp()
        if has_mpi:
            check_cpp_ranks()
    more = ", and C++ engines and the C++ kernel" if has_cpp else ""
    more += ", and C++ engines that are ranks of MPI" if has_mpi else ""
    print(f"Python {sys.version.split()[0]}: the package, {ENGINES} engines and the kernel work{more}")


if __name__ == "__main__":
    main()
