"""Shows the errors of many engines below the notebook cell that failed."""

from __future__ import annotations

from typing import Any

from polyxeus import error
from polyxeus.results.comms import front_end

__all__ = ["show_failures_of_cells"]


def show_failures_of_cells() -> None:
    """From now on a cell that fails with a CompositeError shows all of its errors in HTML; the text has only the
    first ones.

    May be called again; does nothing outside of notebooks.
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
