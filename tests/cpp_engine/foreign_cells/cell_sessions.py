"""Where the cells of others run: in the kernel as Jupyter starts it, or on engines of a cluster."""

import time
from dataclasses import dataclass
from queue import Empty

PATIENCE = 60  # seconds that one cell may take


@dataclass
class Ran:
    """What came of one cell."""

    error: str = ""  # "" where it succeeded
    printed: str = ""
    is_lost: bool = False  # the session does not answer any more


class KernelSession:
    """A C++ kernel, anew for each file."""

    def __init__(self):
        self.client = None

    def begin(self, folder):
        from jupyter_client.manager import start_new_kernel

        self.close()
        self.manager, self.client = start_new_kernel(
            kernel_name="pxcpp", startup_timeout=PATIENCE, cwd=folder
        )

    def run(self, code):
        message = self.client.execute(code)
        printed, deadline = [], time.monotonic() + PATIENCE
        while True:
            try:
                answer = self.client.get_iopub_msg(timeout=1)
            except Empty:
                if self.client.stdin_channel.msg_ready():  # the cell reads what its user types
                    self.client.get_stdin_msg(timeout=1)
                    self.client.input("42")
                if not self.manager.is_alive():
                    return Ran("the kernel died", "".join(printed), is_lost=True)
                if time.monotonic() > deadline:
                    return Ran(f"hangs for more than {PATIENCE} s", "".join(printed), is_lost=True)
                continue
            if answer["parent_header"].get("msg_id") != message:
                continue
            content = answer["content"]
            if answer["msg_type"] == "status" and content["execution_state"] == "idle":
                break
            printed.append(_text_of(answer["msg_type"], content))
        return Ran(self._error_in_reply(message), "".join(printed))

    def _error_in_reply(self, message):
        while True:
            reply = self.client.get_shell_msg(timeout=PATIENCE)
            if reply["parent_header"].get("msg_id") == message:
                content = reply["content"]
                return "" if content["status"] == "ok" else f"{content.get('ename')}: {content.get('evalue')}"

    def close(self):
        if self.client:
            self.client.stop_channels()
            self.manager.shutdown_kernel(now=True)
            self.client = None


def _text_of(message_type, content):
    if message_type == "error":
        return f"error: {content['ename']}: {content['evalue']}\n"
    if message_type == "execute_result":
        return content["data"].get("text/plain", "") + "\n"
    return content.get("text", "") if message_type == "stream" else ""


class EnginesSession:
    """Four ranks of one MPI job; they forget everything before each file."""

    def __init__(self, engines=4):
        import polyxeus

        self.cluster = polyxeus.Cluster(n=engines, engines="mpi", language="cpp", profile="foreign",
                                        cluster_id="")  # fmt: skip
        self.client = self.cluster.start_and_connect_sync()
        self.client.wait_for_engines(engines, timeout=PATIENCE)
        self.view = self.client[:]

    def begin(self, folder):
        self.client.clear(block=True)
        self.run(f'#include <unistd.h>\n::chdir("{folder}");')

    def run(self, code):
        result = self.view.execute(code, silent=False, block=False)
        result.wait(PATIENCE)
        if not result.ready():
            return Ran(f"hangs for more than {PATIENCE} s", is_lost=True)
        result.wait_for_output(PATIENCE)
        outcomes = result.get(return_exceptions=True)
        errors = sorted({f"{each.ename}: {each.evalue}" if isinstance(each, Exception) else ""
                         for each in outcomes})  # fmt: skip
        texts = [out + err + _shown(each) for out, err, each in zip(result.stdout, result.stderr, result.metadata)]
        if len(errors) > 1:
            return Ran(f"the ranks differ: {errors}", texts[0])
        return Ran(errors[0], texts[0] + (f"error: {errors[0]}\n" if errors[0] else ""))

    def close(self):
        self.client.close()
        self.cluster.stop_cluster_sync()


def _shown(metadata):
    return _text_of("execute_result", metadata["execute_result"]) if metadata["execute_result"] else ""
