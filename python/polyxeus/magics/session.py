"""The connection that the magics of a shell share, and the names `rc` and `view`."""

import os
import re

from IPython.core.error import UsageError

from polyxeus import _client
from polyxeus.magics.cell_mode import CellMode
from polyxeus.magics.cell_records import records_of_notebook

__all__ = ["NoCluster", "Session"]

_NAMES = re.compile(r"\b(rc|view)\b")
_NAMES_A_CLUSTER = re.compile(r"--(all|profile|profile-dir|ipython-dir|cluster-id)(=.*)?\Z", re.S)
# The commands of pxcluster that concern one running cluster, and the commands that end processes.
_OF_A_CLUSTER = {
    "checkpoint", "dashboard", "engines", "events", "jobs", "logs", "px", "pull", "push", "restart", "stacks", "status",
    "stop", "top", "trace", "where"
}  # fmt: skip
_ENDING = {"restart", "stop"}
_START = "start one with `%pxcluster start -n 4`"


class NoCluster(OSError):
    """No cluster is running. The text of the exception says how to start a cluster."""


class Session:
    """The connection of the magics to a cluster. The connection is made at the first use, and again
    when the user chooses another cluster.

    The magics use the client to which the user's variable `rc` currently refers. If the user assigns another client to
    `rc`, the magics use that client. If there is no `rc`, they use the client of the user's `view`, or else the client
    that they used before. If they find no client, they make one.
    """

    def __init__(self, shell):
        self.shell = shell
        self.mode = CellMode()
        self.records = records_of_notebook()
        self.profile = ""
        self.cluster_id = None
        self.known_view = None  # the view of all engines of the client; None before it is needed
        self._client = None
        self._is_ours = False
        self._defined = {}  # the values of `rc` and `view` that the magics have set
        self._passed_over = []  # the user's clients that were replaced when %pxconfig named another cluster
        self._started = set()  # the connection files of the clusters that this notebook has started

    def request(self):
        """Returns the request that the kernel is handling: {"header": ..., "content": ...,
        "metadata": ...}. In a terminal, the dict is empty."""
        get_parent = getattr(getattr(self.shell, "kernel", None), "get_parent", None)
        return (get_parent and get_parent()) or {}

    # ------------------------------------------------------------ connecting

    def view(self, magics):
        """Returns the view of all engines of the client. If there is no client, connects to the
        cluster."""
        client = self.client()
        if self.known_view is None:
            view = client.direct_view("all")
            view.targets = magics.targets
            view.block = None if magics.block else False
            self.known_view = view
            self._define()
        return self.known_view

    def client(self):
        """Returns the open client of the magics. If there is no open client, connects to the
        cluster."""
        client = self._open_client()
        if client is None:
            from polyxeus.client.client import Client

            self._forget()
            self._client, self._is_ours = self._connect(Client), True
        elif client is not self._client:
            self._forget()
            self._client, self._is_ours = client, False
        return self._client

    def adopt(self, client):
        """Uses this client until the user defines a variable `rc`."""
        self._forget()
        self._client, self._is_ours = client, False

    @property
    def open_view(self):
        """Returns the view of all engines if the magics already have an open client, else None."""
        return self.known_view if self._open_client() is self._client else None

    def _open_client(self):
        """Returns the open client that the magics use next; None if there is no such client."""
        for client in [*self._users_clients(), self._client]:
            if client is not None and not client._closed:
                return client
        return None

    def _users_clients(self):
        """Returns the clients of the user's `rc` and of the user's `view`."""
        from polyxeus.client.client import Client

        names = self.shell.user_ns or {}
        rc, view = (
            None if names.get(name) is self._defined.get(name) else names.get(name)
            for name in ("rc", "view")
        )
        found = [rc, getattr(view, "client", None)]
        return [
            each for each in found
            if isinstance(each, Client) and not any(each is passed for passed in self._passed_over)
        ]  # fmt: skip

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
        """Selects the cluster that the magics use from now on."""
        if profile is not None:
            self.profile = profile
        if cluster_id is not None:
            self.cluster_id = cluster_id
        self._passed_over += self._users_clients()
        self.close()

    def close(self):
        if self._is_ours and self._client is not None:
            self._client.close()
        self._forget()

    # ------------------------------------------------------------ rc and view

    def before_cell(self, code, magics):
        """Defines `rc` and `view`, with the settings of %pxconfig, if the cell uses one of these names and the name is
        not defined. If no cluster is running, the method does nothing."""
        missing = {name for name in _NAMES.findall(code) if self._is_free(name)}
        if not missing or not self.shell.user_ns:
            return
        if self._open_client() is None and not os.path.exists(self._path()):
            return
        try:
            self.view(magics)
        except Exception:
            return  # the cell then raises a NameError

    def _is_free(self, name):
        """Returns whether the name is not defined, or was defined by the magics for a client that they no longer
        use."""
        if name not in self.shell.user_ns:
            return True
        is_ours = self.shell.user_ns[name] is self._defined.get(name)
        return is_ours and self._open_client() is not self._client

    def _define(self):
        for name, value in (("rc", self._client), ("view", self.known_view)):
            if name not in self.shell.user_ns:
                self.shell.user_ns[name] = self._defined[name] = value

    def _forget(self):
        variables = self.shell.user_ns
        for name, value in self._defined.items():
            if variables.get(name) is value:
                del variables[name]
        self._defined = {}
        self._client = self.known_view = None

    # ------------------------------------------------------------ pxcluster

    def run_cluster_command(self, program, line, output):
        """Runs `pxcluster <line>` and returns the exit status. If the line names no cluster, the command applies to the
        cluster of the notebook.

        errors  UsageError: the command would end a cluster that the line does not name and that this notebook has not
                used
        """
        words = _client.split_words(line)
        command = words[0] if words else ""
        client = self._open_client()
        is_named = _name_a_cluster(words)
        profile, cluster_id = self.profile, self.cluster_id or ""
        if client is not None and not is_named and command in _OF_A_CLUSTER:
            place = words.index("--") if "--" in words else len(words)
            words[place:place] = _options_of(client)
            profile = cluster_id = ""
        command_words = _client.cluster_command(program, words, profile, cluster_id, "python")
        file = _connection_file(command_words)
        is_used = client is not None or self._has_choice() or file in self._started
        if command in _ENDING and not (is_named or is_used) and os.path.exists(file):
            raise UsageError(_refusal(command, file))
        status = _client.run_program(command_words, output)
        if status:
            return status
        is_of_client = client is not None and os.path.realpath(client._where) == os.path.realpath(file)
        if command == "start":
            self._started.add(file)
        if command == "stop" and (is_of_client or "--all" in words):
            self.close()
        if command == "restart" and is_of_client:
            client._catch_up()
        return status

    def _has_choice(self):
        return bool(self.profile) or self.cluster_id is not None


def _name_a_cluster(words):
    """Returns whether a pxcluster command line names a cluster, or requests help."""
    has_ids = words[:1] == ["stop"] and len(words) > 1 and not words[1].startswith("-")
    return has_ids or any(_NAMES_A_CLUSTER.match(word) or word in ("-h", "--help") for word in words)


def _options_of(client):
    """Returns the options that name the cluster of this client."""
    try:
        return client._cluster_options()
    except RuntimeError as problem:
        raise UsageError(str(problem)) from None


def _connection_file(words):
    """Returns the connection file of the cluster that a pxcluster command line names."""
    choice = {}
    for word, following in zip(words, [*words[1:], ""]):
        option = _NAMES_A_CLUSTER.match(word)
        if option and option[1] != "all":
            choice[option[1].replace("-", "_")] = following if option[2] is None else option[2][1:]
    return _client.client_file(**choice)


def _refusal(command, file):
    what = {"stop": "stop", "restart": "restart the engines of"}[command]
    profile = os.path.basename(os.path.dirname(os.path.dirname(file))).removeprefix("profile_")
    return (
        f"`%pxcluster {command}` would {what} the cluster of {file}, which this notebook does not use: "
        f"if you mean it, run `%pxcluster {command} --profile={profile}`"
    )
