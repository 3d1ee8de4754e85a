"""Output widgets of an engine. An active widget shows the text and the displays that the engine sends.

For code of a notebook's kernel, the front end puts this output into the widget. The front end
cannot do this for output of engines: it does not know the engines' requests, and the cell shows the
output of many engines together. Therefore the engine itself sets the widget's attribute `outputs`.
"""

import threading

from polyxeus.engine import json_text

SECONDS_BETWEEN_UPDATES = 0.1

_SHOWN = ("display_data", "execute_result", "error")


class Outputs:
    """The outputs that an Output widget shows, as notebooks store them."""

    def __init__(self):
        self.list = []
        self._places = {}  # display id -> places in the list
        self._clears_first = False  # True: the list is cleared before the next output

    def replace(self, outputs):
        self.list = list(outputs)
        self._places.clear()
        self._clears_first = False

    def write(self, name, text):
        self._begin()
        last = self.list[-1] if self.list else {}
        if last.get("output_type") == "stream" and last["name"] == name:
            last["text"] += text
        else:
            self.list.append({"output_type": "stream", "name": name, "text": text})

    def add(self, message_type, content):
        if message_type == "clear_output":
            self._clears_first = True
            return None if content.get("wait") else self._begin()
        display_id = (content.get("transient") or {}).get("display_id")
        if message_type == "update_display_data":
            return self._update(display_id, content)
        self._begin()
        if display_id:
            self._places.setdefault(display_id, []).append(len(self.list))
        kept = {key: value for key, value in content.items() if key != "transient"}
        self.list.append({"output_type": message_type, **kept})

    def _begin(self):
        if self._clears_first:
            self.replace([])

    def _update(self, display_id, content):
        for place in self._places.get(display_id, []):
            self.list[place].update(data=content["data"], metadata=content.get("metadata") or {})


class _Widget:
    """The state of one Output widget."""

    def __init__(self, comm):
        self.comm = comm
        self.outputs = Outputs()
        self.has_news = False


class OutputWidgets:
    """Streams and displays send their output to this object, instead of to the engine. The object passes text and
    messages on to the innermost active Output widget, or, if no widget is active, to the clients. Any thread may call
    its methods."""

    def __init__(self, engine):
        self._engine = engine
        self._lock = threading.RLock()
        self._widgets = {}  # by comm id
        self._active = []  # the innermost is the last one
        self._timer = None

    # ------------------------------------------------------------ output of code

    def write(self, name, text):
        """Writes text (UTF-8 bytes) to "stdout" or "stderr"."""
        with self._lock:
            if self._active:
                self._active[-1].outputs.write(name, text.decode("utf-8", "replace"))
                return self._tell_soon()
        self._engine.write(name, text)

    def publish(self, message_type, content, metadata=b"", buffers=()):
        """Publishes a message. `content` is JSON text."""
        with self._lock:
            if self._active and message_type in (*_SHOWN, "clear_output", "update_display_data"):
                self._active[-1].outputs.add(message_type, json_text.load(content))
                return self._tell_soon()
        self._engine.publish(message_type, content, metadata, buffers)

    # ------------------------------------------------------------ messages of widgets

    def on_open(self, comm, state):
        """Adds a widget. Called when a comm opens a widget with this state."""
        if state.get("_model_name") == "OutputModel":
            with self._lock:
                self._widgets[comm.comm_id] = _Widget(comm)
            self.on_update(comm, state)

    def on_update(self, comm, state):
        """Applies a change of a widget's state. Called when the engine has set these members of the
        state."""
        with self._lock:
            widget = self._widgets.get(comm.comm_id)
            if widget is None:
                return
            if "outputs" in state:
                widget.outputs.replace(state["outputs"])
            if "msg_id" in state:
                self._activate(widget, bool(state["msg_id"]))

    def on_close(self, comm):
        with self._lock:
            widget = self._widgets.pop(comm.comm_id, None)
            if widget in self._active:
                self._active.remove(widget)

    def _activate(self, widget, is_active):
        was_active = widget in self._active
        if was_active:
            self._active.remove(widget)
        if is_active:
            self._active.append(widget)
        elif was_active:
            self._tell(widget)
            widget.comm.be_told(_update_of(widget))  # for code that reads `widget.outputs`

    # ------------------------------------------------------------ messages to the front end

    def _tell_soon(self):
        """Sends the outputs of the innermost active widget. If the last update was sent less than
        SECONDS_BETWEEN_UPDATES ago, a timer sends these outputs at the end of this interval."""
        widget = self._active[-1]
        widget.has_news = True
        if self._timer is None:
            self._tell(widget)
            self._timer = threading.Timer(SECONDS_BETWEEN_UPDATES, self._end_pause)
            self._timer.daemon = True
            self._timer.start()

    def _end_pause(self):
        with self._lock:
            self._timer = None
            for widget in self._active:
                if widget.has_news:
                    self._tell(widget)

    @staticmethod
    def _tell(widget):
        widget.has_news = False
        widget.comm.tell("comm_msg", _update_of(widget))


def _update_of(widget):
    state = {"outputs": [dict(each) for each in widget.outputs.list]}
    return {"method": "update", "state": state, "buffer_paths": []}
