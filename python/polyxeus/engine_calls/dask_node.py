"""One node of a graph of Dask."""

__all__ = ["run"]


def run(node, values):
    """Its value.  values  those of the nodes that it needs, by their keys."""
    return node(values)
