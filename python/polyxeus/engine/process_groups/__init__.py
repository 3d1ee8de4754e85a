"""torch.distributed in cells: a stop frees its collective calls, and afterwards no call meets one of before.

The engine calls begin_request() and end_request(); nothing happens until the user's code has imported
torch.distributed and made a process group (docs/decisions/0035-torch-groups-after-a-stop.md).
"""

signals = None  # (reading, writing): the pipe that signal.set_wakeup_fd() makes readable
_groups = None  # the Groups of this process, once there is a process group


def install(module):
    """Makes the process groups of `module`, torch.distributed.distributed_c10d, survive a stop.

    torch before 2.15 stays as it is: it has neither hooks nor a way to connect a group anew.
    """
    global _groups
    if not hasattr(getattr(module, "ProcessGroup", None), "reconfigure"):  # older than torch 2.15
        return
    from polyxeus.engine.process_groups.groups import Groups

    _groups = Groups(module, signals)


def begin_request():
    """User code is about to run."""
    if _groups is not None:
        _groups.begin_request()


def end_request(error):
    """It has ended. error  what it raised; None: nothing."""
    if _groups is not None:
        _groups.end_request(error)


def explain(error, entries):
    """Gives an error of a collective call, or a KeyboardInterrupt in one, the sentence that names its cause.

    entries  its traceback as a list.  Returns those to show: of an explained error none of torch's own.
    """
    return entries if _groups is None else _groups.explain(error, entries)


def describe(frame):
    """The facts that `where` shows about the latest call of this rank; None before the first.

    frame  the innermost one of the main thread.
    """
    return None if _groups is None else _groups.describe(frame)


def replace_ranks(ranks):
    """These ranks of the world were started anew: groups with them, but for that of all ranks, are refused."""
    if _groups is not None:
        _groups.replace_ranks(ranks)
