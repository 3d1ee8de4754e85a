"""The stop button, by signal and by message, and everything else that passes running code."""

import os
import signal

import pytest

BUSY = {
    "a sleep": "print('go'); import time; time.sleep(3600)",
    "a loop": "print('go')\nwhile True: pass",
    "an await": "print('go'); import asyncio; await asyncio.sleep(3600)",
    "a lock": "print('go'); import threading; threading.Event().wait()",
    "a child process": "print('go'); import subprocess; subprocess.run(['sleep', '3600'])",
}


def by_signal(kernel):
    kernel.manager.interrupt_kernel()


def by_message(kernel):
    assert kernel.ask_control("interrupt_request", {}) == {"status": "ok"}


@pytest.mark.parametrize("interrupt", [by_signal, by_message])
@pytest.mark.parametrize("what", BUSY)
def test_an_interrupt_stops_the_cell_and_keeps_the_kernel(kernel, interrupt, what):
    kernel.run("kept = 42")
    message_id = kernel.client.execute(BUSY[what])
    kernel.await_text(message_id, "go")
    interrupt(kernel)
    cell = kernel.finish(message_id)
    assert cell.reply["ename"] == "KeyboardInterrupt"
    assert kernel.run("print(kept)").text() == "42\n"


def test_an_interrupt_of_an_idle_kernel_does_not_hit_the_next_cell(kernel):
    for _ in range(5):
        os.kill(kernel.manager.provisioner.pid, signal.SIGINT)
        by_message(kernel)
        assert kernel.run("print('runs')").text() == "runs\n"


def test_the_control_channel_is_answered_while_a_cell_runs(kernel):
    message_id = kernel.client.execute("print('go'); import time; time.sleep(3600)")
    kernel.await_text(message_id, "go")
    assert kernel.ask_control("kernel_info_request", {})["implementation"] == "polyxeus"
    usage = kernel.ask_control("usage_request", {})
    assert usage["pid"] == kernel.manager.provisioner.pid
    refusal = kernel.ask_control("debug_request", {"type": "request", "command": "attach", "seq": 1})
    assert refusal["success"] is False
    by_message(kernel)
    assert kernel.finish(message_id).reply["ename"] == "KeyboardInterrupt"


def test_output_arrives_while_the_cell_still_runs(kernel):
    message_id = kernel.client.execute("print('early'); import time; time.sleep(3600)")
    kernel.await_text(message_id, "early")
    by_signal(kernel)
    assert kernel.finish(message_id).reply["ename"] == "KeyboardInterrupt", "it ran no longer"


def test_users_may_handle_the_signal_themselves(own_kernel):
    own_kernel.run("import signal, time\ncaught = []\n"
                   "_ = signal.signal(signal.SIGINT, lambda *_: caught.append(1))")
    message_id = own_kernel.client.execute(
        "print('go')\nwhile not caught: time.sleep(0.01)\nprint('caught')")
    own_kernel.await_text(message_id, "go")
    by_signal(own_kernel)
    assert own_kernel.finish(message_id).text() == "caught\n"
