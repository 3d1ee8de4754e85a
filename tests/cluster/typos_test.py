"""What a misspelled command line does, with real processes: exit code 2, a suggestion, and nothing else.

The tables of all options are checked in C++ (tests/cluster, controller, engine, kernel, program); this is a sample
of each program and command, read from its own --help.
"""

import re
import sys

import pytest
from empty_home import EmptyHome

COMMANDS = ["start", "engines", "stop", "restart", "list", "clean", "logs", "status", "where", "stacks", "trace",
            "top", "events", "jobs", "dashboard", "mcp", "debug", "px", "push", "pull", "doctor", "completion", "scale"]  # fmt: skip
LINES = [
    *(["pxcluster", command] for command in COMMANDS),
    ["pxcluster"],
    ["pxcluster", "profile", "list"],
    ["pxcluster", "profile", "create"],
    *(["pxcluster", "checkpoint", command] for command in ("create", "restore", "list", "show")),
    ["pxcontroller"],
    ["pxengine"],
    ["pxkernel"],
    ["pxkernel", "install"],
    ["pxkernel", "uninstall"],
    [sys.executable, "-m", "polyxeus.engine"],
    [sys.executable, "-m", "polyxeus.kernel"],
]


@pytest.fixture
def place(tmp_path):
    return EmptyHome(tmp_path)


def options_of(help_text):
    """The long options that a help lists, without traits."""
    lines = re.findall(r"^  (-\S+)", help_text, re.M)
    names = [name for line in lines for name in re.sub(r"\{[^}]*\}", "", line).split(",")]
    return [name for name in names if name.startswith("--") and "." not in name and len(name) > 4]


def misspelled(name, way):
    """One letter in the middle is dropped, doubled, swapped with the next, or replaced."""
    at = 2 + (len(name) - 2) // 2
    swapped = name[: at - 1] + name[at] + name[at - 1] + name[at + 1 :]
    return [name[:at] + name[at + 1 :], name[:at] + name[at] + name[at:], swapped,
            name[:at] + "q" + name[at + 1 :]][way % 4]  # fmt: skip


@pytest.mark.parametrize("line", LINES, ids=" ".join)
def test_a_misspelled_option_is_named_and_nothing_is_started(place, line):
    shown = place.run(*line, "--help").stdout
    assert [each for each in shown.splitlines() if len(each) > 100 and line[0].startswith("px")] == []
    options = options_of(shown)
    before = place.files()
    assert "--help" in options
    # The first, the last and the one in the middle, each misspelled in its own way.
    for way, name in enumerate([options[0], options[-1], options[len(options) // 2]], len(line)):
        wrong = misspelled(name, way)
        if wrong in options:
            continue
        done = place.run(*line, wrong)
        assert done.returncode == 2, done
        assert f"unknown option {wrong}; did you mean {name}?" in done.stderr
        assert done.stderr.count("\n") == 1 and done.stdout == ""
    assert place.files() == before and place.processes() == []


def commands_of(help_text):
    """The commands that a help lists."""
    return re.findall(r"^  (\w+)", help_text.partition("\nSubcommands:\n")[2].partition("\n\n")[0], re.M)


@pytest.mark.parametrize("line", ["pxcluster", "pxcluster profile", "pxcluster checkpoint", "pxkernel"])
def test_a_misspelled_command_is_named_and_nothing_is_started(place, line):
    commands = commands_of(place.run(*line.split(), "--help").stdout)
    assert len(commands) > 1
    if line == "pxcluster":
        assert {*COMMANDS, "profile", "checkpoint"} == set(commands)  # LINES has them all
    for way, name in enumerate(commands):
        wrong = misspelled("--" + name, way)[2:]
        done = place.run(*line.split(), wrong)
        assert done.returncode == 2 and done.stdout == "", done
        assert f"unknown command '{wrong}'; did you mean {name}?" in done.stderr, done.stderr
    assert place.files() == [] and place.processes() == []


@pytest.mark.parametrize("line, sentence", [
    ("pxcluster start -n 2 --engine=mpi", "unknown option --engine; did you mean --engines?"),
    ("pxcluster start --daemonise", "unknown option --daemonise; did you mean --daemonize?"),
    ("pxcluster start --hlep", "unknown option --hlep; did you mean --help?"),
    ("pxcluster start 4", "`pxcluster start` takes no argument '4'; did you mean -n 4?"),
    ("pxcluster strat", "unknown command 'strat'; did you mean start?"),
    ("pxcluster stat", "unknown command 'stat'; did you mean status?"),
    ("pxcluster start -n abc",
     "-n takes a whole number of engines from 0 to 65536, not 'abc'"),
    ("pxcluster start --engines=slrum", "--engines: unknown launcher 'slrum'; did you mean slurm?"),
    ("pxcluster engines -- --sqlitedb",
     "unknown option --sqlitedb; `pxcluster --help` lists the options"),
    ("pxcontroller --helppp", "unknown option --helppp; did you mean --help?"),
    ("pxcontroller serve",
     "`pxcontroller` takes no argument 'serve'; `pxcontroller --help` lists the options"),
    ("pxengine --flie=x", "unknown option --flie; did you mean --file?"),
    ("pxkernel instal", "unknown command 'instal'; did you mean install?"),
])  # fmt: skip
def test_each_kind_of_mistake_is_one_sentence(place, line, sentence):
    done = place.run(*line.split())
    assert done.returncode == 2, done
    assert done.stderr == f"{line.split()[0]}: error: {sentence}\n"
    assert done.stdout == ""
    assert place.files() == [] and place.processes() == []


def test_help_is_a_command_as_well(place):
    assert place.run("pxcluster", "help").stdout == place.run("pxcluster", "--help").stdout
    assert place.run("pxcluster", "help", "start").stdout == place.run("pxcluster", "start", "--help").stdout


def test_with_json_a_mistake_is_json_on_standard_output_too(place):
    done = place.run("pxcluster", "px", "--json", "--targts", "0", "1")
    assert done.returncode == 2
    assert done.stdout == (
        '{"error":{"ename":"bad_input","evalue":"unknown option --targts; did you mean --targets?"}}\n'
    )
    done = place.run("pxcluster", "px", "--json", "1")
    assert done.returncode == 11 and '"ename":"not_found"' in done.stdout
    done = place.run("pxcluster", "list", "--json")
    assert (done.returncode, done.stdout) == (0, "[]\n")
    done = place.run("pxcluster", "profile", "list", "--json")
    assert done.returncode == 0 and '"profiles":[]' in done.stdout


def traits_of_ipyparallel():
    """The options --Class.trait of ipyparallel's programs, but for those that show something."""
    from ipyparallel.cluster.app import (
        IPClusterClean,
        IPClusterEngines,
        IPClusterList,
        IPClusterStart,
        IPClusterStop,
    )
    from ipyparallel.controller.app import IPController
    from ipyparallel.engine.app import IPEngine

    apps = [IPController, IPEngine, IPClusterStart, IPClusterEngines, IPClusterStop, IPClusterList,
            IPClusterClean]  # fmt: skip
    for app in apps:
        for one in app()._classes_inc_parents():
            for name in one.class_own_traits(config=True):
                if "show_config" not in name and name not in ("profile", "ipython_dir"):
                    yield f"--{one.__name__}.{name}"


def test_all_traits_of_ipyparallel_are_accepted(place):
    pytest.importorskip("ipyparallel")
    options = sorted(set(traits_of_ipyparallel()))
    assert len(options) > 200
    # Those that are options of `stop` itself get values that are no change.
    own = {"--ProfileDir.location": str(place.folder), "--Application.log_level": "30",
           "--BaseParallelApplication.work_dir": str(place.folder),
           "--BaseParallelApplication.cluster_id": "", "--IPClusterStop.signal": "15",
           "--IPClusterStop.all_cluster_ids": "False",
           "--BaseParallelApplication.log_to_file": "False"}  # fmt: skip
    words = [f"{name}={own.get(name, 'x')}" for name in options]
    done = place.run("pxcluster", "stop", *words)
    assert done.returncode == 11, done.stderr
    warnings = [line for line in done.stderr.splitlines() if "have no effect" in line]
    assert len(warnings) == 1 and "--Cluster.load_profile" in warnings[0]
