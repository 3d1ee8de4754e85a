"""Supports torch.distributed in cells. If a rank fails, is interrupted or dies, the collective
calls of all ranks end. In this package, this end of the calls is called a stop, whatever its cause.
Calls after a stop are not matched with calls before the stop.

The engine calls begin_request() and end_request(). These functions do nothing until the user's code has imported
torch.distributed and made a process group (docs/decisions/0035-torch-groups-after-a-stop.md).
"""

signals = None  # (reading, writing): the pipe that signal.set_wakeup_fd() makes readable
_groups = None  # the Groups of this process, once there is a process group


def install(module):
    """Makes the process groups of `module`, torch.distributed.distributed_c10d, usable again after a stop.

    torch before 2.15 is not changed, because it has no hooks and no way to reconnect a group.
    """
    global _groups
    if not hasattr(getattr(module, "ProcessGroup", None), "reconfigure"):  # older than torch 2.15
        return
    from polyxeus.engine.process_groups.groups import Groups

    _groups = Groups(module, signals)


def begin_request():
    """Begins a request. Called before user code runs."""
    if _groups is not None:
        _groups.begin_request()


def end_request(error):
    """Ends a request. Called when user code has ended; `error` is the exception of this code, or
    None."""
    if _groups is not None:
        _groups.end_request(error)


def explain(error, entries):
    """Adds a sentence that names the cause to the error of a collective call, or to a KeyboardInterrupt in such a call.

    entries  the traceback of the error, as a list
    result   the entries of the traceback to show. If a sentence was added, the result has only the
             entries outside of torch
    """
    return entries if _groups is None else _groups.explain(error, entries)


def describe(frame):
    """Returns the facts that rc.where() shows about the latest torch.distributed call of this rank;
    None before the first call.

    frame  the innermost frame of the main thread
    """
    return None if _groups is None else _groups.describe(frame)


def replace_ranks(ranks):
    """Makes each group that contains one of these ranks refuse calls, but not the default group.
    Called when these ranks of the world were restarted."""
    if _groups is not None:
        _groups.replace_ranks(ranks)
