"""The object `get_ipython().kernel` in a kernel."""

from polyxeus.engine import json_text
from polyxeus.engine.kernel import Kernel as EngineKernel
from polyxeus.kernel import core


class FrontEnd:
    """The front end to which polyxeus.results.comms sends the widget messages of engines."""

    def __init__(self, core):
        self._core = core

    def request(self):
        """Returns the request that the kernel is handling now, or that it handled last."""
        return self._core.parent

    def publish(self, request, message_type, content, metadata, buffers):
        self._core.publish(message_type, json_text.dump(content), json_text.dump(metadata),
                           buffers, request)


class Kernel(EngineKernel):
    """The members of ipykernel's kernel that libraries use."""

    implementation = "polyxeus"

    def __init__(self, shell, engine):
        self.front_end = FrontEnd(engine)
        super().__init__(shell, engine)

    def get_parent(self, channel=None):
        """Returns the request to which the running code belongs, as a dictionary."""
        parent = core.parent() or self._engine.parent
        if parent is None:
            return {}
        header = json_text.load(parent.header)
        return {"header": header, "msg_id": parent.message_id, "msg_type": header.get("msg_type"),
                "parent_header": {}, "metadata": json_text.load(parent.metadata),
                "content": json_text.load(parent.content), "buffers": []}

    @property
    def _parent_header(self):
        return self.get_parent()

    @property
    def parent_header(self):
        return self.get_parent().get("header", {})

    @parent_header.setter
    def parent_header(self, value):
        """Does nothing, because the core already has the header of the request."""

    @property
    def execution_count(self):
        return self.shell.execution_count

    @property
    def is_ending(self):
        """Returns whether the kernel must end, because a client has requested the end or the
        Jupyter server ends."""
        return self._engine.is_ending

    def send_response(self, stream, msg_or_type, content=None, ident=None, buffers=None,
                      track=False, header=None, metadata=None, channel=None):
        """Publishes a message. `stream` and other arguments about sockets are ignored."""
        self._engine.publish(msg_or_type, json_text.dump(content or {}),
                             json_text.dump(metadata or {}), list(buffers or []))

    def raw_input(self, prompt=""):
        return self.shell.raw_input(prompt)

    def getpass(self, prompt="", stream=None):
        return self.shell.getpass(prompt)
