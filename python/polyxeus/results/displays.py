"""Shows the output of engines, after the call or while it arrives."""

from __future__ import annotations

import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

from polyxeus import error
from polyxeus.results.comms import deliver
from polyxeus.results.metadata import ExecuteReply

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["DisplayMixin"]


def _shell():
    if "IPython" not in sys.modules:
        return None
    from IPython import get_ipython

    return get_ipython()


def _show_text(text):
    from IPython.display import display_pretty

    display_pretty(text, raw=True)


def _show(thing):
    from IPython.display import display

    deliver()  # the comm of a widget must arrive before the widget
    display(thing)


def _republish(content, engine_id):
    shell = _shell()
    if shell is not None:
        metadata = {**(content.get("metadata") or {}), "engine": engine_id}
        deliver()
        shell.display_pub.publish(data=content["data"], metadata=metadata)


class _Writer:
    """Writes the text of many engines, with a heading whenever the engine changes."""

    def __init__(self):
        self._heading = None
        self._ends_line = True

    def write(self, text, heading="", file=None):
        if not text:
            return
        start = ""
        if heading and heading != self._heading:
            start = f"{'' if self._ends_line else chr(10)}{heading}\n"
            self._heading = heading
        self._ends_line = text.endswith("\n")
        print(start + text, file=file or sys.stdout, end="", flush=True)


class _Stream:
    """Shows the output and the errors of tasks as they arrive, in a separate thread."""

    def __init__(self, result):
        self._tasks = result._tasks
        self._writer = _Writer()
        self._failures = 0
        self._is_closing = False
        self._thread = threading.Thread(target=self._run, name="polyxeus-output", daemon=True)

    def start(self):
        self._thread.start()

    def close(self):
        """Shows the output that has arrived so far, and ends the thread. Output that arrives later
        is not shown."""
        self._is_closing = True
        self._thread.join()

    def _run(self):
        after = 0
        while True:
            was_closing = self._is_closing
            events, after = self._tasks.events(after, 0 if was_closing else 0.05)
            for kind, index, publication in events:
                if kind == "published":
                    self._show(index, *publication)
            if was_closing and not events:
                return

    def _show(self, index, kind, content, _metadata, _buffers):
        known = self._tasks.metadata(index)
        engine_id = known["engine_id"]
        if kind == "stream":
            name = content.get("name", "stdout")
            file = sys.stderr if name == "stderr" else sys.stdout
            self._writer.write(content.get("text", ""), f"[{name}:{engine_id}] ", file)
        elif kind == "error":
            self._show_error(content, known)
        elif kind == "execute_result":
            reply = ExecuteReply(
                known["msg_id"], content, {"execute_result": content, "engine_id": engine_id}
            )
            _show(reply)
        elif kind == "display_data" and _shell() is not None:
            _show_text(f"[output:{engine_id}]")
            _republish(content, engine_id)

    def _show_error(self, content, known):
        engine = {"engine_id": known["engine_id"], "engine_uuid": known["engine_uuid"]}
        engine["method"] = "execute"
        problem = error.unwrap_exception({"engine_info": engine, **content})
        self._failures += 1
        if self._failures <= error.CompositeError.tb_limit:
            print("\n".join(problem.render_traceback()), file=sys.stderr)
        else:
            print(problem, file=sys.stderr)


class DisplayMixin:
    """The methods of an AsyncResult that show output."""

    @contextmanager
    def stream_output(self) -> Iterator[None]:
        """Shows output as it arrives during a `with` statement.

        Yields
        ------
        None
            Nothing.

        Examples
        --------
        >>> pending = rc[0].execute("print('done')")
        >>> with pending.stream_output():
        ...     _ = pending.wait_for_output()
        [stdout:0]
        done
        """
        stream = _Stream(self)
        stream.start()
        try:
            yield
        finally:
            stream.close()

    def display_outputs(
        self, groupby: Literal["type", "engine", "order"] = "type", result_only: bool = False
    ) -> None:
        """Shows the text that the engines printed, their displays, and the values of the last lines of cells.

        Parameters
        ----------
        groupby : {"type", "engine", "order"}
            "type": all stdout, then all stderr, then the displays. "engine": all output of the first engine, then of
            the next one. "order": like "type", but the first display of each engine comes first, then the second
            display of each engine, and so on.
        result_only : bool
            Whether to show only the values of the last lines of cells.

        Raises
        ------
        ValueError
            `groupby` is unknown.
        TimeoutError
            A request has no answer yet.

        Examples
        --------
        >>> rc[:2].execute("print(6 * 7)", block=True).display_outputs()
        [stdout:0]
        42
        [stdout:1]
        42
        """
        if groupby not in ("type", "engine", "order"):
            raise ValueError(
                f"groupby must be one of 'type', 'engine' and 'order', not {groupby!r}"
            )
        self._check_ready()
        self.wait_for_output()
        found = [self._metadata_at(i) for i in range(len(self._tasks))]
        results = self._raw_results
        if self._single_result:
            self._display_one(found[0], results[0], result_only, _Writer(), heading=False)
            return
        if groupby == "engine":
            writer = _Writer()
            for each, result in zip(found, results):
                self._display_one(each, result, result_only, writer, heading=True)
            return
        if not result_only:
            self._display_streams(found)
            self._display_displays(found, groupby)
        if _shell() is not None:
            for each, result in zip(found, results):
                if each["execute_result"] is not None:
                    _show(result)

    @staticmethod
    def _display_streams(found):
        writer = _Writer()
        for name in ("stdout", "stderr"):
            for each in found:
                heading = f"[{name}:{each['engine_id']}] "
                writer.write(each[name], heading, sys.stderr if name == "stderr" else None)

    @staticmethod
    def _display_displays(found, groupby):
        if _shell() is None:
            return
        if groupby == "order":
            for i in range(max((len(each["outputs"]) for each in found), default=0)):
                for each in found:
                    if i < len(each["outputs"]):
                        _show_text(f"[output:{each['engine_id']}]")
                        _republish(each["outputs"][i], each["engine_id"])
            return
        for each in found:
            if each["outputs"]:
                _show_text(f"[output:{each['engine_id']}]")
            for output in each["outputs"]:
                _republish(output, each["engine_id"])

    @staticmethod
    def _display_one(metadata, result, result_only, writer, heading):
        engine_id = metadata["engine_id"]
        has_result = metadata["execute_result"] is not None
        if not result_only:
            for name in ("stdout", "stderr"):
                text = f"[{name}:{engine_id}] " if heading else ""
                writer.write(metadata[name], text, sys.stderr if name == "stderr" else None)
        if _shell() is None:
            return
        if heading and (has_result or (metadata["outputs"] and not result_only)):
            _show_text(f"[output:{engine_id}]")
        if not result_only:
            for output in metadata["outputs"]:
                _republish(output, engine_id)
        if has_result:
            _show(result)
