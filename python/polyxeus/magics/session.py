"""The connection that the magics of a shell share, and the names `rc` and `view`."""

import os
import re

from polyxeus import _client

__all__ = ["Session"]

_NAMES = re.compile(r"\b(rc|view)\b")
_START = "start one with `%pxcluster start -n 4`"


class NoCluster(OSError):
    """No cluster runs; says how to start one."""


class Session:
    """Connects when that is needed first, and again when the cluster is another one."""

    def __init__(self, shell):
        self.shell = shell
        self.profile = ""
        self.cluster_id = None
        self.known_view = None  # the view of all engines, once it was needed
        self._client = None
        self._is_ours = False

    # ------------------------------------------------------------ connecting

    def view(self, magics):
        """The view of all engines; connects where there is none, or where the cluster has ended."""
        if self.known_view is None or self._client._closed:
            client = self.client()
            view = client.direct_view("all")
            view.targets, view.block = magics.targets, magics.block
            self.known_view = view
            self._define()
        return self.known_view

    def client(self):
        """The open client: that of the user's `rc`, else one of our own."""
        if self._client is not None and not self._client._closed:
            return self._client
        self._forget()
        from polyxeus.client.client import Client

        users = self.shell.user_ns.get("rc")
        if isinstance(users, Client) and not users._closed and not self._has_choice():
            self._client, self._is_ours = users, False
        else:
            self._client, self._is_ours = self._connect(Client), True
        return self._client

    def _has_choice(self):
        return bool(self.profile) or self.cluster_id is not None

    def _path(self):
        return _client.client_file(profile=self.profile, cluster_id=self.cluster_id)

    def _connect(self, make):
        path = self._path()
        if not os.path.exists(path):
            which = f" of profile '{self.profile}'" if self.profile else ""
            which += f" with the id '{self.cluster_id}'" if self.cluster_id else ""
            raise NoCluster(f"no cluster{which} is running: {_START}")
        try:
            return make(path, timeout=5)
        except ConnectionError:
            raise NoCluster(
                f"the cluster of {path} has ended or is unreachable: {_START}"
            ) from None

    def choose(self, profile, cluster_id):
        """Another cluster from now on."""
        if profile is not None:
            self.profile = profile
        if cluster_id is not None:
            self.cluster_id = cluster_id
        self.close()

    def close(self):
        if self._is_ours and self._client is not None:
            self._client.close()
        self._forget()

    # ------------------------------------------------------------ rc and view

    def before_cell(self, code, magics):
        """Defines `rc` and `view`, as %pxconfig has set it, where a cell names them, nobody has
        defined them, and a cluster runs."""
        variables = self.shell.user_ns
        missing = {name for name in _NAMES.findall(code) if self._is_free(name)}
        if not missing or not variables or not os.path.exists(self._path()):
            return
        try:
            self.view(magics)
        except Exception:
            return  # the cell itself says that a name is not defined

    def _is_free(self, name):
        """Whether nobody has defined it, or we have and the cluster has ended."""
        if name not in self.shell.user_ns:
            return True
        value = self.shell.user_ns[name]
        ours = {"rc": self._client, "view": self.known_view}[name]
        return ours is not None and value is ours and self._client._closed

    def _define(self):
        for name, value in (("rc", self._client), ("view", self.known_view)):
            self.shell.user_ns.setdefault(name, value)

    def _forget(self):
        variables = self.shell.user_ns
        for name, value in (("rc", self._client), ("view", self.known_view)):
            if self._is_ours and value is not None and variables.get(name) is value:
                del variables[name]
        self._client = self.known_view = None

    # ------------------------------------------------------------ pxcluster

    def run_cluster_command(self, program, line, output):
        """The exit status of `pxcluster <line>`."""
        words = _client.split_words(line)
        command = _client.cluster_command(program, words, self.profile, self.cluster_id or "", "python")
        status = _client.run_program(command, output)
        if status == 0 and words[:1] == ["stop"]:
            self.close()
        if status == 0 and words[:1] == ["restart"] and self._client is not None:
            self._client._catch_up()
        return status
