"""What type checkers see of the public API."""

import ast
import importlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import deadlines
import pytest

import polyxeus

USES = Path(__file__).parent / "types"
FILES = ("right.py", "wrong.py")
PACKAGE = Path(polyxeus.__file__).parent


def run(module, *arguments, folder, **variables):
    """What `python -m <module>` prints; it finds this polyxeus."""
    if not (PACKAGE.parent / "mypy").exists():  # else it is installed beside the checker
        variables.setdefault("MYPYPATH", str(PACKAGE.parent))
    environment = {**os.environ, **variables}
    done = subprocess.run([sys.executable, "-m", module, *arguments], cwd=folder, env=environment,
                          capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.stdout


def found_by_mypy(folder):
    """{file name: {line: the error}} of all files of USES."""
    # As where the package is installed: mypy says nothing of its modules.
    said = run("mypy", "--strict", "--follow-imports=silent", "--no-error-summary", "--cache-dir=cache",
               "--python-version", "3.10", *(str(USES / name) for name in FILES), folder=folder)  # fmt: skip
    errors = {name: {} for name in FILES}
    for line in said.splitlines():
        match = re.match(r"(.+?):(\d+): (error|note): (.*)", line)
        assert match and Path(match[1]).name in FILES, said
        if match[3] == "error":
            errors[Path(match[1]).name][int(match[2])] = match[4]
    return errors


def found_by_pyright(folder):
    settings = {"extraPaths": [str(PACKAGE.parent)], "typeCheckingMode": "strict",
                "reportUnusedExpression": False, "reportUnknownMemberType": False,
                "reportUnknownVariableType": False, "reportUnknownArgumentType": False,
                "reportUnusedImport": False, "reportMissingTypeStubs": False,
                "reportUnusedFunction": False}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    for name in FILES:
        (folder / name).write_text((USES / name).read_text())
    done = subprocess.run([sys.executable, "-m", "pyright", "--outputjson", *FILES], cwd=folder,
                          capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    report = json.loads(done.stdout)
    assert report["summary"]["filesAnalyzed"] == len(FILES), report["summary"]
    errors = {name: {} for name in FILES}
    for each in report["generalDiagnostics"]:
        if each["severity"] == "error":
            errors[Path(each["file"]).name][each["range"]["start"]["line"] + 1] = each["message"]
    return errors


@pytest.fixture(scope="module", params=[found_by_mypy, found_by_pyright])
def found(request, tmp_path_factory):
    """The errors that one checker reports, of one run: reading the package takes most of its time."""
    with deadlines.time_limit(240):  # it computes for 15 s
        return request.param(tmp_path_factory.mktemp("types"))


def test_what_the_documentation_shows_is_right(found):
    assert found["right.py"] == {}


def test_each_wrong_use_is_reported_and_no_other_line(found):
    lines = (USES / "wrong.py").read_text().splitlines()
    marked = {number: line for number, line in enumerate(lines, 1) if line.endswith("# wrong")}
    errors = found["wrong.py"]
    assert [marked[each] for each in sorted(marked.keys() - errors.keys())] == []
    assert {each: errors[each] for each in sorted(errors.keys() - marked.keys())} == {}


def test_checkers_know_all_public_names_and_no_others():
    tree = ast.parse((PACKAGE / "__init__.py").read_text())
    (block,) = [node.body for node in tree.body
                if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    known = set()
    for node in block:
        if node.names[0].name == "*":
            known.update(importlib.import_module(node.module).__all__)
        else:
            known.update(each.asname for each in node.names if each.asname)
    assert known == {*polyxeus.__all__, *polyxeus._MODULES, "__version__"} - {"register_joblib_backend"}


def members(tree):
    """{class: names of its public methods, "": functions and classes}."""
    found = {"": set()}
    for node in tree.body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            found[""].add(node.name)
        if isinstance(node, ast.ClassDef):
            names = [each.name if isinstance(each, ast.FunctionDef) else each.target.id
                     for each in node.body if isinstance(each, (ast.FunctionDef, ast.AnnAssign))]
            found[node.name] = {name for name in names if name[0] != "_"}
    return found


def test_the_types_of_the_extension_module_name_all_that_it_has():
    from polyxeus import _client

    described = members(ast.parse((PACKAGE / "_client.pyi").read_text()))
    assert described.pop("") == {name for name in dir(_client) if name[0] != "_"}
    for name, methods in described.items():
        has = {each for each in vars(getattr(_client, name)) if each[0] != "_"}
        assert methods == has, name
