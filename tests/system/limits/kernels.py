"""A kernel that a test starts by hand, with an environment or a limit of its own."""

import time
from queue import Empty

import programs
from jupyter_client import BlockingKernelClient, write_connection_file
from programs import PATIENCE

KERNEL = programs.command_of("PX_KERNEL", "pxkernel")


class Kernel:
    """A running pxkernel and its client; `before` are words before those of the command."""

    def __init__(self, stage, before=(), **environment):
        self.file = str(stage.folder / f"kernel-{len(stage.programs)}.json")
        write_connection_file(self.file)
        self.program = stage.start([*before, *KERNEL, "-f", self.file], "kernel", **environment)
        self.client = BlockingKernelClient(connection_file=self.file)
        self.client.load_connection_file()
        self.client.start_channels()

    def __enter__(self):
        self.wait_for_ready()
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        """Its exit code."""
        self.client.stop_channels()
        return self.program.stop()

    def is_ready(self, patience):
        """Whether it answers within this time; False also where it has ended."""
        end = time.monotonic() + patience
        while self.program.is_running() and time.monotonic() < end:
            try:
                self.client.kernel_info(reply=True, timeout=1)
                return True
            except (Empty, TimeoutError):
                pass
        return False

    def wait_for_ready(self):
        assert self.is_ready(PATIENCE), self.program.output()

    def execute(self, code):
        """What a cell prints."""
        text = []

        def take(message):
            if message["msg_type"] == "stream":
                text.append(message["content"]["text"])

        reply = self.client.execute_interactive(code, output_hook=take, timeout=PATIENCE)
        assert reply["content"]["status"] == "ok", reply["content"]
        return "".join(text)
