"""The names and arguments of ipyparallel are there; each that is not is listed in docs/compatibility.md with a reason."""

import json
import re
import subprocess
import sys
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

pytest.importorskip("ipyparallel", minversion="9.2", reason="the names are compared with those of ipyparallel 9.2")

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs/compatibility.md"
POSITIONAL, ONLY_BY_PLACE, ANY_KEYWORD, ANY_ARGUMENT = (
    "POSITIONAL_OR_KEYWORD", "POSITIONAL_ONLY", "VAR_KEYWORD", "VAR_POSITIONAL")  # fmt: skip


def asked(*options, given):
    done = subprocess.run([sys.executable, "-W", "ignore", str(HERE / "public_names.py"), *options],
                          input=given, capture_output=True, text=True, timeout=600)  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def theirs():
    return asked(given="")


@pytest.fixture(scope="module")
def ours(theirs):
    return asked("--ours", given=json.dumps({module: list(names) for module, names in theirs.items()}))


def arguments_that_differ(old, new):
    """Names of arguments that cannot be given here as they are there."""
    if old is None or new is None:
        return []
    here = {name: (kind, default) for name, kind, default in new}
    kinds = {kind for _, kind, _ in new}
    order = [name for name, kind, _ in new if kind in (POSITIONAL, ONLY_BY_PLACE)]
    found = []
    for place, (name, kind, default) in enumerate(old):
        if kind in (ANY_KEYWORD, ANY_ARGUMENT):
            continue  # what they take is not known
        if name not in here:
            if ANY_KEYWORD not in kinds and ANY_ARGUMENT not in kinds:
                found.append(name)
            continue
        has_moved = kind == POSITIONAL and (name not in order or order.index(name) != place)
        is_required = default is not None and here[name][1] is None
        if has_moved or is_required:
            found.append(name)
    there = {name for name, _, _ in old}
    by_place = sum(kind in (POSITIONAL, ONLY_BY_PLACE, ANY_ARGUMENT) for _, kind, _ in old)
    for place, (name, kind, default) in enumerate(new):
        is_given = name in there or (kind == ONLY_BY_PLACE and place < by_place)
        if default is None and not is_given and kind not in (ANY_KEYWORD, ANY_ARGUMENT):
            found.append(name)
    return found


def differences(theirs, ours):
    """Names like `client.view.View.apply` and arguments like `client.view.View.map(chunksize)`, each once."""
    seen = set()
    for module, names in theirs.items():
        short = module.partition(".")[2]
        if ours[module] is None:
            yield f"{short}.*" if short else short
            continue
        for name, entry in names.items():
            where = f"{short}.{name}".lstrip(".")
            if entry["home"] in seen and not short.startswith("cluster.launcher"):
                continue
            seen.add(entry["home"])
            if ours[module].get(name) is None:
                yield where
                continue
            here = ours[module][name]
            yield from (f"{where}({each})" for each in arguments_that_differ(entry["parameters"], here["parameters"]))
            for member, parameters in entry.get("members", {}).items():
                if member not in here.get("members", {}):
                    yield f"{where}.{member}"
                    continue
                differing = arguments_that_differ(parameters, here["members"][member])
                yield from (f"{where}.{member}({each})" for each in differing)


def listed():
    """The names in the table of docs/compatibility.md; `*` stands for any letters."""
    text = PAGE.read_text().partition("\n## Names that are missing\n")[2].partition("\n## ")[0]
    rows = [line.split("|") for line in text.splitlines() if line.startswith("| `")]
    assert all(len(row) == 4 and len(row[2].strip()) > 10 for row in rows), "each row has a reason"
    return [name for row in rows for name in re.findall(r"`([^`]+)`", row[1])]


def test_each_name_and_argument_is_there_or_listed_with_a_reason(theirs, ours):
    found, known = sorted(set(differences(theirs, ours))), listed()
    assert [name for name in found if not any(fnmatchcase(name, each) for each in known)] == []


def test_what_is_listed_is_really_missing(theirs, ours):
    found = set(differences(theirs, ours))
    assert [each for each in listed() if not any(fnmatchcase(name, each) for name in found)] == []


def test_the_comparison_finds_what_differs():
    def described(**parameters):
        return [[name, POSITIONAL, default] for name, default in parameters.items()]

    assert arguments_that_differ(described(a=None, b="1"), described(a=None, b="2")) == []
    assert arguments_that_differ(described(a=None, b="1"), described(a=None)) == ["b"]
    assert arguments_that_differ(described(a=None, b="1"), described(b="1", a="2")) == ["a", "b"]
    assert arguments_that_differ(described(a="1"), described(a=None)) == ["a"]
    assert arguments_that_differ(described(a="1"), described(a="1", c=None)) == ["c"]
