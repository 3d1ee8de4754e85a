"""One node of a graph of Dask."""

__all__ = ["run"]


def run(node, values):
    """The value of the node.  values  the values of the nodes that it needs, by their keys."""
    return node(values)
