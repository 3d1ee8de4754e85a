"""Computes Dask graphs as tasks of a balanced view; the results stay on the engines."""

from __future__ import annotations

import sys
from collections import ChainMap, Counter
from typing import TYPE_CHECKING, Any

from polyxeus.engine_calls.dask_node import TupleNode, run

if TYPE_CHECKING:
    from polyxeus.views.balanced_view import LoadBalancedView

__all__ = ["compute"]


def compute(view: LoadBalancedView, graph: Any, keys: Any) -> Any:
    """Returns the values of the graph's keys `keys`, like dask.get(graph, keys).

    graph   the graph, in the form that Dask gives to schedulers.
    errors  ValueError: the graph stores into a numpy array of this process.
    """
    from dask.order import order
    from dask.utils import ensure_dict

    if hasattr(graph, "__dask_graph__"):
        graph = graph.__dask_graph__()
    graph = ensure_dict(graph)
    nodes = _nodes(graph)
    for node in nodes.values():
        _check_target(node, nodes)
    wanted = set(_flat(keys))
    needed_by = Counter(key for node in nodes.values() for key in node.dependencies)
    refs: dict[Any, Any] = {}
    for key in sorted(nodes, key=order(graph).__getitem__):
        node = nodes[key]
        if hasattr(node, "target"):  # another name of that node
            refs[key] = refs[node.target]
        else:
            refs[key] = view.apply_ref(run, node, {each: refs[each] for each in node.dependencies})
        for each in node.dependencies:
            needed_by[each] -= 1
            if not needed_by[each] and each not in wanted:
                del refs[each]  # the calls that need the result keep it alive
    refs = {key: refs[key] for key in wanted}
    return _nested({key: ref.get() for key, ref in refs.items()}, keys)


def _nodes(graph):
    """Returns a dict that maps the keys of the graph to its nodes."""
    try:
        from dask._task_spec import convert_legacy_graph
    except ImportError:
        from dask.core import get_dependencies

        return {key: TupleNode(task, get_dependencies(graph, key)) for key, task in graph.items()}
    return convert_legacy_graph(graph)


def _check_target(node, nodes):
    """Raises a ValueError if dask.array.store() has made this node and the node stores into a numpy array of this
    process.

    An engine would store into its own copy of the array; the array of this process would keep its old values.

    nodes  the nodes and values to which `node` can refer, as a dict by their keys.
    """
    arrays = sys.modules.get("dask.array.core")
    function, arguments = getattr(node, "func", None), getattr(node, "args", ())
    if arrays is None or function is None:
        return
    if function in (getattr(arrays, name, None) for name in ("load_store_chunk", "store_chunk")):
        target = arguments[1]
        while hasattr(target, "key") and target.key in nodes and nodes[target.key] is not target:
            target = nodes[target.key]
        if isinstance(getattr(target, "value", target), arrays.np.ndarray):
            raise ValueError(
                "dask.array.store() cannot write into a numpy array of this process, because the engines get copies of "
                "it: use compute() instead, or store into files that all engines see (for example with zarr)"
            )
    elif getattr(function, "__name__", "") == "_execute_subgraph":
        inner, _, names, *values = arguments  # a chain of nodes that Dask has made one
        for each in inner.values():
            _check_target(each, ChainMap(dict(zip(names, values)), inner, nodes))


def _flat(keys):
    if isinstance(keys, list):
        for each in keys:
            yield from _flat(each)
    else:
        yield keys


def _nested(values, keys):
    return tuple(_nested(values, each) for each in keys) if isinstance(keys, list) else values[keys]
