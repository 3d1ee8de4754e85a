"""What an engine runs before the first request, and in which order."""

import pytest
from programs import wait_until

NOTE = "steps = globals().get('steps', []) + [{!r}]\n"


@pytest.fixture
def cluster(own_cluster):
    cluster = own_cluster()
    cluster.start_controller()
    return cluster


def script(folder, name, text):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_everything_is_run_in_the_documented_order(cluster, tmp_path):
    startup = cluster.profile_dir / "startup"
    script(startup, "20-second.py", NOTE.format("startup 20"))
    script(startup, "10-first.py", NOTE.format("startup 10") + "in_file = __file__\n")
    script(startup, "30-not-python.txt", "this is not Python")
    variable = script(tmp_path, "variable.py", NOTE.format("PYTHONSTARTUP"))
    given = script(tmp_path, "given.py", NOTE.format("-s"))
    cluster.start_engines(1, "-s", given, "-c", NOTE.format("-c"), PYTHONSTARTUP=variable)
    rc = cluster.client(engines=1)
    assert rc[0]["steps"] == ["startup 10", "startup 20", "PYTHONSTARTUP", "-s", "-c"]
    assert rc[0]["in_file"] == str(startup / "10-first.py")
    assert rc[0].pull("'__file__' in globals()", block=True) is False


@pytest.mark.parametrize("options", [
    ("-c", "started = 42"), ("--IPEngine.startup_command=started = 42",),
])  # fmt: skip
def test_a_command_defines_variables(cluster, options):
    cluster.start_engines(1, *options)
    assert cluster.client(engines=1)[0]["started"] == 42


@pytest.mark.parametrize("option", ["-s", "--IPEngine.startup_script"])
def test_a_script_defines_variables(cluster, tmp_path, option):
    path = script(tmp_path, "my script.py", "import math\ndef half(x): return x / 2\nstarted = 42\n")
    cluster.start_engines(1, *([option, path] if option == "-s" else [f"{option}={path}"]))
    rc = cluster.client(engines=1)
    assert rc[0]["started"] == 42
    assert rc[0].pull("half(math.pi) * 2 == math.pi", block=True) is True


def test_pythonstartup_is_run_alone(cluster, tmp_path):
    cluster.start_engines(1, PYTHONSTARTUP=script(tmp_path, "mine.py", "started = 42"))
    assert cluster.client(engines=1)[0]["started"] == 42


def test_every_engine_runs_it(cluster):
    cluster.start_engines(2, "-c", "import os; started = os.getpid()")
    rc = cluster.client(engines=2)
    assert len(set(rc[:]["started"])) == 2


@pytest.mark.parametrize("code", ["1 / 0", "this is no Python"])
@pytest.mark.parametrize("way", ["-s", "-c", "PYTHONSTARTUP", "startup"])
def test_code_that_fails_does_not_keep_the_engine_from_its_work(cluster, tmp_path, way, code):
    """What stands behind it runs as well."""
    options, environment = ["-c", "after = 1"], {}
    if way == "startup":
        script(cluster.profile_dir / "startup", "bad.py", code)
    elif way == "-c":
        options = ["-c", f"after = 1\n{code}"] if "1 / 0" in code else ["-c", code]
    elif way == "-s":
        options += ["-s", script(tmp_path, "bad.py", code)]
    else:
        environment = {way: script(tmp_path, "bad.py", code)}
    cluster.start_engines(1, *options, **environment)
    rc = cluster.client(engines=1)
    assert rc[0].apply_sync(len, "abc") == 3
    if options[1] != code:
        assert rc[0]["after"] == 1


@pytest.mark.parametrize("way", ["-s", "PYTHONSTARTUP"])
def test_a_file_that_is_not_there_is_named_and_the_engine_works(cluster, tmp_path, way):
    missing = tmp_path / "missing.py"
    options, environment = (["-s", missing], {}) if way == "-s" else ([], {way: missing})
    (engine,) = cluster.start_engines(1, *options, "-c", "after = 1", **environment)
    assert cluster.client(engines=1)[0]["after"] == 1
    wait_until(lambda: str(missing) in engine.output(), "the engine's log names it", 10)


@pytest.mark.parametrize("code, error", [("1 / 0", "ZeroDivisionError"), ("no Python", "SyntaxError")])
@pytest.mark.parametrize("way", ["-s", "-c", "PYTHONSTARTUP"])
def test_the_log_says_why_code_at_the_start_failed(cluster, tmp_path, way, code, error):
    path = script(tmp_path, "bad.py", code)
    options = {"-s": ["-s", path], "-c": ["-c", code]}.get(way, [])
    environment = {} if options else {way: path}
    (engine,) = cluster.start_engines(1, *options, **environment)
    assert cluster.client(engines=1)[0].apply_sync(len, "abc") == 3
    wait_until(lambda: error in engine.output(), "the engine's log says why", 10)


def test_an_engine_that_starts_slower_than_the_registration_timeout_is_waited_for(own_cluster):
    cluster = own_cluster()
    cluster.start_controller("--IPController.registration_timeout=1")
    cluster.start_engines(1, "-c", "import time; time.sleep(3); started = True")
    rc = cluster.client(engines=1)
    assert rc[0]["started"] is True
