"""pxcluster px, push, pull and jobs: what a shell script does with a running cluster."""

import fcntl
import json
import os
import random
import re
import signal
import struct
import subprocess
import termios
import time

import pytest
from deadlines import started, wait_until
from running_cluster import connect


@pytest.fixture(scope="module")
def run(local_cluster, cluster_cmd, tmp_path_factory):
    """Runs `pxcluster <arguments>` on the shared cluster, in a folder of its own."""
    folder = tmp_path_factory.mktemp("work")

    def command(*arguments):
        return [*cluster_cmd, *arguments, f"--profile-dir={local_cluster.profile_dir}"]

    def run(*arguments, stdin=None, expect=0):
        done = subprocess.run(command(*arguments), cwd=folder, input=stdin, text=True, capture_output=True,
                              timeout=60, env=local_cluster.stage.environment())
        assert done.returncode == expect, done.stdout + done.stderr
        return done

    run.folder, run.command = folder, command
    run.environment = local_cluster.stage.environment()
    return run


def test_what_all_engines_print_alike_is_shown_once(run):
    assert run("px", "print('hello')").stdout == "[0-3] hello\n"
    assert run("px", "6 * 7").stdout == "[result:0-3] 42\n"


def test_values_that_differ_are_shown_by_engine(run):
    run("push", "-", "--as", "numbers", "--scatter", stdin="[10, 11, 12, 13]")
    assert run("px", "numbers[0]").stdout.splitlines() == [
        "[result:0] 10", "[result:1] 11", "[result:2] 12", "[result:3] 13"]


def test_the_address_at_which_the_controller_answered_is_said_to_those_who_want_details(run):
    assert "the controller answers at " in run("px", "--log-level=DEBUG", "1").stderr
    assert "the controller answers at " not in run("px", "1").stderr


def test_targets_choose_the_engines(run):
    assert run("px", "-t", "1:3", "print(1)").stdout == "[1,2] 1\n"
    assert "there is no engine 9; there are 0-3" in run("px", "-t", "9", "1", expect=11).stderr
    assert "is not a list of engines" in run("px", "-t", "some", "1", expect=2).stderr


def test_an_error_is_shown_and_is_the_exit_code(run):
    done = run("px", "-t", "0", "x = 1\n1 / 0", expect=1)
    assert "ZeroDivisionError: division by zero" in done.stderr
    assert "\x1b[" not in done.stderr


def test_json_has_one_object_for_each_engine(run):
    lines = run("px", "--json", "-t", "0:2", "import sys; print('a'); print('b', file=sys.stderr); 6 * 7").stdout
    found = [json.loads(line) for line in lines.splitlines()]
    assert [each["engine"] for each in found] == [0, 1]
    assert found[0] == {"engine": 0, "status": "ok", "stdout": "a\n", "stderr": "b\n", "result": "42"}
    failed = json.loads(run("px", "--json", "-t", "0", "1 / 0", expect=1).stdout)
    assert failed["status"] == "error" and failed["error"]["ename"] == "ZeroDivisionError"


def test_code_comes_from_a_file_or_standard_input(run):
    (run.folder / "cell.py").write_text("print('from a file')\n")
    assert "from a file" in run("px", "--code-file", "cell.py").stdout
    assert "from a pipe" in run("px", "-", stdin="print('from a pipe')").stdout
    assert "no.py" in run("px", "--code-file", "no.py", expect=11).stderr
    assert "no code to run" in run("px", expect=1).stderr


def test_live_output_has_its_engine_on_each_line(run):
    lines = run("px", "--stream", "-t", "0:2", "for i in range(3): print(i)").stdout.splitlines()
    assert [line for line in lines if line.startswith("[stdout:0]")] == [
        "[stdout:0] 0", "[stdout:0] 1", "[stdout:0] 2"]
    assert len(lines) == 6


def test_arrays_go_through_npy_files(run):
    import numpy

    array = numpy.arange(30.0).reshape(10, 3)
    numpy.save(run.folder / "a.npy", array)
    run("push", "a.npy", "--scatter")
    assert "(3, 3)" in run("px", "-t", "0", "a.shape").stdout
    run("pull", "a", "--gather", "-o", "back.npy")
    numpy.testing.assert_array_equal(numpy.load(run.folder / "back.npy"), array)
    numpy.save(run.folder / "turned.npy", numpy.asfortranarray(array))
    run("push", "turned.npy", "--as", "t")
    run("pull", "t", "-t", "3", "-o", "t.npy")
    numpy.testing.assert_array_equal(numpy.load(run.folder / "t.npy"), array)


# Parts that end where pages do, and others.
@pytest.mark.parametrize("rows", [4 << 20, (4 << 20) + 3])
def test_large_parts_are_gathered_in_their_order(run, rows):
    import numpy

    array = numpy.arange(rows, dtype=numpy.int32)
    numpy.save(run.folder / "large.npy", array)
    run("push", "large.npy", "--scatter")
    run("pull", "large", "--gather", "-o", "back.npy")
    assert numpy.array_equal(numpy.load(run.folder / "back.npy"), array)


def test_json_goes_through_files_and_pipes(run):
    (run.folder / "settings.json").write_text('{"steps": 3, "name": "x"}')
    run("push", "settings.json")
    assert json.loads(run("pull", "settings", "-t", "2").stdout) == {"steps": 3, "name": "x"}
    assert json.loads(run("pull", "settings['steps']").stdout) == [3, 3, 3, 3]


def test_what_cannot_be_sent_or_read_is_named(run):
    (run.folder / "bad.npy").write_text("no array")
    (run.folder / "bad.json").write_text("{")
    assert "cannot read this .npy file" in run("push", "bad.npy", expect=1).stderr
    assert "neither a .npy file nor JSON" in run("push", "bad.json", expect=1).stderr
    assert "NameError" in run("pull", "nothing_of_this_name", expect=1).stderr
    assert "several engines" in run("pull", "1", "-o", "x.npy", expect=1).stderr
    assert "TypeError" in run("pull", "open", "-t", "0", expect=1).stderr


def is_usage(words):
    """Whether it is the command line that is wrong, not what it asks for."""
    return any(part in words for part in ("unknown option", "takes", "is not a list of engines"))


@pytest.mark.parametrize("line, words", [
    (["px", "--frob", "1"], "unknown option --frob; `pxcluster px --help` lists the options"),
    (["push", "data.json", "--as", "d", "--scater"], "unknown option --scater; did you mean --scatter?"),
    (["pull", "d", "--Cluster.n=1"], "unknown option --Cluster.n; "),
    (["px", "print(1)", "print(2)"], "`pxcluster px` takes no further argument 'print(2)'; put an"),
    (["px", "--timeout", "soon", "1"], "--timeout takes a number of seconds, not 'soon'"),
    (["px", "-t", "first", "1"], "'first' is not a list of engines: write 'all', a number"),
    (["push", "data.json", "--as", "3x"], "--as takes the name of a variable, not '3x'"),
    (["push", "data.json", "--as", "a,b"], "--as takes the name of a variable, not 'a,b'"),
    (["push", "my-data.json"], "name the variable with --as: 'my-data' is not a variable's name"),
    (["push", "data.json", "--scatter"], "expected an array or a JSON list, not"),
    (["push", "objects.npy"], "objects.npy: cannot read this .npy file"),
    (["push", "-"], "name the variable with --as: standard input has no name"),
    (["push", "-", "--as", "d"], "the text on standard input is neither a .npy file nor JSON"),
    (["pull", "nothing_of_this_name"], "4 requests failed: [0-3:pull] NameError: name"),
    (["pull", "1 +"], "SyntaxError"),
    (["pull", "{1, 2}", "-t", "0"], "a set cannot be sent without a pickle"),
    (["pull", "__import__('numpy').array([1, None])", "-t", "0"], "an ndarray of object cannot"),
    (["pull", "ragged", "--gather"], "blocks of <f8 (2, 1) and of <f8 (2, 2) do not fit together"),
    (["pull", "5", "--gather"], "cannot join the parts"),
    (["pull", "'text'", "-t", "0", "-o", "x.npy"], "a .npy file can hold only an array"),
])
def test_what_is_wrong_is_one_sentence_and_all_goes_on(run, line, words):
    import numpy

    numpy.save(run.folder / "objects.npy", numpy.array([1, None], dtype=object))
    (run.folder / "data.json").write_text('{"a": 1}')
    run("push", "-", "--as", "rank", "--scatter", stdin="[1, 2, 3, 4]")
    run("px", "import numpy; ragged = numpy.zeros((2, rank[0])); kept = 5")
    said = run(*line, stdin="", expect=2 if is_usage(words) else 1).stderr.strip()
    assert words in said and "\n" not in said, said
    assert run("pull", "kept").stdout == "[5,5,5,5]\n"


def test_targets_that_mean_nobody_are_an_error(run):
    assert "'7:9' matches no engine: there are 0-3" in run("px", "-t", "7:9", "1", expect=11).stderr
    assert "'4:' matches no engine" in run("pull", "1", "-t", "4:", expect=11).stderr


def test_a_pull_writes_to_standard_output_by_name(run):
    assert run("pull", "[1, 2]", "-t", "0", "-o", "-").stdout == "[1,2]\n"
    assert not (run.folder / "-").exists()


def test_an_old_or_broken_connection_file_is_named(run, local_cluster):
    info = json.loads(local_cluster.connection_file("client").read_text())
    for name, content, words in [
            ("old.json", {**info, "registration": 1}, "may be left over from a cluster that has ended"),
            ("less.json", {"key": "x"}, "less.json: the connection info is not usable"),
            ("text.json", 5, "text.json: the connection info is not a JSON object")]:
        (run.folder / name).touch(0o600)
        (run.folder / name).write_text(json.dumps(content))
        done = subprocess.run(run.command("pull", "1", "--file", name), cwd=run.folder, text=True,
                              capture_output=True, timeout=60)
        assert done.returncode != 0 and words in done.stderr, done.stderr
        assert done.stderr.count("\n") == 1
    assert "no such.json" in run("px", "--file", "no such.json", "1", expect=11).stderr


def test_an_engine_that_dies_in_a_pull_is_named_and_the_others_go_on(own_cluster, cluster_cmd):
    cluster = own_cluster()
    cluster.start_controller()
    cluster.start_engines(2)
    cluster.client(engines=2)

    def pxcluster(*words):
        return subprocess.run([*cluster_cmd, *words, f"--profile-dir={cluster.profile_dir}"],
                              text=True, capture_output=True, timeout=60,
                              env=cluster.stage.environment())

    done = pxcluster("pull", "__import__('os')._exit(1)", "-t", "1")
    assert done.returncode == 11
    assert re.search(r"\[1\] EngineError: Engine 1 on \S+ died", done.stderr)
    assert done.stderr.count("\n") == 1
    assert "there is no engine 1; there is only 0" in pxcluster("px", "-t", "1", "1").stderr
    assert pxcluster("pull", "6 * 7").stdout == "42\n"


def test_without_a_cluster_it_says_how_to_start_one(cluster_cmd, tmp_path, local_cluster):
    done = subprocess.run([*cluster_cmd, "px", "1", f"--profile-dir={tmp_path}"], text=True,
                          capture_output=True, timeout=60, env=local_cluster.stage.environment())
    assert done.returncode == 11
    assert "pxcluster start" in done.stderr


def test_a_time_limit_ends_the_wait(run):
    done = run("px", "-t", "3", "--timeout", "0.5", "import time; time.sleep(2)", expect=1)
    assert "1 of 1 engine did not answer within 0.5 s" in done.stderr


def test_control_c_interrupts_the_engines_and_keeps_their_state(run, local_cluster, cluster_cmd):
    command = [*cluster_cmd, "px", "--stream", "kept = 1; print('begun'); import time; time.sleep(60)",
               f"--profile-dir={local_cluster.profile_dir}"]
    with started(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env=local_cluster.stage.environment()) as process:
        for _ in range(4):
            assert "begun" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, complaints = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "KeyboardInterrupt" in complaints
    assert run("px", "print(kept)").stdout == "[0-3] 1\n"


def test_jobs_are_listed_until_they_have_ended(run, local_cluster, tmp_path):
    gate = tmp_path / "gate"
    code = f"import os, time\nwhile not os.path.exists({str(gate)!r}):\n    time.sleep(0.01)"
    with connect(local_cluster.connection_file("client"), 4) as client:
        result = client[:].execute(code, label="waits at a gate")
        (job,) = json.loads(run("jobs", "--label=waits at a gate", "--json").stdout)
        assert (job["text"], job["engines"]) == ("import os, time", [0, 1, 2, 3])
        assert "waits at a gate" in run("jobs").stdout
        gate.touch()
        result.get(60)
        assert run("jobs", "--label=waits at a gate").stdout == "no jobs\n"
        assert "4 done" in run("jobs", "--all", "--label=waits at a gate").stdout


ROUNDS = int(os.environ.get("PX_TEST_INTERRUPTS", "20"))


def test_control_c_at_any_moment_leaves_no_engine_at_work(run, local_cluster, cluster_cmd):
    code = "import time; time.sleep(60)"
    ways = [["px", code], ["px", "--stream", code], ["px", "-t", "1:", code], ["px", "--json", code]]
    seed = 20261122
    chance = random.Random(seed)
    for round_number in range(ROUNDS):
        words, delay = chance.choice(ways), chance.choice([chance.uniform(0, 0.02), chance.uniform(0, 0.15), None])
        told = f"seed {seed}, round {round_number}: {words}, Ctrl-C after {delay} s"
        with started(run.command(*words), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, cwd=run.folder, env=run.environment) as process:
            if delay is None:
                wait_until(lambda: run("jobs").stdout != "no jobs\n", "the request was sent", 30)
            else:
                time.sleep(delay)
            process.send_signal(signal.SIGINT)
            _, complaints = process.communicate(timeout=30)
        # By the signal where it comes before the command has begun to send.
        assert process.returncode == 130 or delay is not None and process.returncode == -signal.SIGINT, f"{told}: {complaints}"
        assert run("px", "print('idle')").stdout == "[0-3] idle\n", told


def on_terminal(run, *arguments, when=("", None), **environment):
    """What a command writes to a terminal.  when: a text, and what to call once it is there."""
    text, action = when
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    process = subprocess.Popen(
        run.command(*arguments), cwd=run.folder, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs,
        env={**run.environment, "TERM": "xterm", "NO_COLOR": "", **environment})
    os.close(theirs)
    written = b""
    while True:
        try:
            piece = os.read(ours, 1 << 16)
        except OSError:  # the other end is closed
            piece = b""
        if not piece:
            break
        written += piece
        if action and text.encode() in written:
            action()
            action = None
    os.close(ours)
    assert process.wait(timeout=60) == 0, written
    return written.decode()


def test_on_a_terminal_output_is_shown_while_it_comes(run):
    gate = run.folder / "gate"
    code = (f"import os, time\nprint('begun', flush=True)\nfor _ in range(1000):\n    if os.path.exists({str(gate)!r}): break\n"
            "    time.sleep(0.02)\nelse: print('late')")
    written = on_terminal(run, "px", code, when=("[0-3] begun", gate.touch), NO_COLOR="1")
    assert "[0-3] begun" in written and "late" not in written


def test_labels_are_coloured_on_a_terminal_unless_no_color_is_set(run):
    assert "\x1b[32m[0-3]\x1b[0m a" in on_terminal(run, "px", "print('a')")
    assert "[0-3] a" in on_terminal(run, "px", "print('a')", NO_COLOR="1")
    assert run("px", "print('a')").stdout == "[0-3] a\n"


def test_a_long_call_shows_how_far_it_is_on_a_terminal(run):
    code = "import time; time.sleep(0 if id % 2 else 2.6); print('slept')"
    run("px", "id = 1"), run("px", "-t", "0", "id = 0")
    for options in ([], ["--stream"]):
        written = on_terminal(run, "px", *options, code, NO_COLOR="1")
        assert re.search(r"\[#{15}-{5}\] 3/4 engines done, 0:0[2-9]", written), written
        assert written.endswith("\r\x1b[J") or "engines done" not in written.split("\x1b[J")[-1], written
    plain = run("px", code)
    assert (plain.stdout, plain.stderr) == ("[0-3] slept\n", "")
    assert "engines done" not in on_terminal(run, "px", "--json", code)


NESTED = """
import sys, time
print('begun')
for i in range(4):
    print(f'\\router {i}', end='', file=sys.stderr, flush=True)
    print(f'\\n\\rinner {i}\\x1b[A', end='', file=sys.stderr, flush=True)
    time.sleep(0.3)
"""


def test_nested_bars_stay_below_the_text_on_a_terminal(run):
    written = on_terminal(run, "px", "--stream", "-t", "0", NESTED, NO_COLOR="1")
    frames = re.findall(r"\[stderr:0\] outer \d\r\n\[stderr:0\] inner \d", written)
    assert len(frames) > 1, written
    assert "\r\x1b[1A\x1b[J" in written, "a frame replaces the one before"
    plain = run("px", "--stream", "-t", "0", NESTED)
    assert plain.stdout == "[stdout:0] begun\n"
    assert plain.stderr == "[stderr:0] outer 3\n[stderr:0] inner 3\n"
