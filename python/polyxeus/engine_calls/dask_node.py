"""Computes one node of a Dask graph."""

__all__ = ["run"]


def run(node, values):
    """Computes the value of the node. `values` has the values of the nodes that this node needs, by their keys."""
    return node(values)
