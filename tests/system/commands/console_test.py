"""An engine as a Jupyter kernel: bind_kernel() in it, then consoles of other processes."""

import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import ipyparallel as ipp
import pytest
from jupyter_client import BlockingKernelClient
from programs import PATIENCE, wait_until

import polyxeus

pytestmark = pytest.mark.better_than_reference(
    "its connection file is in the profile, and its kernel ends with its console")


class Console:
    """A Jupyter client of one engine."""

    def __init__(self, file):
        self.client = BlockingKernelClient(connection_file=str(file))
        self.client.load_connection_file()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=PATIENCE)

    def run(self, code, answer=None, until=lambda message: False, **options):
        """(content of the reply, messages of iopub); `until` is told each of them."""
        messages = []

        def show(message):
            messages.append(message)
            until(message)

        reply = self.client.execute_interactive(
            code, allow_stdin=answer is not None, timeout=PATIENCE, output_hook=show,
            stdin_hook=lambda question: self.client.input(answer(question["content"])), **options)
        return reply["content"], messages

    def text(self, code, **options):
        """What a cell prints that has to go well."""
        reply, messages = self.run(code, **options)
        assert reply["status"] == "ok", reply
        return "".join(each["content"]["text"] for each in messages
                       if each["msg_type"] == "stream")

    def ask(self, message_type, **content):
        """The reply that the control channel gives."""
        message = self.client.session.msg(message_type, content)
        self.client.control_channel.send(message)
        while True:
            reply = self.client.get_control_msg(timeout=PATIENCE)
            if reply["parent_header"]["msg_id"] == message["header"]["msg_id"]:
                return reply["content"]

    def close(self):
        self.client.stop_channels()


def assert_interruptible(console):
    def interrupt(message):
        if message["msg_type"] == "stream" and "running" in message["content"]["text"]:
            assert console.ask("interrupt_request")["status"] == "ok"

    reply, _ = console.run("import time\nprint('running')\ntime.sleep(60)", until=interrupt)
    assert reply["ename"] == "KeyboardInterrupt"


def connection_files(folder):
    return sorted(folder.glob("kernel-*.json"))


@pytest.fixture(scope="module")
def cluster(new_cluster, stage):
    """Two engines; a console can connect to engine 0."""
    cluster = new_cluster("console", JUPYTER_RUNTIME_DIR=stage.folder / "runtime")
    cluster.start_controller()
    cluster.start_engines(2)
    rc = cluster.client(engines=2)
    rc[0].execute("import ipyparallel as ipp\nipp.bind_kernel()", block=True)
    return cluster


@pytest.fixture
def rc(cluster):
    client = cluster.client(engines=2)
    client.clear(block=True)
    yield client
    client.close()


@pytest.fixture
def file(cluster, stage):
    (file,) = connection_files(stage.folder / "runtime")
    return file


@pytest.fixture
def open_console(file):
    opened = []

    def make():
        opened.append(Console(file))
        return opened[-1]

    yield make
    for each in opened:
        each.close()


@pytest.fixture
def console(open_console):
    return open_console()


def test_the_connection_file_is_private_and_named_after_the_process(rc, file):
    assert file.name == f"kernel-{rc[0].apply_sync(os.getpid)}.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    connection = json.loads(file.read_text())
    assert connection["ip"] == "127.0.0.1"
    assert len(connection["key"]) >= 32


def test_a_second_call_keeps_the_first_file(rc, file):
    before = file.read_text()
    assert rc[0].apply_sync(polyxeus.bind_kernel) == str(file)
    assert file.read_text() == before


def test_a_console_and_the_cluster_share_the_namespace(rc, console):
    rc[0].push({"x": 20}, block=True)
    assert console.text("print(x + 1)\ny = x + 2") == "21\n"
    assert rc[0].pull("y", block=True) == 22
    assert rc[0].apply_sync(os.getpid) == int(console.text("import os; print(os.getpid())"))


def test_what_a_cell_shows_goes_to_the_side_that_asked(rc, console):
    reply, messages = console.run("print('to the console')\n6 * 7")
    parents = {each["parent_header"]["msg_id"] for each in messages}
    assert len(parents) == 1
    assert [each["msg_type"] for each in messages] == [
        "status", "execute_input", "stream", "execute_result", "status"]
    assert messages[3]["content"]["data"]["text/plain"] == "42"
    answer = rc[0].execute("print('to the cluster')")
    answer.get(PATIENCE)
    assert answer.wait_for_output(PATIENCE)
    assert answer.stdout == "to the cluster\n"
    assert console.text("print('again')") == "again\n"  # and nothing of the cluster's


def test_errors_go_to_the_side_that_asked(rc, console):
    reply, messages = console.run("1 / 0")
    assert (reply["status"], reply["ename"]) == ("error", "ZeroDivisionError")
    assert "engine_info" not in reply
    assert [each["content"]["ename"] for each in messages if each["msg_type"] == "error"] == [
        "ZeroDivisionError"]
    with pytest.raises(ipp.RemoteError) as raised:
        rc[0].execute("nonsense").get(PATIENCE)
    assert raised.value.ename == "NameError"
    assert raised.value.engine_info["engine_id"] == 0


def test_requests_run_one_after_the_other_and_a_failed_cell_aborts_only_its_own_side(rc, console):
    answers = []

    def answer(question):
        """The console's cell runs now: what the cluster sends has to wait."""
        answers.extend(rc[0].execute(f"order.append('cluster {n}')") for n in range(2))
        return question["prompt"]

    reply, _ = console.run("order = []\norder.append(input('console'))\nfail()", answer)
    assert reply["ename"] == "NameError"
    for each in answers:
        each.get(PATIENCE)
    assert rc[0].pull("order", block=True) == ["console", "cluster 0", "cluster 1"]


def test_input_and_getpass_ask_the_user_of_the_console(rc, console):
    said = []

    def answer(question):
        said.append(question)
        return "Ann"

    assert console.text("print('Hello', input('Who? '))", answer=answer) == "Hello Ann\n"
    console.text("import getpass; getpass.getpass('Key: ')", answer=answer)
    assert said == [{"prompt": "Who? ", "password": False}, {"prompt": "Key: ", "password": True}]
    with pytest.raises(ipp.RemoteError, match="its client did not say within 15 s that it can ask"):
        rc[0].execute("input()").get(PATIENCE)


def test_a_breakpoint_stops_in_the_console(console):
    said = iter(["p a + 1", "c"])
    stops = "def f():\n    a = 5\n    breakpoint()\n    return a\nprint('returned', f())"
    text = console.text(stops, answer=lambda question: next(said))
    assert "-> breakpoint()\n6\n" in text
    assert text.endswith("returned 5\n")
    assert_interruptible(console)  # though pdb had taken the interrupt over


def test_two_consoles_at_once(rc, open_console):
    one, two = open_console(), open_console()
    assert one.text("shared = 'of one'; print('one')") == "one\n"
    assert two.text("print(shared)") == "of one\n"
    assert one.text("print(1)") == "1\n"
    assert rc[0].pull("shared", block=True) == "of one"


def test_the_control_channel_interrupts_a_cell(rc, console):
    assert_interruptible(console)
    assert rc[0].apply_sync(abs, -1) == 1


def test_an_interrupt_of_the_cluster_ends_a_question_to_the_console(rc, console):
    message_id = console.client.execute("input('forever? ')", allow_stdin=True)
    console.client.get_stdin_msg(timeout=PATIENCE)
    rc.send_signal(signal.SIGINT, targets=0, block=True)
    while True:
        reply = console.client.get_shell_msg(timeout=PATIENCE)
        if reply["parent_header"]["msg_id"] == message_id:
            break
    assert reply["content"]["ename"] == "KeyboardInterrupt"


def test_what_consoles_ask_beside_cells(rc, console):
    rc[0].push({"quantity": 5}, block=True)

    def reply_to(method, *arguments, **options):
        message_id = getattr(console.client, method)(*arguments, **options)
        while True:
            reply = console.client.get_shell_msg(timeout=PATIENCE)
            if reply["parent_header"]["msg_id"] == message_id:
                return reply["content"]

    assert "quantity" in reply_to("complete", "quanti")["matches"]
    assert "5" in reply_to("inspect", "quantity")["data"]["text/plain"]
    assert reply_to("is_complete", "for x in y:")["status"] == "incomplete"
    assert reply_to("kernel_info")["language_info"]["name"] == "python"
    assert reply_to("comm_info") == {"status": "ok", "comms": {}}
    console.text("remembered = 1")
    history = reply_to("history", hist_access_type="tail", n=1)["history"]
    assert history[-1][-1] == "remembered = 1"
    assert console.ask("kernel_info_request")["status"] == "ok"


def test_a_console_that_does_not_read_delays_nobody_and_misses_nothing(rc, console):
    shown = 3000
    message_id = console.client.execute(
        f"for n in range({shown}): display('x' * 10_000)\nprint('end')")
    assert rc[0].apply_sync(abs, -1) == 1
    answer = rc[0].execute("print('to the cluster')")
    answer.get(PATIENCE)
    assert answer.wait_for_output(PATIENCE)
    types = []
    while not types or types[-1] != "idle":
        message = console.client.get_iopub_msg(timeout=PATIENCE)
        if message["parent_header"].get("msg_id") != message_id:
            continue  # of the time when it connected
        content = message["content"]
        types.append(content.get("execution_state") or content.get("text") or message["msg_type"])
    assert types == ["busy", "execute_input", *["display_data"] * shown, "end\n", "idle"]


def test_a_wrong_key_is_ignored(console):
    session = console.client.session
    right, session.key = session.key, b"wrong"
    console.client.execute("intruder = True")
    session.key = right
    assert console.text("print('intruder' in globals())") == "False\n"


def test_a_console_cannot_end_the_engine(rc, console):
    reply = console.ask("shutdown_request", restart=False)
    assert reply["status"] == "error"
    assert reply["evalue"].startswith("engine 0 goes on")
    reply, _ = console.run("exit")
    assert reply["payload"] == [{"source": "ask_exit", "keepkernel": True}]
    assert console.text("print('alive')") == "alive\n"
    assert rc.ids == [0, 1]


def test_a_real_console_of_another_process(rc, file, stage):
    rc[0].push({"x": 6}, block=True)
    done = subprocess.run(
        [sys.executable, "-m", "jupyter_console", "--simple-prompt", "--existing", str(file)],
        input="product = x * 7\nprint('product', product)\n1 / 0\nexit\n", text=True,
        capture_output=True, timeout=PATIENCE, env=stage.environment(HOME=stage.folder))
    assert "product 42" in done.stdout
    assert "ZeroDivisionError" in done.stdout + done.stderr
    assert "keeping kernel alive" in done.stdout
    assert rc[0].pull("product", block=True) == 42
    assert rc[0].apply_sync(abs, -1) == 1


def test_how_to_connect_is_printed_where_it_is_possible(rc, file):
    def printed(view, code):
        answer = view.execute(code)
        answer.get(PATIENCE)
        assert answer.wait_for_output(PATIENCE)
        return answer.stdout

    said = printed(rc[0], "%connect_info")
    assert f"jupyter console --existing {file.name}\n" in said
    assert json.loads(file.read_text())["key"] in said
    asked = "from ipykernel.connect import get_connection_info\n" \
            "print(get_connection_info(unpack=True)['shell_port'])"
    assert printed(rc[0], asked) == f"{json.loads(file.read_text())['shell_port']}\n"
    for magic in ("%connect_info", "%qtconsole"):
        with pytest.raises(ipp.RemoteError, match=r"call polyxeus\.bind_kernel\(\) in it first"):
            rc[1].execute(magic).get(PATIENCE)


@pytest.mark.parametrize("end", [signal.SIGTERM, "shutdown"])
def test_the_file_goes_with_the_engine(own_cluster, tmp_path, end):
    cluster = own_cluster(JUPYTER_RUNTIME_DIR=tmp_path / "new" / "runtime")
    cluster.start_controller()
    (engine,) = cluster.start_engines(1)
    rc = cluster.client(engines=1)
    file = Path(rc[0].apply_sync(polyxeus.bind_kernel))
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    console = Console(file)
    assert console.text("print(1)") == "1\n"
    rc.shutdown(block=False) if end == "shutdown" else engine.signal(end)
    engine.wait()
    assert connection_files(file.parent) == []
    wait_until(lambda: not console.client.is_alive(), "the console notices that the engine ended")
    console.close()
