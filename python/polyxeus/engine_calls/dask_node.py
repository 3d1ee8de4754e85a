"""Computes one node of a Dask graph."""

__all__ = ["TupleNode", "run"]


def run(node, values):
    """Computes the value of the node. `values` is a dict {key: value} of the nodes that this node
    needs."""
    return node(values)


class TupleNode:
    """A node of a graph made by Dask before 2024.12, with the interface of the nodes of later Dask
    versions.

    The task of such a node is a tuple (function, *arguments), a list of tasks, the key of another
    node, or a value. The arguments in the tuple are tasks, too.
    """

    def __init__(self, task, dependencies):
        self.task = task
        self.dependencies = dependencies

    @property
    def func(self):
        """The function that the task calls; None if the task calls no function."""
        return self.task[0] if _is_call(self.task) else None

    @property
    def args(self):
        """The arguments of the function; () if the task calls no function."""
        return self.task[1:] if _is_call(self.task) else ()

    def __call__(self, values):
        return _compute(self.task, values)


def _is_call(task):
    return type(task) is tuple and task and callable(task[0])


def _compute(task, values):
    if isinstance(task, list):
        return [_compute(each, values) for each in task]
    if _is_call(task):
        return task[0](*(_compute(each, values) for each in task[1:]))
    try:
        return values.get(task, task)
    except TypeError:  # not hashable: no key
        return task
