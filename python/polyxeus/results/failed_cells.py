"""Shows the errors of many engines below the notebook cell that failed. Below the first error, a sentence mentions
%pxdebug."""

from __future__ import annotations

import sys
from typing import Any

from polyxeus import error
from polyxeus.results.comms import front_end
from polyxeus.results.debugging.prompts import why_no_answers

__all__ = ["show_failures_of_cells"]


_has_told_of_debugger = False


def show_failures_of_cells() -> None:
    """Makes each cell that fails with a CompositeError show all of its errors in HTML. The plain text shows only the
    first errors. Below the first cell that fails on an engine, a sentence also says how to debug the error.

    The function may be called several times. It does nothing outside of notebooks.
    """
    if front_end() is not None:
        from IPython import get_ipython

        get_ipython().events.register("post_run_cell", _show_failures)


def _show_failures(result: Any) -> None:
    problem = getattr(result, "error_in_exec", None)
    if isinstance(problem, error.CompositeError) and len(problem.elist) > problem.tb_limit:
        from IPython import get_ipython

        data = {"text/plain": error.errors_text(problem.elist), "text/html": problem._repr_html_()}
        get_ipython().display_pub.publish(data=data, metadata={})
    _tell_of_debugger(problem)


def _tell_of_debugger(problem: Any) -> None:
    global _has_told_of_debugger
    if isinstance(problem, error.AlreadyDisplayedError):
        problem = problem.original_error
    if _has_told_of_debugger or not isinstance(problem, error.RemoteError) or why_no_answers(is_in_cell=True):
        return
    entries = [each for each in error.entries_of(problem) if each[2] and "engine_id" in each[3]]
    if entries:
        _has_told_of_debugger = True
        print(f"`%pxdebug {entries[0][3]['engine_id']}` looks into this error on its engine.", file=sys.stderr)
