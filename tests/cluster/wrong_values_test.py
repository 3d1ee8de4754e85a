"""Each option of our programs refuses a wrong value: one sentence, an exit code, and nothing is started.

The options are read from each --help; a new one must be put into one of the tables here. pxengine-cpp, pxkernel-cpp
and `python -m polyxeus.engine` parse the same words by the same code; a sample of them runs at the end.
"""

import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from empty_home import PROGRAMS, EmptyHome

# Each line, and the arguments that it needs.
LINES = {
    "pxcontroller": "",
    "pxengine": "",
    "pxkernel": "",
    "pxkernel install": "",
    "pxkernel uninstall": "",
    **{f"pxcluster {name}": "" for name in (
        "start", "engines", "stop", "restart", "scale", "list", "clean", "logs", "status", "where", "stacks", "trace",
        "top", "events", "jobs", "dashboard", "mcp", "debug", "doctor", "profile list")},
    "pxcluster px": "1",
    "pxcluster push": "data.json",
    "pxcluster pull": "x",
    "pxcluster completion": "bash",
    "pxcluster profile create": "new",
    **{f"pxcluster checkpoint {name}": "folder" for name in ("create", "restore", "list", "show")},
}  # fmt: skip

COUNT = ("abc", "1.5", "-7", "99999999999999999999", "")
AMOUNT = ("abc", "-7", "inf", "nan", "1e300", "")
PORTS = ("abc", "70000", "9-3", "0", "1,,2")
ADDRESS = ("no address", "1.2.3.4.5", "300.1.1.1")
SSH = ("a host", ":22", "host:70000", "-oProxyCommand=x")
FILE = ("missing/file", "/dev/null/x", "/")
FOLDER = ("/dev/null/x",)
WORD = ("nonsense", "")
NAMES = ("1b", "a,,b", "a b", "")
WORDS = ("'a", 'a "b')

# Wrong values of the options that have the same meaning wherever they are. The program says its sentence at once:
# exit code 2, "NAME: error: --option takes ..., not 'value'".
AT_ONCE = {
    **dict.fromkeys((
        "--n", "--owner", "--lines", "--DictDB.record_limit", "--DictDB.size_limit", "--SQLiteDB.size_limit",
        "--HeartMonitor.max_heartmonitor_misses", "--hwm", "--ahead", "--gang-communicators", "--task-queue-mib",
        "--IPEngine.id", "--IPEngine.max_heartbeat_misses", "--respawn-limit"), COUNT),
    **dict.fromkeys((
        "--timeout", "--sample", "--seconds", "--delay", "--engine-timeout", "--ping", "--IPController.registration_timeout",
        "--IPEngine.wait_for_url_file"), AMOUNT),
    **dict.fromkeys(("--idle", "--save-before"), (*AMOUNT, "10", "10x", "-1m")),
    "--since": ("yesterday", "-1m", "10", ""),
    "--every": (*AMOUNT, "10x", "-1m"),
    "--port": ("abc", "-1", "70000"),
    **dict.fromkeys(("--ports", "--IPController.engine_ports", "--IPController.client_ports"), PORTS),
    **dict.fromkeys(("--ip", "--IPController.engine_ip", "--IPController.client_ip"), ADDRESS),
    "--location": ("a host", "host!"),
    "--dashboard": ("abc", "-1", "70000", "on", ""),
    "--dashboard-hosts": ("a host", "a,host!"),
    **dict.fromkeys(("--ssh", "--enginessh"), SSH),
    **dict.fromkeys(("--sshkey", "--keyfile"), FILE),
    "--work-dir": ("missing/folder", "/dev/null"),
    **dict.fromkeys(("--profile-dir", "--ipython-dir", "--checkpoint-path"), FOLDER),
    **dict.fromkeys(("--journal", "--when-rank-dies", "--on-walltime"), WORD),
    **dict.fromkeys(("--log-level", "--checkpoint-on"), (*WORD, "-1", "12345")),
    "--language": ("nonsense", "python:x"),
    **dict.fromkeys(("--gpus", "--threads-per-engine"), ("nonsense", "0", "-1", "1.5", "")),
    **dict.fromkeys(("--engines", "--controller", "--signal"), WORD),
    "--targets": ("nonsense", "1:2:3:4", "5-"),
    **dict.fromkeys(("--names", "--scattered", "--checkpoint-names"), NAMES),
    "--as": (*NAMES, "a,b"),
    "--job-id-regexp": ("(", "[a"),
    **dict.fromkeys((
        "--engine-cmd", "--engine-args", "--mpi-cmd", "--mpi-args", "--controller-cmd", "--remote-engine-cmd",
        "--ssh-cmd", "--ssh-args", "--srun-args", "--submit-command", "--delete-command"), WORDS),
}  # fmt: skip

# The same for one program, where an option of this name means something else in others.
AT_ONCE_IN = {
    ("pxcluster stacks", "--output"): ("missing/x.json", "/dev/null/x.json"),
    ("pxcluster trace", "--output"): ("missing/x.pftrace", "/dev/null/x.json"),
    ("pxcluster pull", "--output"): ("missing/x.json", "/dev/null/x.npy"),
    ("pxcluster restart", "--keep"): NAMES,
    ("pxcluster checkpoint create", "--keep-last"): (*COUNT, "0"),
}

# What is found later, but before anything is started: {(program, option and further words): {value: part of the
# sentence, in which ... stands for any text}}.
MISSING = "No such file or directory"
LATER = {
    ("pxcontroller", "--config"): {"missing/file": "cannot read missing/file: " + MISSING},
    ("pxcontroller", "--transport"): {"ipc": "--transport=ipc: the only transport is tcp"},
    ("pxcontroller", "--scheme"): {"x": "the task scheme 'x' is none of leastload, lru,"},
    ("pxcontroller", "--Session.packer"): {"x": "the packer 'x' works between Python programs only; use json or"},
    ("pxcontroller", "--Session.signature_scheme"): {"x": "'x' is not of the form hmac-HASH, e.g. hmac-sha256"},
    ("pxcontroller", "--IPController.curve_publickey"): {"x": "given without its secret key"},
    ("pxcontroller", "--IPController.curve_secretkey"): {"x": "a CURVE secret key must be 40 characters of Z85"},
    ("pxcontroller", "--IPController.db_class"): {"x": "the task database 'x' is none of DictDB, SQLiteDB, NoDB"},
    ("pxcontroller", "--IPController.engine_json_file"): {"missing/x": f"cannot write ...missing/x...: {MISSING}"},
    ("pxcontroller", "--IPController.client_json_file"): {"missing/x": f"cannot write ...missing/x...: {MISSING}"},
    ("pxcontroller", "--SQLiteDB.filename --sqlitedb"): {"missing/x": "cannot open the task database ...missing/x"},
    ("pxcontroller", "--SQLiteDB.location --sqlitedb"): {"missing/x": "cannot open the task database missing/x"},
    ("pxcontroller", "--ip"): {"203.0.113.7": "Cannot assign requested address; this host has the addresses 127"},
    ("pxengine", "--python"): {"missing/python": "none of these Pythons has polyxeus: missing/python"},
    ("pxengine", "--file --IPEngine.wait_for_url_file=0"): {"missing/file": "missing/file"},
    ("pxkernel", "--connection-file"): {"missing/file": "cannot read missing/file: " + MISSING},
    ("pxkernel", "--python -f x"): {"missing/python": "none of these Pythons has polyxeus: missing/python"},
    ("pxkernel install", "--prefix"): {"/dev/null/x": "cannot install the kernelspec: ...Not a directory"},
    ("pxkernel install", "--name"): {"a/b": "invalid name of a kernelspec 'a/b': use letters, digits, "},
    ("pxkernel uninstall", "--prefix"): {"missing": "no kernelspec in missing/"},
    ("pxkernel uninstall", "--name"): {"nonsense": "no kernelspec in ...nonsense"},
    ("pxcluster start", "--hosts"): {"a|b": "'hosts' must be hosts as in \"host2:4,host3:2\""},
    ("pxcluster start", "--hostfile"): {"missing/file": "cannot read the host file: ...missing/file: " + MISSING},
    ("pxcluster start", "--config"): {"missing/file": "cannot read missing/file: " + MISSING},
    ("pxcluster start", "--settings"): {"{": "--settings is not a JSON object: '{'", "[]": "not a JSON object",
                                        '{"a":1}': "--settings: unknown key 'a'"},
    ("pxcluster start", "--batch-template-file --engines=slurm"): {
        "missing/file": "cannot read the batch template: cannot read missing/file: " + MISSING},
    ("pxcluster start", "--engine-cmd"): {"missing/x": "the program 'missing/x' does not exist or is not executable"},
    ("pxcluster start", "--controller-cmd"): {"missing/x": "the program 'missing/x' does not exist"},
    ("pxcluster start", "--mpi-cmd --engines=mpi"): {"missing/x": "the program 'missing/x' does not exist"},
    ("pxcluster start", "--ssh-cmd --engines=ssh --hosts=localhost"): {
        "missing/x": "the program 'missing/x' does not exist"},
    ("pxcluster start", "--submit-command --engines=slurm"): {"missing/x": "the program 'missing/x' does not exist"},
    ("pxcluster start", "--delete-command --engines=slurm --submit-command=true"): {
        "missing/x": "the program 'missing/x' does not exist"},
    ("pxcluster px", "--code-file"): {"missing/file": "cannot read missing/file: " + MISSING},
    ("pxcluster px", "--file"): {"missing/file": "no connection file missing/file; start one with `pxcluster start"},
    ("pxcluster dashboard", "--file"): {"missing/file": "the cluster is not running: there is no missing/file"},
    ("pxcluster list", "--profile"): {"missing": "there is no profile in ...profile_missing: `pxcluster profile list`"},
    ("pxcluster clean", "--profile"): {"missing": "there is no profile in ...profile_missing: `pxcluster profile list`"},
    ("pxcluster list", "--profile-dir"): {"missing": "there is no profile in .../missing: `pxcluster profile list`"},
    ("pxcluster logs", "--engine"): {"nonsense": "there is no log of 'nonsense': `pxcluster logs` lists"},
    ("pxcluster profile create", "--from"): {"nonsense": "there is no template 'nonsense' in ...; available: default"},
    **{(line, "--profile"): {"a/b": "the profile 'a/b' must contain neither '/' nor control characters"}
       for line in ("pxcontroller", "pxengine", "pxcluster start", "pxcluster px")},
    **{(line, "--cluster-id"): {"a/b": "the cluster id 'a/b' must contain neither '/' nor control characters"}
       for line in ("pxcontroller", "pxengine", "pxcluster start", "pxcluster px")},
}  # fmt: skip

# Options of which no value is wrong by itself.
NO_WRONG_VALUE = {
    "--profile": "start, engines, pxcontroller and pxkernel take a new one; it is a name, see LATER",
    "--cluster-id": "any name, see LATER",
    "--IPEngine.startup_command": "any code",
    "--IPEngine.startup_script": "one that is not there is named, and the engine works",
    "--colors": "the themes are IPython's, and each version has others",
    "--SQLiteDB.table": "any text can name a table",
    "--Session.key": "any text is a key",
    **dict.fromkeys(("--ident", "--user", "--label", "--session", "--display-name"), "any text"),
    **dict.fromkeys(("--queue", "--account", "--qos", "--time", "--batch-option", "--mpi-type"),
                    "the batch system says which it has, when the job is submitted"),
    **dict.fromkeys(("--engine-env", "--remote-python", "--remote-profile-dir"), "for the other hosts' shells"),
    "--engine-set": "of a running cluster",
    "--hosts": "doctor reports what it finds on each host; of start see LATER",
    **dict.fromkeys(("--file", "--python", "--mpi-cmd", "--ssh-cmd", "--remote"),
                    "doctor reports what it finds; for others see AT_ONCE and LATER"),
}  # fmt: skip


def options_of(help_text):
    """The name of each option of a help that takes a value: the first long one."""
    for names in re.findall(r"^  (-\S+) (?:TEXT|INT|FLOAT)\b", help_text, re.M):
        long = [name for name in names.split(",") if name.startswith("--")]
        yield next((name for name in long if "." not in name), long[0])


@pytest.fixture
def home(tmp_path):
    (tmp_path / "data.json").write_text("1")
    return EmptyHome(tmp_path)


@pytest.fixture(scope="module")
def options(tmp_path_factory):
    """{line: its options that take a value}"""
    home = EmptyHome(tmp_path_factory.mktemp("help"))
    return {line: [*options_of(home.run(*line.split(), "--help").stdout)] for line in LINES}


def name_of(option):
    return option.split()[0]


def test_the_tables_have_all_options_and_no_others(options):
    there = {(line, name) for line in options for name in options[line]}
    assert len(there) > 300
    later = {(line, name_of(option)) for line, option in LATER}
    of_any_line = {name for _, name in later} | set(AT_ONCE) | set(NO_WRONG_VALUE)
    assert sorted((line, name) for line, name in there
                  if name not in of_any_line and (line, name) not in AT_ONCE_IN) == []  # fmt: skip
    assert sorted((later | set(AT_ONCE_IN)) - there) == []
    assert sorted((set(AT_ONCE) | set(NO_WRONG_VALUE)) - {name for _, name in there}) == []


def words_with(line, option, value):
    """The command line with this value of the option."""
    name, *more = option.split()
    if name == "--checkpoint-path":
        more = ["--checkpoint-on=USR1"]
    if name == "--checkpoint-on":
        more = ["--checkpoint-path=folder"]
    if line == "pxcluster start" and name != "--n":
        more = [*more, "-n1"]
    arguments = [] if name == "--code-file" else LINES[line].split()
    return [*line.split(), *arguments, f"{name}={value}", *more]


def run_all(home, command_lines):
    with ThreadPoolExecutor(4) as threads:
        return [*threads.map(lambda words: home.run(*words), command_lines)]


def values_of(line, name, options):
    """All wrong values where it is the program's first line with this option, else the first one."""
    if line == "pxcluster doctor" and name in NO_WRONG_VALUE:
        return ()
    values = AT_ONCE_IN.get((line, name), AT_ONCE.get(name, ()))
    lines = [each for each in LINES if each.split()[0] == line.split()[0] and name in options[each]]
    return values if line == lines[0] or (line, name) in AT_ONCE_IN else values[:1]


@pytest.mark.parametrize("line", LINES)
def test_a_wrong_value_is_refused_at_once(home, options, line):
    cases = [(name, value) for name in options[line] for value in values_of(line, name, options)]
    wrong = []
    for (name, value), done in zip(cases, run_all(home, [words_with(line, *case) for case in cases])):
        called = "-n" if name == "--n" else name
        shown = [f"{line.split()[0]}: error: {called}{end}" for end in (" ", ": ")]
        is_good = (done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1
                   and done.stderr.startswith(tuple(shown)) and ("not '" in done.stderr or value in done.stderr))  # fmt: skip
        if not is_good:
            wrong.append((f"{name}={value}", done.returncode, done.stderr))
    assert wrong == []
    assert home.files() == [home.folder / "data.json"] and home.processes() == []


@pytest.mark.parametrize("line, option", LATER)
def test_a_value_that_is_wrong_here_and_now_is_refused_before_anything_is_started(home, line, option):
    for value, sentence in LATER[line, option].items():
        done = home.run(*words_with(line, option, value))
        assert done.returncode not in (0, 2), done
        assert re.search(".*".join(map(re.escape, sentence.split("..."))), done.stderr), done.stderr
        assert done.stderr.count("\n") == 1, done.stderr
        assert home.processes() == []


@pytest.mark.parametrize("line", ["pxengine-cpp", "pxkernel-cpp", "polyxeus.engine", "polyxeus.kernel"])
def test_the_programs_that_they_become_refuse_the_same(home, line):
    beside = Path(PROGRAMS["pxengine"]).resolve().with_name(line)
    if line.endswith("-cpp") and not beside.exists():
        pytest.skip(f"there is no {line} beside pxengine")
    words = [str(beside)] if line.endswith("-cpp") else [sys.executable, "-m", line]
    done = home.run(*words, "--log-level=LOUD")
    assert done.returncode == 2 and done.stdout == "", done
    sentence = "error: --log-level takes 0-50, or DEBUG, INFO, WARN, ERROR or CRITICAL, not 'LOUD'\n"
    assert done.stderr.endswith(sentence) and done.stderr.count("\n") == 1
