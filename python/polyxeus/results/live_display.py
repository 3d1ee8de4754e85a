"""Displays of pending results in a notebook, which show their progress until they are ready."""

from __future__ import annotations

import atexit
import os
import threading
import time
import uuid
from typing import Any

from polyxeus.results.comms import front_end
from polyxeus.results.completion import call_when_ready
from polyxeus.results.html_parts import paragraph
from polyxeus.results.progress import has_widgets
from polyxeus.results.result_html import how_to_stop, result_html

__all__ = ["show_live"]

_MOST_DISPLAYS = 20  # the largest number of displays that are updated; older displays are not
_OFTEN, _SELDOM = 1.0, 5.0  # seconds between two updates in the first minute, and later
_FIRST_TIME = 60.0
_VIEW = "application/vnd.jupyter.widget-view+json"


class _LiveDisplay:
    """The display of one result in a notebook."""

    def __init__(self, result, end):
        self.result = result
        self._end = end  # the front end
        self._request = end.request()  # the cell that shows it
        self._id = f"result-{uuid.uuid4().hex}"
        self._begun = time.monotonic()
        self._next = 0.0
        self._last = ""
        self._button = _cancel_button(result)

    def open(self):
        """Shows the display for the first time, as output of the running cell."""
        self._show(self._id, self._data(self.result._client._engines_now()))
        if self._button is not None:
            view = {_VIEW: {"version_major": 2, "version_minor": 0, "model_id": self._button.model_id}}
            self._show(f"{self._id}-stop", {"text/plain": how_to_stop, **view})

    def is_due(self, now):
        return now >= self._next or self.result.ready()

    def update(self, engines, now):
        """Shows the progress. Returns False if the display will not change any more."""
        is_last = self.result.ready()
        self._next = now + (_OFTEN if now - self._begun < _FIRST_TIME else _SELDOM)
        data = self._data([] if is_last else engines)
        if data["text/html"] != self._last:
            self._last = data["text/html"]
            self._replace(self._id, data)
        if is_last:
            self.close()
        return not is_last

    def close(self):
        """Removes the button; the display stays."""
        button, self._button = self._button, None
        if button is not None:
            self._replace(f"{self._id}-stop", {})
            button.close()

    def _data(self, engines):
        html = result_html(self.result, engines)
        if not self.result.ready() and self._button is None:
            html += paragraph(how_to_stop)
        return {"text/plain": repr(self.result), "text/html": html}

    @staticmethod
    def _show(display_id, data):
        from IPython import get_ipython

        get_ipython().display_pub.publish(data=data, metadata={}, transient={"display_id": display_id})

    def _replace(self, display_id, data):
        """Replaces the content of the display; works in any thread, and after the cell has ended."""
        content = {"data": data, "metadata": {}, "transient": {"display_id": display_id}}
        self._end.publish(self._request, "update_display_data", content, {}, [])


class _Keeper:
    """Updates displays, in a thread that runs as long as there are displays."""

    def __init__(self):
        self._lock = threading.Lock()
        self._displays = []
        self._has_news = threading.Event()
        self._thread = None

    def add(self, display):
        with self._lock:
            oldest = self._displays[: max(0, len(self._displays) + 1 - _MOST_DISPLAYS)]
            self._displays = [*self._displays[len(oldest) :], display]
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="polyxeus-displays", daemon=True)
                self._thread.start()
        for each in oldest:
            each.close()
        call_when_ready(display.result._tasks, self._has_news.set)

    def _run(self):
        while True:
            self._has_news.wait(_OFTEN)
            self._has_news.clear()
            with self._lock:
                if not self._displays:
                    self._thread = None
                    return
                displays = list(self._displays)
            self._look(displays)

    def _look(self, displays):
        now = time.monotonic()
        due = [each for each in displays if each.is_due(now)]
        clients = {id(each.result._client): each.result._client for each in due if not each.result.ready()}
        engines = {key: client._engines_now() for key, client in clients.items()}
        for display in due:
            try:
                stays = display.update(engines.get(id(display.result._client), []), now)
            except Exception:  # e.g. the front end has disconnected: the display does not change any more
                stays = False
            if not stays:
                with self._lock:
                    self._displays = [each for each in self._displays if each is not display]

    def stop(self):
        with self._lock:
            self._displays = []
        self._has_news.set()


def show_live(result: Any) -> bool:
    """Shows a pending result, and updates the display until the result is ready. Outside of
    notebooks, and in threads other than the main thread, shows nothing and returns False."""
    end = front_end()
    if end is None or threading.current_thread() is not threading.main_thread():
        return False
    display = _LiveDisplay(result, end)
    display.open()
    _keeper.add(display)
    return True


def _cancel_button(result):
    """Returns a button that stops the requests of the result; None if ipywidgets is not
    installed."""
    if not has_widgets():
        return None
    from ipywidgets import Button

    button = Button(
        description="Cancel", icon="stop", tooltip="interrupt the engines that run this work, and withdraw the rest"
    )
    button.on_click(lambda _button: result._stop())
    return button


def _forget_parent():
    """Resets this module in the child of a fork, which has no copy of the thread and must not
    update displays of the parent process."""
    global _keeper
    _keeper = _Keeper()


_keeper = _Keeper()
atexit.register(lambda: _keeper.stop())
os.register_at_fork(after_in_child=_forget_parent)
