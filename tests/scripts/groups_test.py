"""Groups of tests, run for real in small projects."""

import os
import tempfile
import sys
import textwrap
from dataclasses import replace

import pytest

from test_runner import groups, verdicts
from test_runner.cases import FAILED, FLAKY, PASSED, SKIPPED

FLAKY_TEST = """
import os
from pathlib import Path
import pytest

def test_good():
    Path("runs.txt").open("a").write("good\\n")

def test_flaky():
    is_first = not Path("was_here").exists()
    Path("was_here").touch()
    assert not is_first

def test_bad():
    assert False, "always"

@pytest.mark.parametrize("text", ["a.b", "x::y"])
def test_odd_names(text):
    assert Path("was_here_too").exists() or Path("was_here_too").touch()

@pytest.mark.skip(reason="no moon")
def test_skipped():
    pass
"""


def write(shop, path, text):
    file = shop.root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(textwrap.dedent(text))
    return file


def verdict_of(group, shop):
    first = group.run(shop)
    failed = verdicts.to_rerun(first)
    again = group.rerun(shop, failed) if failed else []
    return {case.name: case.outcome for case in verdicts.after_rerun(first, again, group.may_be_flaky)}


# ---------------------------------------------------------------- pytest


@pytest.fixture
def toys():
    return groups.Pytest(name="toys", what="toys", folders=("tests/toys",))


def test_pytest_reruns_only_what_failed(shop, toys):
    write(shop, "tests/toys/toy_test.py", FLAKY_TEST)
    file = "tests/toys/toy_test.py::"
    assert verdict_of(toys, shop) == {
        file + "test_good": PASSED,
        file + "test_flaky": FLAKY,
        file + "test_bad": FAILED,
        file + "test_odd_names[a.b]": FLAKY,
        file + "test_odd_names[x::y]": PASSED,
        file + "test_skipped": SKIPPED,
    }
    assert (shop.root / "runs.txt").read_text() == "good\n"
    # the first report is still there, beside that of the rerun
    assert "test_good" in (shop.build / "toys.junit.xml").read_text()
    assert "test_good" not in (shop.build / "toys.rerun.junit.xml").read_text()


def test_a_broken_teardown_fails_its_test(shop, toys):
    write(shop, "tests/toys/toy_test.py", """
        import pytest

        @pytest.fixture
        def thing():
            yield
            assert False, "left something behind"

        def test_thing(thing):
            pass
        """)
    assert verdict_of(toys, shop) == {"tests/toys/toy_test.py::test_thing": FAILED}


def test_a_pytest_that_dies_is_a_failure_that_no_rerun_hides(shop, toys):
    write(shop, "tests/toys/toy_test.py", """
        import os
        from pathlib import Path

        def test_deadly():
            if not Path("was_here").exists():
                Path("was_here").touch()
                os.abort()
        """)
    (case,) = toys.run(shop)
    assert case.outcome == FAILED and not case.can_rerun
    assert "SIGABRT" in case.reason and "build/logs/toys.log" in case.reason
    assert verdicts.to_rerun([case]) == []


def test_tests_that_cannot_be_imported_are_a_failure(shop, toys):
    write(shop, "tests/toys/broken_test.py", "import nothing_of_that_name")
    write(shop, "tests/toys/toy_test.py", "def test_good(): pass")
    assert FAILED in verdict_of(toys, shop).values()


def test_a_folder_without_tests_is_a_failure(shop, toys):
    (shop.root / "tests" / "toys").mkdir(parents=True)
    assert list(verdict_of(toys, shop).values()) == [FAILED]


def test_a_pytest_that_hangs_is_ended(shop):
    write(shop, "tests/toys/toy_test.py", """
        import threading

        def test_for_ever():
            threading.Event().wait()
        """)
    group = groups.Pytest(name="toys", what="toys", folders=("tests/toys",), timeout=3)
    outcomes = group.run(shop)
    assert outcomes[-1].outcome == FAILED and "timed out" in outcomes[-1].reason


def test_groups_have_folders_of_their_own(shop, toys):
    names = ("TMPDIR", "IPYTHONDIR", "JUPYTER_RUNTIME_DIR")
    one, other = shop.environment("one"), shop.environment("other")
    for name in names:
        assert one[name] != other[name]
        assert os.path.isdir(one[name])
    # Unix sockets below it may have 107 characters
    assert len(one["TMPDIR"]) - len(tempfile.gettempdir()) < 36


# ---------------------------------------------------------------- ctest

# Stands for a GoogleTest program: its tests, parts, filter and report, without a compiler.
PROGRAM = """
import os, sys
from pathlib import Path
tests = {TESTS}
index, count = int(os.environ["GTEST_SHARD_INDEX"]), int(os.environ["GTEST_TOTAL_SHARDS"])
wanted = os.environ.get("GTEST_FILTER", "*").split(":")
chosen = [each for each in tests if wanted == ["*"] or each in wanted]
mine = [each for number, each in enumerate(chosen) if number % count == index]
results = {}
for name in mine:
    with open("runs.txt", "a") as runs:
        runs.write(name + "\\n")
    outcome = tests[name]
    if outcome == "crash":
        os.abort()
    if outcome == "flaky":
        mark = Path("was_here_" + name)
        outcome = "pass" if mark.exists() else "fail"
        mark.touch()
    results[name] = outcome
report = Path(os.environ["GTEST_OUTPUT"].removeprefix("xml:"))
report.parent.mkdir(exist_ok=True)
inside = {"pass": "", "race": "", "fail": '<failure message="a.cpp:1&#x0A;expected"/>',
          "skip": '<skipped message="a.cpp:2&#x0A;no moon&#x0A;"/>'}
report.write_text("<testsuites>" + "".join(
    '<testcase classname="%s" name="%s" status="run" time="0.1">%s</testcase>'
    % (*name.split("."), inside[outcome]) for name, outcome in results.items()) + "</testsuites>")
sys.exit(bool({"fail", "race"} & set(results.values())))
"""

PROJECT = """
cmake_minimum_required(VERSION 3.25)
project(toy NONE)
enable_testing()
set(PX_GTEST_PARTS 2)
include(%s/cmake/gtest_program.cmake)
add_executable(px_toy_tests IMPORTED)
set_target_properties(px_toy_tests PROPERTIES IMPORTED_LOCATION ${CMAKE_SOURCE_DIR}/px_toy_tests)
px_gtest(px_toy_tests)
add_test(NAME plain COMMAND ${CMAKE_COMMAND} -E %s)
"""

PRESETS = """
{ "version": 6,
  "configurePresets": [{ "name": "dev", "generator": "Ninja", "binaryDir": "${sourceDir}/build/dev" }],
  "testPresets": [{ "name": "dev", "configurePreset": "dev" }] }
"""


@pytest.fixture
def cpp(shop, request):
    """Makes a project with a pretended GoogleTest program; gives its group."""
    root = request.config.rootpath

    def make(tests, plain="true"):
        program = write(shop, "px_toy_tests",
                        f"#!{sys.executable}" + PROGRAM.replace("{TESTS}", repr(tests)))  # fmt: skip
        program.chmod(0o755)
        write(shop, "CMakeLists.txt", PROJECT % (root, plain))
        write(shop, "CMakePresets.json", PRESETS)
        assert shop.run("configure", ["cmake", "--preset", "dev"], 60) == 0
        return groups.Ctest(name="dev", what="toys", preset="dev")

    return make


def runs(shop):
    return sorted((shop.build / "dev" / "runs.txt").read_text().split())


def test_ctest_reruns_only_the_tests_that_failed_and_lets_none_be_flaky(shop, cpp):
    group = cpp({"A.good": "pass", "A.shy": "flaky", "B.bad": "fail", "B.off": "skip", "B.fine": "pass"})
    assert verdict_of(group, shop) == {
        "px_toy_tests A.good": PASSED, "px_toy_tests A.shy": FAILED, "px_toy_tests B.bad": FAILED,
        "px_toy_tests B.off": SKIPPED, "px_toy_tests B.fine": PASSED, "plain": PASSED,
    }  # fmt: skip
    assert runs(shop) == ["A.good", "A.shy", "A.shy", "B.bad", "B.bad", "B.fine", "B.off"]
    assert "A.good" not in (shop.build / "dev.rerun.junit.xml").read_text()
    assert 'name="A.good"' in (shop.build / "dev.junit.xml").read_text()


def test_a_part_that_crashes_is_a_failure_that_no_rerun_hides(shop, cpp):
    group = cpp({"A.good": "pass", "A.deadly": "crash"})
    outcomes = verdict_of(group, shop)
    assert outcomes == {"px_toy_tests A.good": PASSED, "px_toy_tests.2": FAILED, "plain": PASSED}
    assert runs(shop) == ["A.deadly", "A.good"]


def test_a_part_that_a_sanitizer_stops_after_its_tests_is_a_failure(shop, cpp):
    group = cpp({"A.good": "pass", "A.racy": "race"})
    outcomes = verdict_of(group, shop)
    assert outcomes["px_toy_tests.2"] == FAILED


def test_a_program_that_is_one_test_and_fails_is_run_again(shop, cpp):
    assert verdict_of(cpp({"A.good": "pass"}, plain="false"), shop)["plain"] == FAILED


def test_a_program_that_was_not_built_is_a_failure(shop, cpp):
    group = cpp({"A.good": "pass"})
    (shop.root / "px_toy_tests").unlink()
    outcomes = verdict_of(group, shop)
    assert outcomes["px_toy_tests.1"] == FAILED and outcomes["plain"] == PASSED


# ---------------------------------------------------------------- others


def test_a_script_is_one_test_and_may_be_flaky(shop):
    write(shop, "flaky.sh", "test -e was_here || { touch was_here; exit 3; }")
    group = groups.Script(name="script", what="a script", command=("sh", "flaky.sh"))
    assert verdict_of(group, shop) == {"script": FLAKY}


UNTIL_IT_STANDS_BACK = """
import time
end = time.monotonic() + 10
while not open("/proc/self/autogroup").read().strip().endswith("nice 19"):
    assert time.monotonic() < end
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/autogroup"), reason="no scheduling by sessions")
def test_a_build_stands_back_behind_other_sessions(shop):
    program = write(shop, "waits.py", UNTIL_IT_STANDS_BACK)
    group = groups.Build(name="build", what="waits", commands=((sys.executable, str(program)),))
    assert group.run(shop) == []


def test_a_build_that_fails_says_which_command(shop):
    group = groups.Build(name="build-x", what="", commands=(("true",), ("false",), ("touch", "after")))
    (case,) = group.run(shop)
    assert case.outcome == FAILED and "false: exit code 1" in case.reason
    assert not (shop.root / "after").exists()


# Stands for the runner of ipyparallel's suite.
RUNNER = """
import json, sys
from pathlib import Path
words = sys.argv[1:]
Path("words.txt").open("a").write(" ".join(words) + "\\n")
names = [word for word in words if "::" in word] or ["t.py::a", "t.py::shy", "t.py::new", "t.py::off"]
is_first = not Path("was_here").exists()
Path("was_here").touch()
def outcome(name):
    return "failed" if name == "t.py::off" or name == "t.py::shy" and is_first else "passed"
tests = {name: {"outcome": outcome(name), "counted": True, "dur": 1, "msg": ""} for name in names}
Path(words[words.index("--json") + 1]).write_text(json.dumps({"tests": tests}))
sys.exit(%d)
"""


def peer_group(shop, code=0):
    runner = write(shop, "runner", f"#!{sys.executable}\n" + RUNNER % code)
    runner.chmod(0o755)
    write(shop, "tests/peer_suite/engine.txt", "# engine\nt.py::a\nt.py::shy\n")
    return groups.PeerSuite(name="peer-engine", what="", runner=str(runner), roles=("engine",))


def test_the_peer_suite_reruns_by_name_and_knows_what_is_new(shop):
    group = peer_group(shop)
    assert verdict_of(group, shop) == {
        "t.py::a": PASSED, "t.py::shy": FLAKY, "t.py::new": PASSED, "t.py::off": SKIPPED,
    }  # fmt: skip
    first, rerun = (shop.root / "words.txt").read_text().splitlines()
    assert first.startswith(f"--engine {shop.build}/peer-venv/bin/pxengine --min-pass 0 ")
    assert first.endswith("--no-internals")
    assert rerun.endswith("--no-preflight t.py::shy")


def test_a_peer_suite_keeps_its_options_in_the_rerun(shop):
    group = replace(peer_group(shop), select=("client",), options=("--curve",))
    verdict_of(group, shop)
    first, rerun = (shop.root / "words.txt").read_text().splitlines()
    assert first.endswith("--curve client")
    assert rerun.endswith("--curve --no-preflight t.py::shy")


def test_a_peer_suite_whose_proof_fails_is_a_failure(shop):
    assert verdict_of(peer_group(shop, code=4), shop)["peer-engine as a whole"] == FAILED
