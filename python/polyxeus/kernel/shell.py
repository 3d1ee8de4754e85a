"""The shell of a kernel: the shell of an engine, with additions for an interactive user."""

import os

from traitlets import Instance, default

from polyxeus.engine import forked
from polyxeus.engine.shell import InteractiveShell, Shell, name_as_jupyter_does

from IPython.core import page
from IPython.core.autocall import ZMQExitAutocall


@name_as_jupyter_does
class KernelShell(Shell):
    """IPython's shell for a Jupyter client."""

    keepkernel_on_exit = False
    exiter = Instance(ZMQExitAutocall)  # `exit` and `quit`

    @default("exiter")
    def _default_exiter(self):
        return ZMQExitAutocall(self)

    init_history = InteractiveShell.init_history  # the user's own history

    def init_environment(self):
        """Sets the environment so that child processes use colours but no pager, because a pager would wait for a
        key."""
        os.environ.update(TERM="xterm-color", CLICOLOR="1", FORCE_COLOR="1", CLICOLOR_FORCE="1",
                          PAGER="cat", GIT_PAGER="cat")

    def init_hooks(self):
        super().init_hooks()
        self.set_hook("show_in_pager", page.as_hook(self._show_page), 99)

    # ------------------------------------------------------------ requests to the client

    def _show_page(self, text, start=0, screen_lines=0, pager_cmd=None):
        data = text if isinstance(text, dict) else {"text/plain": text}
        self.payload_manager.write_payload(
            {"source": "page", "data": data, "start": max(0, start)})

    def set_next_input(self, text, replace=False):
        self.payload_manager.write_payload(
            {"source": "set_next_input", "text": text, "replace": replace})

    def ask_exit(self):
        forked.end_child()
        keeps_kernel = bool(self.keepkernel_on_exit)
        self.payload_manager.write_payload({"source": "ask_exit", "keepkernel": keeps_kernel})
        if not keeps_kernel:
            self.engine.stop()

    # ------------------------------------------------------------ the parent of output

    @property
    def parent_header(self):
        return self.kernel.get_parent()

    def get_parent(self):
        return self.kernel.get_parent()

    def set_parent(self, parent):
        """Does nothing, because the core already has the header of the request."""
