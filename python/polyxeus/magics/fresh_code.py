"""Implements %pxautoreload: before the next cell, engines reload the modules that were edited in the notebook's
folder."""

import os
import re
import sys
import time

from IPython.core.error import UsageError

from polyxeus.client.client import Client
from polyxeus.counted import engine_names
from polyxeus.engine_calls import fresh_modules
from polyxeus.magics.module_watch import ModuleWatch
from polyxeus.results.async_result import AsyncResult
from polyxeus.serialize import requests
from polyxeus.views.view import View

__all__ = ["FreshCode"]

_MODES = ("on", "off", "push")
_PATIENCE = 2.0  # seconds; balanced tasks, which come to engines another way, must not overtake the request
_FOR_ENGINES = re.compile(r"^\s*%{1,2}(px|autopx)(\s|$)", re.M)
_SENTENCES = {
    "older": "{name} is older on {engines} ({detail}) than in the notebook's folder: `%pxautoreload push` sends it",
    "different": "{name} on {engines} ({detail}) differs from the file in the notebook's folder: `%pxautoreload "
                 "push` sends it",
    "installed": "{name} is installed on {engines} ({detail}), which keep it: give the module in the notebook's folder "
                 "another name",
    "failed": "{name} could not be reloaded on {engines}, which keep its previous code: {detail}",
}  # fmt: skip


class FreshCode:
    """Before each cell, tells the engines which modules have changed.

    shell    IPython's shell
    session  the Session whose engines get the messages
    """

    def __init__(self, shell, session):
        self._shell = shell
        self._session = session
        self._mode = "on"
        self._watch = ModuleWatch(_folder_of(shell))
        self._sent = {}  # uuid of an engine -> the version of the ModuleWatch that was sent to it
        self._pending = []  # (result, [(id, uuid)])
        self._told = set()

    @property
    def folder(self):
        """The folder of the notebook."""
        return self._watch.folder

    def magic(self, line=""):
        """Reloads edited modules of the notebook's folder on the engines: `%pxautoreload on|off|push`.

        on    (default) before each cell, engines reload the modules that were edited. Engines on other hosts or in
              other folders get the text of these modules. If you have not edited a module, but an engine has a
              different file of this module, you get a message.
        push  engines also get the modules that were not edited, and use them instead of any files of the same names
              that the engines have.
        off   nothing is reloaded.

        Without an argument, the magic shows the setting. Only modules that changed are reloaded, as with IPython's
        %autoreload.
        """
        word = line.strip()
        if word and word not in _MODES:
            raise UsageError(f"%pxautoreload takes on, off or push, not '{word}'")
        if word and word != self._mode:
            self._mode = word
            self._sent.clear()
            self._told.clear()
        if not word:
            names = ", ".join(self._watch.names) or "none yet"
            print(f"%pxautoreload is {self._mode}; folder: {self._watch.folder}; modules: {names}")

    # ------------------------------------------------------------ each cell

    def before_cell(self, code, magics):
        """Tells the engines which modules have changed. If this fails, the method prints a warning
        and raises no exception, so that the cell still runs.

        magics  the C++ magics; a new connection gets their settings
        """
        if self._mode == "off":
            return
        try:
            self._watch.add_code(code)
            self._watch.add_loaded()
            if self._watch.version:
                self._send_changes(code, magics)
        except Exception as problem:
            self._say(f"%pxautoreload cannot compare the modules with those of the engines: {problem}")

    def _send_changes(self, code, magics):
        self._watch.look(time.time_ns())
        for sentence in self._watch.take_problems():
            self._say(sentence)
        client = self._client(code, magics)
        if client is None:
            return
        engines = client._engines
        if all(self._sent.get(uuid) == self._watch.version for uuid in engines.values()):
            return
        languages = client.languages
        behind = {}
        for number, uuid in engines.items():
            if languages.get(number) == "python" and self._sent.get(uuid) != self._watch.version:
                behind.setdefault(self._sent.get(uuid, 0), []).append((number, uuid))
            self._sent[uuid] = self._watch.version
        sent = [self._send(client, since, group) for since, group in behind.items()]
        end = time.monotonic() + _PATIENCE
        for result in sent:
            if result is not None:
                result.wait(max(0, end - time.monotonic()))

    def _client(self, code, magics):
        """Returns the open client of the magics, or a new client if the cell is for engines of a running cluster."""
        session = self._session
        client = session._open_client()
        is_for_engines = not session.mode.is_here or _FOR_ENGINES.search(code)
        if client is None and is_for_engines and os.path.exists(session._path()):
            client = session.view(magics).client
        return client or self._client_of_variables()

    def _client_of_variables(self):
        """Returns an open client that a variable of the user refers to, directly or as the client
        of a view; None if there is no such client."""
        for value in list((self._shell.user_ns or {}).values()):
            client = value.client if isinstance(value, View) else value
            if isinstance(client, Client) and not client._closed:
                return client
        return None

    def _send(self, client, since, group):
        """Sends the modules that were added or changed after the version `since` to the engines in
        `group`. Returns the AsyncResult of the request, or None if there are no such modules."""
        rows = self._watch.rows(since, self._mode == "push")
        if not rows:
            return None
        view = client.direct_view([number for number, _ in group])
        work = requests.call(fresh_modules.refresh, (rows,))
        tasks = view._submit(view.targets, [work], None)
        result = AsyncResult(client, tasks, fname="%pxautoreload", targets=view.targets, owner=True)
        self._pending.append((result, group))
        return result

    def after_cell(self):
        """Prints the engines' answers that have arrived so far. A message is printed only once,
        even if several cells cause it."""
        waiting, answers = [], {}
        for result, group in self._pending:
            if not result.ready():
                waiting.append((result, group))
                continue
            for (number, uuid), answer in zip(group, result._raw_results):
                if isinstance(answer, Exception):
                    self._sent.pop(uuid, None)  # the request failed: send again before the next cell
                    continue
                for row in answer:
                    answers.setdefault(tuple(row), []).append(number)
        self._pending = waiting
        for (name, state, detail), numbers in answers.items():
            self._say(_SENTENCES[state].format(name=name, detail=detail, engines=engine_names(numbers)))

    def _say(self, sentence):
        if sentence not in self._told:
            self._told.add(sentence)
            print(f"Warning: {sentence}.", file=sys.stderr)


def _folder_of(shell):
    """Returns the folder of the notebook. VS Code passes the path of the notebook; Jupyter starts the kernel in this
    folder."""
    path = (shell.user_ns or {}).get("__vsc_ipynb_file__")
    return os.path.dirname(path) if isinstance(path, str) else os.getcwd()
