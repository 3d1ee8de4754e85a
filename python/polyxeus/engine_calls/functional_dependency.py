"""What tasks need on their engine: checked there, before they run."""

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
    """Decorator: before a task runs, f(*args, **kwargs) must not give False on its engine, or
    another engine is tried. Where none will do the task fails with ImpossibleDependency.

        view["rank"] = 0
        rc[3]["rank"] = 3

        def is_rank(number):
            return rank == number

        @ipp.depend(is_rank, 3)
        def where():
            return rank

        rc.load_balanced_view().apply_sync(where)             # -> 3
    """

    def __init__(self, _wrapped_f: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        self.f = _wrapped_f
        self.args = args
        self.kwargs = kwargs

    def __call__(self, f: F) -> F:
        return dependent(f, self.f, *self.args, **self.kwargs)


class dependent:
    """A function, and what must hold where it runs.

    The decorators depend() and require() give it.

        @ipp.require("math")
        def root(x):
            return math.sqrt(x)

        isinstance(root, ipp.dependent)                       # -> True
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
        """Raises UnmetDependency where it does not hold."""
        if self.df(*self.dargs, **self.dkwargs) is False:
            raise UnmetDependency(f"{self.__name__}() cannot run here")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.check_dependency()
        return self.f(*args, **kwargs)


def require(*objects: Any, **mapping: Any) -> depend:
    """Decorator: these modules are imported, and these things defined, where the function runs.

    objects  modules or their names; functions and classes, which keep their names
    mapping  other things by name
    errors   TypeError: a thing without a name; for the task UnmetDependency where a module cannot be imported

        @ipp.require("math", factor=3)
        def scaled(x):
            return factor * math.sqrt(x)

        rc.load_balanced_view().apply_sync(scaled, 4)         # -> 6.0
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
