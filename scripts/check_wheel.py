"""A short story for one wheel: check_wheel.py, run by the Python of an environment that has the wheel.

Engines, the package and the kernel do what they are for, and C++ engines and the C++ kernel where the wheel polyxeus-cpp
is installed, too; exit code 0 only where all of it is right. scripts/wheels --check runs it for each wheel.
"""

import contextlib
import os
import sys
import tempfile
from pathlib import Path

ENGINES = 4


def expect(what, found, wanted):
    if found != wanted:
        sys.exit(f"{what}: expected {wanted!r}, found {found!r}")


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


def main():
    with tempfile.TemporaryDirectory(prefix="px-wheel-") as folder:
        os.environ["IPYTHONDIR"] = folder
        import polyxeus

        home = Path(polyxeus.__file__).resolve()
        expect("a package of this environment", home.is_relative_to(Path(sys.prefix).resolve()), True)
        cluster = polyxeus.Cluster(n=ENGINES)
        cluster.start_cluster_sync()
        try:
            check_package_and_engines(cluster)
            check_kernel(cluster)
        finally:
            cluster.stop_cluster_sync()
        has_cpp = (Path(sys.prefix) / "bin/pxengine-cpp").exists()
        if has_cpp:
            check_cpp()
    more = ", and C++ engines and the C++ kernel" if has_cpp else ""
    print(f"Python {sys.version.split()[0]}: the package, {ENGINES} engines and the kernel work{more}")


if __name__ == "__main__":
    main()
