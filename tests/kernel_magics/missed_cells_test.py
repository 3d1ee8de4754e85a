"""%pxmissed: a kernel shows, and follows, cells that an earlier kernel of the notebook has begun."""

import signal
import sys
from pathlib import Path

import pytest
from conftest import PATIENCE, Notebook, plain

sys.path.insert(0, str(Path(__file__).parent.parent / "system"))

import programs  # noqa: E402
from running_cluster import RunningCluster  # noqa: E402

CELL = """\
print('begun')
from IPython.display import display
display({{'image/png': 'AAAA', 'text/plain': f'figure {{number}}'}}, raw=True)
import pathlib, time
while not pathlib.Path({flag!r}).exists(): time.sleep(0.01)
print('finished')
display({{'text/html': f'<b>{{number}}</b>', 'text/plain': f'table {{number}}'}}, raw=True)
if number == 2: 1 / 0
6 * 7"""


class Story:
    """A notebook whose first kernel has begun a cell that waits for a file.

    first  a line to run in each kernel
    """

    def __init__(self, kernel_name, folder, first="pass"):
        self.flag = folder / "go"
        self.first = first
        self.kernel = Notebook(kernel_name, JPY_SESSION_NAME=str(folder / "story of ranks.ipynb"))
        self.kernel.ok(first)
        self.kernel.ok("view.scatter('number', rc.ids, flatten=True).get()")
        self.kernel.ok("%pxmode all")
        running, messages = self.kernel.begin(CELL.format(flag=str(self.flag))), []
        self.kernel.await_text(running, messages, "[0-3] begun")
        self.number = next(each["content"]["execution_count"] for each in messages
                           if each["msg_type"] == "execute_input")

    def restart(self, is_killed):
        """A new kernel, as Jupyter starts it."""
        kernel = self.kernel
        if is_killed:  # Jupyter's own way interrupts the cell first, and asks the kernel to end
            kernel.manager.signal_kernel(signal.SIGKILL)
        kernel.manager.restart_kernel(now=is_killed)
        kernel.client.stop_channels()
        kernel.client = kernel.manager.client()
        kernel.client.start_channels()
        kernel.client.wait_for_ready(timeout=PATIENCE)
        if kernel.name == "ipykernel":
            kernel.ok("%load_ext polyxeus")
        kernel.ok(self.first)

    def follow(self):
        """What %pxmissed shows, from the text before the file is there to the end."""
        kernel = self.kernel
        assert kernel.text("%pxmissed") == f"[{self.number}] print('begun')    `%pxmissed {self.number}` shows its output\n"
        running, messages = kernel.begin(f"%pxmissed {self.number}"), []
        kernel.await_text(running, messages, "[0-3] begun")
        self.flag.touch()
        return kernel.end(running, messages)

    def assert_shows_all(self, cell):
        assert cell.text().splitlines() == ["[0-3] begun", "[0-3] finished"]
        shown = [plain(each["data"].get("text/plain", "")) for each in cell.screen]
        text = "\n".join([*shown, plain(cell.text("stderr"))])
        for number in range(4):
            assert f"figure {number}" in text and f"table {number}" in text, text
        assert "42" in text and cell.status == "error" and "division by zero" in f"{text}{cell.messages}"


@pytest.fixture
def story(kernel_name, cluster, tmp_path):
    story = Story(kernel_name, tmp_path)
    yield story
    story.flag.touch()
    story.kernel.close()


@pytest.mark.parametrize("is_killed", [False, True], ids=["restarted", "killed"])
def test_a_cell_goes_on_streaming_after_its_kernel_was(is_killed, story):
    story.restart(is_killed)
    story.assert_shows_all(story.follow())
    assert "no cell of an earlier kernel" in story.kernel.text("%pxmissed")
    assert "no cell with the number 999 is recorded" in story.kernel.fails("%pxmissed 999").error


def test_a_cell_is_followed_although_its_kernel_and_the_controller_were_killed(stage, tmp_path):
    cluster = RunningCluster(stage, profile="killed")
    cluster.start_controller("--reuse")
    cluster.start_engines(4)
    cluster.client(engines=4)
    programs.wait_until((cluster.profile_dir / "log" / "engines.json").exists, "the engine table is on disk")
    story = Story("ipykernel", tmp_path, first="%pxconfig --profile=killed")
    try:
        cluster.close_clients()
        cluster.controller.signal(signal.SIGKILL)
        cluster.controller.wait(PATIENCE)
        cluster.start_controller("--restore")
        cluster.client(engines=4)
        story.restart(is_killed=True)
        story.assert_shows_all(story.follow())
    finally:
        story.flag.touch()
        story.kernel.close()
        cluster.stop()
