"""The exceptions of polyxeus, with the names that they have in ipyparallel."""

from __future__ import annotations

import builtins
import re
import sys
import traceback as _traceback
import types
from collections.abc import Iterable
from concurrent.futures import CancelledError
from typing import Any, Dict, List, NoReturn, Tuple, TypeVar, Union

from polyxeus import original_types
from polyxeus.counted import ranges

__all__ = [
    "AlreadyDisplayedError", "CompositeError", "ConnectionLost", "DependencyTimeout", "EngineError", "IPythonError",
    "ImpossibleDependency", "InvalidDependency", "KernelError", "MPIError", "NoEnginesRegistered", "Overloaded",
    "RemoteError", "ResultLost", "TaskAborted", "TaskRejectError", "TaskTimeout", "TimeoutError", "UnmetDependency",
    "collect_exceptions", "unwrap_exception", "wrap_exception"
]  # fmt: skip

TimeoutError = builtins.TimeoutError
_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_CELL_NUMBER = re.compile(r"(In ?\[|cell )\d+")  # an escape sequence for a colour may precede it
_MOST_GROUPS = 20  # the largest number of groups of equal errors in HTML
_MOST_TEXT, _MOST_TRACEBACK = 500, 20_000  # characters
_Entry = Tuple[str, str, Any, Dict[str, Any]]  # name, text, traceback, engine_info
_OF_ERRORS = frozenset(["args", "ename", "evalue", "traceback", "engine_info"])
_Results = TypeVar("_Results", bound=Union[List[Any], Dict[Any, Any]])


class IPythonError(Exception):
    """The base class of all exceptions of polyxeus."""


class KernelError(IPythonError):
    """A request failed: before it reached an engine, on the engine, or after it had run."""


class EngineError(KernelError):
    """An engine ended while it worked on a request, or while a call waited for engines.

    If a request fails with this error, the raised exception is also an instance of RemoteError.
    """


class NoEnginesRegistered(KernelError):
    """The call needs engines, and no engine is registered."""

    def __str__(self) -> str:
        text = super().__str__()
        advice = "wait for engines with client.wait_for_engines(n)"
        return f"{text}: {advice}" if text else f"no engine is registered: {advice}"


class TaskAborted(KernelError):
    """The request was cancelled before it ran."""


class TaskCancelled(TaskAborted, CancelledError):
    """The future of an executor was cancelled before its call ran."""


class RemoteTraceback(Exception):
    """The cause of a RemoteError: the traceback of the engine, as text.

    Parameters
    ----------
    text : str
        The traceback. It may contain colours.

    Attributes
    ----------
    tb : str
        The traceback without colours.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)

    @property
    def tb(self) -> str:
        return _COLOURS.sub("", self.args[0])

    def __str__(self) -> str:
        return f'\n"""\n{self.tb}\n"""'


class FailureEntry(Tuple[str, str, Any, Dict[str, Any]]):
    """An item of CompositeError.elist: a tuple (name, text, traceback, engine_info) with the attribute `exception`.

    Attributes
    ----------
    exception : dict or None
        The engine's description of the exception's class; see RemoteError.
    """

    exception: dict[str, Any] | None = None

    @classmethod
    def of(cls, entry: _Entry, exception: dict[str, Any] | None) -> FailureEntry:
        """Makes an entry with the description of its exception's class."""
        made = cls(entry)
        if exception is not None:
            made.exception = exception
        return made


def _original(entry: _Entry) -> type[Exception] | None:
    """Returns the class of the exception that an entry describes, or the nearest base class that this process has
    imported. Returns None if this process has imported none of these classes."""
    exception = getattr(entry, "exception", None)
    return original_types.named(entry[0], _classes(exception))


def _classes(exception: Any) -> Iterable[Any]:
    classes = exception.get("classes") if isinstance(exception, dict) else None
    return classes if isinstance(classes, list) else ()


class TaskTimeout(KernelError):
    """The dependencies of a task were not met within the `timeout` of this task.

    If a request fails with this error, the raised exception is also an instance of RemoteError.
    """


class UnmetDependency(KernelError):
    """An engine does not meet the condition of a task. The controller then sends the task to another engine.

    If a request fails with this error, the raised exception is also an instance of RemoteError.
    """


class ImpossibleDependency(UnmetDependency):
    """The dependency of a task can never be met.

    If a request fails with this error, the raised exception is also an instance of RemoteError.
    """


class DependencyTimeout(ImpossibleDependency):
    """The dependency of a task was not met in time.

    If a request fails with this error, the raised exception is also an instance of RemoteError.
    """


class InvalidDependency(ImpossibleDependency):
    """The dependency of a task is a request that the controller does not know.

    If a request fails with this error, the raised exception is also an instance of RemoteError.
    """


class TaskRejectError(KernelError):
    """If a task with `retries` raises this exception, the controller sends the task to another engine."""


def _where(engine_info: dict[str, Any] | None) -> str:
    """Returns the engine and the kind of its request, as in "[2:execute]"."""
    if not engine_info:
        return "[Engine Exception]"
    return f"[{engine_info.get('engine_id', ' ')}:{engine_info.get('method', '')}]"


def _folded(entries: list[_Entry], by_traceback: bool = True) -> list[tuple[str, _Entry]]:
    """Groups equal errors. Returns a pair for each group: its engines and kind of request, as in "[0-3:execute]", and
    its first error.

    by_traceback  whether errors with different tracebacks are in different groups
    """
    alike: dict[Any, list[_Entry]] = {}
    for entry in entries:
        name, text, trace, where = entry
        same = _CELL_NUMBER.sub(r"\1", trace or "") if by_traceback else ""  # engines count their own cells
        alike.setdefault((name, text, same, where.get("method")), []).append(entry)
    folded = []
    for same in alike.values():
        ids = sorted({each[3]["engine_id"] for each in same if "engine_id" in each[3]})
        info = {**same[0][3], "engine_id": ranges(ids)} if len(ids) > 1 else same[0][3]
        folded.append((_where(info), same[0]))
    return folded


def errors_html(entries: list[_Entry]) -> str:
    """Returns errors in HTML: each error once, with its engines and a folded traceback. Without errors, returns ""."""
    from html import escape

    parts = []
    for line, trace in _sentences(entries):
        line = escape(line)
        if trace:
            shown = escape(_COLOURS.sub("", trace)[-_MOST_TRACEBACK:])
            parts.append(f"<details><summary><code>{line}</code></summary><pre>{shown}</pre></details>")
        else:
            parts.append(f"<div><code>{line}</code></div>")
    return "".join(parts)


def errors_text(entries: list[_Entry]) -> str:
    """Returns errors as text: a line for each error, without tracebacks."""
    return "\n".join(line for line, _ in _sentences(entries))


def _sentences(entries: list[_Entry]) -> list[tuple[str, str | None]]:
    """Returns a line for each group of equal errors, and the traceback of the first error of the group."""
    folded = _folded(entries, by_traceback=False)  # tracebacks differ in the numbers of cells
    sentences: list[tuple[str, str | None]] = []
    for where, (name, text, trace, _) in folded[:_MOST_GROUPS]:
        said = f"{where} {name}: {text}" if text else f"{where} {name}"
        sentences.append((said if len(said) <= _MOST_TEXT else said[:_MOST_TEXT] + "...", trace))
    if len(folded) > _MOST_GROUPS:
        sentences.append((f"... {len(folded) - _MOST_GROUPS} more exceptions ...", None))
    return sentences


class RemoteError(KernelError):
    """A request failed. This error has the name, text and traceback of the engine's exception.

    The error is also an instance of the class of the engine's exception, if this process has imported that class.
    Otherwise the error is an instance of the nearest base class that this process has imported. So
    ``except ValueError`` catches a ValueError that was raised on an engine. ``__cause__`` is the engine's traceback as
    text. Attributes of the engine's exception that are strings or numbers, such as ``errno``, are attributes of this
    error, too. The page "errors" of the guide lists the exceptions that become a plain RemoteError, which is not also
    an instance of the exception's own class.

    There are subclasses for failures that the code itself did not cause: ResultLost, ConnectionLost, Overloaded,
    MPIError. If a request fails with an EngineError, a TaskTimeout or an error about dependencies, the exception is a
    RemoteError, too.

    Parameters
    ----------
    ename : str
        The name of the exception's class.
    evalue : str
        The text of the exception.
    traceback : str or None
        The engine's traceback, with colours.
    engine_info : dict, optional
        A dict with the keys "engine_id", "engine_uuid" and "method"; it may be empty.

    Examples
    --------
    >>> try:
    ...     rc[0].apply_sync(lambda: 1 / 0)
    ... except px.RemoteError as error:
    ...     print(error)
    [0:apply] ZeroDivisionError: division by zero
    """

    ename: str
    evalue: str
    traceback: str | None = None
    engine_info: dict[str, Any]
    _exception: dict[str, Any] | None = None  # `exception` of the reply: {"classes", "attributes"}

    def __init__(
        self,
        ename: str,
        evalue: str,
        traceback: str | None,
        engine_info: dict[str, Any] | None = None,
    ) -> None:
        BaseException.__init__(self, ename, evalue)  # the constructor of the original class takes other arguments
        self.ename = ename
        self.evalue = evalue
        self.traceback = traceback
        self.engine_info = engine_info or {}
        if traceback:
            self.__cause__ = RemoteTraceback(traceback)

    def __reduce__(self) -> tuple[Any, ...]:
        arguments = self.ename, self.evalue, self.traceback, self.engine_info
        if self._exception is None and original_types.original_of(type(self)) is None:
            return type(self), arguments
        return remote_error, (*arguments, self._exception)

    def __repr__(self) -> str:
        engine = self.engine_info.get("engine_id", " ")
        return f"<{type(self).__name__}[{engine}]:{self.ename}({self.evalue})>"

    def __str__(self) -> str:
        return f"{_where(self.engine_info)} {self.ename}: {self.evalue}"

    def render_traceback(self) -> list[str]:
        """Returns the engine's traceback.

        Returns
        -------
        list of str
            A line that names the engine, and then the lines of the traceback.

        Examples
        --------
        >>> error = rc[0].apply_async(lambda: 1 / 0).exception()
        >>> error.render_traceback()[0]
        '[0:apply]'
        """
        lines = (self.traceback or "No traceback available").splitlines()
        return [_where(self.engine_info), *lines]

    def _repr_html_(self) -> str:
        return errors_html(entries_of(self))

    def _render_traceback_(self) -> list[str]:
        # IPython shows this instead of the local traceback. `%xmode minimal` joins items without a line break.
        return ["\n".join(self.render_traceback())]

    def print_traceback(self, excid: int | None = None) -> None:
        """Prints the engine's traceback.

        Parameters
        ----------
        excid : int, optional
            Accepted, but without effect.
        """
        print("\n".join(self.render_traceback()))


class CompositeError(RemoteError):
    """At least one of several requests failed.

    If all failures are instances of one class, this error is also an instance of that class. For example, ``except
    OSError`` catches it if all failures are OSErrors.

    Parameters
    ----------
    message : str
        The first line of the error's text.
    elist : list of tuple
        The tuple (name, text, traceback, engine_info) of each failure.

    Attributes
    ----------
    elist : list of tuple
        The entries that were passed as `elist`.
    tb_limit : int
        The largest number of failures that the text shows.

    Examples
    --------
    >>> try:
    ...     rc[:].apply_sync(lambda: 1 / 0)
    ... except px.CompositeError as error:
    ...     print(len(error.elist), error.elist[0][0])
    4 ZeroDivisionError
    """

    tb_limit = 4

    def __init__(self, message: str, elist: list[_Entry]) -> None:
        Exception.__init__(self, message, elist)
        self.ename = "CompositeError"
        self.evalue = message
        self.engine_info = {}
        self.msg = message
        self.elist = elist
        self.args = tuple(each[0] for each in elist)
        if any(each[2] for each in elist[: self.tb_limit]):
            self.__cause__ = RemoteTraceback("\n".join(self.render_traceback()).rstrip())

    def __reduce__(self) -> tuple[Any, ...]:
        maker = type(self) if original_types.original_of(type(self)) is None else composite_error
        return maker, (self.msg, self.elist)

    def __repr__(self) -> str:
        return f"CompositeError({len(self.elist)})"

    def _repr_html_(self) -> str:
        from html import escape

        return f"<div>{escape(str(self.msg))}</div>{errors_html(self.elist)}"

    def __str__(self) -> str:
        lines = [str(self.msg)]
        for where, (name, text, _, _) in _folded(self.elist[: self.tb_limit]):
            lines.append(f"{where}{name}: {text}")
        if len(self.elist) > self.tb_limit:
            lines.append(f".... {len(self.elist) - self.tb_limit} more exceptions ...")
        return "\n".join(lines)

    def _nth(self, excid: Any) -> _Entry:
        try:
            found: _Entry = self.elist[excid]
            return found
        except (IndexError, TypeError):
            raise IndexError(
                f"no exception with the number {excid!r}: the numbers are 0 to "
                f"{len(self.elist) - 1}"
            ) from None

    def render_traceback(self, excid: int | None = None) -> list[str]:
        """Returns the tracebacks of the failures; equal tracebacks of several engines are shown once.

        Parameters
        ----------
        excid : int, optional
            The index of one failure. Default: the first `tb_limit` failures.

        Returns
        -------
        list of str
            The lines.

        Raises
        ------
        IndexError
            There is no failure with this index.
        """
        lines = []
        shown = self.elist[: self.tb_limit] if excid is None else [self._nth(excid)]
        for where, (_, _, text, _) in _folded(shown):
            lines.append(where + ":")
            lines += (text or "No traceback available").splitlines()
            if excid is None:
                lines.append("")
        if excid is None and len(self.elist) > self.tb_limit:
            lines.append(f"... {len(self.elist) - self.tb_limit} more exceptions ...")
        return lines

    def print_traceback(self, excid: int | None = None) -> None:
        """Prints the tracebacks of the failures.

        Parameters
        ----------
        excid : int, optional
            The index of one failure. Default: the first `tb_limit` failures.

        Raises
        ------
        IndexError
            There is no failure with this index.
        """
        print("\n".join(self.render_traceback(excid)))

    def raise_exception(self, excid: int | None = 0) -> NoReturn:
        """Raises one of the failures as an exception.

        If polyxeus has a subclass of RemoteError with the failure's name, such as ResultLost, the exception is of this
        class. Otherwise it is a RemoteError that, if possible, is also an instance of the class of the engine's
        exception.

        Parameters
        ----------
        excid : int
            The index of the failure.

        Raises
        ------
        RemoteError
            The failure.
        IndexError
            There is no failure with this index.

        Examples
        --------
        >>> error = rc[:].apply_async(lambda: 1 / 0).exception()
        >>> try:
        ...     error.raise_exception(3)
        ... except px.RemoteError as one:
        ...     print(one)
        [3:apply] ZeroDivisionError: division by zero
        """
        entry = self._nth(excid)
        raise remote_error(*entry, getattr(entry, "exception", None))


class ResultLost(RemoteError):
    """The request ran, but its result was lost before this client received it.

    RemoteError describes the parameters.
    """


class ConnectionLost(RemoteError, ConnectionError):
    """The connection to the cluster broke, or the client was closed, before the answer arrived.

    RemoteError describes the parameters.
    """


class Overloaded(RemoteError):
    """The cluster refused the request because one of its limits is reached. Try again, with increasing pauses.

    RemoteError describes the parameters.
    """


class MPIError(RemoteError):
    """An MPI call failed on an engine: another rank did not reach the call, a rank died, or MPI reported an error.

    RemoteError describes the parameters.
    """


class RemoteEngineError(RemoteError, EngineError):
    """The exception of a request that failed with an EngineError."""


class RemoteTaskTimeout(RemoteError, TaskTimeout):
    """The exception of a request that failed with a TaskTimeout."""


class RemoteTaskReject(RemoteError, TaskRejectError):
    """The exception of a request that failed with a TaskRejectError."""


class RemoteUnmetDependency(RemoteError, UnmetDependency):
    """The exception of a request that failed with an UnmetDependency."""


class RemoteImpossibleDependency(RemoteError, ImpossibleDependency):
    """The exception of a request that failed with an ImpossibleDependency."""


class RemoteDependencyTimeout(RemoteError, DependencyTimeout):
    """The exception of a request that failed with a DependencyTimeout."""


class RemoteInvalidDependency(RemoteError, InvalidDependency):
    """The exception of a request that failed with an InvalidDependency."""


_BY_NAME: dict[str, type[RemoteError]] = {
    "ConnectionLost": ConnectionLost,
    "DependencyTimeout": RemoteDependencyTimeout,
    "EngineError": RemoteEngineError,
    "ImpossibleDependency": RemoteImpossibleDependency,
    "InvalidDependency": RemoteInvalidDependency,
    "Overloaded": Overloaded,
    "ResultLost": ResultLost,
    "TaskRejectError": RemoteTaskReject,
    "TaskTimeout": RemoteTaskTimeout,
    "UnmetDependency": RemoteUnmetDependency,
}
# "MPI_Bcast cannot end: ...", "MPI_Bcast: MPI world broken: ...", "MPI_ERR_RANK: invalid rank"
_OF_MPI = re.compile(r"MPI_\w+(?: cannot end)?: ")


def remote_error(
    ename: str,
    evalue: str,
    traceback: str | None,
    engine_info: dict[str, Any] | None = None,
    exception: dict[str, Any] | None = None,
) -> RemoteError:
    """Makes the exception for an error reply. If polyxeus has a class with the name of the error, the exception is of
    this class, else it is an MPIError or a RemoteError.

    If possible, the exception is also an instance of the class of the engine's exception.

    exception  the member `exception` of the reply (docs/protocol.md), or None
    """
    kind = _BY_NAME.get(ename)
    original = None
    if kind is None:
        kind = MPIError if _OF_MPI.match(str(evalue)) else RemoteError
        original = original_types.named(ename, _classes(exception))
    made = original_types.made(kind, original, ename, evalue, traceback, engine_info)
    if exception:
        made._exception = exception
        _set_attributes(made, exception.get("attributes"))
    return made


def _set_attributes(made: RemoteError, attributes: Any) -> None:
    """Gives `made` the attributes of the engine's exception, except those that a RemoteError has itself. No code of the
    exception's class runs."""
    for name, value in attributes.items() if isinstance(attributes, dict) else ():
        if name.startswith("_") or name in _OF_ERRORS or hasattr(RemoteError, name):
            continue
        member = next((vars(base)[name] for base in (OSError, ImportError) if isinstance(made, base) and name in vars(base)), None)
        if isinstance(member, types.MemberDescriptorType):
            member.__set__(made, value)  # OSError.errno
        else:
            vars(made)[name] = value


def composite_error(message: str, elist: list[_Entry]) -> CompositeError:
    """Makes a CompositeError. If all failures have a class in common, the error is also an instance of this class."""
    original = original_types.in_common(map(_original, elist)) if elist else None
    return original_types.made(CompositeError, original, message, elist)


def already_displayed(problem: CompositeError) -> AlreadyDisplayedError:
    """Returns the AlreadyDisplayedError for `problem`. If all failures in `problem` have a common class, this error is
    also an instance of that class."""
    return original_types.of_both(AlreadyDisplayedError, original_types.original_of(type(problem)))(problem)


class AlreadyDisplayedError(RemoteError):
    """Replaces a CompositeError whose failures were shown when they arrived.

    Parameters
    ----------
    original_error : CompositeError
        The error that this one replaces.
    """

    def __init__(self, original_error: CompositeError) -> None:
        Exception.__init__(self, original_error)
        self.ename = type(self).__name__
        self.evalue = "the error is displayed already"
        self.engine_info = {}
        self.original_error = original_error
        self.n = len(getattr(original_error, "elist", [original_error]))

    def __reduce__(self) -> tuple[Any, ...]:
        maker = type(self) if original_types.original_of(type(self)) is None else already_displayed
        return maker, (self.original_error,)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}({self})>"

    def __str__(self) -> str:
        return "1 error" if self.n == 1 else f"{self.n} errors"

    def _repr_html_(self) -> str:
        return self.original_error._repr_html_()

    def render_traceback(self) -> list[str]:
        """Returns only one line, because the failures have already been shown.

        Returns
        -------
        list of str
            The line.
        """
        return [str(self)]


def entries_of(problem: Exception) -> list[_Entry]:
    """Returns the errors that an exception contains, in the form of CompositeError.elist."""
    if isinstance(problem, CompositeError):
        return problem.elist
    if isinstance(problem, RemoteError):
        entry = (problem.ename, problem.evalue, problem.traceback, problem.engine_info)
        return [FailureEntry.of(entry, problem._exception)]
    return [(type(problem).__name__, str(problem), None, {})]


def collect_exceptions(rdict_or_list: _Results, method: str = "unspecified") -> _Results:
    """Raises a CompositeError if some of the results are errors.

    Parameters
    ----------
    rdict_or_list : list or dict
        The results.
    method : str
        The name of the call, for the error's text.

    Returns
    -------
    list or dict
        The results, if none of them is an error.

    Raises
    ------
    CompositeError
        Some of the results are errors.

    Examples
    --------
    >>> px.collect_exceptions([1, 2])
    [1, 2]
    """
    results = rdict_or_list.values() if isinstance(rdict_or_list, dict) else rdict_or_list
    entries = []
    for result in results:
        if isinstance(result, (RemoteError, TaskAborted)):
            entries += entries_of(result)
    if entries:
        raise composite_error(f"one or more exceptions raised in: {method}", entries)
    return rdict_or_list


def wrap_exception(engine_info: dict[str, Any] | None = None) -> dict[str, Any]:
    """Returns the exception that is being handled, as the content of an error reply.

    Parameters
    ----------
    engine_info : dict, optional
        A description of the engine on which the exception was raised.

    Returns
    -------
    dict
        The keys status, ename, evalue, traceback and engine_info.

    Examples
    --------
    >>> try:
    ...     1 / 0
    ... except ZeroDivisionError:
    ...     content = px.wrap_exception()
    >>> content["ename"]
    'ZeroDivisionError'
    """
    kind, value, trace = sys.exc_info()
    return {
        "status": "error",
        "traceback": _traceback.format_exception(kind, value, trace),
        "ename": getattr(kind, "__name__", "None"),
        "evalue": str(value),
        "engine_info": engine_info or {},
    }


def unwrap_exception(content: dict[str, Any]) -> RemoteError:
    """Makes the exception that the content of an error reply describes.

    Parameters
    ----------
    content : dict
        A dict with the keys ename, evalue and traceback (a list of lines), and optionally engine_info.

    Returns
    -------
    RemoteError
        The exception. If a subclass of RemoteError has the name `ename`, the exception is of this class.

    Examples
    --------
    >>> px.unwrap_exception({"ename": "ResultLost", "evalue": "too large", "traceback": []})
    <ResultLost[ ]:ResultLost(too large)>
    """
    return remote_error(
        content["ename"],
        content["evalue"],
        "\n".join(content["traceback"]),
        content.get("engine_info", {}),
        content.get("exception"),
    )
