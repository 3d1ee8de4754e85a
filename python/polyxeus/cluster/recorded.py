"""Parts of a cluster that another program has started."""

import os

from polyxeus.client.pxcluster import run

__all__ = ["RecordedPart", "signal_processes"]


class RecordedPart:
    """A part of a cluster that somebody else has started."""

    def __init__(self, stop_command, state, set_id=None):
        self._stop_command = stop_command
        self._state = state
        self.set_id = set_id
        self.n = state.get("n", 0)
        self.pid = state.get("pid", 0)

    def is_running(self):
        return any(_is_alive(pid) for pid in _pids(self._state))

    def last_words(self):
        return "it was started by another program: see its log"

    def stop(self):
        """Stops the whole cluster: parts cannot be stopped from outside."""
        if self.is_running():
            run(self._stop_command)


def _pids(state):
    found = [each.get("pid", 0) for each in state.get("engines", {}).values()]
    return [pid for pid in [*found, state.get("pid", 0)] if pid > 0]


def _is_alive(pid):
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


def signal_processes(state, number):
    for pid in _pids(state):
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass
