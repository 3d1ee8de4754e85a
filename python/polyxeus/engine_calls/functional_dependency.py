"""Conditions that an engine checks before it runs a task."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

from polyxeus.engine_calls import namespace
from polyxeus.error import UnmetDependency

if TYPE_CHECKING:
    from collections.abc import Callable
    from polyxeus.hints import F

__all__ = ["depend", "dependent", "require"]


class depend:
    """Decorator: a task runs only on engines on which the call f(*args, **kwargs) does not return False.

    If f returns False on one engine, the controller sends the task to another engine. If no engine is left, the task
    fails with ImpossibleDependency.

    Parameters
    ----------
    _wrapped_f : callable
        The function f, which is called on the engine before the task.
    *args : Any
        The arguments of this function.
    **kwargs : Any
        The keyword arguments of this function.

    Examples
    --------
    >>> view["rank"] = 0
    >>> rc[3]["rank"] = 3
    >>> def is_rank(number):
    ...     return rank == number
    >>> @px.depend(is_rank, 3)
    ... def where():
    ...     return rank
    >>> rc.load_balanced_view().apply_sync(where)
    3
    """

    def __init__(self, _wrapped_f: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        self.f = _wrapped_f
        self.args = args
        self.kwargs = kwargs

    def __call__(self, f: F) -> F:
        return dependent(f, self.f, *self.args, **self.kwargs)


class dependent:
    """A function, and a condition that must be met on an engine that runs this function.

    The decorators depend() and require() return such an object.

    Parameters
    ----------
    _wrapped_f : callable
        The function.
    _wrapped_df : callable
        The condition, as a function that returns False if the condition is not met.
    *dargs : Any
        Arguments of the condition.
    **dkwargs : Any
        Keyword arguments of the condition.

    Examples
    --------
    >>> @px.require("math")
    ... def root(x):
    ...     return math.sqrt(x)
    >>> isinstance(root, px.dependent)
    True
    """

    def __init__(
        self, _wrapped_f: Callable[..., Any], _wrapped_df: Callable[..., Any], *dargs: Any, **dkwargs: Any
    ) -> None:
        self.f = _wrapped_f
        self.__name__ = getattr(_wrapped_f, "__name__", "f")
        self.df = _wrapped_df
        self.dargs = dargs
        self.dkwargs = dkwargs

    def check_dependency(self) -> None:
        """Checks the condition in this process.

        Raises
        ------
        UnmetDependency
            The condition is not met.
        """
        if self.df(*self.dargs, **self.dkwargs) is False:
            raise UnmetDependency(f"{self.__name__}() cannot run here")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.check_dependency()
        return self.f(*args, **kwargs)


def require(*objects: Any, **mapping: Any) -> depend:
    """Decorator: an engine imports modules and defines objects before it runs the function.

    Parameters
    ----------
    *objects : module, str, callable or type
        Modules or names of modules, which the engine imports; and functions and classes, which are defined on the
        engine under their names.
    **mapping : Any
        Other objects to define on the engine. Each keyword is the name of an object on the engine.

    Returns
    -------
    depend
        The decorator. On an engine that cannot import one of the modules, a call of the function
        raises UnmetDependency. If the call is a task, the controller then sends the task to another
        engine.

    Raises
    ------
    TypeError
        One of `objects` has no name.

    Examples
    --------
    >>> @px.require("math", factor=3)
    ... def scaled(x):
    ...     return factor * math.sqrt(x)
    >>> rc.load_balanced_view().apply_sync(scaled, 4)
    6.0
    """
    modules = []
    for each in objects:
        if isinstance(each, ModuleType):
            each = each.__name__
        if isinstance(each, str):
            modules.append(each)
        elif hasattr(each, "__name__"):
            mapping[each.__name__] = each
        else:
            raise TypeError(
                "require() takes modules, functions and classes as arguments, other values as "
                f"name=thing: {each!r:.80} has no name"
            )
    return depend(namespace.require, *modules, **mapping)
