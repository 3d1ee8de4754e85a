"""Records torch.distributed calls in a trace, each call from its beginning until its work is
done."""

from functools import partial

from polyxeus.trace import recording


def before(hook, group, arguments, began):
    """Notes the beginning of a call of `group` for the trace. The hook before each call calls this
    function when the group has counted the call.

    hook   the number under which _after() is registered as a hook, while a trace is being recorded
    began  the time at which the call began; None if the trace has ended
    """
    pg = group.pg()
    if began is None:
        group.traced = None
        pg.unregister_post_hook(hook)
        return
    if group.traced is None:
        group.traced = {}
        pg.register_post_hook(hook, partial(_after, group))
    call = group.last
    details = {"group": group.name, "size": len(group.ranks), "bytes": call.size}
    if call.is_collective:
        details["count"] = call.count
        if arguments.root >= 0:
            details["root"] = arguments.root
    elif call.peer is not None:
        details["peer"] = group.ranks[call.peer]
    group.traced[arguments.op_id] = call.name, began, recording.this_thread(), details


def _after(group, arguments):
    """Arranges that the call is recorded when its work is done; one of torch's threads may then
    record it. torch calls this function when a call has begun."""
    known = None if group.traced is None else group.traced.pop(arguments.op_id, None)
    if known is None:
        return
    name, began, thread, details = known
    try:
        future = arguments.work.get_future()
    except (AttributeError, RuntimeError):  # there is no Work, or it does not report its end
        recording.end("torch", name, began, {**details, "is_begin_only": True}, thread)
        return
    future.add_done_callback(lambda _done: recording.end("torch", name, began, details, thread))
