"""The object `get_ipython().kernel` in an engine."""

import logging

from polyxeus.engine import json_text


class Kernel:
    """The few members of ipykernel's kernel that libraries use."""

    def __init__(self, shell, engine):
        self.shell = shell
        self.ident = engine.uuid
        self._engine = engine
        self.engine_id = -1
        self.log = logging.getLogger("polyxeus")
        self.iopub_socket = None

    @property
    def int_id(self):
        return self.engine_id

    @property
    def user_ns(self):
        return self.shell.user_ns

    @property
    def comm_manager(self):
        import comm

        return comm.get_comm_manager()

    def get_parent(self, channel=None):
        """Returns the header of the request that is running now, or that ran last."""
        return {"header": self.parent_header}

    @property
    def parent_header(self):
        header = self._engine.request_header
        return {} if header is None else json_text.load(header)

    @parent_header.setter
    def parent_header(self, value):
        """Does nothing, because the core already has the header of the request."""

    def get_engine_info(self, method=None):
        info = {"engine_uuid": self.ident, "engine_id": self.engine_id}
        if method:
            info["method"] = method
        return info
