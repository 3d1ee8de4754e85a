"""What type checkers see of the public API."""

import ast
import importlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import polyxeus

USES = Path(__file__).parent / "types"
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


def found_by_mypy(path, folder):
    """{line: the error} of a file."""
    # As where the package is installed: mypy says nothing of its modules.
    said = run("mypy", "--strict", "--follow-imports=silent", "--no-error-summary", "--cache-dir=cache",
                "--python-version", "3.10", str(path), folder=folder)
    errors = {}
    for line in said.splitlines():
        match = re.match(r"(.+?):(\d+): (error|note): (.*)", line)
        assert match and Path(match[1]).name == path.name, said
        if match[3] == "error":
            errors[int(match[2])] = match[4]
    return errors


def found_by_pyright(path, folder):
    settings = {"extraPaths": [str(PACKAGE.parent)], "typeCheckingMode": "strict",
                "reportUnusedExpression": False, "reportUnknownMemberType": False,
                "reportUnknownVariableType": False, "reportUnknownArgumentType": False,
                "reportUnusedImport": False, "reportMissingTypeStubs": False,
                "reportUnusedFunction": False}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    (folder / path.name).write_text(path.read_text())
    done = subprocess.run([sys.executable, "-m", "pyright", "--outputjson", path.name], cwd=folder,
                          capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    errors = [each for each in json.loads(done.stdout)["generalDiagnostics"]
              if each["severity"] == "error"]
    return {each["range"]["start"]["line"] + 1: each["message"] for each in errors}


CHECKERS = [found_by_mypy, found_by_pyright]


@pytest.mark.time_limit(240)  # a checker computes for 15 s
@pytest.mark.parametrize("check", CHECKERS)
def test_what_the_documentation_shows_is_right(check, tmp_path):
    assert check(USES / "right.py", tmp_path) == {}


@pytest.mark.time_limit(240)
@pytest.mark.parametrize("check", CHECKERS)
def test_each_wrong_use_is_reported_and_no_other_line(check, tmp_path):
    lines = (USES / "wrong.py").read_text().splitlines()
    marked = {number: line for number, line in enumerate(lines, 1) if line.endswith("# wrong")}
    found = check(USES / "wrong.py", tmp_path)
    assert [marked[each] for each in sorted(marked.keys() - found.keys())] == []
    assert {each: found[each] for each in sorted(found.keys() - marked.keys())} == {}


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
