"""ipyparallel's way to show values while a task still runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["publish_data"]


def publish_data(data: Mapping[str, Any]) -> None:
    """Gives the client a dict of values while the task or cell still runs: its AsyncResult.data has them.

    data    {name: value}; values are pickled. A later call with the same name replaces its value
    errors  RuntimeError: outside of an engine

        def simulate():
            for step in range(100):
                ...
                polyxeus.publish_data({"step": step})

        result = view.apply_async(simulate)
        result.data                        # [{'step': 17}, {'step': 16}]
    """
    from IPython import get_ipython

    publisher = getattr(get_ipython(), "data_pub", None)
    if publisher is None:
        raise RuntimeError("publish_data() works in a Python engine only: call it in a cell or in a task")
    publisher.publish_data(data)
