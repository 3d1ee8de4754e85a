"""Test files of cling and clang-repl, and notebooks, as the cells that their users would have typed."""

import json
import re
from dataclasses import dataclass, field

_OPEN, _CLOSE = "([{", ")]}"
_LITERAL = re.compile(r'R"([^()\\\s]{0,16})\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.S)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)", re.S)
_TOKEN = re.compile(f"{_LITERAL.pattern}|{_COMMENT.pattern}", re.S)
_CHECK = re.compile(r"(?<![\w-])(?:CHECK(?:OUT)?)(-NOT|-NEXT|-SAME|-DAG|-LABEL|-EMPTY)?:\s?(.*)")
_EXPECTED = re.compile(
    r"expected-error(?:-re)?(?:@[^{ ]*)?\s*\{\{(.*?)\}\}"
    # cling warns of these while the cell runs, and ends it by an exception
    r"|expected-warning\s*\{\{((?:null|invalid memory pointer) passed to a callee.*?)\}\}", re.S)  # fmt: skip
_UNRESOLVED = "unresolved while linking"  # what cling says of a cell that it does not run, and then:
_ADVICE = re.compile("You are probably missing the definition|Maybe you need to load")

EXCEPTION = re.compile(r"Exception occurred|[Cc]aught a std::exception")  # what cling says of one

LEFT_OUT_FILES = (
    (r"gCling|\bcling::|[<\"]cling/|clang/(AST|Sema|Frontend)/", "calls the C++ interface of the program"),
    (r"-x\s?c(uda|\b)|-xc\b|-x hip|\.cu\b", "another language: C, CUDA or HIP"),
    (r"-noruntime|\benv |-verify-ignore|-ast-dump|-emit-llvm|-fmodule|-include-pch|-plugin|-ftime-report|-nostdinc"
     r"|--ptrcheck",
     "is about options of the program"),
    (r"-shared|%T|%mkdir|CLING_TMP|touch ", "needs files that the program's own test driver makes"),
)  # fmt: skip


@dataclass
class Check:
    """A line that the printed text is to match."""

    kind: str
    pattern: str
    line: int


@dataclass
class ForeignCell:
    line: int
    code: str
    errors: list = field(default_factory=list)  # the texts of those that it is to report
    checks: list = field(default_factory=list)
    is_command: bool = False  # of the prompt of cling or clang-repl

    @property
    def must_fail(self):
        return bool(self.errors)


def why_left_out(text):
    """Why the cells of the file are not run as cells of C++; "" where they are."""
    runs = "\n".join(line for line in text.splitlines() if "RUN:" in line)
    if "%cling" not in runs and "clang-repl" not in runs:
        return "has no RUN line for the prompt"
    if not re.search(r"RUN:\s*cat %s\s*\|", runs):
        return "is about options of the program"
    if re.search(r"XFAIL:\s*\*", text):
        return "is marked there as one that fails"
    for pattern, reason in LEFT_OUT_FILES:
        if re.search(pattern, text if "gCling" in pattern else runs):
            return reason
    return ""


def errors_of_headers(code, folder):
    """The errors that the headers beside the file are to report which the cell includes."""
    found = []
    for name in re.findall(r'^\s*#\s*include\s*"(.*?)"', code, re.M):
        header = folder / name
        if header.is_file():
            found += _expected_errors(header.read_text(errors="replace"))
    return found


def _expected_errors(text):
    return ["".join(each) for each in _EXPECTED.findall(text)]


def _masked(text):
    """The code of the text: comments are empty, and so are strings."""
    return _TOKEN.sub(lambda each: " " if each.group().startswith(("//", "/*")) else '""', text)


def _is_in_comment(text):
    last = [each.group() for each in _TOKEN.finditer(text)][-1:]
    return any(each.startswith("/*") and not each.endswith("*/") for each in last)


def is_whole(code):
    """Whether the prompt of cling takes the lines as complete."""
    masked = _masked(code)
    if re.search(r"(\\|,|\btemplate\s*<[^>]*|\btemplate\s*<.*>)$", masked.rstrip()) or _is_in_comment(code):
        return False
    if sum(masked.count(each) for each in _OPEN) > sum(masked.count(each) for each in _CLOSE):
        return False
    opened = len(re.findall(r"^\s*#\s*if", masked, re.M))
    return opened <= len(re.findall(r"^\s*#\s*endif", masked, re.M))


def cut(text):
    """-> [ForeignCell]"""
    by_lines = "clang-repl" in text  # its prompt knows no brackets: a backslash alone continues a line
    cells, begun, begin = [], [], 0
    for number, line in enumerate(text.splitlines(), 1):
        if not begun and not _masked(line).strip():
            _attach(cells, line, number)
            if _is_in_comment(line):
                begun, begin = [line], number
            continue
        if not begun and cells and re.match(r"\s*(else\b|catch\b|\{)", line) and not by_lines:
            begin, begun = cells[-1].line, [cells.pop().code]
        if not begun:
            begin = number
        begun.append(line)
        code = "\n".join(begun)
        if line.rstrip().endswith("\\") if by_lines else not is_whole(code):
            continue
        begun = []
        if re.match(r"\s*(\.q\b|%quit)", code):
            break
        if _masked(code).strip():
            cells.append(ForeignCell(begin, code, is_command=bool(re.match(r"\s*[.%]", code))))
        for offset, each in enumerate(code.splitlines()):
            _attach(cells, each, begin + offset)
    return cells


def _attach(cells, line, number):
    """A comment says what the cell before it, or around it, is to do."""
    if not cells:
        return
    cell = cells[-1]
    cell.errors += _expected_errors(line)
    comment = _COMMENT.search(line)
    check = _CHECK.search(comment.group()) if comment else None
    if check and (EXCEPTION.search(check[2]) or _ADVICE.search(check[2])):
        return  # it stands before or behind the cell that throws
    if check and ("error:" in check[2] or _UNRESOLVED in check[2]) and check[1] != "-NOT":
        cell.errors.append(check[2])
    elif check:
        cell.checks.append(Check(check[1] or "", check[2].strip(), number))


def cells_of_notebook(text):
    """-> [ForeignCell]: those of C++ that were run, in their order."""
    cells = []
    for number, each in enumerate(json.loads(text)["cells"], 1):
        code = "".join(each["source"])
        if each["cell_type"] != "code" or not code.strip():
            continue
        failed = [output["ename"] for output in each["outputs"] if output["output_type"] == "error"]
        if code.startswith("throw "):  # in a notebook that was stored without outputs
            failed.append("exception")
        cells.append(ForeignCell(number, code, errors=failed))
    return cells
