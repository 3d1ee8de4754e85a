"""Kernels as Jupyter starts them: the real process, driven by jupyter_client."""

import os
import subprocess
import sys
import time
from queue import Empty

import pytest

from jupyter_kernels import start_kernel

PATIENCE = 60


@pytest.fixture(scope="session", autouse=True)
def jupyter_home(tmp_path_factory):
    """All that Jupyter and IPython write goes to a folder of the tests, this kernel's spec too."""
    home = tmp_path_factory.mktemp("jupyter")
    settings = {"HOME": home, "IPYTHONDIR": home / "ipython", "JUPYTER_DATA_DIR": home / "data",
                "JUPYTER_RUNTIME_DIR": home / "runtime", "JUPYTER_CONFIG_DIR": home / "config"}
    before = dict(os.environ)
    os.environ.update({name: str(value) for name, value in settings.items()})
    subprocess.run([sys.executable, "-m", "polyxeus.kernel", "install", "--user"], check=True,
                   timeout=PATIENCE)
    yield home
    os.environ.clear()
    os.environ.update(before)


class Cell:
    """What came of one cell."""

    def __init__(self, reply, messages):
        self.reply = reply["content"]
        self.messages = messages

    @property
    def status(self):
        return self.reply["status"]

    def contents(self, message_type):
        return [each["content"] for each in self.messages if each["msg_type"] == message_type]

    def text(self, stream="stdout"):
        return "".join(each["text"] for each in self.contents("stream") if each["name"] == stream)


class Driver:
    """A client of one kernel."""

    def __init__(self, manager, client):
        self.manager = manager
        self.client = client

    def reply_to(self, message_id, channel="shell"):
        get = getattr(self.client, f"get_{channel}_msg")
        deadline = time.monotonic() + PATIENCE
        while True:
            reply = get(timeout=max(0.1, deadline - time.monotonic()))
            if reply["parent_header"].get("msg_id") == message_id:
                return reply

    def output_of(self, message_id, until=lambda message: False):
        """The messages that belong to a request, up to its end."""
        found = []
        while True:
            message = self.client.get_iopub_msg(timeout=PATIENCE)
            if message["parent_header"].get("msg_id") != message_id:
                continue
            found.append(message)
            if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
                return found
            if until(message):
                return found

    def finish(self, message_id):
        return Cell(self.reply_to(message_id), self.output_of(message_id))

    def run(self, code, **options):
        return self.finish(self.client.execute(code, **options))

    def await_text(self, message_id, text):
        """Waits until the cell has printed `text`."""
        self.output_of(message_id, lambda each: text in each["content"].get("text", ""))

    def await_message(self, message_type):
        """The next publication of this type, whatever it belongs to."""
        while True:
            message = self.client.get_iopub_msg(timeout=PATIENCE)
            if message["msg_type"] == message_type:
                return message

    def ask_control(self, message_type, content):
        message = self.client.session.msg(message_type, content)
        self.client.control_channel.send(message)
        return self.reply_to(message["header"]["msg_id"], "control")["content"]

    def forget(self):
        for channel in (self.client.shell_channel, self.client.iopub_channel):
            while True:
                try:
                    channel.get_msg(timeout=0)
                except Empty:
                    break

    def close(self, now=True):
        """Ends the kernel: kills it, or asks it to end."""
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=now)


def start_driver(kernel_name="pxpython", **options):
    return Driver(*start_kernel(kernel_name, PATIENCE, **options))


@pytest.fixture(scope="module")
def _shared(jupyter_home):
    driver = start_driver()
    yield driver
    driver.close()


@pytest.fixture
def kernel(_shared):
    """A kernel that the tests of a file share."""
    _shared.forget()
    return _shared


@pytest.fixture
def own_kernel(jupyter_home):
    """A kernel for tests that end or change it."""
    driver = start_driver()
    yield driver
    driver.close()
