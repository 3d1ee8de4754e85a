"""What code in an engine finds as `get_ipython().kernel`."""

import logging


class Kernel:
    """The few members of ipykernel's kernel that libraries ask for."""

    def __init__(self, shell, uuid):
        self.shell = shell
        self.ident = uuid
        self.engine_id = -1
        self.log = logging.getLogger("polyxeus")
        self.parent_header = {}
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
        return {"header": self.parent_header}

    def get_engine_info(self, method=None):
        info = {"engine_uuid": self.ident, "engine_id": self.engine_id}
        if method:
            info["method"] = method
        return info
