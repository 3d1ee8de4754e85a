"""torch.distributed in cells: a stop ends its collective calls, and later calls are not matched with earlier ones.

The engine calls begin_request() and end_request(); nothing happens until the user's code has imported
torch.distributed and made a process group (docs/decisions/0035-torch-groups-after-a-stop.md).
"""

signals = None  # (reading, writing): the pipe that signal.set_wakeup_fd() makes readable
_groups = None  # the Groups of this process, once there is a process group


def install(module):
    """Makes the process groups of `module`, torch.distributed.distributed_c10d, survive a stop.

    torch before 2.15 is not changed, because it has neither hooks nor a way to reconnect a group.
    """
    global _groups
    if not hasattr(getattr(module, "ProcessGroup", None), "reconfigure"):  # older than torch 2.15
        return
    from polyxeus.engine.process_groups.groups import Groups

    _groups = Groups(module, signals)


def begin_request():
    """Called before user code runs."""
    if _groups is not None:
        _groups.begin_request()


def end_request(error):
    """Called when user code has ended, with its exception or None."""
    if _groups is not None:
        _groups.end_request(error)


def explain(error, entries):
    """Adds to an error of a collective call, or to a KeyboardInterrupt in one, a sentence that names the cause.

    entries  its traceback as a list
    result   the entries to show: of an explained error, those outside of torch
    """
    return entries if _groups is None else _groups.explain(error, entries)


def describe(frame):
    """The facts that `where` shows about the latest call of this rank; None before the first.

    frame  the innermost frame of the main thread
    """
    return None if _groups is None else _groups.describe(frame)


def replace_ranks(ranks):
    """Called when these ranks of the world were restarted: calls on groups that contain them are refused, except on the
    group of all ranks."""
    if _groups is not None:
        _groups.replace_ranks(ranks)
