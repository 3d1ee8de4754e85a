"""One test and its outcome; reads and writes JUnit XML."""

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

PASSED, FAILED, SKIPPED, FLAKY = "passed", "failed", "skipped", "flaky"
_WORST_FIRST = (FAILED, FLAKY, SKIPPED, PASSED)


@dataclass(frozen=True)
class Case:
    """One test. `reason`: why it failed or was skipped. `can_rerun`: false where the program itself
    failed (it crashed, or wrote no report), which a second run must not hide."""

    name: str
    outcome: str
    reason: str = ""
    seconds: float = 0.0
    can_rerun: bool = True


def crash(name, reason):
    """The failure of a test program itself."""
    return Case(name, FAILED, reason, can_rerun=False)


def counted(cases):
    """-> {outcome: number of cases}"""
    return {each: sum(case.outcome == each for case in cases) for each in _WORST_FIRST}


def one_per_name(cases):
    """A test that is reported twice (its call, its teardown) has the worse of the two outcomes."""
    found = {}
    for case in cases:
        before = found.get(case.name)
        if before is None or _WORST_FIRST.index(case.outcome) < _WORST_FIRST.index(before.outcome):
            found[case.name] = case
    return list(found.values())


# ---------------------------------------------------------------- reading


def _case(element, name):
    seconds = float(element.get("time") or 0)
    for tag in ("failure", "error"):
        found = element.find(tag)
        if found is not None:
            return Case(name, FAILED, ": ".join(_lines(found)[:2]), seconds)
    skipped = element.find("skipped")
    if skipped is not None:
        return Case(name, SKIPPED, (_lines(skipped) or [""])[-1], seconds)
    if element.get("status") in ("notrun", "disabled"):
        return Case(name, SKIPPED, "disabled", seconds)
    return Case(name, PASSED, "", seconds)


def _lines(element):
    """What an element says: a line, after the place in the source where GoogleTest names one."""
    text = element.get("message") or element.text or ""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    has_place = len(lines) > 1 and re.fullmatch(r"\S+:\d+", lines[0])
    return lines[: 2 if has_place else 1]


def _elements(path):
    """The testcase elements of a report; none where the report is missing or cut off."""
    try:
        return list(ElementTree.parse(path).getroot().iter("testcase"))
    except (OSError, ElementTree.ParseError):
        return None


def read_pytest(path, root):
    """The cases of a pytest report, by node id; None where there is no report."""
    elements = _elements(path)
    if elements is None:
        return None
    return one_per_name(
        _case(each, node_id(each.get("classname") or "", each.get("name") or "", root))
        for each in elements
    )


def node_id(classname, name, root):
    """The node id of a test from its JUnit names: `tests.a.b_test.Class`, `test_x[1]`."""
    words = classname.split(".")
    for count in range(len(words), 0, -1):
        file = "/".join(words[:count]) + ".py"
        if (Path(root) / file).is_file():
            return "::".join([file, *words[count:], name])
    return f"{classname}::{name}" if classname else name


def read_gtest(path, program):
    """The cases of a GoogleTest report, named `program Suite.Test`; None without a report."""
    elements = _elements(path)
    if elements is None:
        return None
    return [_case(each, f"{program} {each.get('classname')}.{each.get('name')}") for each in elements]


def read_ctest(path):
    """The entries of a ctest report; None where there is no report.

    ctest calls an entry whose program is missing "notrun": that is a failure.
    """
    elements = _elements(path)
    if elements is None:
        return None
    return [_ctest_case(each) for each in elements]


def _ctest_case(element):
    case = _case(element, element.get("name"))
    was_asked = re.search(r"SKIP_|Disabled", case.reason) or element.get("status") == "disabled"
    if case.outcome == SKIPPED and not was_asked:
        return crash(case.name, case.reason or "not run")
    return case


# ---------------------------------------------------------------- writing


def write_junit(path, suite, cases):
    """Writes a report in JUnit's XML."""
    numbers = counted(cases)
    root = ElementTree.Element(
        "testsuite", name=suite, tests=str(len(cases)), failures=str(numbers[FAILED]),
        skipped=str(numbers[SKIPPED]),
    )  # fmt: skip
    for case in cases:
        classname, _, name = case.name.rpartition(" ")
        element = ElementTree.SubElement(
            root, "testcase", classname=classname or suite, name=name, time=f"{case.seconds:.3f}"
        )
        if case.outcome in (FAILED, SKIPPED):
            tag = "failure" if case.outcome == FAILED else "skipped"
            ElementTree.SubElement(element, tag, message=case.reason)
    ElementTree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)

