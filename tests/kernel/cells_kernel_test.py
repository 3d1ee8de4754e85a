"""What cells do on the kernel, and what the client sees of it."""

import json
import sys
import threading

import pytest
import zmq
from deadlines import wait_until


def test_outputs_of_a_cell_carry_its_number(kernel):
    first = kernel.run("1 + 1")
    second = kernel.run("2 + 2")
    (result,) = first.contents("execute_result")
    assert result["data"] == {"text/plain": "2"}
    (given,) = first.contents("execute_input")
    assert given == {"code": "1 + 1", "execution_count": first.reply["execution_count"]}
    assert result["execution_count"] == first.reply["execution_count"]
    assert second.reply["execution_count"] == first.reply["execution_count"] + 1


def test_silent_cells_and_those_outside_of_the_history_do_not_count(kernel):
    before = kernel.run("1").reply["execution_count"]
    silent = kernel.run("x_silent = 5", silent=True)
    assert [each["msg_type"] for each in silent.messages] == ["status", "status"]
    kernel.run("x_silent", store_history=False)
    assert kernel.run("2").reply["execution_count"] == before + 1


def test_an_error_is_shown_and_answered(kernel):
    cell = kernel.run("def f():\n    1 / 0\nf()")
    (error,) = cell.contents("error")
    assert cell.status == "error" and cell.reply["ename"] == "ZeroDivisionError"
    assert error["ename"] == "ZeroDivisionError" and error["evalue"] == "division by zero"
    assert cell.reply["traceback"] == error["traceback"]


def test_user_expressions_are_evaluated(kernel):
    cell = kernel.run("a = 3", user_expressions={"twice": "2 * a", "bad": "b_missing"})
    assert cell.reply["user_expressions"]["twice"]["data"]["text/plain"] == "6"
    assert cell.reply["user_expressions"]["bad"]["ename"] == "NameError"


def test_an_error_aborts_the_cells_that_wait(kernel):
    ids = [kernel.client.execute(code) for code in (
        "import time; time.sleep(0.5); 1 / 0", "print('never')", "print('nor this')")]
    assert kernel.finish(ids[0]).status == "error"
    for each in ids[1:]:
        cell = kernel.finish(each)
        assert cell.status == "aborted" and cell.text() == ""
    assert kernel.run("print('again')").text() == "again\n"


def test_a_client_may_ask_to_go_on_after_an_error(kernel):
    failing = kernel.client.execute("import time; time.sleep(0.3); 1 / 0", stop_on_error=False)
    following = kernel.client.execute("print('I run')")
    assert kernel.finish(failing).status == "error"
    assert kernel.finish(following).text() == "I run\n"


def test_output_of_threads_belongs_to_the_cell_that_started_them(kernel):
    code = ("import threading\ngo = threading.Event()\n"
            "def late():\n    go.wait()\n    print('from the thread')\n"
            "t = threading.Thread(target=late); t.start()")
    first = kernel.client.execute(code)
    kernel.finish(first)
    second = kernel.client.execute("go.set(); t.join(); print('from the cell')")
    texts = {}
    for _ in range(50):
        message = kernel.client.get_iopub_msg(timeout=60)
        if message["msg_type"] == "stream":
            texts[message["parent_header"]["msg_id"]] = message["content"]["text"]
        if len(texts) == 2:
            break
    assert texts == {first: "from the thread\n", second: "from the cell\n"}
    kernel.reply_to(second)


def test_await_works_at_the_top_level(kernel):
    cell = kernel.run("import asyncio\nawait asyncio.sleep(0.01)\nprint('waited')")
    assert cell.status == "ok" and cell.text() == "waited\n"


def test_tasks_go_on_while_the_kernel_is_idle(kernel):
    message_id = kernel.client.execute(
        "import asyncio\nasync def later():\n    await asyncio.sleep(0.05)\n    print('done')\n"
        "task = asyncio.create_task(later())")
    assert kernel.reply_to(message_id)["content"]["status"] == "ok"
    stream = kernel.await_message("stream")
    assert stream["content"]["text"] == "done\n"
    assert stream["parent_header"]["msg_id"] == message_id


@pytest.mark.skipif(sys.version_info < (3, 11), reason="tasks take a context from Python 3.11 on")
def test_context_variables_last_from_cell_to_cell(kernel):
    kernel.run("import contextvars; var = contextvars.ContextVar('var'); _ = var.set(7)")
    assert kernel.run("print(var.get())").text() == "7\n"


def test_displays_can_be_updated_and_cleared(kernel):
    cell = kernel.run(
        "from IPython.display import display, clear_output, HTML\n"
        "h = display('one', display_id='here'); h.update('two'); clear_output(wait=True)")
    (shown,), (updated,) = cell.contents("display_data"), cell.contents("update_display_data")
    assert shown["transient"] == updated["transient"] == {"display_id": "here"}
    assert updated["data"] == {"text/plain": "'two'"}
    assert cell.contents("clear_output") == [{"wait": True}]


def test_figures_are_shown_inline(kernel):
    cell = kernel.run("%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([1, 2]);")
    assert cell.status == "ok"
    assert any("image/png" in each["data"] for each in cell.contents("display_data"))


def test_the_pager_and_the_next_input_are_payloads(kernel, tmp_path):
    path = tmp_path / "some.py"
    path.write_text("x = 5\n")
    (page,) = kernel.run("zip??").reply["payload"]
    assert page["source"] == "page" and "text/plain" in page["data"]
    (loaded,) = kernel.run(f"%load {path}").reply["payload"]
    assert loaded["source"] == "set_next_input" and loaded["replace"] is True
    assert "x = 5" in loaded["text"]


def test_completions_say_their_kind(kernel):
    kernel.run("import os.path")
    reply = kernel.reply_to(kernel.client.complete("os.pat"))["content"]
    assert "path" in reply["matches"] and (reply["cursor_start"], reply["cursor_end"]) == (3, 6)
    (kind, *_) = reply["metadata"]["_jupyter_types_experimental"]
    assert {"start", "end", "text", "type"} <= kind.keys()
    nothing = kernel.reply_to(kernel.client.complete("zqxj_no_such"))["content"]
    assert nothing["matches"] == []


def test_incomplete_code_says_how_to_indent(kernel):
    reply = kernel.reply_to(kernel.client.is_complete("for i in range(3):"))["content"]
    assert reply == {"status": "incomplete", "indent": "    "}


def test_what_child_processes_and_c_code_print_is_output_of_the_cell(kernel):
    cell = kernel.run(
        "import os, sys, subprocess, ctypes\nprint('first')\nos.system('echo second')\n"
        "print('third')\nsubprocess.run([sys.executable, '-c', 'print(\"f\\u00e4nf\")'])\n"
        "ctypes.CDLL(None).puts(b'from C')\nos.system('echo wrong >&2');")
    assert cell.text() == "first\nsecond\nthird\nf\u00e4nf\nfrom C\n"
    assert cell.text("stderr") == "wrong\n"


def test_what_a_forked_child_prints_is_output_of_the_cell(kernel):
    cell = kernel.run("import os\npid = os.fork()\nif pid == 0:\n    print('child')\n"
                      "    sys = __import__('sys'); sys.stdout.flush(); os._exit(0)\n"
                      "os.waitpid(pid, 0); print('parent')")
    assert cell.text() == "child\nparent\n"


def test_no_line_of_a_flood_is_lost(kernel):
    count = 100_000
    cell = kernel.run(f"for i in range({count}): print(i)")
    assert cell.text() == "".join(f"{i}\n" for i in range(count))
    assert len(cell.messages) < 1000  # gathered, so that clients stay usable


def test_a_flood_waits_for_a_client_that_reads_late(kernel, tmp_path):
    """100 MiB are more than the kernel keeps for a client; it waits, and none of it is lost."""
    late = zmq.Context.instance().socket(zmq.SUB)  # the driver's client takes in what nobody reads
    late.rcvhwm, late.rcvbuf, late.linger = 1, 1 << 16, 0
    late.subscribe(b"")
    late.connect(kernel.client.iopub_channel.socket.last_endpoint.decode())
    assert late.poll(30_000), "it is greeted"
    progress, count = tmp_path / "progress", 1600
    message_id = kernel.client.execute(
        f"import os\nprogress = os.open({str(progress)!r}, os.O_CREAT | os.O_WRONLY)\n"
        f"for i in range({count}):\n"
        "    get_ipython().display_pub.publish({'text/plain': f'{i} ' + 'x' * (1 << 16)})\n"
        "    written = os.write(progress, b'.')")
    wait_until(progress.exists, "the cell has begun", 30)
    sizes = [-1, 0]

    def stands_still():
        sizes.append(progress.stat().st_size)
        return sizes[-1] == sizes[-2] > 0

    wait_until(stands_still, "the cell waits", 20, interval=0.5)  # after 30 s clients are given up
    assert sizes[-1] < count, "nothing waited"
    numbers = []

    def read():
        while len(numbers) < count and late.poll(60_000):
            _, parts = kernel.client.session.feed_identities(late.recv_multipart())
            if json.loads(parts[1])["msg_type"] == "display_data":
                numbers.append(int(json.loads(parts[4])["data"]["text/plain"].split()[0]))
        late.close()

    reader = threading.Thread(target=read)
    reader.start()  # each of the two clients waits for the other
    shown = [each for each in kernel.output_of(message_id) if each["msg_type"] == "display_data"]
    assert len(shown) == count
    assert kernel.reply_to(message_id)["content"]["status"] == "ok"
    reader.join(60)
    assert numbers == list(range(count))


def test_get_ipython_has_the_members_that_libraries_ask_for(kernel):
    cell = kernel.run(
        "ip = get_ipython(); k = ip.kernel\n"
        "print(k.get_parent()['header']['msg_id'], ip.parent_header['header']['msg_type'])\n"
        "print(k.shell is ip, k.user_ns is ip.user_ns, k.comm_manager is not None, bool(k.log))\n"
        "k.send_response(k.iopub_socket, 'stream', {'name': 'stdout', 'text': 'sent'})")
    first, second = cell.text().splitlines()[:2]
    assert first.split()[1] == "execute_request"
    assert first.split()[0] == cell.messages[0]["parent_header"]["msg_id"]
    assert second == "True True True True"
    assert cell.text().endswith("sent")


def test_magics_write_through_the_running_kernel(kernel):
    cell = kernel.run(
        "import polyxeus.kernel\n"
        "def shout(line, cell=None):\n"
        "    core = polyxeus.kernel.current()\n"
        "    core.write('stdout', (line + (cell or '')).upper().encode())\n"
        "    core.publish('display_data', b'{\"data\": {\"text/plain\": \"x\"}, \"metadata\": {}}')\n"
        "get_ipython().register_magic_function(shout, 'line_cell', 'shout')\n"
        "get_ipython().run_line_magic('shout', 'loud')\n"
        "get_ipython().run_cell_magic('shout', '', 'er')")
    assert cell.status == "ok"
    assert cell.text() == "LOUDER"
    assert len(cell.contents("display_data")) == 2


def test_bad_requests_are_answered_and_harm_nothing(kernel):
    client = kernel.client
    for message_type, content, status in (
            ("execute_request", {"code": 5}, "ok"), ("execute_request", {}, "ok"),  # nothing to run
            ("complete_request", {"code": None, "cursor_pos": "x"}, "ok"),
            ("inspect_request", {"code": "zip", "cursor_pos": 99, "detail_level": "high"}, "ok"),
            ("history_request", {"hist_access_type": "tail"}, "error"),
            ("history_request", {}, "error"), ("is_complete_request", {}, "complete"),
            ("comm_info_request", {}, "ok"), ("no_such_request", {}, "error")):
        message = client.session.msg(message_type, content)
        client.shell_channel.send(message)
        reply = kernel.reply_to(message["header"]["msg_id"])["content"]
        assert reply["status"] == status, message_type
    client.shell_channel.send(client.session.msg("comm_msg", {"comm_id": "none", "data": {}}))
    assert kernel.run("print('well')").text() == "well\n"


def test_a_cell_finds_the_shell_of_jupyter(kernel):
    """So notebooks and libraries decide whether they may show more than text."""
    assert kernel.run("print(get_ipython().__class__.__name__)").text() == "ZMQInteractiveShell\n"
