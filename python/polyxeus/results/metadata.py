"""The metadata of a request: times, engine, output."""

from __future__ import annotations

import re
import threading
import weakref
from datetime import datetime, timedelta, timezone
from functools import partial, wraps
from typing import TYPE_CHECKING, Any

from polyxeus import error
from polyxeus.results.completion import call_when_ready

if TYPE_CHECKING:
    from polyxeus.error import RemoteError

__all__ = [
    "ExecuteReply", "Metadata", "MetadataByRequest", "known_of", "live_metadata", "metadata_of", "remote_error", "utc"
]  # fmt: skip

utc = timezone.utc
_EPOCH = datetime(1970, 1, 1, tzinfo=utc)
_TIMES = ("submitted", "started", "completed", "received")
# The text that a carriage return in a line of output overwrites.
_OVERWRITTEN = re.compile(r".*\r(?=[^\n])")


class Metadata(dict[str, Any]):
    r"""The metadata of a request: a dict with fixed keys. Each key is also an attribute.

    The Metadata of a request update themselves: each access returns the latest values.

    Parameters
    ----------
    *args : Any
        The contents, in the forms that dict() accepts.
    **kwargs : Any
        The contents, in the forms that dict() accepts.

    Attributes
    ----------
    msg_id : str
        The id of the request.
    submitted, started, completed, received : datetime
        When the client sent the request, when the engine began it, when the engine ended it, and when the client got
        the answer.
    engine_uuid, engine_id : str, int
        The uuid and the id of the engine that ran the request.
    follow, after : list
        The dependencies of a task.
    status : str
        "ok", "error" or "aborted".
    execute_input, execute_result : str, dict
        The source of a cell, and the value of its last line.
    error : RemoteError
        The exception that ended the cell.
    stdout, stderr : str
        The printed text.
    outputs : list of dict
        The messages of the displays that the code made.
    data : dict
        The data that publish_data() sent.
    label : Any
        The label that was given to the call or to its view.

    Examples
    --------
    >>> pending = rc[0].execute("print(6 * 7)", block=True)
    >>> pending.metadata.stdout
    '42\n'
    """

    msg_id: str | None
    submitted: datetime | None
    started: datetime | None
    completed: datetime | None
    received: datetime | None
    engine_uuid: str | None
    engine_id: int | None
    follow: Any
    after: Any
    status: str | None
    execute_input: str | None
    execute_result: dict[str, Any] | None
    error: RemoteError | None
    stdout: str
    stderr: str
    outputs: list[dict[str, Any]]
    data: dict[str, Any]
    label: Any
    _known = None  # returns the known values, and whether these are all; None: no further values arrive

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(dict.fromkeys(Metadata.__annotations__), stdout="", stderr="", outputs=[], data={})
        dict.update(self, dict(*args, **kwargs))

    if not TYPE_CHECKING:  # type checkers would accept any name as an attribute

        def __getattr__(self, key):
            try:
                return self[key]
            except KeyError:
                raise AttributeError(key) from None

        def __setattr__(self, key, value):
            if key not in self:
                raise AttributeError(key)
            self[key] = value

    def __setitem__(self, key, value):
        if key not in self:
            raise KeyError(key)
        super().__setitem__(key, value)

    def __reduce__(self):
        return Metadata, (dict(self),)

    def _fill(self):
        ask = self._known
        if ask is None:
            return
        known, is_all = ask()
        with _filling:
            if self._known is ask:  # no other thread has stored the final values in the meantime
                dict.update(self, known)
                if is_all:
                    self._ask(None)

    def _ask(self, known):
        object.__setattr__(self, "_known", known)


def _filled_first(name):
    look = getattr(dict, name)

    @wraps(look)
    def method(self, *args):
        self._fill()
        return look(self, *args)

    return method


_LOOKS = ["__getitem__", "__iter__", "__reversed__", "__repr__", "__eq__", "__ne__", "__or__", "__ror__"]
for _name in [*_LOOKS, "get", "keys", "values", "items", "copy"]:
    setattr(Metadata, _name, _filled_first(_name))

KEYS = tuple(Metadata())
_live = weakref.WeakValueDictionary()  # msg_id -> Metadata
_filling = threading.RLock()


def live_metadata(msg_id, known, tasks=None):
    """Returns the Metadata of a request, which update themselves. Each request has one such object.

    known  a function that returns the metadata known so far, and whether they are complete
    tasks  the tasks of the request. When the tasks are answered, the Metadata get their last
           values, even if the program does not read the Metadata
    """
    with _filling:
        metadata = _live.get(msg_id)
        is_new = metadata is None
        if is_new:
            metadata = _live[msg_id] = Metadata()
        metadata._ask(known)
    metadata._fill()
    if is_new and tasks is not None and metadata._known is not None:
        call_when_ready(tasks, metadata._fill)
    return metadata


_OUTPUT_KEYS = frozenset(
    ["execute_input", "execute_result", "error", "stdout", "stderr", "outputs", "data"]
)


def needs_output(key):
    """Returns whether the value of this key comes from messages that the engine publishes."""
    return key in _OUTPUT_KEYS


def as_datetime(microseconds):
    """Returns the datetime for a number of microseconds since 1970."""
    return None if microseconds is None else _EPOCH + timedelta(microseconds=microseconds)


def parse_date(text):
    """Converts an ISO date string to a datetime; returns other values unchanged."""
    if not isinstance(text, str):
        return text
    try:
        moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return text
    return moment if moment.tzinfo else moment.replace(tzinfo=utc)


def metadata_of(tasks, index, with_output=True):
    """Returns the Metadata of one of the tasks, with the values that are known now."""
    known = tasks.metadata(index)
    for key in _TIMES:
        if key in known:
            known[key] = as_datetime(known[key])
    metadata = Metadata(known)
    if with_output:
        _add_output(metadata, tasks.publications(index))
    return metadata


def known_of(tasks):
    """Returns the Metadata of a single task with the values known now, and whether these values are
    complete."""
    is_all = tasks.is_ready() and tasks.is_output_complete()
    return metadata_of(tasks, 0), is_all


class MetadataByRequest(dict[str, Metadata]):
    """A dict that maps msg_ids to the Metadata of the requests. If the result of a request no longer exists, its
    Metadata are empty.

    find  a function that returns the task of a msg_id, or None
    """

    def __init__(self, find):
        super().__init__()
        self._find = find

    def __missing__(self, msg_id):
        task = self._find(msg_id)
        found = Metadata() if task is None else live_metadata(msg_id, partial(known_of, task), task)
        self[msg_id] = found
        return found


def _add_output(metadata, publications):
    text = {"stdout": [], "stderr": []}
    for kind, content, _, buffers in publications:
        if kind == "stream":
            text.setdefault(content.get("name", "stdout"), []).append(content.get("text", ""))
        elif kind == "display_data":
            metadata["outputs"].append(content)
        elif kind == "execute_result":
            metadata["execute_result"] = content
        elif kind == "execute_input":
            metadata["execute_input"] = content.get("code")
        elif kind == "error":
            metadata["error"] = _published_error(content, metadata)
        elif kind == "data_message":
            _add_data(metadata["data"], buffers)
    for name in ("stdout", "stderr"):
        whole = "".join(text[name])
        metadata[name] = _OVERWRITTEN.sub("", whole) if "\r" in whole else whole


def _published_error(content, metadata):
    engine = {
        "engine_id": metadata["engine_id"],
        "engine_uuid": metadata["engine_uuid"],
        "method": "execute",
    }
    return error.remote_error(
        content.get("ename", ""),
        content.get("evalue", ""),
        "\n".join(content.get("traceback", ())),
        engine,
        content.get("exception"),
    )


def _add_data(data, buffers):
    """Adds the values that publish_data() sent, unless they need modules that are not installed in this Python."""
    import pickle

    try:
        published = pickle.loads(buffers[0])
    except Exception:
        return
    if isinstance(published, dict):
        data.update(published)


def remote_error(failure):
    """Makes the exception for a failure. A failure is (name, text, traceback, engine id, engine uuid, method,
    description of the exception's class)."""
    name, text, lines, engine_id, engine_uuid, method, exception = failure
    if name == "TaskAborted":
        return error.TaskAborted(text)
    engine = {}
    if engine_id is not None:
        method = "apply" if method in ("call", "push", "pull") else method
        engine = {"engine_id": engine_id, "engine_uuid": engine_uuid, "method": method}
    return error.remote_error(name, text, "\n".join(lines), engine, exception)


class ExecuteReply:
    """The outcome of a cell. The metadata of the cell are attributes; IPython displays the value of its last line.

    Parameters
    ----------
    msg_id : str
        The id of the request.
    content : dict
        The content of the engine's reply.
    metadata : callable
        A function that returns the Metadata of the request.
    """

    def __init__(self, msg_id: str, content: dict[str, Any], metadata: Any) -> None:
        self.msg_id = msg_id
        self.execution_count = content.get("execution_count")
        self._metadata_of = metadata

    @property
    def metadata(self) -> Metadata:
        """The Metadata of the request, with the output that has arrived so far."""
        return self._metadata_of()

    def __getitem__(self, key: str) -> Any:
        return self.metadata[key]

    def __getattr__(self, key: str) -> Any:
        if key.startswith("_"):
            raise AttributeError(key)
        try:
            return self.metadata[key]
        except KeyError:
            raise AttributeError(f"an ExecuteReply has no {key!r}") from None

    def _result(self, part):
        return (self.metadata["execute_result"] or {}).get(part, {})

    @property
    def source(self) -> str:
        """The source code of the cell, if the engine sends it."""
        return self._result("source") or ""

    @property
    def data(self) -> dict[str, Any]:
        """The value of the last line in all its formats, by MIME type; empty until the output has arrived.

        Examples
        --------
        >>> pending = rc[0].execute("6 * 7", silent=False)
        >>> pending.wait_for_output(10)
        True
        >>> pending.get().data["text/plain"]
        '42'
        """
        return self._result("data")

    def __repr__(self):
        text = self.data.get("text/plain", "")
        if len(text) > 32:
            text = text[:29] + "..."
        return f"<ExecuteReply[{self.execution_count}]: {text}>"

    def _plaintext(self):
        text = self.data.get("text/plain", "")
        if not text:
            return ""
        start = "\n" if "\n" in text and not text.startswith("\n") else ""
        mark = f"Out[{self.metadata['engine_id']}:{self.execution_count}]: "
        return _coloured(mark) + start + text

    def display(self) -> None:
        """Shows the value of the last line in IPython."""
        from IPython.display import publish_display_data

        publish_display_data(self.data, self._result("metadata"))

    def _repr_pretty_(self, printer, cycle):
        printer.text(self._plaintext())

    def _repr_mimebundle_(self, include=None, exclude=None):
        data = dict(self.data)
        if "text/plain" in data:
            data["text/plain"] = self._plaintext()
        return data, self._result("metadata")

    def _repr_mime_(self, mime):
        if mime not in self.data:
            return None
        if mime in self._result("metadata"):
            return self.data[mime], self._result("metadata")[mime]
        return self.data[mime]

    def _repr_html_(self):
        return self._repr_mime_("text/html")

    def _repr_latex_(self):
        return self._repr_mime_("text/latex")

    def _repr_json_(self):
        return self._repr_mime_("application/json")

    def _repr_javascript_(self):
        return self._repr_mime_("application/javascript")

    def _repr_png_(self):
        return self._repr_mime_("image/png")

    def _repr_jpeg_(self):
        return self._repr_mime_("image/jpeg")

    def _repr_svg_(self):
        return self._repr_mime_("image/svg+xml")


def _coloured(text):
    from IPython import get_ipython

    shell = get_ipython()
    if shell is None or str(getattr(shell, "colors", "nocolor")).lower() == "nocolor":
        return text
    return f"\033[0;31m{text}\033[0m"
