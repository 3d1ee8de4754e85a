"""All benches that bench/report runs, and how.

A bench with default options is what a user gets: CURVE on, Unix sockets on one host.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path

import cpp_programs
from cpp_programs import CURVE, PLAIN, UNIX

BENCH = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Places:
    """Where the programs are."""

    python: Path  # has polyxeus and its peers installed
    build: Path  # what `cmake --preset release` builds

    def program(self, name):
        return self.python.parent / name


@dataclass(frozen=True)
class Command:
    """One process of a bench. It writes JSON to the file that report adds to `arguments`."""

    arguments: list
    environment: dict = field(default_factory=dict)
    variant: str = ""
    json_option: str = "--json={file}"
    shown: str = ""  # for the reader of the table


@dataclass(frozen=True)
class PythonBench:
    name: str
    about: str
    estimate_s: int  # on two CPUs
    options: tuple = ()
    quick_options: tuple = ()

    def commands(self, places, is_quick):
        options = [*(self.quick_options if is_quick else self.options)]
        script = BENCH / f"{self.name}.py"
        shown = " ".join([f"bench/{self.name}.py", *options])
        arguments = [str(places.python), str(script), "--no-bars", *options]
        return [Command(arguments, shown=shown)]

    def programs(self, places):
        """What must be there, and how it gets there."""
        install = "see bench/report --help; --python names another Python"
        return {
            places.python: install,
            places.program("pxcluster"): install,
        }

    def read(self, outputs):
        """The part of a record that the JSON files of the commands give."""
        ((_, contents),) = outputs
        return contents


@dataclass(frozen=True)
class Variant:
    """Some runs of a C++ program with the same options."""

    runs: int
    options: tuple = ()
    environment: dict = field(default_factory=dict)
    name: str = ""


@dataclass(frozen=True)
class ProgramBench:
    """A C++ program of the release build, started several times: its figures have a spread."""

    name: str
    about: str
    estimate_s: int
    variants: tuple
    quick_variants: tuple
    rows: object  # a reader of cpp_programs
    json_option: str = "--json={file}"

    def commands(self, places, is_quick):
        found = []
        for variant in self.quick_variants if is_quick else self.variants:
            options = [each.format(pxengine=places.program("pxengine")) for each in variant.options]
            shown = " ".join(
                [f"{key}={value}" for key, value in variant.environment.items()]
                + [self.name, *(each.format(pxengine="pxengine") for each in variant.options)]
            )
            command = Command(
                [str(places.build / self.name), *options], variant.environment, variant.name,
                self.json_option, shown,
            )  # fmt: skip
            found += [command] * variant.runs
        return found

    def programs(self, places):
        build = (
            "cmake --preset release && cmake --build build/release --target pxcontroller "
            "relay_bench client_bench balanced_bench sight_bench client_arrays wire_bench swarm; "
            "--build names another folder"
        )
        needed = {places.build / self.name: build, places.build / "pxcontroller": build}
        if any("{pxengine}" in option for each in self.variants for option in each.options):
            needed[places.program("pxengine")] = "see bench/report --help"
        return needed

    def read(self, outputs):
        rows = self.rows(outputs)
        return {"rows": [each.to_json() for each in rows], "missing": {}}


def read_output(file):
    return json.loads(Path(file).read_text())


OPEN = {"IPP_ENABLE_CURVE": "0"}
NO_IPC = "--no-ipc"

ALL = [
    PythonBench(
        "compare_ipyparallel",
        "ipyparallel's programs and ours, driven by an unmodified ipyparallel client",
        120,
        ("--repetitions=3",),
        ("--repetitions=1", "--seconds=0.2", "--round-trips=20"),
    ),
    PythonBench(
        "compare_peers",
        "the Python package beside ipyparallel, Dask, Ray and mpi4py.futures",
        250,
        ("--repetitions=3",),
        ("--repetitions=1", "--seconds=0.2", "--round-trips=20"),
    ),
    PythonBench(
        "arrays_bench",
        "large arrays through shared memory, through the controller, and what the host can do",
        60,
        ("--repetitions=3",),
        ("--repetitions=1", "--mebibytes=4", "--transfers=2"),
    ),
    PythonBench(
        "array_sizes_bench",
        "arrays of 1 KiB to 4 GiB beside MPI_Bcast, Ray and a write to /dev/shm; peaks of memory",
        130,
        (),
        ("--largest=4",),
    ),
    PythonBench(
        "far_arrays_bench",
        "large arrays on the way between hosts, with CURVE and without; control messages meanwhile",
        60,
        ("--repetitions=3",),
        ("--repetitions=1", "--mebibytes=8", "--transfers=1"),
    ),
    PythonBench(
        "hosts_arrays_bench",
        "large arrays to eight engines of two hosts and of one, beside MPI_Bcast",
        60,
        ("--runs=3",),
        ("--runs=1", "--mebibytes=16"),
    ),
    PythonBench(
        "encryption_bench",
        "CURVE, plain TCP and Unix sockets; our client and ipyparallel's",
        130,
        ("--repetitions=3",),
        ("--repetitions=1", "--seconds=0.1", "--round-trips=10", "--mebibytes=4"),
    ),
    PythonBench(
        "cpp_engine_bench",
        "C++ engines beside ipyparallel, g++ and Python engines",
        90,
        ("--starts=3", "--mebibytes=1024"),
        ("--starts=1", "--mebibytes=16", "--transfers=1"),
    ),
    PythonBench(
        "cpp_headers_bench",
        "C++ cells that use <regex>, nlohmann/json and Eigen, with and without %pch",
        120,
        ("--runs=3",),
        ("--runs=1",),
    ),
    PythonBench(
        "mpi_latency",
        "MPI calls of Python ranks that answer interrupts, and the same calls left alone",
        48,
        ("--runs=3", "--seconds=0.2"),
        ("--runs=1", "--seconds=0.05"),
    ),
    PythonBench(
        "threads_bench",
        "matrix products of ranks that share cores, with their threads and with the libraries' own",
        150,
        ("--runs=5",),
        ("--runs=1", "--seconds=0.1"),
    ),
    PythonBench(
        "gang_bench",
        "tasks of several MPI ranks: their use of the engines, and one that does nothing beside other packages",
        50,
        ("--mpi=openmpi", "--runs=1"),
        ("--mpi=openmpi", "--runs=1", "--tasks=50"),
    ),
    PythonBench(
        "mpi_failures_bench",
        "cells whose ranks wait in MPI for one that raises, computes, sleeps or is killed",
        110,
        ("--runs=1",),
        ("--runs=1", "--ranks=8", "--seconds=3"),
    ),
    PythonBench(
        "restart_bench",
        "a restart after kill -9 of an MPI rank, with and without variables that are carried over",
        45,
        ("--runs=3",),
        ("--runs=1", "--megabytes=10"),
    ),
    PythonBench(
        "journal_bench",
        "what the controller's journal costs",
        45,
        ("--runs=5",),
        ("--runs=1", "--tasks=20"),
    ),
    PythonBench(
        "checkpoint_bench",
        "a checkpoint of 1 GiB over four engines, beside dd",
        50,
        ("--runs=3",),
        ("--runs=1", "--mebibytes=8"),
    ),
    PythonBench(
        "ssh_launcher_bench",
        "engines on other hosts by ssh, beside ipyparallel's ssh launcher",
        120,
        ("--repeats=3",),
        ("--repeats=1",),
    ),
    ProgramBench(
        "relay_bench",
        "pxcontroller beside a raw ZeroMQ relay, C++ load and echo engines",
        180,
        (
            Variant(1, ("--repeats=1", "--tasks=20000", "--long-tasks=200000"), name=UNIX),
            Variant(2, ("--repeats=1", "--tasks=20000", "--long-tasks=0"), name=UNIX),
            Variant(3, ("--repeats=1", "--tasks=20000", "--long-tasks=0", NO_IPC), name=CURVE),
            Variant(3, ("--repeats=1", "--tasks=20000", "--long-tasks=0", NO_IPC), OPEN, PLAIN),
        ),
        (
            Variant(1, ("--repeats=1", "--tasks=500", "--long-tasks=0"), name=UNIX),
            Variant(1, ("--repeats=1", "--tasks=500", "--long-tasks=0", NO_IPC), name=CURVE),
            Variant(1, ("--repeats=1", "--tasks=500", "--long-tasks=0", NO_IPC), OPEN, PLAIN),
        ),
        cpp_programs.relay_rows,
    ),
    ProgramBench(
        "client_bench",
        "the C++ client beside a bare client at a raw ZeroMQ relay",
        165,
        (Variant(3, ("--repeats=1", "--tasks=20000", "--python-engine={pxengine}")),),
        (Variant(1, ("--repeats=1", "--tasks=500", "--python-engine={pxengine}")),),
        cpp_programs.client_rows,
    ),
    ProgramBench(
        "balanced_bench",
        "balanced tasks by the options of pxcontroller, C++ load and echo engines",
        40,
        (Variant(3, ("--repeats=1", "--tasks=20000")),),
        (Variant(1, ("--repeats=1", "--tasks=500")),),
        cpp_programs.balanced_rows,
    ),
    ProgramBench(
        "sight_bench",
        "what measures and the dashboard cost the controller",
        300,
        (Variant(1, ("--repeats=5",)),),
        (Variant(1, ("--resting=4", "--rest-seconds=1", "--repeats=1", "--tasks=500",
                     "--stuck-seconds=1")),),
        cpp_programs.sight_rows,
    ),
    ProgramBench(
        "wire_bench",
        "single steps of a message in C++",
        12,
        (Variant(1, ("--benchmark_repetitions=3", "--benchmark_min_time=0.2")),),
        (Variant(1, ("--benchmark_min_time=0.01",)),),
        cpp_programs.wire_rows,
        "--benchmark_out={file}",
    ),
    ProgramBench(
        "swarm",
        "a thousand engines, played by one process",
        60,
        (Variant(3, ("--engines=1000", "--tasks=10000", "--task-ms=300")),),
        (Variant(1, ("--engines=50", "--tasks=200", "--task-ms=300", "--guests=5", "--rounds=3")),),
        cpp_programs.swarm_rows,
    ),
]
