"""References to values on engines, and functions whose globals are the engine's namespace."""

from __future__ import annotations

import sys
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from polyxeus.hints import F

__all__ = ["Reference", "interactive"]


_Anything: Any = object  # for type checkers: a Reference may be passed as an argument of any type


class Reference(_Anything):
    """Stands for the value of an expression on the engine, such as the name of a variable.

    If an argument of a call is a Reference, or contains a Reference, the function gets the value of
    the expression instead of the Reference.

    Parameters
    ----------
    name : str
        The expression.

    Raises
    ------
    TypeError
        `name` is not a string.

    Examples
    --------
    >>> view.scatter("part", range(8), block=True)
    >>> view.apply_sync(sum, px.Reference("part"))
    [1, 5, 9, 13]
    """

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise TypeError(f"a Reference needs an expression (text), not {name!r}")
        self.name = name

    def __repr__(self):
        return f"<Reference: {self.name!r}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and other.name == self.name

    def __hash__(self) -> int:
        return hash((Reference, self.name))

    def get_object(self, g: Mapping[str, Any] | None = None) -> Any:
        """Returns the value of the expression in a namespace.

        Parameters
        ----------
        g : dict, optional
            The namespace. Default: an empty namespace.

        Returns
        -------
        Any
            The value.

        Examples
        --------
        >>> px.Reference("a + 1").get_object({"a": 2})
        3
        """
        return eval(self.name, {} if g is None else g)

    def __reduce__(self):
        from polyxeus.serialize import functions

        return functions.evaluate, (self.name,)


def interactive(f: F) -> F:
    """Decorator: on the engine, the function has the same globals as the user's cells.

    Use this decorator for functions that are defined in modules. Without the decorator, the globals of such a function
    are those of its module.

    Parameters
    ----------
    f : callable
        The function.

    Returns
    -------
    callable
        The function; on an engine, its globals are those of the user's cells.

    Examples
    --------
    >>> view["a"] = 5
    >>> @px.interactive
    ... def twice():
    ...     return 2 * a
    >>> view.apply_sync(twice)
    [10, 10, 10, 10]
    """
    if isinstance(f, types.FunctionType):
        main = sys.modules["__main__"].__dict__
        made = types.FunctionType(f.__code__, main, f.__name__, f.__defaults__, f.__closure__)
        made.__kwdefaults__ = f.__kwdefaults__
        made.__dict__.update(f.__dict__)
        made.__doc__ = f.__doc__
        f = made
    f.__module__ = "__main__"
    return f
