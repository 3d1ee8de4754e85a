"""Represents the controller and the sets of engines of a cluster that another program has
started."""

import os

from polyxeus.client.pxcluster import run

__all__ = ["RecordedPart", "signal_processes"]


class RecordedPart:
    """The controller, or one set of engines, of a cluster that another process has started."""

    def __init__(self, stop_command, state, set_id=None):
        self._stop_command = stop_command
        self._state = state
        self.set_id = set_id
        self.n = state.get("n", 0)
        self.pid = state.get("pid", 0)

    def is_running(self):
        return any(map(_is_alive, _processes(self._state)))

    def last_words(self):
        return "it was started by another program: see its log"

    def stop(self):
        """Stops the whole cluster, because only the program that has started the cluster can stop a part of it."""
        if self.is_running():
            run(self._stop_command)


def _processes(state):
    """Returns the processes in `state`, which is the entry for the controller or for a set of
    engines in pxcluster's file about the cluster."""
    return [each for each in [*state.get("engines", {}).values(), state] if each.get("pid", 0) > 0]


def _birth(pid):
    """Returns an id that distinguishes the process from earlier processes with the same pid, in the form that
    pxcluster's files use; "" if the process has ended."""
    try:
        with open("/proc/sys/kernel/random/boot_id") as boot, open(f"/proc/{pid}/stat") as stat:
            return f"{boot.read().strip()}:{stat.read().rpartition(')')[2].split()[19]}"
    except OSError:
        return ""


def _is_alive(process):
    birth = process.get("birth")
    if birth:
        return birth == _birth(process["pid"])
    try:
        os.kill(process["pid"], 0)
    except OSError:
        return False
    return True


def signal_processes(state, number):
    """Sends a signal to those processes in `state` that still run. A process gets no signal if its
    _birth() differs from the one in `state`, because its pid then belongs to another process."""
    for process in filter(_is_alive, _processes(state)):
        try:
            os.kill(process["pid"], number)
        except ProcessLookupError:
            pass
