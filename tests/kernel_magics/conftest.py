"""Notebooks in miniature: a real kernel, plain ipykernel or pxkernel, on a real cluster of four."""

import os
import subprocess
import sys
import time
from pathlib import Path
from queue import Empty

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "system"))

import programs  # noqa: E402
from jupyter_kernels import start_kernel  # noqa: E402
from running_cluster import RunningCluster  # noqa: E402

import jupyter_client  # noqa: E402

PATIENCE = 60
RANKS = "application/vnd.polyxeus.ranks+json"
KERNELS = {"ipykernel": "python3", "pxkernel": "pxpython"}


@pytest.fixture(scope="session")
def stage(tmp_path_factory):
    """A folder for all that Jupyter, IPython and the clusters write; nothing outlives it."""
    stage = programs.Stage(tmp_path_factory.mktemp("magics"))
    before = dict(os.environ)
    environment = stage.environment()
    for name in ("data", "runtime", "config"):
        environment[f"JUPYTER_{name.upper()}_DIR"] = str(stage.folder / name)
    os.environ.update(environment)
    subprocess.run([sys.executable, "-m", "polyxeus.kernel", "install", "--user"], check=True,
                   timeout=PATIENCE, capture_output=True)
    yield stage
    os.environ.clear()
    os.environ.update(before)
    left_behind = stage.close()
    assert not left_behind, "processes outlived their cluster:\n" + "\n".join(left_behind)


class Cell:
    """What came of one cell: its reply and its output."""

    def __init__(self, reply, messages):
        self.reply = reply["content"]
        self.messages = messages

    @property
    def status(self):
        return self.reply["status"]

    @property
    def error(self):
        return f"{self.reply.get('ename')}: {self.reply.get('evalue')}"

    def contents(self, message_type):
        """What the cell shows of this type; the boxes of the ranks, which are no output, are apart."""
        return [each["content"] for each in self.messages
                if each["msg_type"] == message_type and RANKS not in each["content"].get("data", {})]

    @property
    def ranks(self):
        """What the boxes of the ranks said."""
        shown = [each["content"] for each in self.messages if each["msg_type"] == "update_display_data"]
        return [each["data"][RANKS] for each in shown if RANKS in each["data"]]

    def text(self, stream="stdout"):
        return "".join(each["text"] for each in self.contents("stream") if each["name"] == stream)

    @property
    def displays(self):
        """The plain text of each display, progress bars apart."""
        texts = [each["data"].get("text/plain", "") for each in self.contents("display_data")]
        return [plain(text) for text in texts if "engines done" not in text]

    @property
    def screen(self):
        """The content of each display as it was updated last, of those that show something."""
        shown = {}
        for kind in ("display_data", "update_display_data"):
            for each in self.contents(kind):
                shown[each["transient"].get("display_id", str(len(shown)))] = each
        return [each for each in shown.values() if each["data"]]

    @property
    def bars(self):
        """The states of the progress bar."""
        shown = self.contents("display_data") + self.contents("update_display_data")
        return [each["data"].get("text/plain", "") for each in shown
                if each["transient"].get("display_id", "").startswith("progress-")]


def plain(text):
    """Text without colours."""
    import re

    return re.sub(r"\x1b\[[0-9;]*m", "", text)


class Notebook:
    """A client of one kernel."""

    def __init__(self, name, *, has_magics=True, folder=None, **environment):
        self.name = name
        self.manager, self.client = start_kernel(KERNELS[name], PATIENCE, cwd=folder, env={**os.environ, **environment})
        if name == "ipykernel" and has_magics:
            self.ok("%load_ext polyxeus")

    def close(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)
        self.manager.cleanup_resources()

    def begin(self, code):
        """Sends a cell; gives its id."""
        return self.client.execute(code, allow_stdin=False)

    def end(self, message_id, seen=()):
        """Waits for the end of a cell."""
        messages = list(seen)
        self.await_message(message_id, messages, lambda message: (
            message["msg_type"] == "status" and message["content"]["execution_state"] == "idle"))
        while True:
            reply = self.client.get_shell_msg(timeout=PATIENCE)
            if reply["parent_header"].get("msg_id") == message_id:
                return Cell(reply, messages)

    def published(self, seen):
        """Each message that the kernel publishes, as it comes; for so long as PATIENCE.

        seen  what is told where it takes longer.
        """
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                yield self.client.get_iopub_msg(timeout=1)
            except Empty:
                assert time.monotonic() < deadline, f"not in time; until then: {seen}"

    def await_message(self, message_id, messages, is_it):
        for message in self.published(messages):
            if message["parent_header"].get("msg_id") == message_id:
                messages.append(message)
                if is_it(message):
                    return

    def await_text(self, message_id, messages, text):
        """Waits until the streams of a cell hold a text."""
        said = ""

        def is_it(message):
            nonlocal said
            said += message["content"].get("text", "") if message["msg_type"] == "stream" else ""
            return text in said

        self.await_message(message_id, messages, is_it)

    def run(self, code):
        return self.end(self.begin(code))

    def ok(self, code):
        """Runs a cell that has to go well."""
        cell = self.run(code)
        assert cell.status == "ok", f"{cell.error}\n{cell.text()}\n{cell.text('stderr')}"
        return cell

    def text(self, code):
        """What a cell prints that has to go well."""
        return self.ok(code).text()

    def fails(self, code):
        cell = self.run(code)
        assert cell.status == "error", cell.text()
        return cell

    def interrupt(self):
        self.manager.interrupt_kernel()


@pytest.fixture(scope="session")
def cluster(stage):
    """Four engines without MPI, in the default profile."""
    cluster = RunningCluster(stage)
    cluster.start_controller()
    cluster.start_engines(4)
    cluster.client(engines=4)
    cluster.close_clients()
    return cluster


@pytest.fixture(scope="session", params=list(KERNELS))
def kernel_name(request, stage):
    return request.param


@pytest.fixture(scope="module")
def shared_notebook(kernel_name, cluster):
    notebook = Notebook(kernel_name)
    yield notebook
    notebook.close()


@pytest.fixture
def notebook(shared_notebook):
    """A kernel with a cluster, its settings as at the start."""
    shared_notebook.ok("%pxconfig -t all --block --stream --no-verbose --fold --progress-after 2 "
                       "--ranks-after 1 --signal-on-interrupt SIGINT")
    return shared_notebook


@pytest.fixture
def lonely_notebook(kernel_name, stage, tmp_path):
    """A kernel without a cluster."""
    notebook = Notebook(kernel_name, IPYTHONDIR=str(tmp_path))
    yield notebook
    notebook.close()
