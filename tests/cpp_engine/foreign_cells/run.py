#!/usr/bin/env python3
"""Runs the test cells of cling or clang-repl, or the notebooks of other C++ kernels, in ours.

    python tests/cpp_engine/foreign_cells/run.py [--engines] [--all] FOLDER_OR_FILE...

Each file (.C, .cpp or .ipynb) is a session of its own, and its cells run as they stand there. A cell of a test file is
as expected where it fails or succeeds as its comments say (expected-error), and prints what its CHECK lines say, in any
spelling of the type. Each cell that is not is listed with the reason, as far as a rule names one.

--engines  on four ranks under MPI in place of the kernel; they must agree.
--all      list the cells that are as expected, too.

`known_differences.txt` names the reasons that no rule can tell: FOLDER/FILE:LINE REASON.

The exit code is 1 where a cell hangs, a session ends or a cell differs without a reason.
"""  # fmt: skip

import argparse
import re
import sys
from collections import Counter
from pathlib import Path

from cell_sessions import EnginesSession, KernelSession
from foreign_files import EXCEPTION, cells_of_notebook, cut, errors_of_headers, why_left_out
from transcripts import is_about_type_or_place, unmatched

AFTER_DIFFERENCE = "uses a name that a cell above should have declared"
SPELLING = "as expected, a value is spelled in another way"
AS_EXPECTED, COMMAND, UNEXPLAINED = "as expected", "a command of another prompt", "NO REASON IS KNOWN"
NO_HEADER = "a header that is not installed here"
MADE_HEADER = "left out: a header that a command of another prompt makes"
AFTER_COMMAND = "follows a command of another prompt that changes the session"
AFTER_LOSS = "comes after a cell that ended the session"

# Why a cell fails here that succeeds there: what its code looks like, what its error says, the reason.
REASONS = (
    ("", "file not found", NO_HEADER),
    (r"\bxt::linalg\b", "", NO_HEADER),
    (r"\bwasm_", "", "for a kernel in a browser"),
    (r"\bomp_", "LinkError", "OpenMP, which needs `%flags -fopenmp` in a cell before all others"),
    ("", "LinkError", "an undefined function: an error here where it is compiled"),
    ("", "Crashed|Exited", "a signal or exit(): an error of the cell here"),
)


def reason_of_failure(cell, ran, session, failed):
    """Why a cell fails here that is to succeed, or the other way round. `failed`: the code above that did not run."""
    if ran.is_lost:
        return UNEXPLAINED
    if cell.must_fail:
        if any(re.search("redefin|redeclar|conflict|exists", each) for each in cell.errors):
            return "an error there, defined again here"
        return UNEXPLAINED
    code = cell.code.rstrip()
    if session.run(code + ";").error == "":
        return "cling's syntax: no semicolon"
    if re.match(r"\s*\w+\s*=", code) and session.run("auto " + code.lstrip() + ";").error == "":
        return "cling's syntax: an assignment that declares"
    unknown = re.search(r"(?:identifier|type name|template named|member named) '(?:\w+::)*(\w+)'", ran.error)
    if unknown and any(re.search(rf"\b{unknown[1]}\b", each) for each in failed):
        return AFTER_DIFFERENCE
    return next((reason for of_code, of_error, reason in REASONS
                 if re.search(of_code, code) and re.search(of_error, ran.error)), UNEXPLAINED)  # fmt: skip


def reason_of_text(check, cell, reasons):
    """Why the cell does not print what it is to print."""
    if reasons.get(id(cell), AS_EXPECTED) != AS_EXPECTED:
        return reasons[id(cell)]
    declaration = r"(const |unsigned )*[\w:]+(<.*>)?[ *&]+\w+(\[\w*\])?( ?= ?[^;]*)?"
    if re.fullmatch(declaration, cell.code.split("//")[0].strip()):
        return "cling's syntax: a declaration without a semicolon shows its value"
    if is_about_type_or_place(check):
        return SPELLING
    return UNEXPLAINED


def after_commands(cells):
    """The cells that are about what a command before them has done: undone, read, written elsewhere."""
    changing = re.compile(r"\s*(\.(undo|U|x|X|T|O|>|1>|2>|&>|!|@|files|fileEx|dynamic)|%(undo|lib))")
    first = next((at for at, each in enumerate(cells) if each.is_command and changing.match(each.code)), len(cells))
    return {id(each) for each in cells[first:]}


def includes_made_header(cell, cells):
    """Whether a command names the header that the cell includes."""
    included = re.search(r'#\s*include\s*"(.*?)"', cell.code)
    named = {word for each in cells if each.is_command for word in each.code.split()[1:]}
    return included is not None and included[1] in named


def prepare(session, path, text):
    """The options of a test file, as cells."""
    session.begin(str(path.parent.resolve()))
    runs = "\n".join(line for line in text.splitlines() if "RUN:" in line)
    if re.search(r"-I\s?%[Sp]", runs):
        session.run(f".I {path.parent.resolve()}")
    for name, value in re.findall(r"\s-D(\w+)(?:=([\w.]+))?", runs):
        session.run(f"#define {name} {value}\n")


def run_file(session, path):
    """-> [(ForeignCell, reason, what happened)]"""
    text = path.read_text(errors="replace")
    is_notebook = path.suffix == ".ipynb"
    left_out = "" if is_notebook else why_left_out(text)
    cells = cells_of_notebook(text) if is_notebook else cut(text)
    if left_out:
        return [(cell, "left out: " + left_out, "") for cell in cells]
    prepare(session, path, "" if is_notebook else text)
    outputs, reasons, notes, failed, is_lost = [], {}, {}, [], False
    for cell in cells:
        outputs.append("")
        cell.errors += errors_of_headers(cell.code, path.parent)
        if is_lost or cell.is_command:
            reasons[id(cell)] = AFTER_LOSS if is_lost else "left out: " + COMMAND
            if re.match(r"\.[LI] ", cell.code):  # these are known here, too
                session.run(cell.code)
            continue
        ran = session.run(cell.code)
        outputs[-1], is_lost = ran.printed, ran.is_lost
        if EXCEPTION.search(text) and ran.error and not ran.error.startswith(("CompileError", "LinkError")):
            continue  # as the file says, above it or below
        if is_lost or bool(ran.error) != cell.must_fail:
            reason = reason_of_failure(cell, ran, session, failed)
            is_made = reason == NO_HEADER and includes_made_header(cell, cells)
            reasons[id(cell)] = MADE_HEADER if is_made else reason
            failed.append(cell.code)
            notes[id(cell)] = ran.error or "it succeeds"
    for cell, check in unmatched(cells, outputs):
        reasons[id(cell)] = reason_of_text(check, cell, reasons)
        notes.setdefault(id(cell), f"prints no '{check.pattern}' (line {check.line})")
    for cell in after_commands(cells):
        if reasons.get(cell) == UNEXPLAINED:
            reasons[cell] = AFTER_COMMAND
    return [(cell, reasons.get(id(cell), AS_EXPECTED), notes.get(id(cell), "")) for cell in cells]


def known_differences():
    """-> {"FOLDER/FILE:LINE": reason}"""
    lines = (Path(__file__).parent / "known_differences.txt").read_text().splitlines()
    return dict(line.split(" ", 1) for line in lines if line and not line.startswith("#"))


def summary(counts):
    """One line: how many of the cells that are C++ alone do what they do there."""
    foreign = ("left out", "cling's syntax", AFTER_COMMAND, AFTER_DIFFERENCE)
    run = sum(count for reason, count in counts.items() if not reason.startswith(foreign))
    good = sum(count for reason, count in counts.items() if reason.startswith(AS_EXPECTED))
    return f"{good} of {run} cells of C++ alone as expected: {100 * good / max(run, 1):.1f} %"


def files_of(paths):
    for path in map(Path, paths):
        suffixes = (".C", ".cpp", ".ipynb")
        found = [path] if path.is_file() else [each for each in path.rglob("*") if each.suffix in suffixes]
        yield from sorted(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engines", action="store_true", help="on four ranks under MPI")
    parser.add_argument("--all", action="store_true", help="list every cell")
    parser.add_argument("paths", nargs="+", metavar="FOLDER_OR_FILE")
    options = parser.parse_args()
    session = EnginesSession() if options.engines else KernelSession()
    counts, known = Counter(), known_differences()
    try:
        for path in files_of(options.paths):
            for cell, reason, note in run_file(session, path):
                if reason == UNEXPLAINED:
                    reason = known.get(f"{path.parent.name}/{path.name}:{cell.line}", reason)
                counts[reason] += 1
                is_listed = options.all or not reason.startswith((AS_EXPECTED, "left out"))
                if is_listed:
                    print(f"{path}:{cell.line}: {reason}\n    {cell.code.strip()[:300]!r}", flush=True)
                    print(f"    {note[:300]}", flush=True)
    finally:
        session.close()
    for reason, count in counts.most_common():
        print(f"{count:5} {reason}")
    print(summary(counts))
    sys.exit(1 if counts[UNEXPLAINED] or counts[AFTER_LOSS] else 0)


if __name__ == "__main__":
    main()
