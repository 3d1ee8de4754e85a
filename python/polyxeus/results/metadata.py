"""What is known of a request beside its result: times, engine, output."""

import re
from datetime import datetime, timedelta, timezone

from polyxeus import error

__all__ = ["ExecuteReply", "Metadata", "metadata_of", "remote_error", "utc"]

utc = timezone.utc
_EPOCH = datetime(1970, 1, 1, tzinfo=utc)
_TIMES = ("submitted", "started", "completed", "received")
# What a carriage return in a line of output overwrites.
_OVERWRITTEN = re.compile(r".*\r(?=[^\n])")


class Metadata(dict):
    """A dict with these keys and no others; they are attributes, too."""

    def __init__(self, *args, **kwargs):
        super().__init__(
            msg_id=None,
            submitted=None,
            started=None,
            completed=None,
            received=None,
            engine_uuid=None,
            engine_id=None,
            follow=None,
            after=None,
            status=None,
            execute_input=None,
            execute_result=None,
            error=None,
            stdout="",
            stderr="",
            outputs=[],
            data={},
            label=None,
        )
        dict.update(self, dict(*args, **kwargs))

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


KEYS = tuple(Metadata())
_OUTPUT_KEYS = frozenset(
    ["execute_input", "execute_result", "error", "stdout", "stderr", "outputs", "data"]
)


def needs_output(key):
    """Whether this key is about what an engine published."""
    return key in _OUTPUT_KEYS


def as_datetime(microseconds):
    """A moment, from its distance to 1970."""
    return None if microseconds is None else _EPOCH + timedelta(microseconds=microseconds)


def parse_date(text):
    """The moment that ISO text names; other things as they are."""
    if not isinstance(text, str):
        return text
    try:
        moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return text
    return moment if moment.tzinfo else moment.replace(tzinfo=utc)


def metadata_of(tasks, index, with_output=True):
    """The Metadata of one of the tasks, as far as they are known now."""
    known = tasks.metadata(index)
    for key in _TIMES:
        if key in known:
            known[key] = as_datetime(known[key])
    metadata = Metadata(known)
    if with_output:
        _add_output(metadata, tasks.publications(index))
    return metadata


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
    return error.RemoteError(
        content.get("ename", ""),
        content.get("evalue", ""),
        "\n".join(content.get("traceback", ())),
        engine,
    )


def _add_data(data, buffers):
    """What publish_data() sent; nothing where it needs what is not installed here."""
    import pickle

    try:
        published = pickle.loads(buffers[0])
    except Exception:
        return
    if isinstance(published, dict):
        data.update(published)


def remote_error(failure):
    """The exception for a failure (name, text, traceback, engine id, uuid, method)."""
    name, text, lines, engine_id, engine_uuid, method = failure
    if name == "TaskAborted":
        return error.TaskAborted(text)
    engine = {}
    if engine_id is not None:
        method = "apply" if method in ("call", "push", "pull") else method
        engine = {"engine_id": engine_id, "engine_uuid": engine_uuid, "method": method}
    return error.RemoteError(name, text, "\n".join(lines), engine)


class ExecuteReply:
    """What came of a cell: its metadata as attributes; shows the value of its last line."""

    def __init__(self, msg_id, content, metadata):
        self.msg_id = msg_id
        self._content = content
        self.execution_count = content.get("execution_count")
        self._metadata_of = metadata

    @property
    def metadata(self):
        """The request's Metadata, its output included as far as it has come."""
        return self._metadata_of() if callable(self._metadata_of) else self._metadata_of

    def __getitem__(self, key):
        return self.metadata[key]

    def __getattr__(self, key):
        if key.startswith("_"):
            raise AttributeError(key)
        try:
            return self.metadata[key]
        except KeyError:
            raise AttributeError(f"an ExecuteReply has no {key!r}") from None

    def _result(self, part):
        return (self.metadata["execute_result"] or {}).get(part, {})

    @property
    def source(self):
        """The code, where the engine gives it."""
        return self._result("source") or ""

    @property
    def data(self):
        """The value of the last line in all its forms, by MIME type."""
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

    def display(self):
        """Shows the value in IPython."""
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
