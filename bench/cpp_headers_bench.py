"""C++ cells that use heavy headers: <regex>, nlohmann/json, Eigen, with and without `%pch`.

    python bench/cpp_headers_bench.py [--json build/cpp_headers.json] [--runs 3]

The first cell of a session that uses the header, and later cells that use the same of it with other
values, each of them compiled anew. In the same run: clang++ with the flags of cells on the same code
as a file, which it optimizes and compiles but does not run. With `%pch`, the first session on a host
makes the precompiled header and the machine code of the library's functions, which the measured ones
find in the cache. Exit code 0 when every aim is met, 1
when not.
"""

import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import polyxeus

from clusters import PATIENCE, started, variable
from figures import Aim, finish, parser, row, seconds, versions

BENCH = "cpp_headers_bench"
CLANG = "clang++-22"
FLAGS = ["-std=c++20", "-O2", "-march=native", "-fno-finite-loops"]
FILE, FILE_WITH_HEADER = f"{CLANG}, a file", f"{CLANG}, a file, its header precompiled"
PLAIN, PRECOMPILED = "cells, without `%pch`", "cells, with `%pch`"
LATER = 5  # cells after the first one of each session; the median counts


class Library(NamedTuple):
    name: str
    header: str
    directives: str  # that cells need before `%pch` or the include
    folders: tuple  # the same for clang++
    first: str  # the code of the first cell
    later: str  # of one that follows it: `$k` is its number


LIBRARIES = [
    Library(
        "regex", "<regex>", "", (),
        'std::regex pattern("([a-z]+)-([0-9]+)");\nstd::smatch found;\nstd::string text = "item-17";\n'
        "bool is_found = std::regex_search(text, found, pattern);\n",
        'std::regex pattern$k("([a-z]+)$k([0-9]+)");\nstd::string text$k = "item$k17";\n'
        "is_found = std::regex_search(text$k, found, pattern$k);\n",
    ),
    Library(
        "nlohmann/json", "<nlohmann/json.hpp>", "", (),
        'auto data = nlohmann::json::parse(R"({"name": "x", "sizes": [1, 2.5]})");\n'
        'double size = data["sizes"][1].get<double>();\nstd::string said = data.dump();\n',
        'auto data$k = nlohmann::json::parse(R"({"name": "x", "sizes": [1, $k]})");\n'
        'size = data$k["sizes"][1].get<double>();\nsaid = data$k.dump();\n',
    ),
    Library(
        "Eigen", "<Eigen/Dense>", "%pkg eigen3\n", ("/usr/include/eigen3",),
        "Eigen::MatrixXd a = Eigen::MatrixXd::Random(50, 50);\n"
        "Eigen::VectorXd v = Eigen::VectorXd::Ones(50);\n"
        "Eigen::MatrixXd b = a * a + a;\nEigen::VectorXd w = b * v;\ndouble sum = w.sum();\n",
        "Eigen::MatrixXd b$k = a * a + a;\nEigen::VectorXd w$k = b$k * v;\nsum = $k * w$k.sum();\n",
    ),
]  # fmt: skip


def later_cell(library, number):
    return library.later.replace("$k", str(number))


def new_session(cells):
    """Seconds that each of the cells takes on a new engine, which has run another cell."""
    with started(polyxeus, 1, language="cpp") as (_, client, _):
        client[:].execute("int ready = 1;", block=True)
        client.clear(block=True)
        return [seconds(lambda: client[0].execute(each).get(PATIENCE)) for each in cells]


def cells_of(library, is_precompiled):
    begin = f"%pch {library.header}" if is_precompiled else f"#include {library.header}"
    first = f"{library.directives}{begin}\n{library.first}"
    return [first, *(later_cell(library, number) for number in range(1, LATER + 1))]


def clang(library, arguments, code, folder):
    """Seconds of a clang++ that compiles the code."""
    source = folder / "code.cpp"
    source.write_text(code)
    includes = [f"-I{each}" for each in library.folders]
    command = [CLANG, *FLAGS, *includes, *arguments, source, "-c", "-o", folder / "code.o"]
    return seconds(lambda: subprocess.run(command, check=True))


def as_file(library, code):
    """Cells as one file. Statements stand in a function there."""
    return f"#include {library.header}\nvoid cells() {{\n{code}}}\n"


def files(library, runs, folder):
    """Seconds of clang++ for the first cell as a file, and with its header precompiled."""
    header = folder / "header.hpp"
    header.write_text(f"#include {library.header}\n")
    precompiled = folder / "header.pch"
    includes = [f"-I{each}" for each in library.folders]
    command = [CLANG, *FLAGS, *includes, "-Xclang", "-fpch-instantiate-templates", "-x", "c++-header",
               header, "-o", precompiled]  # fmt: skip
    subprocess.run(command, check=True)
    code = as_file(library, library.first)
    plain = [clang(library, [], code, folder) for _ in range(runs)]
    short = [clang(library, ["-include-pch", precompiled], code, folder) for _ in range(runs)]
    return plain, short


def library_rows(library, runs, folder):
    made = new_session(cells_of(library, True)[:1])
    plain_file, file_with_header = files(library, runs, folder)
    sessions = {PLAIN: [], PRECOMPILED: []}
    for _ in range(runs):
        for who, is_precompiled in ((PLAIN, False), (PRECOMPILED, True)):
            sessions[who].append(new_session(cells_of(library, is_precompiled)))
    first, later = f"{library.name}: first use", f"{library.name}: later use"
    rows = [
        row(BENCH, f"{library.name}: first `%pch` on this host, and first use", "s", PRECOMPILED, made),
        row(BENCH, first, "s", FILE, plain_file),
        row(BENCH, first, "s", FILE_WITH_HEADER, file_with_header),
    ]  # fmt: skip
    for who, times in sessions.items():
        bars = {"aims": [Aim("<=", 0.3, "value")]} if who == PRECOMPILED else {}
        rows.append(row(BENCH, first, "s", who, [each[0] for each in times], ratio_to=FILE, **bars))
    rows.append(row(BENCH, later, "ms", FILE_WITH_HEADER, [1e3 * each for each in file_with_header]))
    for who, times in sessions.items():
        bars = {"aims": [Aim("<=", 60, "value")]} if who == PRECOMPILED else {}
        medians = [1e3 * statistics.median(each[1:]) for each in times]
        rows.append(row(BENCH, later, "ms", who, medians, ratio_to=FILE_WITH_HEADER, **bars))
    return rows


def arguments():
    made = parser(__doc__)
    made.add_argument("--runs", type=int, default=3, help="sessions of each kind (3)")
    made.add_argument("--only", help="one library: " + ", ".join(each.name for each in LIBRARIES))
    return made.parse_args()


def main():
    options = arguments()
    rows = []
    with tempfile.TemporaryDirectory(prefix="px-bench-") as name:
        folder = Path(name)
        with variable("XDG_CACHE_HOME", str(folder / "cache")):
            new_session([])  # the header of all cells
            for library in LIBRARIES:
                if options.only in (None, library.name):
                    rows += library_rows(library, options.runs, folder)
    return finish(rows, options, versions("polyxeus", programs=[CLANG]))


if __name__ == "__main__":
    sys.exit(main())
