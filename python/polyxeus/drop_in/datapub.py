"""ipyparallel's function publish_data(), which sends values to the client while a task still runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["publish_data"]


def publish_data(data: Mapping[str, Any]) -> None:
    """Sends values to the client while the task or cell still runs. The client finds them in ``result.data``.

    Parameters
    ----------
    data : dict
        Names and values, which are pickled. If a later call sends the same name, the new value replaces the old one.

    Raises
    ------
    RuntimeError
        The code does not run on an engine.

    Examples
    --------
    >>> def simulate():
    ...     for step in range(3):
    ...         px.publish_data({"step": step})
    >>> result = rc[0].apply_async(simulate)
    >>> result.wait_for_output(10)
    True
    >>> result.data
    {'step': 2}
    """
    from IPython import get_ipython

    publisher = getattr(get_ipython(), "data_pub", None)
    if publisher is None:
        raise RuntimeError("publish_data() works in a Python engine only: call it in a cell or in a task")
    publisher.publish_data(data)
