"""Dependencies of tasks: the requests for which tasks wait."""

from __future__ import annotations

from typing import Any, Iterable

__all__ = ["Dependency"]


class Dependency(set[str]):
    """The requests for which a task waits, as a value for the flags `after` and `follow`.

    Parameters
    ----------
    dependencies : AsyncResult, str, dict or list of them
        AsyncResults, ids of requests, or a dict that as_dict() returned.
    all : bool
        Whether all requests must have ended, each with an outcome that `success` and `failure`
        accept. If False, one such request is enough.
    success : bool
        Whether the outcome of a request that succeeded is accepted.
    failure : bool
        Whether the outcome of a request that failed is accepted.

    Raises
    ------
    TypeError
        An item is neither a result nor an id.
    ValueError
        Neither `success` nor `failure` is set.

    Examples
    --------
    >>> balanced = rc.load_balanced_view()
    >>> first, second = balanced.apply_async(abs, -1), balanced.apply_async(abs, -2)
    >>> with balanced.temp_flags(after=px.Dependency([first, second], all=False)):
    ...     balanced.apply_sync(abs, -3)
    3
    """

    def __init__(
        self, dependencies: Any = (), all: bool = True, success: bool = True, failure: bool = False
    ) -> None:
        if isinstance(dependencies, dict):
            unknown = set(dependencies) - {"all", "success", "failure", "dependencies"}
            if unknown:
                raise ValueError(f"unknown key {sorted(unknown)[0]!r} of a dependency")
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
                raise TypeError(f"a task cannot depend on {each!r:.80}: give results or msg_ids")
        if not (success or failure):
            raise ValueError("a dependency needs success=True or failure=True, or both")
        super().__init__(ids)
        self.all = all
        self.success = success
        self.failure = failure

    def _counting(self, completed, failed, success, failure):
        counted = set(completed) if success else set()
        return counted | set(failed) if failed is not None and failure else counted

    def check(self, completed: Iterable[str], failed: Iterable[str] | None = None) -> bool:
        """Returns whether the dependency is met.

        Parameters
        ----------
        completed : iterable of str
            The ids of requests that succeeded.
        failed : iterable of str, optional
            The ids of requests that failed.

        Returns
        -------
        bool
            Whether the dependency is met.

        Examples
        --------
        >>> px.Dependency(["a", "b"]).check({"a"})
        False
        >>> px.Dependency(["a", "b"], all=False).check({"a"})
        True
        """
        if not self:
            return True
        counted = self._counting(completed, failed, self.success, self.failure)
        return self <= counted if self.all else not self.isdisjoint(counted)

    def unreachable(self, completed: Iterable[str], failed: Iterable[str] | None = None) -> bool:
        """Returns whether the dependency can no longer be met.

        Parameters
        ----------
        completed : iterable of str
            The ids of requests that succeeded.
        failed : iterable of str, optional
            The ids of requests that failed.

        Returns
        -------
        bool
            Whether the dependency can no longer be met.

        Examples
        --------
        >>> px.Dependency(["a", "b"]).unreachable(completed=set(), failed={"a"})
        True
        """
        if not self:
            return False
        against = self._counting(completed, failed, not self.success, not self.failure)
        return not self.isdisjoint(against) if self.all else self <= against

    def as_dict(self) -> dict[str, Any]:
        """Returns the dependency as a dict that can be sent in a message.

        Returns
        -------
        dict
            The keys all, success, failure and dependencies.

        Examples
        --------
        >>> px.Dependency(["a"]).as_dict()
        {'all': True, 'success': True, 'failure': False, 'dependencies': ['a']}
        """
        return {
            "all": self.all,
            "success": self.success,
            "failure": self.failure,
            "dependencies": list(self),
        }
