"""What tasks wait for, and what they need on their engine."""

from __future__ import annotations

from types import ModuleType
from typing import Any, Iterable

from polyxeus import on_engine
from polyxeus.error import UnmetDependency

__all__ = ["Dependency", "depend", "dependent", "require"]


class depend:
    """Decorator: before a task runs, f(*args, **kwargs) must not give False on its engine, or
    another engine is tried."""

    def __init__(self, _wrapped_f, *args: Any, **kwargs: Any) -> None:
        self.f = _wrapped_f
        self.args = args
        self.kwargs = kwargs

    def __call__(self, f):
        return dependent(f, self.f, *self.args, **self.kwargs)


class dependent:
    """A function, and what must hold where it runs."""

    def __init__(self, _wrapped_f, _wrapped_df, *dargs, **dkwargs) -> None:
        self.f = _wrapped_f
        self.__name__ = getattr(_wrapped_f, "__name__", "f")
        self.df = _wrapped_df
        self.dargs = dargs
        self.dkwargs = dkwargs

    def check_dependency(self) -> None:
        """Raises UnmetDependency where it does not hold."""
        if self.df(*self.dargs, **self.dkwargs) is False:
            raise UnmetDependency(f"{self.__name__}() cannot run here")

    def __call__(self, *args, **kwargs):
        self.check_dependency()
        return self.f(*args, **kwargs)


def require(*objects: Any, **mapping: Any):
    """Decorator: these modules are imported, and these things defined, where the function runs.

    objects  modules or their names; functions and classes, which keep their names
    mapping  other things by name
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
                "require() takes modules, functions and classes as they are, other things as "
                f"name=thing: {each!r:.80} has no name"
            )
    return depend(on_engine.require, *modules, **mapping)


class Dependency(set):
    """Requests that a task waits for.

    dependencies  msg_ids, AsyncResults, or what as_dict() gave
    all           all of them, or any one
    success       one that went well counts ...
    failure       ... one that failed counts
    """

    def __init__(
        self, dependencies: Any = (), all: bool = True, success: bool = True, failure: bool = False
    ) -> None:
        if isinstance(dependencies, dict):
            unknown = set(dependencies) - {"all", "success", "failure", "dependencies"}
            if unknown:
                raise ValueError(f"a dependency has no {sorted(unknown)[0]!r}")
            all = dependencies.get("all", all)
            success = dependencies.get("success", success)
            failure = dependencies.get("failure", failure)
            dependencies = dependencies.get("dependencies", ())
        if isinstance(dependencies, str) or hasattr(dependencies, "msg_ids"):
            dependencies = [dependencies]
        ids = []
        for each in dependencies:
            if isinstance(each, str):
                ids.append(each)
            elif hasattr(each, "msg_ids"):
                ids += each.msg_ids
            else:
                raise TypeError(f"a task cannot wait for {each!r:.80}: name results or msg_ids")
        if not (success or failure):
            raise ValueError("a dependency must be on successes, on failures, or on both")
        super().__init__(ids)
        self.all = all
        self.success = success
        self.failure = failure

    def _counting(self, completed, failed, success, failure):
        counted = set(completed) if success else set()
        return counted | set(failed) if failed is not None and failure else counted

    def check(self, completed: Iterable[str], failed: Iterable[str] | None = None) -> bool:
        """Whether it is met by these completed and failed requests."""
        if not self:
            return True
        counted = self._counting(completed, failed, self.success, self.failure)
        return self <= counted if self.all else not self.isdisjoint(counted)

    def unreachable(self, completed: Iterable[str], failed: Iterable[str] | None = None) -> bool:
        """Whether it can never be met any more."""
        if not self:
            return False
        against = self._counting(completed, failed, not self.success, not self.failure)
        return not self.isdisjoint(against) if self.all else self <= against

    def as_dict(self) -> dict[str, Any]:
        """The same as a dict, for messages."""
        return {
            "all": self.all,
            "success": self.success,
            "failure": self.failure,
            "dependencies": list(self),
        }
