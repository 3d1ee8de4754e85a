"""Implements %pxdebug, and `%debug` after an error on engines."""

import sys

from IPython.core.error import UsageError

from polyxeus.counted import read_ranges
from polyxeus.error import AlreadyDisplayedError, RemoteError, entries_of
from polyxeus.results.debugging.prompts import why_no_answers

__all__ = ["replace_debugger", "run"]


def failed_engines(problem):
    """Returns the ids of the Python engines on which a remote error was raised, in the order of the ids."""
    if isinstance(problem, AlreadyDisplayedError):
        problem = problem.original_error
    if not isinstance(problem, RemoteError):
        return []
    return sorted({each[3]["engine_id"] for each in entries_of(problem) if each[2] and "engine_id" in each[3]})


def _last_problem(magics):
    problem = getattr(sys, "last_value", None)
    if failed_engines(problem):
        return problem
    last = magics.last_result
    return last.exception() if last is not None and last.ready() else None


def run(line, magics):
    """Shows the prompts of the engines that wait at breakpoints, or opens pdb on the last errors of engines.

    errors  UsageError: there is no error to debug, or the user of this process cannot answer prompts.
    """
    client = magics.view.client
    try:
        named = client.ids if line.strip() == "all" else sorted(read_ranges(line))
    except ValueError as problem:
        raise UsageError(f"%pxdebug: {problem}") from None
    unknown = [each for each in named if each not in client.ids]
    if unknown:
        raise UsageError(f"%pxdebug: there is no engine {unknown[0]}; there are {client.ids}")
    why_not = why_no_answers(is_in_cell=True)
    if why_not:
        raise UsageError(f"%pxdebug cannot ask for commands: {why_not}")
    prompts = client._comms.prompts
    if prompts.stopped(named or None):
        prompts.serve(named or None)
        return
    engines = named or failed_engines(_last_problem(magics))[:1]
    if not engines:
        raise UsageError("no engine has failed or waits at a breakpoint: `%pxdebug 2` opens the last error of engine 2")
    try:
        client.post_mortem(engines)
    except RuntimeError as problem:
        raise UsageError(str(problem)) from None


# ---------------------------------------------------------------- %debug


def replace_debugger(shell, magics_of_session):
    """Makes `%debug`, and `%pdb on`, open %pxdebug after an error on engines. Returns a function
    that restores IPython's own debugger.

    magics_of_session  a function that returns the ParallelMagics, or None
    """
    original = shell.debugger

    def debugger(force=False):
        engines = failed_engines(getattr(sys, "last_value", None))
        magics = magics_of_session()
        if not (force or shell.call_pdb) or not engines or magics is None:
            return original(force)
        others = f" (engines {', '.join(map(str, engines[1:]))} failed, too)" if engines[1:] else ""
        print(f"The error was raised on engine {engines[0]}{others}: this is `%pxdebug {engines[0]}`.")
        return run(str(engines[0]), magics)

    def restore():
        if vars(shell).get("debugger") is debugger:
            del shell.debugger

    shell.debugger = debugger
    return restore
